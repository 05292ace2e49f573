"""Run a batch of lanes to the end, recording samples and events on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import compiled_soon
from vibayes.simulation.lanes import Clock, Lane, advance, begin
from vibayes.simulation.method import Method, Slip
from vibayes.simulation.runge_kutta import FixedStep
from vibayes.simulation.status import Status
from vibayes.simulation.vectors import FEW
from vibayes.structure.hybrid import HybridSystem
from vibayes.structure.sensors import HystereticEnergy
from vibayes.structure.structure import Structure

Scalar = Any


class Events(NamedTuple):
    """Event table of every lane, filled up to the lane's count."""

    piece: Any
    since: Any
    guard: Any
    before: Any
    after: Any


class Raw(NamedTuple):
    """What a run leaves: one row per lane and sample, the events, the lanes as they ended, and how they did."""

    rows: Any
    events: Events | None
    lanes: Lane | None
    status: Any


class Reached(NamedTuple):
    """Where a run went as far as its table had room for events: lanes and rows; or that it is yet to start."""

    starts: Any
    lanes: Lane
    rows: Any


class Recording(NamedTuple):
    """What to keep: samples, steps of input per sample, room for events, whether states are kept."""

    samples: int
    refinement: int
    events: int
    states: bool


def batch_axes(tree: Any) -> Any:
    """Axis 0 for leaves with one entry per lane, None for those shared by all."""
    return jax.tree.map(lambda leaf: 0 if jnp.ndim(leaf) else None, tree)


def compiled(structure: Structure, one: Any, few: int = FEW) -> HybridSystem:
    """The system of every lane; with few states each is kept in an array of its own."""
    system = jax.vmap(lambda s, _: s.compile(), in_axes=(batch_axes(structure), 0))(structure, one)
    return replace(system, spread=system.size <= few)


