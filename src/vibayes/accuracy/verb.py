"""The verb: repeat a simulation at many tolerances and compare it with a highly converged one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import jax.numpy as jnp
import numpy as np

from vibayes.accuracy.study import AccuracyRun, AccuracyStudy
from vibayes.errors import InvalidInput
from vibayes.excitation import Analytic, Sampled
from vibayes.simulation import EventLocated, Method, Solution, Status, simulate
from vibayes.structure import Structure

DEFAULT_TOLERANCES = tuple(float(t) for t in np.logspace(-3, -10, 15))
"""From ordinary to very tight, two per decade."""
_REFERENCE = EventLocated(rtol=1e-13, atol=1e-15)
_MAX_STEPS = 1_000_000


def accuracy(
    structure: Structure,
    excitation: Sampled | Analytic | Sequence[Analytic],
    parameters: Mapping[str, Any] | None = None,
    *,
    duration: float | None = None,
    tolerances: Sequence[float] = DEFAULT_TOLERANCES,
    reference: Solution | Method | None = None,
    method: EventLocated | None = None,
    displacement: Any = 0.0,
    velocity: Any = 0.0,
    repeats: int = 3,
) -> AccuracyStudy:
    """Study error, work and events of a simulation as functions of the relative tolerance.

    Under a smooth excitation the response is sampled at its beginning and end only, because a step ends at every
    sample: the control of the step size is then free to act, as it must for its tolerance to mean something.

    Args:
        structure: what vibrates.
        excitation: a smooth signal per input (best), or a sampled signal.
        parameters: one value for each of the structure's unknowns.
        duration: of the simulation, for smooth signals (a sampled one has its own); errors are those at its end.
        tolerances: relative tolerances.
        reference: the truth to compare with: a solution of the same response (such as ``other_study.reference``) or a
            method to compute it with; by default ``EventLocated(rtol=1e-13, atol=1e-15)``.
        method: the method under study; its ``rtol`` is replaced by the tolerances. ``EventLocated(events=False)``
            shows what it costs to ignore events.
        displacement: initial displacement of the masses.
        velocity: initial velocity of the masses.
        repeats: each elapsed time is the shortest of this many.

    Returns:
        The study: a table to print or to write, and what it says.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.accuracy import accuracy
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.PiecewiseLinearSpring((0.3, 1.0, 0.3), (-0.75, 0.75))])
        >>> force = vb.Sine(amplitude=0.5, frequency_hz=0.1)
        >>> study = accuracy(oscillator, force, duration=20.0, tolerances=[1e-3, 1e-5, 1e-7], repeats=1)
        >>> study.event_counts.tolist(), study.lost_events
        ([7, 7, 7], 0)
        >>> bool(study.displacement_errors[2] < 1e-6)
        True
    """
    method = EventLocated() if method is None else method
    tolerances = _checked(tolerances, method, repeats, parameters)
    timing = _timing(excitation, duration)

    def run(method: Method) -> Solution:
        return simulate(
            structure, excitation, parameters, method=method, displacement=displacement, velocity=velocity,
            max_steps=_MAX_STEPS, **timing,
        )  # fmt: skip

    truth = (
        reference if isinstance(reference, Solution) else run(_REFERENCE if reference is None else _traced(reference))
    )
    _check_reference(truth)
    run(_at(method, tolerances[0]))  # compiles
    runs = []
    for rtol in tolerances:
        seconds, solution = np.inf, None
        for _ in range(repeats):
            begin = perf_counter()
            solution = run(_at(method, rtol))
            seconds = min(seconds, perf_counter() - begin)
        runs.append(_compare(rtol, solution, truth, len(structure.masses), seconds))  # type: ignore[arg-type]
    return AccuracyStudy(tuple(runs), truth)


def _at(method: EventLocated, rtol: float) -> EventLocated:
    return _traced(replace(method, rtol=rtol))


def _traced(method: Any) -> Any:
    """Tolerances as arrays: a compiled simulation is then the same for all of them."""
    if not isinstance(method, EventLocated):
        return method
    return replace(method, rtol=jnp.asarray(method.rtol, float), atol=jnp.asarray(method.atol, float))


def _compare(rtol: float, solution: Solution, truth: Solution, masses: int, seconds: float) -> AccuracyRun:
    errors = np.abs(np.asarray(solution.states)[-1] - np.asarray(truth.states)[-1])
    work = solution.work
    return AccuracyRun(
        rtol=rtol,
        displacement_error=float(np.max(errors[:masses])),
        state_error=float(np.max(errors)),
        evaluations=work.evaluations,  # type: ignore[union-attr]
        rejected_evaluations=work.rejected_evaluations,  # type: ignore[union-attr]
        seconds=seconds,
        events=solution.events,
        status=Status(solution.status),
    )


def _timing(excitation: Any, duration: float | None) -> dict[str, Any]:
    """One sampling interval over the whole duration, or the excitation's own samples."""
    if isinstance(excitation, Sampled):
        if duration is not None:
            raise InvalidInput("accuracy.duration", "none beside a sampled signal", f"{duration}", "leave it out")
        return {}
    if duration is None or not 0 < duration < np.inf:
        raise InvalidInput(
            "accuracy.duration", "a positive number of seconds", f"{duration}", "say how long to simulate"
        )
    return {"rate": 1.0 / duration, "samples": 2}


def _checked(tolerances: Any, method: Any, repeats: int, parameters: Mapping[str, Any] | None) -> tuple[float, ...]:
    if not isinstance(method, EventLocated):
        raise InvalidInput(
            "accuracy.method",
            "a method with a tolerance",
            type(method).__name__,
            "give EventLocated(), with or without events",
        )
    if repeats < 1:
        raise InvalidInput("accuracy.repeats", "a whole number ≥ 1", f"{repeats}", "time each run at least once")
    batched = [name for name, value in (parameters or {}).items() if np.ndim(value)]
    if batched:
        raise InvalidInput(
            "accuracy.parameters", "a single parameter set", f"arrays for {batched}", "study one set at a time"
        )
    values = tuple(float(t) for t in np.atleast_1d(np.asarray(tolerances, float)))
    wrong = [t for t in values if not 0 < t < 1]
    if wrong or not values:
        raise InvalidInput(
            "accuracy.tolerances",
            "relative tolerances between 0 and 1",
            f"{wrong or 'none'}",
            "try np.logspace(-3, -10, 15)",
        )
    return values


def _check_reference(truth: Solution) -> None:
    if truth.states is None or np.ndim(truth.states) != 2:
        raise InvalidInput(
            "accuracy.reference",
            "the solution of one parameter set, with states",
            "one without",
            "simulate with states=True",
        )
    if not truth.successful:
        raise InvalidInput(
            "accuracy.reference",
            "a simulation that reaches the end",
            Status(truth.status).message,
            "study a response that does",
        )
