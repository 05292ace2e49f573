"""Records as a problem describes them: its structure with given parameters, its inputs, its sensors, and its noise.

What the likelihood of the problem assumes is what is simulated. Inputs that were measured are those of the record;
random ones are drawn anew. Motions begin at rest, in stationary vibration, or as far from there as the filter or solver
allows for. Samples that are missing in the record are missing here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from vibayes.backbone import BackbonePoints
from vibayes.calibration.points import points_simulator
from vibayes.filters import Filter, UnscentedFilter
from vibayes.filters.checks import check_noise
from vibayes.filters.checks import check_start as starts_stationary
from vibayes.judging import outputs_of_function
from vibayes.prior_space import values_at
from vibayes.problem import Problem
from vibayes.record import Record
from vibayes.simulation import realise, simulate
from vibayes.simulation.settling import settling_time
from vibayes.solvers import ODEFilter
from vibayes.structure import Structure

Values = Mapping[str, float]
Outputs = Callable[[Any, Values], np.ndarray | None]
"""Clean outputs, (samples, outputs), for a key and values; None if the simulation fails."""
_FINER = 10
"""Samples of a random input per sample of the record."""
_LONGEST = 20.0
"""Times the record that structures are in motion before it, at most."""
_SETTLING = 64
"""Draws of the prior by which that time is found."""


def record_simulator(problem: Problem, noise: float) -> Callable[[Any, Values], Record | BackbonePoints | None]:
    """A function of a key and of values that simulates a record of a problem; None where that fails.

    Args:
        problem: whose inputs, sensors, missing samples and noise the records have.
        noise: standard deviation of the noise over that of the clean output, where the problem integrates it out.
    """
    if problem.of_backbones:
        return points_simulator(problem)
    outputs_of, record = _outputs_of(problem), problem.motions
    missing = np.isnan(record.output)

    def simulated(key: Any, values: Values) -> Record | None:
        clean = outputs_of(jax.random.fold_in(key, 0), values)
        if clean is None or not np.isfinite(clean).all():
            return None
        rng = generator(jax.random.fold_in(key, 1))
        levels = _levels(problem, values, np.where(missing, np.nan, clean), noise)
        output = np.where(missing, np.nan, clean + levels * rng.standard_normal(clean.shape))
        return replace(record, output=output)

    return simulated


def generator(key: Any) -> np.random.Generator:
    """NumPy's random numbers for a key of JAX."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key)).tolist())


def _levels(problem: Problem, values: Values, clean: np.ndarray, noise: float) -> np.ndarray:
    """Standard deviation of the noise of every output."""
    if problem.noise is None:
        return noise * np.nanstd(clean, axis=0)
    given = check_noise(problem.noise, clean.shape[1])
    return np.array([values[each] if isinstance(each, str) else float(each) for each in given])


def _outputs_of(problem: Problem) -> Outputs:
    if not isinstance(problem.model, Structure):
        return _of_function(problem)
    return _under_random_inputs(problem) if problem.random else _under_measured_inputs(problem)


def _of_function(problem: Problem) -> Outputs:
    outputs_of = outputs_of_function(problem)

    def outputs(key: Any, values: Values) -> np.ndarray | None:
        found, message = outputs_of({name: np.array([value]) for name, value in values.items()})
        return None if message else found[0]

    return outputs


def _under_measured_inputs(problem: Problem) -> Outputs:
    structure, excitation = problem.model, problem.excitation()
    assert isinstance(structure, Structure)

    def outputs(key: Any, values: Values) -> np.ndarray | None:
        own = {name: values[name] for name in structure.parameters}
        start = _start(problem, structure, values, generator(key))
        found = simulate(structure, excitation, own, method=problem.method, states=False, events=False, **start)
        return np.asarray(found.outputs)

    return outputs


def _under_random_inputs(problem: Problem) -> Outputs:
    structure, record = problem.model, problem.motions
    assert isinstance(structure, Structure)
    method = problem.filter if isinstance(problem.filter, Filter) else UnscentedFilter()
    stationary = starts_stationary(structure, method)
    # One time for all records: what is compiled for one length of the motion before them serves all.
    settle = _settling(problem, structure) if stationary else 0.0

    def outputs(key: Any, values: Values) -> np.ndarray | None:
        own = {name: values[name] for name in structure.parameters}
        drawn = realise(
            key, structure, own, rate=record.rate, samples=record.samples, refinement=_FINER, given=record.input,
            settle=settle,
        )  # fmt: skip
        start = {} if stationary else _drawn_start(structure, method, generator(jax.random.fold_in(key, 1)))
        found = simulate(structure, drawn, own, method=problem.method, states=False, events=False, **start)
        return np.asarray(found.outputs)[::_FINER]

    return outputs


def _settling(problem: Problem, structure: Structure) -> float:
    values = values_at(problem, np.random.default_rng(0).random((_SETTLING, len(problem.priors))))
    return float(np.minimum(settling_time(structure, values).max(), _LONGEST * problem.motions.duration))


def _start(problem: Problem, structure: Structure, values: Values, rng: np.random.Generator) -> dict[str, Any]:
    """Displacements and velocities at the first sample that the solver of a problem has; none where it has none."""
    if not problem.likely or problem.filter is None:
        return {}
    solver = problem.solver()
    given = zip(("displacement", "velocity"), solver.begins(len(structure.masses)), strict=True)
    means = {n: np.array([values[e] if isinstance(e, str) else float(e) for e in each]) for n, each in given}
    if isinstance(solver, ODEFilter):
        drawn = _drawn_start(structure, solver, rng)
        means = {name: mean + drawn.get(name, 0.0) for name, mean in means.items()}
    return {name: mean for name, mean in means.items() if np.any(mean)}


def _drawn_start(structure: Structure, method: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Displacements and velocities about rest, with the standard deviations of a filter or solver."""
    deviations = {"displacement": method.start_displacement, "velocity": method.start_velocity}
    drawn = {name: each * rng.standard_normal(len(structure.masses)) for name, each in deviations.items()}
    return {name: each for name, each in drawn.items() if np.any(each)}
