"""Whether there is an isola, and where: what draws of a posterior say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.periodic.backbones import quadrature
from vibayes.periodic.branch import Branch, BranchStatus
from vibayes.periodic.checks import (
    Forcing,
    check_forcing,
    check_method,
    check_range,
    check_structure,
    force_coefficients,
)
from vibayes.periodic.continuation import Arclength, Limits, Path
from vibayes.periodic.draws import BranchDraws, at_once, centre_of, check_draws, draws_of, follow_draws
from vibayes.periodic.forced import forced_curves
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.isolas import isolas
from vibayes.periodic.search import points_of
from vibayes.structure.element import as_arrays
from vibayes.structure.structure import Structure

Array = Any


@dataclass(frozen=True)
class IsolaProbability:
    """Isolas over draws of a posterior.

    Args:
        probability: share of the draws that have an isola, of those that are decided.
        standard_error: of that share, from the number of draws.
        ranges: least and largest frequency of the isola of each draw, (draws, 2); NaN where there is none.
        peaks: largest displacement on it, (draws, masses).
        exists: whether each draw has one; False also where it has merged with another response.
        undecided: draws whose branches could not be followed to an end; they count for nothing.
        central: isola of the central values, if there is one.
        curves: isolas of all draws.
    """

    probability: float
    standard_error: float
    ranges: Array
    peaks: Array
    exists: Array
    undecided: Array
    central: Branch | None
    curves: BranchDraws

    def range_interval(self, share: float = 0.9) -> tuple[tuple[float, float], tuple[float, float]]:
        """Intervals that hold a share of the belief in the least and in the largest frequency."""
        low, high = (self._interval(self.ranges[:, i], share) for i in (0, 1))
        return low, high

    def peak_interval(self, mass: str, share: float = 0.9) -> tuple[float, float]:
        """Interval that holds a share of the belief in the largest displacement of a mass."""
        return self._interval(self.peaks[:, self.curves.mass_names.index(mass)], share)

    def _interval(self, values: Array, share: float) -> tuple[float, float]:
        kept = values[self.exists]
        if not len(kept):
            return np.nan, np.nan
        low, high = np.percentile(kept, [50.0 * (1.0 - share), 50.0 * (1.0 + share)])
        return float(low), float(high)

    def summary(self) -> str:
        """A few lines for people."""
        odds = f"{self.probability:.3f} ± {self.standard_error:.3f}"
        lines = [f"isola with probability {odds} ({len(self.exists)} draws)"]
        if self.undecided.any():
            lines.append(f"  {int(self.undecided.sum())} draws undecided")
        if self.exists.any():
            (a, b), (c, d) = self.range_interval()
            lines.append(f"  90 %: begins at {a:.5g} … {b:.5g}, ends at {c:.5g} … {d:.5g} rad/s")
            for mass in self.curves.mass_names:
                low, high = self.peak_interval(mass)
                lines.append(f"  90 %: largest displacement of {mass} {low:.4g} … {high:.4g}")
        return "\n".join(lines)


def isola_probability(
    structure: Structure,
    draws: Mapping[str, Any],
    forcing: Forcing,
    frequency_range: tuple[float, float],
    amplitude: float | None = None,
    searched: int = 8,
    method: HarmonicBalance | None = None,
    arclength: Arclength | None = None,
) -> IsolaProbability:
    """The probability that a forcing has an isola, and where.

    The isola of the central values is corrected to every draw and followed until it closes. Draws for which that fails
    are searched anew, up to a number of them; if the central values have no isola, that number of draws is searched
    for one to begin with.

    Args:
        structure: what vibrates.
        draws: values of its unknowns by name, one per draw; other names are left out.
        forcing: amplitudes of forces by mass, as for `forced_response`.
        frequency_range: in rad/s; an isola must lie within.
        amplitude: about the largest displacement up to which to look.
        searched: most draws that are searched on their own.
        method: harmonic balance and its settings.
        arclength: how isolas are followed.

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
    check_structure(structure, where)
    kept = check_draws(draws, structure, where)
    span = check_range(frequency_range, where)
    how = check_method(HarmonicBalance() if method is None else method, structure, where)
    settings = Arclength() if arclength is None else arclength

    def search(values: Mapping[str, float]) -> tuple[Branch, ...]:
        return isolas(structure, values, forcing, span, amplitude, 0, how, settings).isolas

    count = len(next(iter(kept.values())))
    budget = searched
    central = _largest(search(centre_of(kept)))
    seed, tried = central, 0
    alone: dict[int, Branch | None] = {}
    while seed is None and tried < min(budget, count):
        alone[tried] = seed = _largest(search({name: float(value[tried]) for name, value in kept.items()}))
        tried += 1
    if seed is None:
        return _none(count, structure.mass_names, np.arange(count) < 0)
    paths = _corrected_to_draws(structure, kept, forcing, span, how, settings, seed)
    failed = [i for i, path in enumerate(paths) if path.status is not BranchStatus.CLOSED and i not in alone]
    for number in failed[: max(budget - tried, 0)]:
        alone[number] = _largest(search({name: float(value[number]) for name, value in kept.items()}))
    return _judged(paths, alone, central, structure.mass_names)


