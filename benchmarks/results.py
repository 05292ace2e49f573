"""What was measured, as rows of a table and as records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from cases import errors
from measure import Timing

SPEED_HEAD = ["", "sets/s", "sets/cpu-s", "error", "worst", "ours is", "by cpu-s", "required", "", ""]
FIGURE_HEAD = ["", "value", "unit", "required", ""]
IDENTIFICATION_HEAD = ["", "asked", "reached", "simulations", "s", "of ours", "s of ours", ""]
LEGEND = """\
error: of the sample that is furthest off, in standard deviations of the response; median and worst of the sets.
ours is: so many times the throughput of that solver, by wall clock; by cpu-s: for equal processor time.
In a few trilinear sets the motion is chaotic: every solver's rounding grows 1e8-fold there. They are the worst.
asked, reached: thresholds of NMSE, in percent; 100 is a structure that stands still. of ours, s of ours: so many times
the simulations and the seconds that ours takes to the threshold that was reached; no number where ours misses it."""


@dataclass(frozen=True)
class Speed:
    """One solver on one case: parameter sets per second of wall clock and of processor time, and how wrong."""

    solver: str
    per_second: float
    per_cpu_second: float
    error: float
    worst: float
    note: str = ""
    ours: Speed | None = None
    """What it is compared with."""
    required: float | None = None
    """How many times as fast ours has to be, at no larger error."""

    @property
    def ratio(self) -> float | None:
        return self.ours and self.ours.per_second / self.per_second

    @property
    def cpu_ratio(self) -> float | None:
        return self.ours and self.ours.per_cpu_second / self.per_cpu_second

    @property
    def verdict(self) -> str:
        if self.ours is None or self.ratio is None or self.required is None:
            return ""
        as_accurate = self.ours.error <= max(self.error, 1e-12)  # below that it is luck with rounding
        return _verdict(as_accurate and self.ratio >= self.required)

    def row(self) -> list[str]:
        speeds = f"{self.per_second:.4g}", f"{self.per_cpu_second:.4g}", f"{self.error:.0e}", f"{self.worst:.0e}"
        ratios = ["" if r is None else f"{r:.0f} x" if r >= 10 else f"{r:.2f} x" for r in (self.ratio, self.cpu_ratio)]
        required = "" if self.required is None else f">= {self.required:g} x"
        return [self.solver, *speeds, *ratios, required, self.verdict, self.note]

    def record(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name != "ours"}
        against = {"against": self.ours and self.ours.solver, "ratio": self.ratio, "cpu_ratio": self.cpu_ratio}
        return {**own, **against, "verdict": self.verdict}


@dataclass(frozen=True)
class Figure:
    """One number, and the limit it should not exceed."""

    what: str
    value: float
    unit: str = ""
    limit: float | None = None

    @property
    def verdict(self) -> str:
        return "" if self.limit is None else _verdict(self.value <= self.limit)

    def row(self) -> list[str]:
        limit = "" if self.limit is None else f"<= {self.limit:g}"
        return [self.what, f"{self.value:.3g}", self.unit, limit, self.verdict]

    def record(self) -> dict[str, Any]:
        return {**vars(self), "verdict": self.verdict}


@dataclass(frozen=True)
class Identification:
    """One sampler on one problem: the threshold it was asked for, the one it reached, and what that took."""

    method: str
    asked: float
    threshold: float | None = None
    """None for a method that could not be run; the note says why."""
    simulations: int | None = None
    seconds: float | None = None
    note: str = ""
    ours: Identification | None = None
    """Ours, asked for the threshold that was reached."""

    @property
    def simulations_ratio(self) -> float | None:
        return self.simulations / self.ours.simulations if self.comparable else None

    @property
    def seconds_ratio(self) -> float | None:
        return self.seconds / self.ours.seconds if self.comparable else None

    @property
    def comparable(self) -> bool:
        """Whether ours came as far."""
        return self.ours is not None and self.ours.threshold <= self.threshold

    def row(self) -> list[str]:
        if self.threshold is None:
            return [self.method, f"{self.asked:.4g}", *[""] * 5, self.note]
        cost = f"{self.asked:.4g}", f"{self.threshold:.4g}", f"{self.simulations:,}", f"{self.seconds:.1f}"
        ratios = ["" if r is None else f"{r:.2f} x" for r in (self.simulations_ratio, self.seconds_ratio)]
        return [self.method, *cost, *ratios, self.note]

    def record(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name != "ours"}
        ratios = {"simulations_ratio": self.simulations_ratio, "seconds_ratio": self.seconds_ratio}
        return {**own, "against": self.ours and self.ours.method, **ratios}


def speed(solver: str, sets: int, cost: Timing, result: np.ndarray, reference: np.ndarray, **more: Any) -> Speed:
    """Throughput, and the errors of those sets that have a reference."""
    count = min(len(result), len(reference))
    error = errors(result[:count], reference[:count])
    return Speed(solver, sets / cost.wall, sets / cost.cpu, float(np.median(error)), float(error.max()), **more)


def table(title: str, head: list[str], rows: list[list[str]]) -> str:
    """Aligned columns, the first and the last to the left."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells):
        first, *middle, last = [(cell.ljust(w), cell.rjust(w)) for cell, w in zip(cells, widths, strict=True)]
        return "  ".join([first[0], *(cell[1] for cell in middle), last[0]]).rstrip()

    return "\n".join(["", title, *map(line, [head, *rows])])


def _verdict(passed: bool) -> str:
    return "pass" if passed else "FAIL"
