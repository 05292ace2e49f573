"""Fixed steps without events: the fast path for smooth laws. All lanes march together, one sample at a time."""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from vibayes.compilation import compiled_soon
from vibayes.simulation.lanes import Clock
from vibayes.simulation.run import Recording, batch_axes, compiled, sensor_row
from vibayes.simulation.runge_kutta import FixedStep, runge_kutta_4
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
) -> Any:
    """Rows of readings of all lanes, (lanes, samples, readings)."""
    system = compiled(structure, one)
    state = jax.vmap(lambda s, y, _: s.start(*y), in_axes=(0, batch_axes(start), 0))(system, start, one)
    state = tuple(jnp.broadcast_to(jnp.asarray(s, float), one.shape) for s in state)
    substeps = jnp.asarray(method.substeps, jnp.int32)
    length = clock.interval / substeps

    def substep(system, drive, piece, since, state):
        def flow(y, after):
            now = tuple(c[0] for c in drive.series(piece, since + after, 0))
            return hold(system.flow(spread(y), None, now), system.spread)

        return spread(runge_kutta_4(flow, hold(state, system.spread), jnp.asarray(length))[0])

    def sample(state, first_piece):
        def inner(i, state):
            piece, since = first_piece + i // substeps, (i % substeps) * length
            return jax.vmap(partial(_apply, substep, piece, since), in_axes=(0, drive_axes, 0))(system, drive, state)

        state = jax.lax.fori_loop(0, keep.refinement * substeps, inner, state)
        return state, row(state, first_piece + keep.refinement)

    def row(state, piece):
        def reading(system, drive, state):
            return sensor_row(structure, system, drive, piece, state, None, keep.states)

        return jax.vmap(reading, in_axes=(0, drive_axes, 0))(system, drive, state)

    first = row(state, jnp.int32(0))
    pieces = jnp.arange(keep.samples - 1, dtype=jnp.int32) * keep.refinement
    _, rest = jax.lax.scan(sample, state, pieces)
    return jnp.concatenate([first[:, None], jnp.swapaxes(rest, 0, 1)], axis=1)


march = eqx.filter_jit(march_lanes)
march_few = compiled_soon(march_lanes)


def _apply(substep, piece, since, system, drive, state):
    return substep(system, drive, piece, since, state)
