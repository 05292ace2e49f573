"""From the raw arrays of a run to a `Solution` a person can read."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from vibayes.simulation.lanes import Clock
from vibayes.simulation.method import Method
from vibayes.simulation.run import Events, Raw, Recording
from vibayes.simulation.solution import EventTable, Solution, Work
from vibayes.simulation.status import Status
from vibayes.structure.structure import Structure


def solution_of(
    structure: Structure, bound: Structure, method: Method, clock: Clock, keep: Recording, raw: Raw, batch: int | None
) -> Solution:
    """Name and shape what a run left."""
    sensors, names = len(structure.sensors), state_names(structure)
    single = batch is None
    traced = isinstance(raw.rows, Tracer)
    rows = raw.rows if traced else np.asarray(raw.rows)
    rows = rows[0] if single else rows
    times = np.arange(keep.samples) * (clock.interval * keep.refinement)
    work = None if raw.lanes is None else _work(method, raw.lanes, single)
    status = None if raw.status is None else np.asarray(raw.status)
    if status is not None and single:
        status = Status(int(status[0]))
    return Solution(
        times=times,
        outputs=rows[..., :sensors],
        output_names=tuple(sensor.name for sensor in structure.sensors),
        states=rows[..., sensors : sensors + len(names)] if keep.states else None,
        state_names=names,
        modes=rows[..., sensors + len(names) :].astype(int) if keep.states and np.isfinite(rows).all() else None,
        events=_table(structure, raw.events, raw.lanes, clock)
        if raw.events is not None
        else _nothing(method.locates and single and raw.lanes is not None),
        work=work,
        status=status,
    )


def state_names(structure: Structure) -> tuple[str, ...]:
    """Names of the state variables in order."""
    internal = tuple(f"{state} of {link.name}" for link in structure.links for state in link.element.states)
    motions = tuple(f"{kind} of {name}" for kind in ("x", "v") for name in structure.mass_names)
    from vibayes.structure.sensors import HystereticEnergy

    metered = sorted({structure.element_index(s.on) for s in structure.sensors if isinstance(s, HystereticEnergy)})
    return motions + internal + tuple(f"absorbed by {structure.links[j].name}" for j in metered)


def _work(method: Method, lanes: Any, single: bool) -> Work:
    pick = (lambda a: int(a[0])) if single else np.asarray
    return Work(
        steps=pick(lanes.steps),
        rejected=pick(lanes.rejected),
        evaluations=pick(lanes.steps * method.stages),
        rejected_evaluations=pick(lanes.rejected * method.stages),
        events=pick(lanes.events),
    )


def _nothing(due: bool) -> EventTable | None:
    """An empty table where a table was due but no event is possible."""
    nothing = np.zeros(0)
    return EventTable(nothing, nothing.astype(int), (), (), (), ()) if due else None


def _table(structure: Structure, events: Events, lanes: Any, clock: Clock) -> EventTable:
    """Flatten the event buffers of all lanes, in order of set and time."""
    piece, since, guard, before, after = (np.asarray(column) for column in events)
    used = np.arange(piece.shape[1])[None, :] < np.asarray(jnp.minimum(lanes.events, piece.shape[1]))[:, None]
    owners = [(j, i) for j, link in enumerate(structure.links) for i in range(len(link.element.guard_names()))]
    which, time = np.nonzero(used)[0], (piece * clock.interval + since)[used]
    element, kind, old, new = [], [], [], []
    for g, b, a in zip(guard[used], before[used], after[used], strict=True):
        j, i = owners[g]
        law = structure.links[j].element
        element.append(str(structure.links[j].name))
        kind.append(law.event_name(i, int(b[j])))
        old.append(law.modes[b[j]])
        new.append(law.modes[a[j]])
    return EventTable(time, which, tuple(element), tuple(kind), tuple(old), tuple(new))
