"""How far each of many parameter sets is from a measured record.

The squared error of a simulation only grows along the record, so a set can be dropped as soon as it passes a limit,
and nothing is lost. A lane whose set is done takes the next one from a queue: the sets that are bad cost a few
samples each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from vibayes.simulation.lanes import Clock, Lane, advance, begin
from vibayes.simulation.method import Method
from vibayes.simulation.run import batch_axes, sensor_row
from vibayes.simulation.status import Status
from vibayes.simulation.vectors import FEW
from vibayes.structure.hybrid import HybridSystem
from vibayes.structure.structure import Structure

_PASSES = 8
"""Steps of all lanes between two looks at the queue."""


class Target(NamedTuple):
    """What was measured, (samples, outputs), and the weight of each squared error, zero where nothing was."""

    values: Any
    weights: Any


class Tracked(NamedTuple):
    """Weighted sum of squared errors of every set, the number of samples it was summed over, and the errors themselves.

    ``errors`` has the shape (sets, samples, outputs) and holds the roots of the terms of the sum, with their signs;
    zero where a set did not come to.
    """

    total: Any
    samples: Any
    errors: Any


class _Running(NamedTuple):
    """Lanes at work: the set each has taken, its system, where it is, and its error so far."""

    which: Any
    system: HybridSystem
    lane: Lane
    total: Any
    errors: Any
    """At the last sample."""


def track_sets(
    method: Method,
    structure: Structure,
    drive: Any,
    count: Any,
    one: Any,
    target: Target,
    limit: Any,
    until: Any,
    clock: Clock,
    refinement: int,
) -> Tracked:
    """Follow ``target`` with the first ``count`` sets over ``until`` samples, each until its error exceeds ``limit``.

    ``one`` is 1 per lane. Numbers of sets and of samples are no part of the compiled program: arrays have room for all.
    """
    clock = clock._replace(pieces=(until - 1) * refinement)
    axes, lanes = batch_axes(structure), one.shape[0]
    room = max(leaf.shape[0] for leaf in jax.tree.leaves(structure) if jnp.ndim(leaf))
    last = target.values.shape[0] - 1

    def start(which, _):
        """A set's system, its lane at the beginning, and its error there."""
        chosen = jnp.minimum(which, count - 1)
        bound = jax.tree.map(lambda leaf, axis: leaf if axis is None else leaf[chosen], structure, axes)
        system = bound.compile()
        system = replace(system, spread=system.size <= FEW)
        zero = tuple(jnp.zeros(()) for _ in structure.masses)
        inputs = tuple(channel[0] for channel in drive.series(jnp.int32(0), jnp.zeros(()), 0))
        lane = begin(system, system.start(None, zero), inputs, method, clock)
        lane = lane._replace(piece=jnp.where(which < count, 0, clock.pieces).astype(jnp.int32))
        errors = miss(system, lane, jnp.int32(0))
        return _Running(which, system, lane, jnp.sum(errors * errors), errors)

    def miss(system, lane, sample):
        modes = lane.modes if method.locates else None
        row = sensor_row(structure, system, drive, lane.piece, lane.state, modes, False)
        return jnp.sqrt(target.weights[sample]) * (row - target.values[sample])

    def step(one, running):
        which, system, lane, total, _ = running
        lane, happening = advance(method, clock, system, drive.series, one, lane)
        sampled = happening.arrived & (lane.piece % refinement == 0)
        errors = miss(system, lane, jnp.minimum(lane.piece // refinement, last))
        total = total + jnp.where(sampled, jnp.sum(errors * errors), 0.0)
        off = (total > limit) & (lane.status == Status.SUCCESS)
        lane = lane._replace(status=jnp.where(off, Status.OFF_TRACK, lane.status).astype(jnp.int32))
        return _Running(which, system, lane, total, errors), sampled

    def running_on(lane):
        return (lane.status == Status.SUCCESS) & (lane.piece < clock.pieces)

    def keep(running, sampled, errors):
        """Write down the errors of lanes that came to a sample."""
        at = jnp.where(sampled & (running.which < count), running.which, room)
        return errors.at[at, running.lane.piece // refinement].set(running.errors, mode="drop")

    def move(_, carry):
        running, errors = carry
        running, sampled = jax.vmap(step)(one, running)
        return running, keep(running, sampled, errors)

    def look(carry):
        running, following, results = carry
        running, errors = jax.lax.fori_loop(0, _PASSES, move, (running, results.errors))
        lane = running.lane
        done = ~running_on(lane)
        failed = (lane.status != Status.SUCCESS) & (lane.status != Status.OFF_TRACK)
        total = jnp.where(failed, jnp.inf, running.total)
        at = jnp.where(done & (running.which < count), running.which, room)
        results = Tracked(
            results.total.at[at].set(total, mode="drop"),
            results.samples.at[at].set(lane.piece // refinement + 1, mode="drop"),
            errors,
        )
        rank = jnp.cumsum(done) - 1
        which = jnp.where(done, jnp.minimum(following + rank, count), running.which).astype(jnp.int32)
        begun = jax.vmap(start)(which, one)
        results = results._replace(errors=keep(begun, done, results.errors))
        pick = lambda new, old: jnp.where(done.reshape(done.shape + (1,) * (new.ndim - 1)), new, old)  # noqa: E731
        return jax.tree.map(pick, begun, running), following + jnp.sum(done, dtype=jnp.int32), results

    def busy(carry):
        running, _, _ = carry
        return jnp.any(running.which < count)

    first = jax.vmap(start)(jnp.arange(lanes, dtype=jnp.int32), one)
    errors = keep(first, jnp.ones(lanes, bool), jnp.zeros((room, *target.values.shape)))
    results = Tracked(jnp.full(room, jnp.inf), jnp.zeros(room, jnp.int32), errors)
    return jax.lax.while_loop(busy, look, (first, jnp.int32(lanes), results))[2]


track = eqx.filter_jit(track_sets, compiler_options={"xla_cpu_prefer_vector_width": 512})  # type: ignore[call-overload]
