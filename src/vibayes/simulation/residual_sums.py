"""Sums of squared residuals of many parameter sets along a measured record.

The sum over the first t samples,

    S_c(t) = Σ_{i ≤ t} (y_ic − ŷ_ic)²     for every output c,

only grows with t, and so does any likelihood's misfit that is increasing in it. A proposal whose acceptance bound is
known beforehand can therefore be dropped as soon as its misfit passes the bound, and nothing is lost (exact early
rejection). A lane whose set is done takes the next one from a queue: bad sets cost a few samples each.
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
"""Steps of all lanes between two looks at the queue: refilling lanes costs about as much as a step."""


class Measured(NamedTuple):
    """Measured outputs, (samples, outputs), and 1 where a value was measured, 0 where it is missing."""

    values: Any
    known: Any


class Bound(NamedTuple):
    """Where a simulation may stop: Σ_c a_c log(S_c + b_c) + w_c S_c exceeds the set's own limit.

    The first term is the misfit with the noise integrated out, the second that of known noise; ``scale`` is w_c for
    every set, (sets, outputs). The limit holds for the first ``samples`` only.
    """

    power: Any
    floor: Any
    scale: Any
    limit: Any
    samples: Any


class Window(NamedTuple):
    """Samples after which sums are kept: for every sample its column, or one past the last; and the last sample."""

    column: Any
    last: Any


class Sums(NamedTuple):
    """Sums at the checkpoints, (sets, checkpoints, outputs); and how each set ended (`Status`)."""

    sums: Any
    status: Any


class _Running(NamedTuple):
    which: Any
    system: HybridSystem
    lane: Lane
    sums: Any


def residual_sums(
    method: Method,
    structure: Structure,
    drive: Any,
    count: Any,
    one: Any,
    measured: Measured,
    bound: Bound,
    window: Window,
    columns: int,
    clock: Clock,
    refinement: int,
) -> Sums:
    """Sums of the first ``count`` sets. ``one`` is 1 per lane.

    Numbers of sets and of samples are no part of the compiled program: arrays have room for all.
    """
    clock = clock._replace(pieces=window.last * refinement)
    axes, lanes = batch_axes(structure), one.shape[0]
    room, outputs = bound.limit.shape[0], measured.values.shape[1]

    def start(which, _):
        chosen = jnp.minimum(which, count - 1)
        own = jax.tree.map(lambda leaf, axis: leaf if axis is None else leaf[chosen], structure, axes)
        system = own.compile()
        system = replace(system, spread=system.size <= FEW)
        zero = tuple(jnp.zeros(()) for _ in structure.masses)
        inputs = tuple(channel[0] for channel in drive.series(jnp.int32(0), jnp.zeros(()), 0))
        lane = begin(system, system.start(None, zero), inputs, method, clock)
        lane = lane._replace(piece=jnp.where(which < count, 0, clock.pieces).astype(jnp.int32))
        return _Running(which, system, lane, squares(system, lane, jnp.int32(0)))

    def squares(system, lane, sample):
        modes = lane.modes if method.locates else None
        row = sensor_row(structure, system, drive, lane.piece, lane.state, modes, False)
        return measured.known[sample] * (row - measured.values[sample]) ** 2

    def step(one, running):
        which, system, lane, sums = running
        lane, happening = advance(method, clock, system, drive.series, one, lane)
        sampled = happening.arrived & (lane.piece % refinement == 0)
        sample = lane.piece // refinement
        sums = sums + jnp.where(sampled, squares(system, lane, jnp.minimum(sample, window.last)), 0.0)
        chosen = jnp.minimum(which, room - 1)
        misfit = jnp.sum(bound.power * jnp.log(sums + bound.floor) + bound.scale[chosen] * sums)
        off = (misfit > bound.limit[chosen]) & (sample < bound.samples) & (lane.status == Status.SUCCESS)
        lane = lane._replace(status=jnp.where(off, Status.OFF_TRACK, lane.status).astype(jnp.int32))
        return _Running(which, system, lane, sums), sampled

    def keep(running, sampled, kept):
        at = jnp.where(sampled & (running.which < count), running.which, room)
        sample = jnp.minimum(running.lane.piece // refinement, window.last)
        return kept.at[at, window.column[sample]].set(running.sums, mode="drop")

    def move(_, carry):
        running, kept = carry
        running, sampled = jax.vmap(step)(one, running)
        return running, keep(running, sampled, kept)

    def look(carry):
        running, following, result = carry
        running, kept = jax.lax.fori_loop(0, _PASSES, move, (running, result.sums))
        lane = running.lane
        done = (lane.status != Status.SUCCESS) | (lane.piece >= clock.pieces)
        at = jnp.where(done & (running.which < count), running.which, room)
        status = result.status.at[at].set(lane.status, mode="drop")
        rank = jnp.cumsum(done) - 1
        which = jnp.where(done, jnp.minimum(following + rank, count), running.which).astype(jnp.int32)
        begun = jax.vmap(start)(which, one)
        kept = keep(begun, done, kept)
        pick = lambda new, old: jnp.where(done.reshape(done.shape + (1,) * (new.ndim - 1)), new, old)  # noqa: E731
        running = jax.tree.map(pick, begun, running)
        return running, following + jnp.sum(done, dtype=jnp.int32), Sums(kept, status)

    def busy(carry):
        return jnp.any(carry[0].which < count)

    first = jax.vmap(start)(jnp.arange(lanes, dtype=jnp.int32), one)
    kept = keep(first, jnp.ones(lanes, bool), jnp.full((room, columns, outputs), jnp.inf))
    result = Sums(kept, jnp.full(room, Status.OFF_TRACK, jnp.int32))
    return jax.lax.while_loop(busy, look, (first, jnp.int32(lanes), result))[2]


track = eqx.filter_jit(residual_sums, compiler_options={"xla_cpu_prefer_vector_width": 512})  # type: ignore[call-overload]