def run_lanes(
    method: Method,
    structure: Structure,
    drive: Any,
    drive_axes: Any,
    start: Any,
    one: Any,
    clock: Clock,
    keep: Recording,
    few: int = FEW,
    reached: Reached | None = None,
) -> Raw:
    """Simulate all lanes; ``start`` holds displacements and velocities, ``one`` is 1.0 per lane.

    With a table of events the run ends where a lane has filled it, and goes on from what it has reached.
    """
    system = compiled(structure, one, few)

    def first_lane(system, drive, start, _):
        inputs = tuple(channel[0] for channel in drive.series(jnp.int32(0), jnp.zeros(()), 0))
        return begin(system, system.start(*start), inputs, method, clock)

    lanes = jax.vmap(first_lane, in_axes=(0, drive_axes, batch_axes(start), 0))(system, drive, start, one)

    def row_of(system, drive, lane):
        modes = lane.modes if method.locates else None
        return sensor_row(structure, system, drive, lane.piece, lane.state, modes, keep.states)

    def step(system, drive, one, lane):
        lane, happening = advance(method, clock, system, drive.series, one, lane)
        return lane, happening, row_of(system, drive, lane)

    first = jax.vmap(row_of, in_axes=(0, drive_axes, 0))(system, drive, lanes)
    width, count = first.shape[-1], one.shape[0]
    rows = jnp.full((count, keep.samples, width), jnp.nan).at[:, 0].set(first)
    if reached is not None:
        lanes = jax.tree.map(lambda new, old: jnp.where(reached.starts, new, old), lanes, reached.lanes)
        rows = jnp.where(reached.starts, rows, reached.rows)
    modal, before = len(system.elements), lanes.events
    events = None
    if keep.events:
        shape = (count, keep.events)
        blank = jnp.zeros(shape, jnp.int32)
        events = Events(blank, jnp.zeros(shape), blank, *(jnp.zeros((*shape, modal), jnp.int32),) * 2)
    number = jnp.arange(count)

    def going(carry):
        lanes, _, events = carry
        going = jnp.any(on_the_way(lanes, clock))
        return going if events is None else going & jnp.all(lanes.events - before < keep.events)

    def body(carry):
        lanes, rows, events = carry
        moved, happening, row = jax.vmap(step, in_axes=(0, drive_axes, 0, 0))(system, drive, one, lanes)
        sampled = happening.arrived & (moved.piece % keep.refinement == 0)
        at = jnp.where(sampled, moved.piece // keep.refinement, keep.samples)
        rows = rows.at[number, at].set(row, mode="drop")
        if events is not None:
            at = jnp.where(happening.fired >= 0, lanes.events - before, keep.events)
            entry = Events(
                happening.event_piece,
                happening.event_since,
                happening.fired,
                jnp.stack(happening.modes_before, -1),
                jnp.stack(moved.modes, -1),
            )
            events = Events(*(b.at[number, at].set(e, mode="drop") for b, e in zip(events, entry, strict=True)))
        return moved, rows, events

    lanes, rows, events = jax.lax.while_loop(going, body, (lanes, rows, events))
    if isinstance(method, FixedStep):
        rows = without(rows, lanes.status == Status.STEP_TOO_LONG)
    return Raw(rows, events, lanes, lanes.status)


def on_the_way(lanes: Lane, clock: Clock) -> Any:
    """Lanes that neither ended nor failed."""
    return (lanes.status == Status.SUCCESS) & (lanes.piece < clock.pieces)


def not_started(structure: Structure, method: Method, count: int, keep: Recording) -> Reached:
    """What a run with a table of events begins with: of the right shape, and nothing in it."""
    elements = [link.element for link in structure.links]
    metered = len({s.on for s in structure.sensors if isinstance(s, HystereticEnergy)})
    size = 2 * len(structure.masses) + sum(len(e.states) for e in elements) + metered
    number, whole, flag = jnp.zeros(count), jnp.zeros(count, jnp.int32), jnp.zeros(count, bool)
    guards = sum(len(e.guard_names()) for e in elements)
    slip = Slip(number, number, number) if isinstance(method, FixedStep) else ()
    flags = (flag,) * guards
    state, modes = (number,) * size, (whole,) * len(elements)
    lane = Lane(
        whole,
        number,
        state,
        modes,
        number,
        (number,) * guards,
        flags,
        flags if method.rests(size <= FEW) else (),
        slip,
        *(whole,) * 5,
    )
    width = len(structure.sensors) + ((size + len(elements)) if keep.states else 0)
    return Reached(jnp.bool_(True), lane, jnp.full((count, keep.samples, width), jnp.nan))


def joined(tables: Sequence[Raw]) -> Events:
    """One table of all events, from those of the parts of a run."""
    ends = [np.asarray(raw.lanes.events) for raw in tables if raw.lanes is not None]
    total = Events(*(np.zeros((column.shape[0], ends[-1].max(), *column.shape[2:]), column.dtype)
                     for column in tables[0].events or ()))  # fmt: skip
    begin = np.zeros_like(ends[0])
    for raw, end in zip(tables, ends, strict=True):
        for whole, part in zip(total, raw.events or (), strict=True):
            for lane, (first, last) in enumerate(zip(begin, end, strict=True)):
                whole[lane, first:last] = np.asarray(part[lane, : last - first])
        begin = end
    return total


def without(rows: Any, wrong: Any) -> Any:
    """Rows of lanes that prove to be wrong at the end are no numbers, but for the start."""
    return rows.at[:, 1:].set(jnp.where(wrong[:, None, None], jnp.nan, rows[:, 1:]))


# Twice the default vector width: a step is pure arithmetic, and narrower machines ignore the wish. Inside another
# compiled function no such wish can be made, and with derivatives only arrays compile in reasonable time.
run = eqx.filter_jit(run_lanes, compiler_options={"xla_cpu_prefer_vector_width": 512})  # type: ignore[call-overload]
run_few = compiled_soon(run_lanes)
run_nested = eqx.filter_jit(partial(run_lanes, few=0))


def sensor_row(
    structure: Structure, system: HybridSystem, drive: Any, piece: Any, state: Any, modes: Any, states: bool
):
    """Readings of all sensors at the start of a piece, then (if kept) states and modes."""
    now = tuple(channel[0] for channel in drive.series(piece, 0.0 * state[0], 0))
    motion = system.motion(state, modes, now)
    readings = [sensor.measure(structure, system, motion) for sensor in structure.sensors]
    kept = [*state, *(seen.mode for seen in motion.locals)] if states else []
    return jnp.stack([jnp.asarray(value, float) for value in (*readings, *kept)])
