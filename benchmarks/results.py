"""What was measured, as rows of a table and as records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cases import errors
from measure import Timing

SPEED_HEAD = ["", "sets/s", "sets/cpu-s", "error", "worst", "ours is", "by cpu-s", "required", "", ""]
SOLVER_HEAD = ["", "steps/s", "steps/cpu-s", *SPEED_HEAD[3:]]
FIGURE_HEAD = ["", "value", "unit", "required", ""]
IDENTIFICATION_HEAD = ["", "asked", "reached", "simulations", "s", "of ours", "s of ours", ""]
LIKELIHOOD_HEAD = ["", "sets/s", "sets/cpu-s", "log-lik.", "1st call", "ours is", "by cpu-s", "required", "", ""]
STEPS_HEAD = ["", "particle-samples/s", "s", "log-evid.", "ours is", "means", ""]
EFFECTIVE_HEAD = ["", "effective", "likelihoods", "s", "per s", "1st call", "per s with it", "ours is", "with it", ""]
LEGEND = """\
error: of the sample that is furthest off, in standard deviations of the response; median and worst of the sets.
ours is: so many times the throughput of that solver, by wall clock; by cpu-s: for equal processor time.
In a few trilinear sets the motion is chaotic: every solver's rounding grows 1e8-fold there. They are the worst.
asked, reached: thresholds of NMSE, in percent; 100 is a structure that stands still. of ours, s of ours: so many times
the simulations and the seconds that ours takes to the threshold that was reached; no number where ours misses it.
log-lik.: of the true parameters; filters of one model differ by a few units. 1st call: seconds, most of which go into
compiling. effective: independent draws that the draws of the parameter that is known worst are worth."""
_UNITS, _SHARE = 3.0, 3e-3
"""By which log-likelihoods may differ that approximate the same."""


@dataclass(frozen=True)
class Throughput:
    """One peer on one case: parameter sets per second of wall clock and of processor time, against ours."""

    solver: str
    per_second: float
    per_cpu_second: float
    note: str = field(default="", kw_only=True)
    ours: Any = field(default=None, kw_only=True)
    """What it is compared with, of the same kind."""
    required: float | None = field(default=None, kw_only=True)
    """How many times as fast ours has to be, for no worse a result."""

    @property
    def ratio(self) -> float | None:
        return self.ours and self.ours.per_second / self.per_second

    @property
    def cpu_ratio(self) -> float | None:
        return self.ours and self.ours.per_cpu_second / self.per_cpu_second

    @property
    def fair(self) -> bool:
        """Whether the results allow speeds to be compared."""
        raise NotImplementedError

    def found(self) -> list[str]:
        """The cells of the result."""
        raise NotImplementedError

    @property
    def verdict(self) -> str:
        if self.ratio is None or self.required is None:
            return ""
        return _verdict(self.fair and self.ratio >= self.required)

    def row(self) -> list[str]:
        speeds = f"{self.per_second:.4g}", f"{self.per_cpu_second:.4g}"
        ratios = ["" if r is None else f"{r:.0f} x" if r >= 10 else f"{r:.2f} x" for r in (self.ratio, self.cpu_ratio)]
        required = "" if self.required is None else f">= {self.required:g} x"
        return [self.solver, *speeds, *self.found(), *ratios, required, self.verdict, self.note]

    def record(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name != "ours"}
        against = {"against": self.ours and self.ours.solver, "ratio": self.ratio, "cpu_ratio": self.cpu_ratio}
        return {**own, **against, "verdict": self.verdict}


@dataclass(frozen=True)
class Speed(Throughput):
    """One solver on one case, and how wrong it is."""

    error: float
    worst: float

    @property
    def fair(self) -> bool:
        return self.ours.error <= max(self.error, 1e-12)  # below that it is luck with rounding

    def found(self) -> list[str]:
        return [f"{self.error:.0e}", f"{self.worst:.0e}"]


@dataclass(frozen=True)
class Likelihoods(Throughput):
    """One filter on one record."""

    log_likelihood: float
    """Of the true parameters."""
    first_call: float
    """Seconds."""

    @property
    def fair(self) -> bool:
        ours = self.ours or self
        return abs(self.log_likelihood - ours.log_likelihood) <= _UNITS + _SHARE * abs(ours.log_likelihood)

    def found(self) -> list[str]:
        return [f"{self.log_likelihood:.2f}", f"{self.first_call:.1f} s"]

    def row(self) -> list[str]:
        *cells, note = super().row()
        return [*cells, note if self.fair else "another model, by its log-likelihood"]

    def record(self) -> dict[str, Any]:
        return {**super().record(), "same_model": self.fair}


@dataclass(frozen=True)
class Steps:
    """One run along a record: particles times samples, over the seconds of the whole run, moves and all."""

    method: str
    per_second: float | None = None
    """None for a method that could not be run; the note says why."""
    seconds: float = np.nan
    log_evidence: float = np.nan
    mean: dict[str, float] = field(default_factory=dict)
    note: str = ""
    ours: Steps | None = None

    @property
    def ratio(self) -> float | None:
        return self.ours and self.per_second and self.ours.per_second / self.per_second

    def row(self) -> list[str]:
        if self.per_second is None:
            return [self.method, *[""] * 5, self.note]
        means = ", ".join(f"{name} {value:.4g}" for name, value in self.mean.items())
        ratio = "" if self.ratio is None else f"{self.ratio:.1f} x"
        cost = f"{self.per_second:.3g}", f"{self.seconds:.1f}", f"{self.log_evidence:.1f}"
        return [self.method, *cost, ratio, means, self.note]

    def record(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name != "ours"}
        return {**own, "against": self.ours and self.ours.method, "ratio": self.ratio}


@dataclass(frozen=True)
class Effective:
    """One sampler on one posterior: what its draws are worth, and what they cost from the first to the last."""

    method: str
    effective: float
    """Fewest independent draws of any parameter."""
    seconds: float
    """What is discarded included, compiling not."""
    first_call: float
    likelihoods: int
    note: str = ""
    ours: Effective | None = None

    @property
    def per_second(self) -> float:
        return self.effective / self.seconds

    @property
    def per_second_with_first_call(self) -> float:
        return self.effective / (self.seconds + self.first_call)

    @property
    def ratios(self) -> tuple[float | None, float | None]:
        """How many times as many ours has per second, without and with the first call."""
        if self.ours is None:
            return None, None
        with_it = self.ours.per_second_with_first_call / self.per_second_with_first_call
        return self.ours.per_second / self.per_second, with_it

    def row(self) -> list[str]:
        cost = f"{self.effective:.0f}", f"{self.likelihoods:,}", f"{self.seconds:.1f}", f"{self.per_second:.3g}"
        first = f"{self.first_call:.1f} s", f"{self.per_second_with_first_call:.3g}"
        return [self.method, *cost, *first, *("" if r is None else f"{r:.2f} x" for r in self.ratios), self.note]

    def record(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name != "ours"}
        rates = {"per_second": self.per_second, "per_second_with_first_call": self.per_second_with_first_call}
        ratio, with_it = self.ratios
        return {**own, **rates, "against": self.ours and self.ours.method, "ratio": ratio, "ratio_with": with_it}


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
