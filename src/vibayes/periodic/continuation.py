"""Following branches by pseudo-arclength, many at a time.

Steps grow where Newton's method converges quickly and shrink where it does not, where the curve turns too much in one
step, or where the solution lies far from its prediction (which might be another branch's). A curve is closed when a
step carries it through the plane at right angles to its beginning, near its beginning, in its first direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.periodic.attempt import Attempt, Control, Sizes, attempt
from vibayes.periodic.branch import BranchStatus
from vibayes.periodic.method import PeriodicMethod
from vibayes.periodic.oscillation import Drive
from vibayes.structure.structure import Structure

Array = Any
_CORNER = 1e-4
"""Length of a step below which a turn is taken for a corner."""


class Arclength(eqx.Module):
    """How branches are followed. Steps are relative: to amplitudes, and to the width of the range of frequencies.

    Args:
        first: length of the first step.
        largest: longest step.
        smallest: shortest step; where it does not suffice the branch ends with a status.
        points: limit of points.
        tolerance: of Newton's method, relative to amplitudes.
        turn: least cosine of the angle between tangents of neighbouring points.

    Examples:
        >>> import vibayes as vb
        >>> vb.Arclength(largest=0.02).points
        2000
    """

    first: float = eqx.field(static=True, default=0.01)
    largest: float = eqx.field(static=True, default=0.1)
    smallest: float = eqx.field(static=True, default=1e-6)
    points: int = eqx.field(static=True, default=2000)
    tolerance: float = eqx.field(static=True, default=1e-9)
    turn: float = eqx.field(static=True, default=0.95)

    def __check_init__(self):
        if not 0 < self.smallest <= self.first <= self.largest:
            got = f"{self.smallest}, {self.first}, {self.largest}"
            raise InvalidInput("Arclength", "0 < smallest ≤ first ≤ largest", got, "put them in order")
        if self.points < 3 or not 0 < self.tolerance < 1e-2 or not 0 < self.turn < 1:
            got = f"points={self.points}, tolerance={self.tolerance}, turn={self.turn}"
            raise InvalidInput("Arclength", "3 points or more, tolerance below 0.01, turn below 1", got, "change them")

    def control(self) -> Control:
        """Of Newton's method along a branch."""
        return Control(jnp.asarray(self.tolerance, float), jnp.int32(8), jnp.asarray(1.0, float))


class Limits(NamedTuple):
    """Where branches end: frequencies, about the largest displacement of any mass, and levels of the forces."""

    low: float
    high: float
    amplitude: float = np.inf
    least_level: float = -np.inf
    largest_level: float = np.inf

    def holds(self, found: Attempt) -> bool:
        """Whether a point lies within."""
        frequency, level = found.point[-2], found.point[-1]
        inside = self.low <= frequency <= self.high and self.least_level <= level <= self.largest_level
        return bool(inside and found.extent <= self.amplitude)


class Curves(NamedTuple):
    """Structures, drives and magnitudes of branches that are followed together; one entry per lane."""

    method: PeriodicMethod
    structures: Structure
    drives: Drive
    sizes: Sizes


@dataclass(frozen=True)
class Path:
    """Points of one branch as they were found, with tangents, magnitudes and signs of the determinant."""

    points: Array
    tangents: Array
    scales: Array
    orientations: Array
    status: BranchStatus


@dataclass
class _Lane:
    """One branch while it is followed: its points so far, the next step, and the status once it has ended."""

    found: list[Attempt]
    step: float
    status: BranchStatus | None

    def path(self) -> Path:
        kept = self.found if self.status is not BranchStatus.NOT_STARTED else self.found[:0]
        size = self.found[0].point.shape
        points, tangents, scales = (
            np.array([getattr(each, name) for each in kept]).reshape(-1, *size) for name in _ROWS
        )
        assert self.status is not None
        return Path(points, tangents, scales, np.array([each.orientation for each in kept]), self.status)


_ROWS = ("point", "tangent", "scale")


def step_from(curves: Curves, points: Array, tangents: Array, steps: Array, control: Control) -> Attempt:
    """One attempt in every lane, as plain arrays."""
    found = attempt(
        curves.method, curves.structures, curves.drives, jnp.asarray(points), jnp.asarray(tangents),
        jnp.asarray(steps, float), curves.sizes, control,
    )  # fmt: skip
    return Attempt(*(np.asarray(each) for each in found))


def follow(curves: Curves, begun: Attempt, settings: Arclength, limits: Limits) -> list[Path]:
    """Follow branches from converged points in the direction of their tangents."""
    lanes = []
    for number in range(len(begun.point)):
        start = Attempt(*(each[number] for each in begun))
        lanes.append(_Lane([start], settings.first, None if start.converged else BranchStatus.NOT_STARTED))
    while any(lane.status is None for lane in lanes):
        points, tangents = (np.stack([getattr(lane.found[-1], name) for lane in lanes]) for name in _ROWS[:2])
        steps = np.array([lane.step for lane in lanes])
        found = step_from(curves, points, tangents, steps, settings.control())
        for number, lane in enumerate(lanes):
            if lane.status is None:
                _judge(lane, Attempt(*(each[number] for each in found)), settings, limits)
    return [lane.path() for lane in lanes]


def _judge(lane: _Lane, new: Attempt, settings: Arclength, limits: Limits) -> None:
    """Keep a step or take a shorter one, and end the branch where it is to end."""
    taken, last = lane.step, lane.found[-1]
    # Laws with kinks give branches with corners, which no step is short enough to smooth.
    least = settings.turn if taken > _CORNER else 0.0
    if not (new.converged and _cosine(last, new) >= least and new.correction <= max(0.5 * taken, _CORNER)):
        lane.step = 0.5 * taken
        lane.status = BranchStatus.STEP_TOO_SMALL if lane.step < settings.smallest else None
        return
    lane.found.append(new)
    lane.step = float(np.clip(taken * (1.5 if new.iterations <= 4 else 0.7), settings.smallest, settings.largest))
    if not limits.holds(new):
        lane.status = BranchStatus.RANGE_LEFT
    elif len(lane.found) > 4 and _closes(lane.found, taken):
        lane.status = BranchStatus.CLOSED
    elif len(lane.found) >= settings.points:
        lane.status = BranchStatus.TOO_MANY_POINTS


def _cosine(one: Attempt, other: Attempt) -> float:
    """Of the angle between tangents, in the variables of the second."""
    turned = one.tangent * one.scale / other.scale
    return float(turned @ other.tangent / np.linalg.norm(turned))


def _closes(found: list[Attempt], taken: float) -> bool:
    """Whether the last step passed the first point of the branch."""
    first = found[0]
    before, after = ((each.point - first.point) / first.scale for each in found[-2:])
    passed = before @ first.tangent < 0.0 <= after @ first.tangent
    near = min(np.linalg.norm(before), np.linalg.norm(after)) <= 1.5 * taken
    return bool(passed and near and _cosine(first, found[-1]) > 0.5)
