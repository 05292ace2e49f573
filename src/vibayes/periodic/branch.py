"""A branch of periodic solutions, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from vibayes.periodic.fourier import angles, harmonic, synthesis
from vibayes.structure.declaration import position

Array = np.ndarray


class BranchStatus(IntEnum):
    """Why a branch ended."""

    RANGE_LEFT = 0
    CLOSED = 1
    TOO_MANY_POINTS = 2
    STEP_TOO_SMALL = 3
    NOT_STARTED = 4

    @property
    def message(self) -> str:
        """What a person needs to know."""
        return {
            BranchStatus.RANGE_LEFT: "left the range that was asked for",
            BranchStatus.CLOSED: "came back to where it began",
            BranchStatus.TOO_MANY_POINTS: "the limit of points was reached; raise Arclength.points",
            BranchStatus.STEP_TOO_SMALL: "no step could be taken any more; loosen Arclength, or add harmonics",
            BranchStatus.NOT_STARTED: "no solution was found to begin with",
        }[self]

    @property
    def good(self) -> bool:
        """Whether the branch is whole within its range."""
        return self in (BranchStatus.RANGE_LEFT, BranchStatus.CLOSED)


@dataclass(frozen=True)
class SpecialPoint:
    """A point where the number or the stability of solutions changes.

    ``kind`` is "fold", "branch point", "period doubling" or "Neimark–Sacker"; ``after`` is the number of the last
    point of the branch before it. The rest is as in `Branch`, the frequency in rad/s.
    """

    kind: str
    after: int
    frequency: float
    level: float
    amplitudes: Array
    coefficients: Array
    multipliers: Array


@dataclass(frozen=True)
class Branch:
    """Periodic solutions along a curve, in the order in which they follow one another.

    Args:
        mass_names: of the columns.
        frequencies: Ω of every point, rad/s.
        coefficients: Fourier coefficients, (points, 2H + 1, masses), rows as in `vibayes.periodic.fourier`.
        amplitudes: largest displacement of a period, (points, masses).
        levels: factor of the forces at every point; zero for free oscillations.
        multipliers: Floquet multipliers, (points, states), the largest first.
        stable: whether disturbances die out (in free oscillations: do not grow).
        specials: folds and the like, in their order.
        status: why it ended at its last point, and at its first where it was followed both ways.
    """

    mass_names: tuple[str, ...]
    frequencies: Array
    coefficients: Array
    amplitudes: Array
    levels: Array
    multipliers: Array
    stable: Array
    specials: tuple[SpecialPoint, ...]
    status: tuple[BranchStatus, ...]

    def __len__(self) -> int:
        return len(self.frequencies)

    @property
    def closed(self) -> bool:
        """Whether it came back to where it began."""
        return BranchStatus.CLOSED in self.status

    @property
    def complete(self) -> bool:
        """Whether it is whole within its range."""
        return len(self) > 0 and all(status.good for status in self.status)

    @property
    def frequency_range(self) -> tuple[float, float]:
        """Least and largest frequency, folds included."""
        own = [*self.frequencies.tolist(), *(s.frequency for s in self.specials)]
        return (min(own), max(own)) if own else (np.nan, np.nan)

    @property
    def tail(self) -> float:
        """Size of the last two harmonics, relative to all of them, at the point where it is largest."""
        whole = np.linalg.norm(self.coefficients, axis=(1, 2))
        last = np.linalg.norm(self.coefficients[:, -4:], axis=(1, 2))
        return float(np.max(last / np.maximum(whole, 1e-300), initial=0.0))

    def amplitude(self, mass: str) -> Array:
        """Largest displacement of a mass at every point."""
        return self.amplitudes[:, self._column(mass)]

    def harmonic(self, mass: str, number: int = 1) -> Array:
        """Complex amplitude z of a harmonic of a mass, x = Re(z e^{ikΩt}), at every point."""
        return harmonic(self.coefficients, number)[:, self._column(mass)]

    def displacement(self, mass: str, point: int, samples: int = 256) -> Array:
        """Displacement of a mass over one period, the first sample at t = 0."""
        matrix = synthesis(self.coefficients.shape[1] // 2, angles(samples))
        return matrix @ self.coefficients[point, :, self._column(mass)]

    def amplitudes_at(self, frequency: float, mass: str) -> Array:
        """Amplitudes of a mass wherever the branch passes a frequency, between points by straight lines."""
        f, a = self.frequencies, self.amplitude(mass)
        if self.closed:
            f, a = np.append(f, f[0]), np.append(a, a[0])
        before, after = f[:-1] - frequency, f[1:] - frequency
        passing = np.flatnonzero((before <= 0) != (after <= 0))
        share = before[passing] / (before[passing] - after[passing])
        return a[passing] + share * (a[passing + 1] - a[passing])

    def peak(self, mass: str) -> tuple[float, float]:
        """Frequency and size of the largest amplitude of a mass."""
        top = int(np.argmax(self.amplitude(mass)))
        return float(self.frequencies[top]), float(self.amplitude(mass)[top])

    def summary(self) -> str:
        """A few lines for people."""
        if not len(self):
            return f"no points: {'; '.join(s.message for s in self.status)}"
        low, high = self.frequency_range
        top = ", ".join(f"{n} {a:.4g}" for n, a in zip(self.mass_names, self.amplitudes.max(axis=0), strict=True))
        lines = [
            f"{len(self)} points, {low:.5g} … {high:.5g} rad/s, largest amplitudes {top}",
            f"  {int(self.stable.sum())} stable; last harmonics {self.tail:.1e} of the motion",
        ]
        lines += [f"  {s.kind} at {s.frequency:.6g} rad/s" for s in self.specials]
        return "\n".join([*lines, *(f"  {s.name}: {s.message}" for s in self.status)])

    def _column(self, mass: str) -> int:
        return position(mass, self.mass_names, "a mass", "Branch")
