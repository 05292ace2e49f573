"""Whether there is an isola, and where: what draws of a posterior say.

Isolas surround those stretches of backbones that take less force than is there (see `vibayes.periodic.energy`). So the
backbones of the central values that take least at some inner point are followed for every draw, and every draw's
response near the point of its own backbone that takes just the given forces is followed until it closes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.interval import PROB, tails
from vibayes.periodic.backbones import quadrature
from vibayes.periodic.bands import followed_backbones
from vibayes.periodic.branch import BranchStatus
from vibayes.periodic.checks import (
    Forcing,
    check_balance,
    check_forcing,
    check_positive,
    check_range,
    check_structure,
    force_coefficients,
)
from vibayes.periodic.continuation import Arclength, Limits, Path
from vibayes.periodic.draws import (
    BranchDraws,
    bound_draws,
    centre_of,
    check_draws,
    corrected,
    draws_of,
    follow_draws,
    structure_of,
)
from vibayes.periodic.energy import balanced_starts, dissipation, required_level
from vibayes.periodic.forced import forced_curves
from vibayes.periodic.fourier import harmonic
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.isolas import default_reach
from vibayes.periodic.isolated import backbones
from vibayes.periodic.linear import linear_of
from vibayes.periodic.oscillation import forced_drive, oscillation_of
from vibayes.periodic.search import points_of
from vibayes.structure.element import as_arrays
from vibayes.structure.structure import Structure

Array = Any
_CLEAR = 0.002
"""Share by which the least level of a backbone must miss one for the balance of energy to decide alone."""
_ROWS = 64
"""Points whose dissipation is computed by one call."""


@dataclass(frozen=True)
class IsolaProbability:
    """Isolas over draws of a posterior.

    Args:
        probability: share of the draws that have an isola, of those that are decided.
        standard_error: of that share, from the number of draws.
        ranges: least and largest frequency of the isola of each draw, (draws, 2); NaN where there is none.
        peaks: largest displacement on it, (draws, masses).
        exists: whether each draw has one; False also where it has merged with another response.
        undecided: draws whose responses could not be followed to an end; they count for nothing.
        least_levels: least factor of the forces that an isolated stretch of each draw's backbones takes, by the balance
            of energy: above about one there is no isola.
        curves: isolas of all draws.
    """

    probability: float
    standard_error: float
    ranges: Array
    peaks: Array
    exists: Array
    undecided: Array
    least_levels: Array
    curves: BranchDraws

    def range_interval(self, prob: float = PROB) -> tuple[tuple[float, float], tuple[float, float]]:
        """Central intervals of the least and of the largest frequency."""
        low, high = (self._interval(self.ranges[:, i], prob) for i in (0, 1))
        return low, high

    def peak_interval(self, mass: str, prob: float = PROB) -> tuple[float, float]:
        """Central interval of the largest displacement of a mass."""
        return self._interval(self.peaks[:, self.curves.mass_names.index(mass)], prob)

    def _interval(self, values: Array, prob: float) -> tuple[float, float]:
        kept = values[self.exists]
        if not len(kept):
            return np.nan, np.nan
        low, high = np.quantile(kept, tails("interval", prob))
        return float(low), float(high)

    def summary(self) -> str:
        """A few lines for people."""
        odds = f"{self.probability:.3f} ± {self.standard_error:.3f}"
        lines = [f"isola with probability {odds} ({len(self.exists)} draws)"]
        if self.undecided.any():
            lines.append(f"  {int(self.undecided.sum())} draws undecided")
        if self.exists.any():
            (a, b), (c, d) = self.range_interval()
            lines.append(f"  {100 * PROB:g} %: begins at {a:.5g} … {b:.5g}, ends at {c:.5g} … {d:.5g} rad/s")
            for mass in self.curves.mass_names:
                low, high = self.peak_interval(mass)
                lines.append(f"  {100 * PROB:g} %: largest displacement of {mass} {low:.4g} … {high:.4g}")
        return "\n".join(lines)


def isola_probability(
    structure: Structure,
    draws: Mapping[str, Any],
    forcing: Forcing,
    frequency_range: tuple[float, float],
    amplitude: float | None = None,
    method: HarmonicBalance | None = None,
    arclength: Arclength | None = None,
) -> IsolaProbability:
    """The probability that a forcing has an isola, and where.

    Args:
        structure: what vibrates; laws without memory only.
        draws: values of its unknowns by name, one per draw; other names are left out.
        forcing: amplitudes of forces by mass, as for `forced_response`.
        frequency_range: in rad/s; an isola must lie within.
        amplitude: about the largest displacement up to which to look for backbones.
        method: harmonic balance and its settings.
        arclength: how branches are followed.

    Returns:
        Probability, ranges and peaks.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "k3"), vb.Damper(0.05)])
        >>> draws = {"k3": np.array([0.1, 0.11, 0.12])}
        >>> vb.isola_probability(oscillator, draws, {"mass": 0.1}, (0.5, 1.6)).probability
        0.0
    """
    where = "isola_probability"
    check_structure(structure, where, conservative=True)
    kept = check_draws(draws, structure, where)
    amplitudes = check_forcing(forcing, structure, where)
    span = check_range(frequency_range, where)
    how = check_balance(method, structure, where)
    settings = Arclength() if arclength is None else arclength
    centre = centre_of(kept)
    bound = as_arrays(structure.bind(centre))
    force = force_coefficients(bound, amplitudes)
    reach = default_reach(linear_of(bound), force, span) if amplitude is None else amplitude
    reach = check_positive(reach, f"{where}.amplitude", "give a displacement")
    curves = forced_curves(how, bound, force, span)
    found = _Found(len(next(iter(kept.values()))), structure.mass_names)
    for branch in backbones(structure, centre, reach, span, how, settings).all:
        points = points_of(branch)
        if _inner_least(_levels(how, bound, force, points)) is None:
            continue
        free = followed_backbones(structure, kept, branch, how, settings, Limits(*span, reach))
        levels, starts = _starts(structure, kept, how, amplitudes, free)
        begin = corrected(starts, np.append(quadrature(how.harmonics, force), [0.0, 0.0]), settings)
        found = found.with_paths(
            follow_draws(curves, structure, kept, begin, settings, Limits(*span), amplitudes), levels
        )
    return found.judged()


def _levels(method: HarmonicBalance, bound: Structure, force: Array, points: Array) -> Array:
    """Factor of the forces that every point of a backbone takes."""
    drive = forced_drive(method.size(oscillation_of(bound)), force)
    lost = []
    for first in range(0, len(points), _ROWS):
        chosen = np.minimum(np.arange(first, first + _ROWS), len(points) - 1)
        lost.append(dissipation(method, bound, drive, points[chosen])[: len(points) - first])
    coefficients = points[:, :-2].reshape(len(points), -1, force.shape[1])
    return required_level(coefficients, force, np.concatenate(lost)) if lost else np.zeros(0)


def _inner_least(levels: Array) -> int | None:
    """Number of the inner point that takes least, if that is less than at both ends."""
    if len(levels) < 3:
        return None
    least = int(np.argmin(levels))
    return least if 0 < least < len(levels) - 1 else None


def _vertex(levels: Array) -> tuple[float, float]:
    """Least level, and where between points it lies, by the parabola through the lowest and its neighbours."""
    least = int(np.clip(np.argmin(levels), 1, len(levels) - 2))
    before, middle, after = levels[least - 1 : least + 2]
    bend = before - 2.0 * middle + after
    offset = float(np.clip(0.5 * (before - after) / bend, -1.0, 1.0)) if bend > 0.0 else 0.0
    return float(middle + 0.5 * offset * (after - before) + 0.5 * offset**2 * bend), least + offset


def _starts(
    structure: Structure,
    draws: Mapping[str, Array],
    how: HarmonicBalance,
    amplitudes: Mapping[str, Array],
    free: list[Path],
) -> tuple[Array, Array]:
    """Least level of every draw, and its point of the backbone that takes just the forces, moved to quadrature."""
    bounds = bound_draws(structure, draws, np.arange(len(free)))
    forces = force_coefficients(bounds, amplitudes)
    size = how.size(oscillation_of(structure_of(bounds, 0))) + 2
    least, starts = np.full(len(free), np.nan), np.full((len(free), size), np.nan)
    for number, path in enumerate(free):
        if len(path.points) < 3:
            continue
        levels = _levels(how, structure_of(bounds, number), forces[number], path.points)
        lowest, offset = _vertex(levels)
        least[number] = lowest
        # Of the two points that take just the given level, that of larger motion, where the isola has its peak.
        after = np.flatnonzero((levels[:-1] < 1.0) != (levels[1:] < 1.0))
        sizes = np.linalg.norm(path.points[:, :-2], axis=1)
        if len(after):
            best = int(after[np.argmax(sizes[after])])
            share = (1.0 - levels[best]) / (levels[best + 1] - levels[best])
        else:
            best, share = min(int(offset), len(levels) - 2), offset - min(int(offset), len(levels) - 2)
        at = (path.points[best] + share * (path.points[best + 1] - path.points[best]))[None]
        # Whatever its level, the point is moved to where all work of the forces is needed.
        start = balanced_starts(at, forces[number], np.pi * np.abs(_full_work(at, forces[number])))
        starts[number] = start[0]
    return least, starts


def _full_work(points: Array, force: Array) -> Array:
    coefficients = points[:, :-2].reshape(len(points), -1, force.shape[1])
    return np.sum(harmonic(coefficients) * np.conj(harmonic(force)), axis=-1)


@dataclass(frozen=True)
class _Found:
    """Responses of draws near each of several backbones."""

    count: int
    mass_names: tuple[str, ...]
    paths: tuple[list[Path], ...] = ()
    levels: tuple[Array, ...] = ()

    def with_paths(self, paths: list[Path], levels: Array) -> _Found:
        return _Found(self.count, self.mass_names, (*self.paths, paths), (*self.levels, levels))

    def judged(self) -> IsolaProbability:
        """Existence, range and peak of every draw, of its largest isola."""
        exists, undecided = np.zeros(self.count, bool), np.zeros(self.count, bool)
        ranges, tops = np.full((self.count, 2), np.nan), np.full((self.count, len(self.mass_names)), np.nan)
        chosen: list[Path] = []
        for number in range(self.count):
            mine = [paths[number] for paths in self.paths]
            closed = [path for path in mine if path.status is BranchStatus.CLOSED]
            if closed:
                path = max(closed, key=lambda each: np.abs(each.points[:, :-2]).max())
                exists[number], ranges[number] = True, extremes(path)
                chosen.append(path)
            else:
                lost = [_is_open(p, levels[number]) for p, levels in zip(mine, self.levels, strict=True)]
                undecided[number] = any(lost)
                chosen += mine[:1]
        curves = draws_of(chosen, self.mass_names)
        for number in np.flatnonzero(exists):
            tops[number] = curves.amplitudes[number].max(axis=0)
        decided = int((~undecided).sum())
        share = float(exists.sum() / decided) if decided else np.nan
        error = float(np.sqrt(share * (1.0 - share) / decided)) if decided else np.nan
        least = np.fmin.reduce([*self.levels, np.full(self.count, np.nan)])
        return IsolaProbability(share, error, ranges, tops, exists, undecided, least, curves)


def _is_open(path: Path, level: float) -> bool:
    """Whether a response that did not close leaves the question open: it was lost, and energy does not decide."""
    if path.status is BranchStatus.RANGE_LEFT:
        return False
    return not level > 1.0 + _CLEAR


def extremes(path: Path) -> tuple[float, float]:
    """Least and largest frequency of a path: between points by cubics that have the tangents of the path."""
    found = [path.points[:, -2]]
    for i in range(len(path.points) - 1):
        one, other = path.tangents[i, -2] * path.scales[i, -2], path.tangents[i + 1, -2] * path.scales[i + 1, -2]
        if one * other < 0.0:
            length = float(np.linalg.norm((path.points[i + 1] - path.points[i]) / path.scales[i]))
            found.append(_cubic(path.points[i, -2], path.points[i + 1, -2], one * length, other * length))
    every = np.concatenate([np.atleast_1d(each) for each in found])
    return float(every.min()), float(every.max())


def _cubic(begin: float, end: float, slope: float, last: float) -> Array:
    """Extreme values within (0, 1) of the cubic with given ends and slopes."""
    a, b = 2.0 * (begin - end) + slope + last, 3.0 * (end - begin) - 2.0 * slope - last
    roots = np.roots([3.0 * a, 2.0 * b, slope])
    inside = np.real(roots[(np.abs(np.imag(roots)) < 1e-12) & (np.real(roots) > 0.0) & (np.real(roots) < 1.0)])
    return ((a * inside + b) * inside + slope) * inside + begin
