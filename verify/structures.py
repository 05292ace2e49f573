"""Random structures with corners where it hurts, simulated by every method, in a batch and alone.

One to six masses, with gaps that are closed at rest, several equal gaps, break points at zero, friction of no strength
or loaded to its very limit, hysteresis, and smooth nonlinear laws. Each try is one structure with 16 parameter sets.
`Exact` is the reference where it applies, `EventLocated` at a tight tolerance elsewhere.

How much two right answers may differ is measured, not assumed: the reference is repeated with parameters that are off
by a small part, of the size of the method's own error. Impacts amplify that, and where a motion only just touches
a corner an event may come or go with it. A method must be as near to the reference as those neighbours are, and
find the same events in the same order for as long as all neighbours do.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import vibayes as vb
from vibayes.simulation.cores import cores

TRIES = 500
FEW = 1
SETS, SAMPLES, RATE = 16, 41, 50.0
TOPOLOGIES = 40
"""Structures that differ in more than numbers; each takes some seconds to compile."""
NEIGHBOURS = 2
"""Repetitions of the reference with parameters a little off."""
TIGHT = vb.EventLocated(1e-10, 1e-13)
MARGIN = 5.0
"""Times the distance of the furthest neighbour that a method may be off."""


@dataclass(frozen=True)
class Topology:
    """What is compiled: the structure with names for numbers, how its input is held, where it starts."""

    structure: vb.Structure
    hold: vb.Hold
    displaced: bool
    seed: int

    @property
    def affine(self) -> bool:
        """Whether the exact method applies."""
        return all(link.element.affine for link in self.structure.links)


@dataclass(frozen=True)
class Try:
    """One structure with its parameter sets, input and start."""

    topology: Topology
    values: dict[str, np.ndarray]
    excitation: vb.Sampled
    start: dict[str, Any]
    substeps: int


def attack(tries: int, seed: int, folder: Path) -> list[str]:
    """Failures among random structures."""
    count = min(tries, TOPOLOGIES)

    def part(which: int) -> list[str]:
        topology = topology_of(seed * TOPOLOGIES + which, which)
        found = []
        for number in range(which, tries, count):
            found += [f"seed {seed}, try {number}: {each}" for each in failures(draw(topology, seed, number))]
        return found

    with ThreadPoolExecutor(cores()) as pool:
        return [failure for found in pool.map(part, range(count)) for failure in found]


# ---- structures -----------------------------------------------------------------------------------------------------


def topology_of(seed: int, which: int) -> Topology:
    """A random arrangement of elements; the very first is small enough for the test suite."""
    rng = np.random.default_rng([seed, 21])
    count = 1 + which % 6 if which < 6 else int(rng.integers(1, 7))
    names = [f"m{i}" for i in range(count)]
    points = ["ground", *names]
    links = []
    for i, name in enumerate(names):  # a chain, so that nothing flies away
        links += [vb.Spring(f"k{i}").between(points[i], name), vb.Damper(f"c{i}").between(points[i], name)]
    rubbed: set[str] = set()
    for number in range(int(rng.integers(1, 4)) if which else 1):
        ends = sorted(rng.choice(count + 1, 2, replace=False)) if rng.random() < 0.4 else [0, 0]
        if ends[0] == ends[1]:
            ends[1] = int(rng.integers(1, count + 1))
            ends[0] = ends[1] - 1
        start, stop = (points[i] for i in ends)
        for element in _corner(rng, number, start, stop, rubbed):
            links.append(element.between(start, stop))
    if which and rng.random() < 0.25:
        stop = str(rng.choice(names))
        links.append(_curved(rng).between("ground", stop))
    everywhere = [vb.Force(name) for name in names]
    inputs = everywhere if rng.random() < 0.7 else [vb.BaseAcceleration()]
    sensors = [kind(name) for name in names for kind in (vb.Displacement, vb.Velocity)]
    structure = vb.Structure({name: f"mass_{name}" for name in names}, links, inputs, sensors)
    hold = vb.ZeroOrderHold() if rng.random() < 0.3 else vb.StraightLines()
    return Topology(structure, hold, bool(rng.random() < 0.2), seed)


def _corner(rng, number: int, start: str, stop: str, rubbed: set[str]) -> list[vb.Element]:
    """Elements with events between the same two points; those of one call may share their corner."""
    kind = int(rng.integers(0, 10))
    k, b = f"stop{number}", f"gap{number}"
    if kind == 0:
        return [vb.gap(k, 0.0)]
    if kind == 1:
        return [vb.gap(k, 0.0), vb.gap(k, 0.0, side=-1)]
    if kind == 2:
        return [vb.gap(k, b), vb.gap(f"stiff{number}", b)]
    if kind == 3:
        return [vb.gap(k, 0.0), vb.gap(f"stiff{number}", 0.0)]
    if kind == 4:
        return [vb.PiecewiseLinearSpring((k, f"soft{number}", f"stiff{number}"), (f"left{number}", 0.0))]
    if kind == 5:
        return [vb.PiecewiseLinearDamper((f"d{number}", f"e{number}"), (0.0,)), vb.gap(k, b)]
    if kind == 6:
        return [vb.BilinearHysteresis(f"soft{number}", f"yield{number}", f"ratio{number}"), vb.gap(k, 0.0)]
    if kind == 7:
        return [vb.BilinearHysteresisFlow(f"soft{number}", f"yield{number}", f"ratio{number}")]
    # Friction on a mass that is not held by other friction, or the forces of the two would not be determined.
    if stop in rubbed or start in rubbed:
        return [vb.gap(k, 0.0)]
    rubbed |= {start, stop} - {"ground"}
    if kind == 8:
        return [vb.CoulombFriction(f"limit{number}"), vb.gap(k, 0.0)]
    return [vb.Bingham(f"limit{number}", f"d{number}")]


def _curved(rng) -> vb.Element:
    """A law that the exact method cannot treat."""
    kind = int(rng.integers(0, 3))
    if kind == 0:
        return vb.Duffing("soft9", "cubic")
    if kind == 1:
        return vb.BoucWen("soft9", "beta", "gamma")
    return vb.RambergOsgood("soft9", "strength", 3.0)


_RANGES = {
    "mass": (0.3, 3.0), "k": (20.0, 500.0), "c": (0.2, 3.0), "stop": (1e3, 3e4), "stiff": (1e3, 3e4),
    "soft": (20.0, 500.0), "d": (0.1, 3.0), "e": (0.1, 3.0), "yield": (2e-3, 5e-2), "ratio": (0.02, 0.5),
    "limit": (0.05, 2.0), "cubic": (1e3, 1e5), "beta": (1.0, 50.0), "gamma": (1.0, 50.0), "strength": (0.3, 5.0),
    "gap": (1e-3, 3e-2), "left": (1e-3, 3e-2),
}  # fmt: skip


def draw(topology: Topology, seed: int, number: int) -> Try:
    """Numbers for a structure."""
    rng = np.random.default_rng([seed, number, 22])
    values = {}
    for name in topology.structure.parameters:
        low, high = _RANGES[name.rstrip("0123456789").split("_")[0]]
        drawn = np.exp(rng.uniform(np.log(low), np.log(high), SETS))
        values[name] = -drawn if name.startswith("left") else drawn
    push = rng.standard_normal((SAMPLES, len(topology.structure.inputs))) * rng.choice([1.0, 10.0])
    silent = int(rng.choice([0, 1, 1, 1, 10]))
    push[:silent] = 0.0
    for name in values:
        if name.startswith("limit"):
            values[name][:2] = 0.0  # no strength
            values[name][2:4] = np.abs(push[silent, 0])  # loaded to its limit by the first force
    masses = len(topology.structure.masses)
    start: dict[str, Any] = {"velocity": rng.normal(size=masses) * 0.1 if rng.random() < 0.3 else np.zeros(masses)}
    if topology.displaced:
        start["displacement"] = np.cumsum(rng.choice([0.0, 0.01, -0.01], masses)) + 1e-3
        for name in values:
            if name.startswith(("gap", "yield")):
                values[name][4:8] = 0.01  # closed at the start, or about to yield
    stiffest = sum(v.max() for name, v in values.items() if name.startswith(("k", "stop", "stiff", "soft")))
    lightest = min(v.min() for name, v in values.items() if name.startswith("mass"))
    substeps = int(np.ceil(np.sqrt(2.0 * stiffest / lightest) / RATE / 0.2))
    return Try(topology, values, vb.Sampled(push, RATE, topology.hold), start, substeps)


# ---- comparison -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Motion:
    """Outputs (samples, channels), events as (time, element, kind, before, after), and how it ended."""

    outputs: np.ndarray
    events: list[tuple]
    status: vb.Status


def motions(each: Try, method: vb.Method, values: dict[str, Any], alone: bool = False) -> list[Motion]:
    """Of every set, or of one."""
    solution = vb.simulate(each.topology.structure, each.excitation, values, method=method, events=True, **each.start)
    assert solution.events is not None
    if alone:
        return [Motion(np.asarray(solution.outputs), solution.events.rows(), solution.status)]
    rows, owner = solution.events.rows(), solution.events.parameter_set
    return [
        Motion(solution.outputs[i], [row for row, o in zip(rows, owner, strict=True) if o == i], vb.Status(status))
        for i, status in enumerate(solution.status)
    ]


def failures(each: Try) -> list[str]:
    """What is wrong with any method, as lines."""
    exact = each.topology.affine
    reference = vb.Exact() if exact else TIGHT
    right = motions(each, reference, each.values)
    routes = [
        ("tight", TIGHT, 1e-7),
        ("default", vb.EventLocated(), 1e-5),
        ("fixed", vb.FixedStep(each.substeps, events=True), 1e-3),
    ]
    found = []
    for i, motion in enumerate(right):
        if motion.status != vb.Status.SUCCESS:
            found.append(f"set {i}: {type(reference).__name__} ended as {motion.status.name}")
    near = _neighbours(each, reference, 1e-7)
    for name, method, by in routes[0 if exact else 1 :]:
        neighbours = near if by == 1e-7 else _neighbours(each, reference, by)
        for i, motion in enumerate(motions(each, method, each.values)):
            others = [batch[i] for batch in neighbours]
            found += [f"set {i}, {name}: {line}" for line in compare(right[i], motion, others, by)]
    rng = np.random.default_rng(each.substeps)
    for i in rng.choice(SETS, 2, replace=False):
        own = {name: float(value[i]) for name, value in each.values.items()}
        others = [batch[i] for batch in near]
        for name, method in (("exact", reference), ("tight", TIGHT))[: 2 if exact else 1]:
            (single,) = motions(each, method, own, alone=True)
            found += [f"set {i}, {name} alone: {line}" for line in compare(right[i], single, others, 1e-7)]
    return found


def _neighbours(each: Try, reference: vb.Method, by: float) -> list[list[Motion]]:
    """The reference with every parameter off by a part of about ``by``."""
    rng = np.random.default_rng(each.substeps)
    found = []
    for _ in range(NEIGHBOURS):
        off = {name: value * (1.0 + by * rng.choice([-1.0, 1.0])) for name, value in each.values.items()}
        found.append(motions(each, reference, off))
    return found


def compare(right: Motion, other: Motion, neighbours: list[Motion], by: float) -> list[str]:
    """Where a motion is further from the right one than its neighbours are, whose parameters are off by a part."""
    if right.status != vb.Status.SUCCESS or any(n.status != vb.Status.SUCCESS for n in neighbours):
        return []  # told elsewhere
    if other.status != vb.Status.SUCCESS:
        return [f"ended as {other.status.name}"]
    found = []
    scale = np.abs(right.outputs).max(axis=0) + 1e-12
    spread = np.max([np.abs(n.outputs - right.outputs) for n in neighbours], axis=0)
    allowed = MARGIN * np.maximum.accumulate(spread, axis=0) + 0.1 * by * scale
    excess = np.abs(other.outputs - right.outputs) / allowed
    if not excess.max() <= 1.0:
        at = np.unravel_index(np.argmax(excess), excess.shape)
        off = np.abs(other.outputs - right.outputs)[at] / scale[at[1]]
        found.append(f"off by {off:.1e} of the largest at sample {at[0]}, {excess.max():.1f} times what is allowed")
    # Where the force does not act, a motion begins as a high power of time: too small for any tolerance to see.
    begun = np.all(np.maximum.accumulate(np.abs(right.outputs), axis=0) > 1e-3 * scale, axis=1)
    since = np.argmax(begun) / RATE if begun.any() else np.inf
    later = [_since(motion, since) for motion in (right, other, *neighbours)]
    return found + _compare_events(later[0], later[1], later[2:])


def _since(motion: Motion, time: float) -> Motion:
    return replace(motion, events=[event for event in motion.events if event[0] >= time])


def _compare_events(right: Motion, other: Motion, neighbours: list[Motion]) -> list[str]:
    """The first event that is not as it should be, among those that all neighbours share."""
    shared = min(_agreement(right.events, n.events) for n in neighbours)
    whole = all(len(n.events) == len(right.events) == shared for n in neighbours)
    same = _agreement(right.events, other.events)
    if same < shared:
        a = right.events[same]
        b = other.events[same] if same < len(other.events) else "nothing"
        return [f"event {same} of {len(right.events)} is {b}, not {a}"]
    if whole and len(other.events) > shared:
        return [f"{len(other.events)} events, not {shared}: {other.events[shared]}"]
    for i in range(shared):
        time = right.events[i][0]
        moved = max(abs(n.events[i][0] - time) for n in neighbours)
        if abs(other.events[i][0] - time) > MARGIN * moved + 1e-8:
            return [f"event {i} at {other.events[i][0]!r}, not {time!r}; neighbours move it by {moved:.1e}"]
    return []


def _agreement(one: list[tuple], other: list[tuple]) -> int:
    """Number of events from the first on that are the same, in order but for those at one instant."""
    one, other = _ordered(one), _ordered(other)
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a[1:] != b[1:]), min(len(one), len(other)))


def _ordered(events: list[tuple]) -> list[tuple]:
    """Events of several elements at one instant, to rounding, in the order of their names."""
    result: list[tuple] = []
    cluster: list[tuple] = []
    for event in events:
        if cluster and event[0] - cluster[-1][0] > 1e-9:
            result += sorted(cluster, key=lambda e: e[1])
            cluster = []
        cluster.append(event)
    return result + sorted(cluster, key=lambda e: e[1])
