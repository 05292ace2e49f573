"""A problem as the samplers see it: points of the unit cube that are allowed, judged and lent.

The i-th coordinate of a point is the share of the i-th prior that lies below the parameter's value.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vibayes.constraints import Increasing, require_mask
from vibayes.distance import NMSE
from vibayes.errors import InvalidInput
from vibayes.problem import Problem
from vibayes.samplers.shapes import Judged
from vibayes.simulation import simulate
from vibayes.simulation.cores import cores
from vibayes.simulation.follow import Follower
from vibayes.structure import Structure

_NUMBERS = 200_000
"""Simulated numbers held at once by a worker: few enough for its cache."""


@dataclass
class Count:
    """Simulations so far, and those among them that failed."""

    simulations: int = 0
    failures: int = 0
    first_failure: str = ""


@dataclass
class ProblemCandidate:
    """One problem, with a count of what it has cost."""

    problem: Problem
    count: Count = field(default_factory=Count)

    def __post_init__(self) -> None:
        model = self.problem.model
        self._judge = _judge_structure(self.problem) if isinstance(model, Structure) else _judge_function(self.problem)

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
        return self.problem.record.samples

    @property
    def prior_probability(self) -> float:
        """Of the model."""
        return self.problem.prior_probability

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

    def judge(self, points: np.ndarray, limit: float) -> Judged:
        """Follow the record with every point until the distance passes the limit."""
        if not len(points):
            return Judged(np.empty(0), np.empty(0))
        judged, failed, message = self._judge(self.values(points), limit)
        self.count.simulations += len(points)
        self.count.failures += int(failed.sum())
        self.count.first_failure = self.count.first_failure or message
        return judged

    def adopt(self, rng: np.random.Generator, other: Any, points: np.ndarray) -> np.ndarray:
        """Points of another model as points of this one.

        Parameters that both have, with the same prior, are kept; the rest is drawn from the prior. Parameters that
        must be in order are lent in any order, each with its companion, and put in order here.
        """
        theirs, mine = list(other.problem.parameters), list(self.problem.parameters)
        points = points.copy()
        for constraint in _orders(other.problem):
            _shuffle(rng, points, _groups(constraint, theirs))
        result = rng.random((len(points), len(mine)))
        for column, name in enumerate(mine):
            if name in theirs and other.problem.priors[name] == self.problem.priors[name]:
                result[:, column] = points[:, theirs.index(name)]
        for constraint in _orders(self.problem):
            _sort(result, _groups(constraint, mine))
        return result


def values_at(problem: Problem, points: np.ndarray) -> dict[str, np.ndarray]:
    """Parameters of every point, by name."""
    return {name: np.asarray(prior.icdf(points[:, i]), float) for i, (name, prior) in enumerate(problem.priors.items())}


def _orders(problem: Problem) -> list[Increasing]:
    return [each for each in problem.constraints if isinstance(each, Increasing)]


def _groups(constraint: Increasing, names: list[str]) -> list[np.ndarray]:
    """Columns of the parameters in order, then those of their companions."""
    rows = (constraint.names, constraint.carrying) if constraint.carrying else (constraint.names,)
    return [np.array([names.index(name) for name in row]) for row in rows]


def _shuffle(rng: np.random.Generator, points: np.ndarray, groups: list[np.ndarray]) -> None:
    _rearrange(points, groups, np.argsort(rng.random((len(points), len(groups[0]))), axis=1))


def _sort(points: np.ndarray, groups: list[np.ndarray]) -> None:
    _rearrange(points, groups, np.argsort(points[:, groups[0]], axis=1))


def _rearrange(points: np.ndarray, groups: list[np.ndarray], order: np.ndarray) -> None:
    for columns in groups:
        points[:, columns] = np.take_along_axis(points[:, columns], order, axis=1)


def _judge_structure(problem: Problem):
    assert isinstance(problem.model, Structure)
    if not (isinstance(problem.distance, NMSE) and problem.sequential):
        return _judge_outputs(problem, outputs_of_structure(problem))
    weights = problem.distance.per_sample(problem.record)
    follow = Follower(problem.model, problem.excitation(), problem.record.output, weights, problem.method)
    length = problem.record.samples

    def judge(values, limit):
        total, samples = follow(values, limit)
        failed = ~np.isfinite(total)
        whole = ~failed & (samples >= length) & (total <= limit)
        followed = np.where(failed, 0.0, np.where(whole, length, _until(samples, total, limit)))
        message = "the simulation did not reach the end" if failed.any() else ""
        return Judged(followed, np.where(whole, total, np.inf)), failed, message

    return judge


def _until(samples: np.ndarray, error: np.ndarray, limit: float) -> np.ndarray:
    """Samples until the error passed the limit; of the last one, the part that the limit had room for."""
    return samples - np.clip(1.0 - limit / np.maximum(error, 1e-300), 0.0, 1.0)


def _judge_function(problem: Problem):
    return _judge_outputs(problem, outputs_of_function(problem))


def _judge_outputs(problem: Problem, outputs_of):
    """Judge whole simulations, as many at a time as fit in memory comfortably."""
    record, distance, length = problem.record, problem.distance, problem.record.samples
    room = max(_NUMBERS // record.output.size, 1)
    # Array operations run beside one another; a simulator of plain Python would only get in its own way.
    workers = cores() if problem.vectorised else 1

    def judge(values, limit):
        count = len(next(iter(values.values())))

        def part(first):
            return some({name: value[first : first + room] for name, value in values.items()}, limit)

        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(part, range(0, count, room)))
        followed, total, failed = (np.concatenate(each) for each in zip(*(part[:3] for part in parts), strict=True))
        return Judged(followed, total), failed, next((part[3] for part in parts if part[3]), "")

    def some(values, limit):
        count = len(next(iter(values.values())))
        if isinstance(problem.model, Structure):  # batches of one size are compiled once
            values = {name: np.resize(value, room) for name, value in values.items()}
        outputs, message = outputs_of(values)
        outputs = outputs[:count]
        failed = ~np.all(np.isfinite(outputs), axis=(1, 2))
        if isinstance(distance, NMSE) and not problem.sequential:
            total = distance.total(record, np.where(failed[:, None, None], 0.0, outputs))
            whole, followed = ~failed, np.full(len(outputs), float(length))
        elif isinstance(distance, NMSE):
            running = distance.running(record, np.where(failed[:, None, None], 0.0, outputs))
            total = running[:, -1]
            whole = ~failed & (total <= limit)
            passed = np.argmax(running > limit, axis=1)
            then = np.take_along_axis(running, passed[:, None], axis=1)[:, 0]
            followed = np.where(whole, length, _until(passed + 1, then, limit))
        else:
            total = np.full(len(outputs), np.inf)
            for i in np.flatnonzero(~failed):
                total[i] = _one_distance(distance, record.output, outputs[i])
            failed |= ~np.isfinite(total)
            whole, followed = ~failed, np.full(len(outputs), float(length))
        if failed.any() and not message:
            message = "the outputs or the distance are not finite"
        return np.where(failed, 0.0, followed), np.where(whole, total, np.inf), failed, message

    return judge


def _one_distance(distance, measured: np.ndarray, simulated: np.ndarray) -> float:
    value = np.asarray(distance(measured, simulated))
    if value.shape != ():
        raise InvalidInput("Problem.distance", "one number", f"an array of shape {value.shape}", "sum or average it")
    return float(value) if value >= 0 or np.isnan(value) else _negative(float(value))


def _negative(value: float) -> float:
    raise InvalidInput("Problem.distance", "0 or more", repr(value), "a perfect fit is 0; take a square")


def outputs_of_structure(problem: Problem):
    """All sets at once."""
    structure, excitation = problem.model, problem.excitation()
    assert isinstance(structure, Structure)

    def outputs_of(values):
        solution = simulate(structure, excitation, values, method=problem.method, states=False)
        outputs = np.asarray(solution.outputs)
        return outputs, ""

    return outputs_of


def outputs_of_function(problem: Problem):
    """All sets at once, or one after the other; what raises or returns the wrong shape counts as a failure."""
    shape = problem.record.output.shape
    simulator, names = problem.model, problem.parameters
    assert not isinstance(simulator, Structure)

    def as_outputs(found: Any, count: int) -> np.ndarray:
        array = np.asarray(found, float)
        if array.shape == (count, shape[0]) and shape[1] == 1:
            return array[..., None]
        if array.shape != (count, *shape):
            expected = f"{shape} from the simulator" + (f", for each of {count} sets" if problem.vectorised else "")
            got = str(array.shape if problem.vectorised else array.shape[1:])
            raise InvalidInput("Problem.model", f"outputs of shape {expected}", got, "return every sample and output")
        return array

    def outputs_of(values):
        count = len(values[names[0]])
        if problem.vectorised:
            return as_outputs(simulator(**values), count), ""
        outputs, message = np.full((count, *shape), np.nan), ""
        for i in range(count):
            try:
                found = simulator(**{name: float(values[name][i]) for name in names})
            except Exception as trouble:
                message = message or f"{type(trouble).__name__}: {trouble}"
                continue
            outputs[i] = as_outputs(np.asarray(found, float)[None], 1)[0]
        return outputs, message

    return outputs_of
