"""From points of a path to a branch: coefficients, stability, and special points found and located."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.periodic.attempt import appearance
from vibayes.periodic.branch import Branch, BranchStatus, SpecialPoint
from vibayes.periodic.continuation import Arclength, Curves, Path, step_from
from vibayes.periodic.fourier import peaks

Array = Any
_BLOCK = 64
"""Points that are looked at by one call: branches of any length share one program."""
_FORCED_SLACK, _FREE_SLACK = 1e-6, 1e-3
"""How far beyond one a multiplier may be by rounding; those of free oscillations come in pairs at one, which split."""


class Shown(NamedTuple):
    """What is shown of points."""

    coefficients: Array
    multipliers: Array


def shown_of(curves: Curves, points: Array) -> Shown:
    """Coefficients and multipliers of points on a branch of a single lane."""
    structure, drive = (jax.tree.map(lambda leaf: leaf[0], tree) for tree in (curves.structures, curves.drives))
    coefficients, matrices = [], []
    for first in range(0, len(points), _BLOCK):
        block = points[first : first + _BLOCK]
        filled = np.concatenate([block, np.repeat(block[-1:], _BLOCK - len(block), axis=0)])
        found = appearance(curves.method, structure, drive, jnp.asarray(filled))
        coefficients.append(np.asarray(found.coefficients)[: len(block)])
        matrices.append(np.asarray(found.monodromy)[: len(block)])
    return Shown(np.concatenate(coefficients), _multipliers(np.concatenate(matrices)))


def _multipliers(matrices: Array) -> Array:
    """Eigenvalues, the largest first."""
    finite = np.isfinite(matrices).all(axis=(1, 2))
    values = np.full(matrices.shape[:2], np.nan, complex)
    if finite.any():
        values[finite] = np.linalg.eigvals(matrices[finite])
    return np.take_along_axis(values, np.argsort(-np.abs(values), axis=1), axis=1)


def branch_of(curves: Curves, path: Path, settings: Arclength, mass_names: tuple[str, ...], *before: Path) -> Branch:
    """The branch of a path, or of two that begin at one point and lead away from it (``before`` is turned around)."""
    status = (path.status, *(other.status for other in before))
    for other in before:
        if len(path.points) and len(other.points) and path.status is not BranchStatus.CLOSED:
            path = joined(other, path)
    if not len(path.points):
        return empty_branch(mass_names, curves, status)
    shown = shown_of(curves, path.points)
    slack = _FREE_SLACK if bool(np.asarray(curves.drives.moving)[0]) else _FORCED_SLACK
    return Branch(
        mass_names=mass_names,
        frequencies=path.points[:, -2],
        coefficients=shown.coefficients,
        amplitudes=peaks(shown.coefficients),
        levels=path.points[:, -1],
        multipliers=shown.multipliers,
        stable=np.abs(shown.multipliers[:, 0]) <= 1.0 + slack,
        specials=_specials(curves, path, shown, settings, slack),
        status=status,
    )


def empty_branch(mass_names: tuple[str, ...], curves: Curves, status: tuple[BranchStatus, ...]) -> Branch:
    """Of no points."""
    masses, rows = len(mass_names), 2 * curves.method.harmonics + 1
    return Branch(
        mass_names, np.zeros(0), np.zeros((0, rows, masses)), np.zeros((0, masses)), np.zeros(0),
        np.zeros((0, 2 * masses), complex), np.zeros(0, bool), (), status,
    )  # fmt: skip


def joined(before: Path, after: Path) -> Path:
    """Two paths from one point as one, through it."""
    return Path(
        np.concatenate([before.points[:0:-1], after.points]),
        np.concatenate([-before.tangents[:0:-1], after.tangents]),
        np.concatenate([before.scales[:0:-1], after.scales]),
        np.concatenate([-before.orientations[:0:-1], after.orientations]),
        after.status,
    )


def _specials(curves: Curves, path: Path, shown: Shown, settings: Arclength, slack: float) -> tuple[SpecialPoint, ...]:
    """All special points, located by bisection of the step in which they lie."""
    found = []
    forced = bool(np.asarray(curves.drives.pinned)[0])
    unstable = np.sum(np.abs(shown.multipliers) > 1.0 + slack, axis=1)
    for number in range(len(path.points) - 1):
        kind = _kind(path, shown, unstable, number, forced)
        if kind is not None:
            point = _located(curves, path, number, kind, settings, slack)
            at = shown_of(curves, point[None])
            rows = peaks(at.coefficients)[0], at.coefficients[0], at.multipliers[0]
            found.append(SpecialPoint(kind, number, float(point[-2]), float(point[-1]), *rows))
    return tuple(found)


def _kind(path: Path, shown: Shown, unstable: Array, number: int, forced: bool) -> str | None:
    """What happens between a point and the next."""
    if path.tangents[number, -2] * path.tangents[number + 1, -2] < 0.0:
        return "fold"
    if path.orientations[number] * path.orientations[number + 1] < 0.0:
        return "branch point"
    if not forced or unstable[number] == unstable[number + 1]:
        return None
    worse = number if unstable[number] > unstable[number + 1] else number + 1
    outside = shown.multipliers[worse][: unstable[worse]]
    better = min(unstable[number], unstable[number + 1])
    critical = outside[better]
    if abs(critical.imag) > 1e-6 * abs(critical):
        return "Neimark–Sacker"
    return "period doubling" if critical.real < 0.0 else None


def _located(curves: Curves, path: Path, number: int, kind: str, settings: Arclength, slack: float) -> Array:
    """The point between two others where a test changes."""
    best, tangent = path.points[number], path.tangents[number]
    low, high = 0.0, float(np.sum(tangent * (path.points[number + 1] - best) / path.scales[number]))
    closest = 1e-10 if kind in ("fold", "branch point") else 1e-6

    def side(point, tangent, orientation):
        if kind == "fold":
            return tangent[-2] > 0.0
        if kind == "branch point":
            return orientation > 0.0
        return np.sum(np.abs(shown_of(curves, point[None]).multipliers[0]) > 1.0 + slack)

    here = side(best, tangent, path.orientations[number])
    start = best
    while high - low > closest:
        middle = 0.5 * (low + high)
        found = step_from(curves, start[None], tangent[None], np.array([middle]), settings.control())
        if not found.converged[0]:
            break
        best = found.point[0]
        same = side(best, found.tangent[0], found.orientation[0]) == here
        low, high = (middle, high) if same else (low, middle)
    return best
