"""Random structures with corners where it hurts, simulated by every method, in a batch and alone.

One to six masses, with gaps that are closed at rest, several equal gaps, break points at zero, friction of no strength
or loaded to its very limit, hysteresis, and smooth nonlinear laws. Each try is one structure with 16 parameter sets.
`Exact` is the reference where it applies, `EventLocated` at a tight tolerance elsewhere.

How much two right answers may differ is measured, not assumed: the reference is repeated with parameters that are off
by a small part, of the size of the method's own error, and with a start that is off by a tenth of that part of the
largest motion. Impacts amplify that, and where a motion only just touches a corner an event may come or go with it.
A method must be as near to the reference as those neighbours are, and find the same events in the same order for as
long as all neighbours do.

While friction sticks, an element between the same two points may rest on its own corner, where both of its branches
have the same force and rounding decides which one it is on. So its events are not compared during the stick; its branch
right after it is.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

import vibayes as vb
from vibayes.simulation.cores import cores

TRIES = 500
FEW = 1
SETS, SAMPLES, RATE = 16, 41, 50.0
TOPOLOGIES = 40
"""Structures that differ in more than numbers; each takes some seconds to compile."""
NEIGHBOURS = 4
"""Repetitions of the reference with parameters a little off, every other one with its start off too."""
TIGHT = vb.EventLocated(1e-10, 1e-13)
SETTLING = 2e-3
"""Seconds after a break-away in which an element beside it may find its branch: about one fixed step."""
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
        jax.clear_caches()  # programs of other topologies would fill the memory
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
    """Outputs (samples, channels), events as (time, element, kind, before, after), and how it ended.

    Events of elements beside friction that sticks are left out; the branch they are on afterwards is kept, as (time of
    break-away, element, branch).
    """

    outputs: np.ndarray
    events: list[tuple]
    status: vb.Status
    branches: list[tuple[float, str, str]]


def motions(each: Try, method: vb.Method, values: dict[str, Any], alone: bool = False) -> list[Motion]:
    """Of every set, or of one."""
    structure = each.topology.structure
    solution = vb.simulate(structure, each.excitation, values, method=method, events=True, **each.start)
    assert solution.events is not None
    rows = solution.events.rows()
    if alone:
        return [_motion(structure, np.asarray(solution.outputs), rows, solution.status)]
    of_set: list[list[tuple]] = [[] for _ in solution.status]
    for row, owner in zip(rows, solution.events.parameter_set, strict=True):
        of_set[owner].append(row)
    return [
        _motion(structure, solution.outputs[i], of_set[i], vb.Status(status))
        for i, status in enumerate(solution.status)
    ]


def _motion(structure: vb.Structure, outputs: np.ndarray, events: list[tuple], status: vb.Status) -> Motion:
    """With the events beside friction that sticks replaced by branches."""
    branches: list[tuple[float, str, str]] = []
    dropped: set[tuple] = set()
    for friction in (link for link in structure.links if link.element.sticks):
        beside = [link.name for link in structure.links
                  if (link.start, link.stop) == (friction.start, friction.stop) and link is not friction]  # fmt: skip
        stuck = _stuck([event for event in events if event[1] == friction.name])
        for name in beside:
            own = [event for event in events if event[1] == name]
            begins = [begin for begin, _ in stuck[1:]] + [np.inf]
            for (begin, end), following in zip(stuck, begins, strict=True):
                dropped |= {event for event in own if begin - SETTLING <= event[0] <= end + SETTLING}
                if np.isfinite(end):
                    # A slide may be shorter than the settling: where it ends, rounding decides again.
                    branches.append((end, name, _branch(own, min(end + SETTLING, following - 1e-9))))
    return Motion(outputs, [event for event in events if event not in dropped], status, sorted(branches))


def _stuck(events: list[tuple]) -> list[tuple[float, float]]:
    """From when to when friction sticks, by its own events."""
    begins = ([0.0] if not events or events[0][3] == "stuck" else []) + [e[0] for e in events if e[4] == "stuck"]
    ends = [e[0] for e in events if e[3] == "stuck"]
    return list(zip(begins, [*ends, np.inf][: len(begins)], strict=True))


def _branch(events: list[tuple], time: float) -> str:
    """What an element is on at some time, by its own events; nothing if it has none."""
    earlier = [event for event in events if event[0] <= time]
    return earlier[-1][4] if earlier else events[0][3] if events else ""


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
    largest = np.array([np.abs(motion.outputs).max(axis=0) for motion in right])
    near = _neighbours(each, reference, 1e-7, largest)
    for name, method, by in routes[0 if exact else 1 :]:
        neighbours = near if by == 1e-7 else _neighbours(each, reference, by, largest)
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


def _neighbours(each: Try, reference: vb.Method, by: float, largest: np.ndarray) -> list[list[Motion]]:
    """The reference with every parameter off by a part of about ``by``, half of them displaced by a tenth of it too."""
    rng = np.random.default_rng(each.substeps)
    found = []
    for number in range(NEIGHBOURS):
        off = {name: value * (1.0 + by * rng.choice([-1.0, 1.0])) for name, value in each.values.items()}
        start = dict(each.start)
        if number % 2:
            displacement = largest[:, ::2]
            moved = 0.1 * by * displacement * rng.choice([-1.0, 1.0], size=displacement.shape)
            start["displacement"] = start.get("displacement", 0.0) + moved
        found.append(motions(replace(each, start=start), reference, off))
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
    # The last is for what stands still: no method claims to be right to less than its absolute tolerance.
    allowed = MARGIN * np.maximum.accumulate(spread, axis=0) + 0.1 * by * scale + TIGHT.atol
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
    events, found = _ordered(right.events), _ordered(other.events)
    around = [_ordered(n.events) for n in neighbours]
    shared = min(_agreement(events, n) for n in around)
    whole = all(len(n) == len(events) == shared for n in around)
    same = _agreement(events, found)
    if same < shared:
        return [
            f"event {same} of {len(events)} is {found[same] if same < len(found) else 'nothing'}, not {events[same]}"
        ]
    if whole and len(found) > shared:
        return [f"{len(found)} events, not {shared}: {found[shared]}"]
    for i in range(shared):
        time = events[i][0]
        moved = max(abs(n[i][0] - time) for n in around)
        if abs(found[i][0] - time) > MARGIN * moved + 1e-8:
            return [f"event {i} at {found[i][0]!r}, not {time!r}; neighbours move it by {moved:.1e}"]
    until = np.inf if whole else events[shared - 1][0] if shared else -np.inf
    together = zip(right.branches, other.branches, *(n.branches for n in neighbours), strict=False)
    for (time, name, branch), *others in together:
        if time >= until or any((n, b) != (name, branch) for _, n, b in others[1:]):
            break
        if others[0][1:] != (name, branch) and others[0][2] and branch:
            return [f"{name} at {others[0][0]!r} is {others[0][2]}, not {branch}"]
    return []


def _agreement(one: list[tuple], other: list[tuple]) -> int:
    """Number of events from the first on that are the same."""
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
