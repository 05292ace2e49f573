"""Branches over draws of a posterior: all draws are followed together, step by step.

Draws are cut into blocks of equal size, which share one compiled program. Every draw begins at the solution of the
central values (their means), corrected to its own; the corrected point need only be somewhere on the draw's branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.interval import PROB, tails
from vibayes.periodic.attempt import Attempt
from vibayes.periodic.branch import BranchStatus
from vibayes.periodic.checks import force_coefficients
from vibayes.periodic.continuation import Arclength, Curves, Limits, Path, follow, step_from
from vibayes.periodic.fourier import peaks
from vibayes.periodic.oscillation import lanes_of
from vibayes.structure.declaration import position, shown
from vibayes.structure.element import as_arrays
from vibayes.structure.structure import Structure

Array = Any
BLOCK = 32
"""Draws that are followed together."""


@dataclass(frozen=True)
class BranchDraws:
    """Branches of many draws: one entry per draw in each tuple; empty arrays where a draw has no such branch.

    Args:
        mass_names: of the columns.
        frequencies: rad/s, along each branch.
        amplitudes: largest displacements, (points, masses) of each.
        coefficients: Fourier coefficients, (points, 2H + 1, masses) of each.
        status: how each ended.
    """

    mass_names: tuple[str, ...]
    frequencies: tuple[Array, ...]
    amplitudes: tuple[Array, ...]
    coefficients: tuple[Array, ...]
    status: tuple[BranchStatus, ...]

    def __len__(self) -> int:
        return len(self.frequencies)

    def frequency_band(self, amplitudes: Array, mass: str, prob: float = PROB) -> tuple[Array, Array, Array]:
        """Lower end, median and upper end of the frequency at which a branch first has an amplitude of a mass."""
        column = position(mass, self.mass_names, "a mass", "BranchDraws")
        rows = []
        for frequency, size in zip(self.frequencies, self.amplitudes, strict=True):
            rows.append(_first_passage(size[:, column], frequency, np.asarray(amplitudes, float)))
        return _band(np.array(rows), prob)

    def amplitude_band(self, frequencies: Array, mass: str, prob: float = PROB) -> tuple[Array, Array, Array]:
        """Lower end, median and upper end of the largest amplitude of a mass at every frequency."""
        column = position(mass, self.mass_names, "a mass", "BranchDraws")
        rows = []
        for frequency, size in zip(self.frequencies, self.amplitudes, strict=True):
            rows.append(_largest_at(frequency, size[:, column], np.asarray(frequencies, float)))
        return _band(np.array(rows), prob)

    def summary(self) -> str:
        """A line for people."""
        counts = {status: self.status.count(status) for status in BranchStatus if status in self.status}
        return f"{len(self)} draws: " + ", ".join(f"{count} × {status.name}" for status, count in counts.items())


def _first_passage(sizes: Array, frequencies: Array, wanted: Array) -> Array:
    """Frequencies where sizes first pass the wanted ones, by straight lines; NaN where they never do."""
    result = np.full(len(wanted), np.nan)
    for i in range(len(sizes) - 1):
        low, high = sorted((sizes[i], sizes[i + 1]))
        inside = np.isnan(result) & (wanted >= low) & (wanted <= high) & (high > low)
        share = (wanted[inside] - sizes[i]) / (sizes[i + 1] - sizes[i])
        result[inside] = frequencies[i] + share * (frequencies[i + 1] - frequencies[i])
    return result


def _largest_at(frequencies: Array, sizes: Array, wanted: Array) -> Array:
    """Largest of all sizes at the wanted frequencies, by straight lines; NaN where there are none."""
    result = np.full(len(wanted), -np.inf)
    for i in range(len(sizes) - 1):
        low, high = sorted((frequencies[i], frequencies[i + 1]))
        inside = (wanted >= low) & (wanted <= high) & (high > low)
        share = (wanted[inside] - frequencies[i]) / (frequencies[i + 1] - frequencies[i])
        result[inside] = np.maximum(result[inside], sizes[i] + share * (sizes[i + 1] - sizes[i]))
    return np.where(np.isfinite(result), result, np.nan)


def _band(rows: Array, prob: float) -> tuple[Array, Array, Array]:
    """Quantiles over draws that have a value."""
    low, high = tails("band", prob)
    ends = [low, 0.5, high]
    columns = [np.quantile(c[np.isfinite(c)], ends) if np.isfinite(c).any() else np.full(3, np.nan) for c in rows.T]
    low, middle, high = np.array(columns).reshape(-1, 3).T
    return low, middle, high


def check_draws(draws: Any, structure: Structure, where: str) -> dict[str, np.ndarray]:
    """Arrays of equal length, at least one entry, for every unknown of a structure; others are left out."""
    if not isinstance(draws, Mapping):
        raise InvalidInput(f"{where}.draws", "arrays by name", shown(draws), "give those of a posterior")
    kept = {name: np.asarray(draws[name], float) for name in structure.parameters if name in draws}
    structure.bind({name: value.reshape(-1)[:1][0] if value.size else np.nan for name, value in kept.items()})
    lengths = {np.shape(value) for value in kept.values()}
    if len(lengths) != 1 or len(next(iter(lengths))) != 1:
        got = ", ".join(f"{name}: {np.shape(value)}" for name, value in kept.items()) or "none"
        raise InvalidInput(f"{where}.draws", "one value per draw of every unknown", got, "give arrays of equal length")
    structure.bind(kept)
    return kept


def centre_of(draws: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Means of all unknowns."""
    return {name: float(np.mean(value)) for name, value in draws.items()}


