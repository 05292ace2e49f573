"""At which levels of the forces isolas are born, and at which they merge with other responses.

The two folds at the ends of an isola are one curve in the plane of frequency and level. Its lowest level is where the
isola is born, as a point; where it turns back at a highest level, a fold of the isola meets one of another response,
and they merge. Births are sought where the level that a backbone takes (damping over the work of the forces) has a
minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from vibayes.periodic.attempt import Attempt, sizes_of
from vibayes.periodic.branch import BranchStatus
from vibayes.periodic.checks import (
    Forcing,
    Values,
    check_balance,
    check_bound,
    check_forcing,
    check_positive,
    check_range,
    check_structure,
    force_coefficients,
)
from vibayes.periodic.continuation import Arclength, Curves, Limits, Path, follow, step_from
from vibayes.periodic.energy import balanced_starts, dissipation, required_level
from vibayes.periodic.folds import Folds, fold_near
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.isolated import Backbones, backbones
from vibayes.periodic.oscillation import Drive, forced_drive, lanes_of, oscillation_of
from vibayes.periodic.search import points_of
from vibayes.structure.structure import Structure

Array = Any


@dataclass(frozen=True)
class IsolaLevels:
    """Levels (factors of the forces) between which an isola exists on its own.

    Args:
        birth: level above which there is an isola.
        birth_frequency: where it begins as a point, rad/s.
        merging: level above which it is joined to another response; infinite if that is not within the range.
        merging_frequency: where it joins, rad/s.
        fold_frequencies: along the curve of its folds, rad/s.
        fold_levels: likewise.
        status: how the curve of its folds ended, both ways.
    """

    birth: float
    birth_frequency: float
    merging: float
    merging_frequency: float
    fold_frequencies: Array
    fold_levels: Array
    status: tuple[BranchStatus, ...]

    def summary(self) -> str:
        """A line for people."""
        born = f"born at level {self.birth:.5g} ({self.birth_frequency:.5g} rad/s)"
        if not np.isfinite(self.merging):
            return f"{born}, does not merge within the range"
        return f"{born}, merges at level {self.merging:.5g} ({self.merging_frequency:.5g} rad/s)"


def isola_levels(
    structure: Structure,
    values: Values,
    forcing: Forcing,
    frequency_range: tuple[float, float],
    amplitude: float,
    level_range: tuple[float, float] = (0.05, 20.0),
    method: HarmonicBalance | None = None,
    arclength: Arclength | None = None,
) -> tuple[IsolaLevels, ...]:
    """Find the levels of the forces at which isolas are born and merge.

    Args:
        structure: what vibrates; laws without memory only.
        values: of its unknowns.
        forcing: amplitudes of forces by mass at level 1, as for `forced_response`.
        frequency_range: in rad/s.
        amplitude: about the largest displacement up to which to look for backbones.
        level_range: least and largest factor of the forces.
        method: harmonic balance and its settings.
        arclength: how folds are followed.

    Returns:
        One entry per isola, in the order of their births.

    Examples:
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.1), vb.Damper(0.05)])
        >>> vb.isola_levels(oscillator, {}, {"mass": 0.1}, (0.5, 1.6), amplitude=3.0)
        ()
    """
    where = "isola_levels"
    check_structure(structure, where, conservative=True)
    amplitudes = check_forcing(forcing, structure, where)
    span = check_range(frequency_range, where)
    levels = check_range(level_range, where, "level_range")
    amplitude = check_positive(amplitude, f"{where}.amplitude", "give a displacement")
    how = check_balance(method, structure, where)
    arclength = Arclength() if arclength is None else arclength
    bound = check_bound(structure, values, where)
    force = force_coefficients(bound, amplitudes)
    free = backbones(structure, values, amplitude, span, how, arclength)
    drive = forced_drive(how.size(oscillation_of(bound)), force)
    curves = _fold_curves(how, bound, drive, span)
    found: list[IsolaLevels] = []
    for start in _cheapest(how, bound, drive, free, levels):
        level = _followed(curves, fold_near(how, bound, drive, start), arclength, Limits(*span, np.inf, *levels))
        if level is not None and not any(abs(level.birth / other.birth - 1.0) < 1e-6 for other in found):
            found.append(level)
    return tuple(sorted(found, key=lambda each: each.birth))


def _fold_curves(method: HarmonicBalance, bound: Structure, drive: Drive, span: tuple[float, float]) -> Curves:
    """Equations of folds, their level free."""
    size = 2 * method.size(oscillation_of(bound))
    free = drive._replace(pinned=jnp.zeros(()), moving=jnp.ones(()), phase=jnp.zeros(size), anchor=jnp.zeros(size))
    return Curves(
        Folds(of=method, harmonics=method.harmonics),
        lanes_of(bound, 1),
        lanes_of(free, 1),
        sizes_of(1e-9, span[1] - span[0], 1e-3),
    )


def _cheapest(
    method: HarmonicBalance, bound: Structure, drive: Drive, free: Backbones, levels: tuple[float, float]
) -> list[Array]:
    """Points of backbones that take less force than their neighbours, moved in time to quadrature."""
    force = np.asarray(drive.force)
    starts = []
    for branch in free.all:
        points = points_of(branch)
        lost = dissipation(method, bound, drive, points)
        level = required_level(branch.coefficients, force, lost[: len(branch)])
        inner = np.arange(1, len(level) - 1)
        lowest = inner[(level[inner] < level[inner - 1]) & (level[inner] <= level[inner + 1])]
        for number in lowest:
            if levels[0] <= level[number] <= levels[1]:
                at = slice(number, number + 1)
                start = balanced_starts(points[at], level[number] * force, lost[at])[0]
                start[-1] = level[number]
                starts.append(start)
    return starts


def _followed(curves: Curves, guess: Array, settings: Arclength, limits: Limits) -> IsolaLevels | None:
    """Birth and merging of the isola whose fold is near a guess."""
    row = np.zeros_like(guess)
    row[-2] = 1.0
    begun = step_from(curves, guess[None], row[None], np.zeros(1), settings.control())
    if not begun.converged[0]:
        return None
    back = begun._replace(tangent=-begun.tangent, orientation=-begun.orientation)
    (onwards,), (backwards,) = follow(curves, begun, settings, limits), follow(curves, back, settings, limits)
    turns = [turn for path in (onwards, backwards) for turn in _turns(curves, path, settings)]
    births = [turn for turn in turns if turn[0] == "lowest"]
    if not births:
        return None
    _, birth, birth_frequency = min(births, key=lambda turn: abs(turn[2] - guess[-2]))
    mergings = [turn for turn in turns if turn[0] == "highest" and turn[1] > birth]
    _, merging, merging_frequency = min(mergings, key=lambda turn: turn[1], default=("", np.inf, np.nan))
    rows = np.concatenate([backwards.points[:0:-1], onwards.points])
    status = (onwards.status, backwards.status)
    return IsolaLevels(birth, birth_frequency, merging, merging_frequency, rows[:, -2], rows[:, -1], status)


def _turns(curves: Curves, path: Path, settings: Arclength) -> list[tuple[str, float, float]]:
    """Where the level of folds turns without the frequency turning too (that is a cusp): kind, level, frequency."""
    turns = []
    for number in range(len(path.points) - 1):
        one, other = path.tangents[number], path.tangents[number + 1]
        if one[-1] * other[-1] < 0.0 < one[-2] * other[-2]:
            point = _turn(curves, path, number, settings)
            turns.append(("lowest" if one[-1] < 0.0 else "highest", float(point[-1]), float(point[-2])))
    return turns


def _turn(curves: Curves, path: Path, number: int, settings: Arclength) -> Array:
    """The point within a step where the level turns, by bisection."""
    start, tangent, best = path.points[number], path.tangents[number], path.points[number]
    low, high = 0.0, float(np.sum(tangent * (path.points[number + 1] - start) / path.scales[number]))
    while high - low > 1e-8:
        middle = 0.5 * (low + high)
        found: Attempt = step_from(curves, start[None], tangent[None], np.array([middle]), settings.control())
        if not found.converged[0]:
            break
        best = found.point[0]
        low, high = (middle, high) if found.tangent[0, -1] * tangent[-1] > 0.0 else (low, middle)
    return best
