"""A problem as the samplers see it: points of the unit cube that are allowed, judged and lent.

The i-th coordinate of a point is the share of the i-th prior that lies below the parameter's value; of parameters in
order, of what the next one leaves of it (`prior_space`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np

from vibayes.budget import Budget, unlimited
from vibayes.constraints import require_mask
from vibayes.distance import NMSE
from vibayes.journal import Arrays, Recall, always_computed
from vibayes.judging import judging
from vibayes.nesting import embedded, preimages
from vibayes.prior_space import Feasible, feasible, values_at
from vibayes.problem import Problem

_FIRST = 0.05
"""Share of the signal that is fitted first."""
_SAMPLES_PER_UNKNOWN = 8
"""That are fitted at least."""
_CHUNK = 16384
"""Points of a large batch that are kept in the journal together."""


@dataclass
class Count:
    """Simulations so far, and those among them that failed."""

    simulations: int = 0
    failures: int = 0
    first_failure: str = ""


@dataclass
class ProblemCandidate:
    """One problem, with a count of what it has cost, and with what was computed of it before, if that was kept."""

    problem: Problem
    count: Count = field(default_factory=Count)
    remember: Recall = always_computed
    budget: Budget = field(default_factory=unlimited)

    def __post_init__(self) -> None:
        self._judge, self._errors = judging(self.problem, self.budget.require_time)
        self._feasible: Feasible | None = None

    @property
    def name(self) -> str:
        """Of the model."""
        return self.problem.name

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.problem.priors)

    @property
    def length(self) -> int:
        """Samples of the record."""
        return self.problem.motions.samples

    @property
    def measured(self) -> int:
        """Values of the record whose squared errors make the distance."""
        distance = self.problem.distance
        return int(np.count_nonzero(distance.per_sample(self.problem.motions))) if isinstance(distance, NMSE) else 0

    @property
    def beginning(self) -> int:
        """Samples that hold the first part of the signal, and enough of them to tell something of every unknown.

        All of the record, if a simulation does not go along it.
        """
        if not self.problem.sequential or not self.has_errors:
            return self.length
        assert isinstance(self.problem.distance, NMSE)
        record = self.problem.motions
        still = np.broadcast_to(np.nanmean(record.output, axis=0), (1, *record.output.shape))
        signal = self.problem.distance.running(record, still)[0]
        enough = -(-_SAMPLES_PER_UNKNOWN * self.size // record.output.shape[1])
        return int(min(max(np.searchsorted(signal, _FIRST * signal[-1]) + 1, enough), self.length))

    @property
    def has_errors(self) -> bool:
        """Whether the distance is a sum of squared errors along the record."""
        return isinstance(self.problem.distance, NMSE)

    @property
    def prior_probability(self) -> float:
        """Of the model."""
        return self.problem.prior_probability

    @property
    def feasible(self) -> Feasible:
        """Share of the cube that the constraints leave, over which the prior is normalised."""
        if self._feasible is None:
            self._feasible = feasible(self.problem)
        return self._feasible

    def values(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """Parameters of every point, by name."""
        return values_at(self.problem, points)

    def allowed(self, points: np.ndarray) -> np.ndarray:
        """Whether points lie in the cube and meet the constraints."""
        inside = np.all((points > 0.0) & (points < 1.0), axis=1)
        if inside.any():
            some = self.values(points[inside])
            for number, constraint in enumerate(self.problem.constraints):
                where = f"Problem.constraints[{number}]"
                held = require_mask(where, constraint, some, int(inside.sum()))
                inside[inside] = held
                some = {name: value[held] for name, value in some.items()}
                if not inside.any():
                    break
        return inside

    def judge(self, points: np.ndarray, limit: float) -> np.ndarray:
        """Distance of every point; infinite beyond the limit, where a simulation may stop."""
        if not len(points):
            return np.empty(0)
        distances = self._recall("judge", self._judge, points, limit)
        return np.where(distances <= limit, distances, np.inf)

    def errors(self, points: np.ndarray, samples: int) -> np.ndarray:
        """Errors over the first samples, (points, samples, outputs), whose squares sum up to the distance.

        NaN for points that could not be simulated.
        """
        return self._recall("errors", self._errors, points, samples)

    def recall(self, kind: str, inputs: Sequence[Any], compute: Callable[[], Sequence[Any]]) -> Arrays:
        """What a sampler makes of many simulations of this model, kept with their count: less than all they gave."""
        count = self.count

        def computed():
            before = replace(count)
            found = compute()
            cost = np.array([count.simulations - before.simulations, count.failures - before.failures])
            failure = count.first_failure
            count.simulations, count.failures, count.first_failure = astuple(before)
            return *found, cost, np.frombuffer(failure.encode(), np.uint8)

        *found, cost, failure = self.remember(f"{self.name}: {kind}", inputs, computed)
        count.simulations += int(cost[0])
        count.failures += int(cost[1])
        count.first_failure = count.first_failure or failure.tobytes().decode()
        return tuple(found)

    def _recall(self, kind: str, compute: Callable[..., tuple[Any, ...]], points: np.ndarray, until: float):
        """What is found at the points, a chunk of them at a time, so that no more of a large batch can be lost."""
        if len(points) <= _CHUNK:
            return self._recall_chunk(kind, compute, points, until)
        parts = []
        for first in range(0, len(points), _CHUNK):
            if first:
                self.budget.require()
            parts.append(self._recall_chunk(kind, compute, points[first : first + _CHUNK], until))
        return np.concatenate(parts)

    def _recall_chunk(self, kind: str, compute: Callable[..., tuple[Any, ...]], points: np.ndarray, until: float):
        """What is found at the points, of which those that fail are counted, whether or not it was found before."""

        def computed():
            found, failed, message = compute(self.values(points), until)
            return found, failed, np.frombuffer(message.encode(), np.uint8)

        found, failed, message = self.remember(f"{self.name}: {kind}", (points, until), computed)
        self.count.simulations += len(failed)
        self.count.failures += int(failed.sum())
        self.count.first_failure = self.count.first_failure or message.tobytes().decode()
        return found

    def adopt(self, rng: np.random.Generator, other: Any, points: np.ndarray) -> np.ndarray:
        """Points of another model as points of this one (`nesting.embedded`)."""
        return embedded(rng, other.problem, self.problem, points)

    def returned(self, other: Any, points: np.ndarray) -> np.ndarray | None:
        """Points of another model that would become these (`nesting.preimages`)."""
        return preimages(other.problem, self.problem, points)