Begin = Callable[[Curves, Array], Attempt]
"""From the equations of a block of draws, and their numbers, to points on their branches."""


def follow_draws(
    curves: Curves,
    structure: Structure,
    draws: Mapping[str, np.ndarray],
    begin: Begin,
    settings: Arclength,
    limits: Limits,
    forcing: Mapping[str, np.ndarray] | None = None,
) -> list[Path]:
    """Branches of all draws, block by block; ``curves`` are those of one set of values, and forces those of each."""
    count = len(next(iter(draws.values())))
    drive = jax.tree.map(lambda leaf: leaf[0], curves.drives)
    paths: list[Path] = []
    for first in range(0, count, BLOCK):
        chosen = np.minimum(np.arange(first, first + BLOCK), count - 1)
        bound, drives = bound_draws(structure, draws, chosen), lanes_of(drive, BLOCK)
        if forcing is not None:
            drives = drives._replace(force=jnp.asarray(force_coefficients(bound, forcing)))
        block = curves._replace(structures=bound, drives=drives)
        begun = begin(block, chosen)
        spare = np.arange(first, first + BLOCK) >= count
        begun = begun._replace(converged=begun.converged & ~spare)
        paths += follow(block, begun, settings, limits)[: count - first]
    return paths


def bound_draws(structure: Structure, draws: Mapping[str, np.ndarray], chosen: Array) -> Structure:
    """Structures of some draws, one entry per lane in every leaf."""
    bound = as_arrays(structure.bind({name: value[chosen] for name, value in draws.items()}))
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (len(chosen),)), bound)


def structure_of(bound: Structure, number: int) -> Structure:
    """The structure of one of many draws."""
    return jax.tree.map(lambda leaf: leaf[number], bound)


def corrected(points: Array, row: Array, settings: Arclength) -> Begin:
    """Begin draws at points, one for all or one each, corrected at right angles to a direction."""
    control = settings.control()._replace(iterations=jnp.int32(30), reach=jnp.asarray(0.3, float))

    def begin(block: Curves, chosen: Array) -> Attempt:
        wide = points[chosen] if points.ndim == 2 else np.repeat(points[None], BLOCK, axis=0)
        return step_from(block, wide, np.repeat(row[None], BLOCK, axis=0), np.zeros(BLOCK), control)

    return begin


def turned(begin: Begin) -> Begin:
    """Begin at the same points in the other direction."""

    def back(block: Curves, chosen: Array) -> Attempt:
        begun = begin(block, chosen)
        return begun._replace(tangent=-begun.tangent, orientation=-begun.orientation)

    return back


def draws_of(paths: list[Path], mass_names: tuple[str, ...]) -> BranchDraws:
    """Paths of harmonic balance as data."""
    masses = len(mass_names)
    coefficients = tuple(path.points[:, :-2].reshape(len(path.points), -1, masses) if len(path.points) else
                         np.zeros((0, 3, masses)) for path in paths)  # fmt: skip
    sizes = tuple(peaks(each) if len(each) else np.zeros((0, masses)) for each in coefficients)
    frequencies = tuple(path.points[:, -2] for path in paths)
    return BranchDraws(mass_names, frequencies, sizes, coefficients, tuple(path.status for path in paths))