def _largest(found: tuple[Branch, ...]) -> Branch | None:
    """Of several isolas the one with the largest displacements."""
    return max(found, key=lambda branch: branch.amplitudes.max(), default=None)


def _corrected_to_draws(structure, draws, forcing, span, how, settings, seed: Branch) -> list[Path]:
    """The isola of every draw, from the point of a known one that is nearest to quadrature."""
    amplitudes = check_forcing(forcing, structure, "isola_probability")
    bound = as_arrays(structure.bind(centre_of(draws)))
    force = force_coefficients(bound, amplitudes)
    curves = forced_curves(how, bound, force, span)
    phase = quadrature(how.harmonics, force)
    points = points_of(seed)
    lag = np.abs(points[:, :-2] @ phase) / np.linalg.norm(points[:, :-2], axis=1)
    start = points[int(np.argmin(lag - 1e-3 * np.linalg.norm(points[:, :-2], axis=1)))].copy()
    start[:-2] -= phase * (phase @ start[:-2])
    row = np.concatenate([phase, [0.0, 0.0]])
    return follow_draws(curves, structure, draws, at_once(start, row, settings), settings, Limits(*span), amplitudes)


def _judged(
    paths: list[Path], alone: Mapping[int, Branch | None], central: Branch | None, mass_names: tuple[str, ...]
) -> IsolaProbability:
    """Existence, range and peak of every draw."""
    curves = draws_of(paths, mass_names)
    count, masses = len(paths), len(mass_names)
    exists, undecided = np.zeros(count, bool), np.zeros(count, bool)
    ranges, tops = np.full((count, 2), np.nan), np.full((count, masses), np.nan)
    for number, path in enumerate(paths):
        if path.status is BranchStatus.CLOSED:
            exists[number] = True
            ranges[number] = extremes(path)
            tops[number] = curves.amplitudes[number].max(axis=0)
        elif number in alone:
            branch = alone[number]
            if branch is not None:
                exists[number] = True
                ranges[number], tops[number] = branch.frequency_range, branch.amplitudes.max(axis=0)
        else:
            # A curve that leaves the range is no isola; one that was lost may or may not be.
            undecided[number] = path.status is not BranchStatus.RANGE_LEFT
    decided = max(int((~undecided).sum()), 1)
    share = float(exists.sum() / decided)
    error = float(np.sqrt(share * (1.0 - share) / decided))
    return IsolaProbability(share, error, ranges, tops, exists, undecided, central, curves)


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


def _none(count: int, mass_names: tuple[str, ...], exists: Array) -> IsolaProbability:
    """No isola in any draw that was searched."""
    empty = BranchDraws(mass_names, (), (), (), ())
    nothing = np.full((count, 2), np.nan)
    return IsolaProbability(
        0.0, 0.0, nothing, np.full((count, len(mass_names)), np.nan), exists, np.zeros(count, bool), None, empty
    )
