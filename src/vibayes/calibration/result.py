"""What a calibration found: ranks, coverage of intervals, probabilities of models, and a verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from vibayes.calibration.model_probabilities import Bin, brier, brier_p, expected_brier, reliability, sure
from vibayes.calibration.ranks import LOG_LIKELIHOOD, bins_for, departure, holm, uniformity_p
from vibayes.calibration.replication import Replication
from vibayes.errors import InvalidInput
from vibayes.naming import nearest
from vibayes.notebook import card

PROBS = 0.5, 0.9, 0.95
"""Of the central intervals whose coverage is told."""
PROBABILITIES = "probabilities of the models"
_FEWEST = 20
"""Records below which nothing is said."""
_ROWS = 12
"""Quantities that a summary shows."""


@dataclass(frozen=True)
class Calibration:
    """Simulation-based calibration of one or several models; `vibayes.calibrate` makes it, and printing shows it.

    Attributes:
        models: names, in the order they were posed.
        asked: records that were asked for.
        replications: those that were made, in the order of their numbers, without posteriors.
        seconds: that it took.
        notes: what must be known of the result.
        level: probability, corrected for the number of tests, below which a quantity is not calibrated.
    """

    models: tuple[str, ...]
    asked: int
    replications: tuple[Replication, ...]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    level: float = 0.01

    def __post_init__(self) -> None:
        # Draws of hundreds of posteriors are more than a result should hold.
        bare = tuple(replace(each, posterior=None) for each in self.replications)
        object.__setattr__(self, "replications", bare)

    @cached_property
    def _done(self) -> tuple[Replication, ...]:
        return tuple(each for each in self.replications if not each.failure)

    @property
    def records(self) -> int:
        """Records that were simulated and inferred."""
        return len(self._done)

    @cached_property
    def ranks(self) -> dict[str, np.ndarray]:
        """Normalised ranks of the truth by quantity, between 0 and 1: of the parameters of the true model, whichever it
        is, and of the log-likelihood.
        """
        names = dict.fromkeys(name for each in self._done for name in each.ranks)
        ordered = [*(name for name in names if name != LOG_LIKELIHOOD), *(n for n in names if n == LOG_LIKELIHOOD)]
        return {n: np.array([each.ranks[n] for each in self._done if n in each.ranks]) for n in ordered}

    @cached_property
    def true(self) -> np.ndarray:
        """Number of the true model of every record."""
        return np.array([self.models.index(each.model) for each in self._done], int)

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Of all models, (records, models); NaN where the method gives none."""
        return np.array([each.probabilities for each in self._done], float).reshape(self.records, len(self.models))

    @property
    def draws(self) -> np.ndarray:
        """Draws of the posterior among which the truth was ranked, record by record."""
        return np.array([each.draws for each in self._done], int)

    @property
    def effective(self) -> np.ndarray:
        """Independent draws that those of the true model are worth, likewise."""
        return np.array([each.effective for each in self._done], float)

    @property
    def failures(self) -> tuple[str, ...]:
        """Why records could not be inferred, one entry for each of them."""
        return tuple(f"record {each.number}: {each.failure}" for each in self.replications if each.failure)

    @property
    def redrawn(self) -> int:
        """Draws of the priors that could not be simulated, and were drawn again."""
        return sum(each.redrawn for each in self.replications)

    def of(self, model: str) -> Calibration:
        """Ranks of the records of one model alone; its probability is no part of it."""
        if model not in self.models:
            raise InvalidInput("Calibration.of", "the name of a model", repr(model), nearest(model, self.models))
        mine = tuple(replace(each, probabilities=(1.0,)) for each in self.replications if each.model == model)
        return Calibration((model,), len(mine), mine, self.seconds, self.notes, self.level)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Quantities that are parameters."""
        return tuple(name for name in self.ranks if name != LOG_LIKELIHOOD)

    @property
    def ess_min(self) -> float:
        """Fewest effective draws of all records; NaN of none."""
        known = self.effective[np.isfinite(self.effective)]
        return float(known.min()) if len(known) else float("nan")

    @property
    def coverage(self) -> dict[int, float]:
        """Share of central intervals that hold the truth, all parameters together, by per cent: 50, 90 and 95."""
        pooled = np.concatenate([self.ranks[name] for name in self.parameters] or [np.empty(0)])
        return {round(100 * prob): _covered(pooled, prob) for prob in PROBS}

    @property
    def coverage_of(self) -> dict[str, dict[int, float]]:
        """The same parameter by parameter."""
        return {
            name: {round(100 * prob): _covered(self.ranks[name], prob) for prob in PROBS} for name in self.parameters
        }

    @cached_property
    def rank_p(self) -> dict[str, float]:
        """Probability that uniform ranks differ from uniform by as much, by Pearson's chi-square in equal bins."""
        return {name: uniformity_p(ranks) for name, ranks in self.ranks.items()}

    @cached_property
    def corrected_p(self) -> dict[str, float]:
        """All tests together, by Holm's correction: the ranks of every quantity, and the probabilities of models."""
        tests = dict(self.rank_p)
        if len(self.models) > 1:
            tests[PROBABILITIES] = self.brier_p
        return holm(tests)

    @property
    def calibrated(self) -> bool | None:
        """Whether no test fails; None where there are too few records to say."""
        known = [p for p in self.corrected_p.values() if not np.isnan(p)]
        return None if self.records < _FEWEST or not known else min(known) >= self.level

    @property
    def verdict(self) -> str:
        """The same in words, with what is wrong."""
        tests = {name: p for name, p in self.corrected_p.items() if not np.isnan(p)}
        if self.calibrated is None:
            return f"too few records to tell ({self.records}; at least {_FEWEST})"
        name = min(tests, key=lambda each: tests[each])
        if self.calibrated:
            least = f"smallest p {tests[name]:.2g}, of {name}, corrected for {len(tests)} tests"
            return f"calibrated, as far as {self.records} records can tell: {least}"
        wrong = sorted((p, name) for name, p in tests.items() if p < self.level)
        said = "; ".join(f"{name}: {self._wrong(name)} (p {p:.2g})" for p, name in wrong[:_ROWS])
        return f"not calibrated: {said}"

    def _wrong(self, name: str) -> str:
        if name != PROBABILITIES:
            return departure(name, self.ranks[name])
        return "too sure" if self.brier > self.expected_brier else "too cautious"

    @property
    def _known(self) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities that are known, with the true models."""
        known = np.isfinite(self.probabilities).all(axis=1)
        return self.probabilities[known], self.true[known]

    @property
    def brier(self) -> float:
        """Mean Brier score of the probabilities of models, Σ_m ([m is true] − p_m)², from 0 to 2; NaN of none."""
        return brier(*self._known)

    @property
    def expected_brier(self) -> float:
        """What it would be on average if the probabilities are right."""
        return expected_brier(self._known[0])

    @cached_property
    def brier_p(self) -> float:
        """Probability that right probabilities have a Brier score as far from what is expected."""
        return brier_p(*self._known)

    @property
    def above_90(self) -> int:
        """Records of which one model has a probability above 0.9."""
        return sure(*self._known)[0]

    @property
    def right_when_above_90(self) -> float:
        """Share of them in which it is the true model; NaN of none."""
        return sure(*self._known)[1]

    @property
    def reliability(self) -> tuple[Bin, ...]:
        """Probabilities of all models in tenths: how many, their mean, and how often the model was the true one."""
        return reliability(*self._known) if len(self.models) > 1 else ()

    def to_dict(self) -> dict[str, Any]:
        """All numbers, for JSON; None for what is not known."""
        found: dict[str, Any] = {
            "models": list(self.models),
            "records": self.records,
            "coverage": {str(prob): _number(share) for prob, share in self.coverage.items()},
            "rank_p": {name: _number(p) for name, p in self.rank_p.items()},
            "corrected_p": {name: _number(p) for name, p in self.corrected_p.items()},
            "calibrated": self.calibrated,
            "verdict": self.verdict,
            "ess_min": _number(self.ess_min),
            "failures": len(self.failures),
            "redrawn": self.redrawn,
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
        }
        if len(self.models) > 1:
            found |= {
                "brier": _number(self.brier),
                "expected_brier": _number(self.expected_brier),
                "above_90": self.above_90,
                "right_when_above_90": _number(self.right_when_above_90),
                "probability_bins": [
                    {name: value if name == "count" else _number(value) for name, value in asdict(each).items()}
                    for each in self.reliability
                ],
            }
        return found

    def __repr__(self) -> str:
        models = ", ".join(map(repr, self.models))
        short = {True: "calibrated", False: "not calibrated", None: "too few to tell"}[self.calibrated]
        return f"Calibration({self.records} records of {models}: {short})"

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """A screen for people."""
        lines = [f"{self.records} of {self.asked} records of {', '.join(self.models)}: {self.verdict}"]
        if self.ranks:
            lines += self._table()
        if len(self.models) > 1 and not np.isnan(self.brier):
            score = f"Brier score of the models {self.brier:.3f}, expected {self.expected_brier:.3f}"
            right = f"; right in {self.right_when_above_90:.0%} of {self.above_90} records above 0.9"
            lines.append(score + (right.replace("%", " %") if self.above_90 else "; never above 0.9"))
        if self.failures:
            lines.append(f"{len(self.failures)} records could not be inferred; the first: {self.failures[0]}")
        if self.redrawn:
            lines.append(f"draws of the priors that could not be simulated, and were drawn again: {self.redrawn}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _table(self) -> list[str]:
        shown = sorted(self.ranks, key=lambda name: self.corrected_p[name]) if len(self.ranks) > _ROWS else self.ranks
        wide = max(len(name) for name in [*self.ranks, "all parameters"])
        lines = [f"{'':<{wide}}   50 %   90 %   95 %       p    Holm"]
        for name in [*shown][:_ROWS]:
            shares = "  ".join(f"{_covered(self.ranks[name], prob):5.2f}" for prob in PROBS)
            lines.append(f"{name:<{wide}}  {shares}  {self.rank_p[name]:6.2g}  {self.corrected_p[name]:6.2g}")
        if len(self.ranks) > _ROWS:
            lines.append(f"… and {len(self.ranks) - _ROWS} more with larger p")
        if self.parameters:
            shares = "  ".join(f"{share:5.2f}" for share in self.coverage.values())
            lines.append(f"{'all parameters':<{wide}}  {shares}")
        bins = sorted({bins_for(len(each)) for each in self.ranks.values()})
        many = f"{bins[0]}" if len(bins) == 1 else f"{bins[0]} to {bins[-1]}"
        drawn = self.draws[self.draws > 0]
        among = f"ranks among {drawn.min()} to {drawn.max()} draws" if len(drawn) else "no ranks"
        return [*lines, f"{among}, worth {self.ess_min:.0f} at least; p by chi-square in {many} bins"]

    def _repr_html_(self) -> str:
        rows = [
            (name, *(f"{_covered(ranks, prob):.2f}" for prob in PROBS), f"{self.rank_p[name]:.2g}",
             f"{self.corrected_p[name]:.2g}")
            for name, ranks in self.ranks.items()
        ]  # fmt: skip
        head = ("quantity", "50 %", "90 %", "95 %", "p", "Holm")
        return card(f"Calibration over {self.records} records", head, rows, [self.verdict, *self.notes])


def _covered(ranks: np.ndarray, prob: float) -> float:
    """Share of ranks within a central interval."""
    return float(np.mean(np.abs(ranks - 0.5) <= 0.5 * prob)) if len(ranks) else float("nan")


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
