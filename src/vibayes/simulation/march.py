"""Fixed steps without events: the fast path for smooth laws. All lanes march together, one sample at a time."""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from vibayes.compilation import compiled_soon
from vibayes.simulation.lanes import Clock
from vibayes.simulation.method import Slip
from vibayes.simulation.run import Recording, batch_axes, compiled, sensor_row, without
from vibayes.simulation.runge_kutta import FixedStep, slip_of, step_over_events
from vibayes.simulation.status import Status
from vibayes.simulation.vectors import hold, spread
from vibayes.structure.structure import Structure


def march_lanes(
    method: FixedStep,
    structure: Structure,
    drive: Any,
    drive_axes: Any,
    start: Any,
    one: Any,
    clock: Clock,
    keep: Recording,
) -> tuple[Any, Any]:
    """Rows of readings of all lanes, (lanes, samples, readings), and how each of them ended."""
    system = compiled(structure, one)
    state = jax.vmap(lambda s, y, _: s.start(*y), in_axes=(0, batch_axes(start), 0))(system, start, one)
    state = tuple(jnp.broadcast_to(jnp.asarray(s, float), one.shape) for s in state)
    substeps = jnp.asarray(method.substeps, jnp.int32)
    length = clock.interval / substeps

    def substep(system, drive, piece, since, state):
        def flow(y, after):
            now = tuple(c[0] for c in drive.series(piece, since + after, 0))
            return hold(system.flow(spread(y), None, now), system.spread)

        start = hold(state, system.spread)
        end, stages = step_over_events(system, flow, start, jnp.asarray(length))
        return spread(end), slip_of(system, start, stages, jnp.asarray(length))

    def sample(carry, first_piece):
        def inner(i, carry):
            state, slip, wild = carry
            piece, since = first_piece + i // substeps, (i % substeps) * length
            moved = jax.vmap(partial(_apply, substep, piece, since), in_axes=(0, drive_axes, 0))(system, drive, state)
            slip, now = moved[1].joined(slip)
            return moved[0], slip, wild | now

        carry = jax.lax.fori_loop(0, keep.refinement * substeps, inner, carry)
        return carry, row(carry[0], first_piece + keep.refinement)

    def row(state, piece):
        def reading(system, drive, state):
            return sensor_row(structure, system, drive, piece, state, None, keep.states)

        return jax.vmap(reading, in_axes=(0, drive_axes, 0))(system, drive, state)

    first = row(state, jnp.int32(0))
    pieces = jnp.arange(keep.samples - 1, dtype=jnp.int32) * keep.refinement
    start_of_all = (state, Slip(0.0 * one, 0.0 * one, 0.0 * one), one > 1.0)
    (_, slip, wild), rest = jax.lax.scan(sample, start_of_all, pieces)
    rows = jnp.concatenate([first[:, None], jnp.swapaxes(rest, 0, 1)], axis=1)
    finite = jnp.all(jnp.isfinite(rows), axis=(1, 2))
    too_long = wild | method.too_long(slip)
    status = jnp.where(finite, Status.SUCCESS, Status.DIVERGED)
    return without(rows, too_long), jnp.where(too_long, Status.STEP_TOO_LONG, status).astype(jnp.int32)


march = eqx.filter_jit(march_lanes)
march_few = compiled_soon(march_lanes)


def _apply(substep, piece, since, system, drive, state):
    return substep(system, drive, piece, since, state)
