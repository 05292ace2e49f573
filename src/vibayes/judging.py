"""How points of a problem are judged: whole simulations or simulations along the record, in batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from vibayes.distance import NMSE
from vibayes.errors import InvalidInput
from vibayes.problem import Problem
from vibayes.simulation import Status, simulate
from vibayes.simulation.cores import cores
from vibayes.simulation.follow import Follower
from vibayes.structure import Structure

_NUMBERS = 200_000
"""Simulated numbers held at once by a worker: few enough for its cache."""


def judging(problem: Problem):
    """Two functions: of values and a limit, their distances; of values and a number of samples, their errors.

    Beside what was found both give which sets failed, and a message of the first failure.
    """
    if not isinstance(problem.model, Structure):
        return _of_outputs(problem, outputs_of_function(problem))
    if isinstance(problem.distance, NMSE) and problem.sequential:
        return _along(problem)
    return _of_outputs(problem, outputs_of_structure(problem))


def _along(problem: Problem):
    """Compare sample by sample, and stop a simulation that has gone too far."""
    assert isinstance(problem.model, Structure) and isinstance(problem.distance, NMSE)
    weights = problem.distance.per_sample(problem.motions)
    follow = Follower(problem.model, problem.excitation(), problem.motions.output, weights, problem.method)

    def counted(found, failed):
        return found, failed, "the simulation did not reach the end" if failed.any() else ""

    def judge(values, limit):
        total, _ = follow(values, limit)
        return counted(total, ~np.isfinite(total))

    def errors(values, samples):
        found = follow.errors(values, samples)
        return counted(found, np.isnan(found[:, 0, 0]))

    return judge, errors


def _of_outputs(problem: Problem, outputs_of):
    """Compare whole simulations, as many at a time as fit in memory comfortably."""
    record, distance = problem.motions, problem.distance
    room = max(_NUMBERS // record.output.size, 1)
    # Array operations run beside one another; a simulator of plain Python would only get in its own way.
    workers = cores() if problem.vectorised else 1

    def in_parts(values, compare):
        count = len(next(iter(values.values())))

        def part(first):
            return some({name: value[first : first + room] for name, value in values.items()}, compare)

        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(part, range(0, count, room)))
        found, failed = (np.concatenate(each) for each in zip(*(part[:2] for part in parts), strict=True))
        return found, failed, next((part[2] for part in parts if part[2]), "")

    def some(values, compare):
        count = len(next(iter(values.values())))
        if isinstance(problem.model, Structure):  # batches of one size are compiled once
            values = {name: np.resize(value, room) for name, value in values.items()}
        outputs, message = outputs_of(values)
        outputs = outputs[:count]
        good = np.all(np.isfinite(outputs), axis=(1, 2))
        compared = compare(outputs[good])
        found = np.full((count, *compared.shape[1:]), np.nan)
        found[good] = compared
        failed = ~np.isfinite(found.reshape(count, -1)).all(axis=1)
        if failed.any() and not message:
            message = "the outputs or the distance are not finite"
        return found, failed, message

    def distances(outputs):
        if isinstance(distance, NMSE):
            return distance.total(record, outputs)
        return np.array([_one_distance(distance, record.output, each) for each in outputs])

    def judge(values, limit):
        return in_parts(values, distances)

    def errors(values, samples):
        assert isinstance(distance, NMSE)
        errors_of = distance.errors
        return in_parts(values, lambda outputs: errors_of(record, outputs)[:, :samples])

    return judge, errors


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
        failed = [status for status in np.unique(solution.status) if status != Status.SUCCESS]
        return np.asarray(solution.outputs), Status(failed[0]).message if failed else ""

    return outputs_of


def outputs_of_function(problem: Problem):
    """All sets at once, or one after the other; what raises or returns the wrong shape counts as a failure."""
    shape = problem.motions.output.shape
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
