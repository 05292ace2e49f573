"""The verb: which of several models explains a record, and with which parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.budget import LIMITED, Budget
from vibayes.candidates import ProblemCandidate
from vibayes.distance import NMSE
from vibayes.errors import InvalidInput
from vibayes.fingerprint import fingerprint
from vibayes.forking import require_usable_jax
from vibayes.journal import Journal, Recall, always_computed
from vibayes.likelihood import DistanceTarget, PrefixTarget, TrajectoryTarget
from vibayes.posterior import Level, ModelPosterior, Posterior
from vibayes.problem import Problem
from vibayes.progress import Progress, watched
from vibayes.samplers import DataAnnealedSMC, FollowAndWeigh, TemperedSMC
from vibayes.samplers.likely import LikelihoodSampler
from vibayes.samplers.shapes import Draws, Sampler, Snapshot
from vibayes.sampling import sampled, stopwatch

_TARGETS = {"likelihood": TrajectoryTarget, "distance": DistanceTarget}
"""What a method sees of a problem."""
_MATTERS = 0.01
"""Probability below which nobody asks for the parameters of a model."""


def infer(
    key: Any,
    problems: Problem | Sequence[Problem],
    method: Sampler | LikelihoodSampler | None = None,
    *,
    max_simulations: int | None = None,
    max_seconds: float | None = None,
    progress: bool | Callable[[Level], None] = False,
    journal: Journal | None = None,
) -> Posterior:
    """Compare models of one record and find their parameters.

    Args:
        key: a whole number or a JAX random key; the same key gives the same result.
        problems: the candidates, all of the same record.
        method: of inference. By default `DataAnnealedSMC` where inputs were measured, with the likelihood of simulated
            trajectories; `FollowAndWeigh` where a problem has a distance of its own; `TemperedSMC` where inputs are
            random, points of backbones were measured, or a problem names a filter or a solver.
        max_simulations: end the run after about so many, with what there is.
        max_seconds: likewise. It is looked at before every batch of simulations, so that there may be no draws yet.
        progress: show what happens on the terminal, or a function that is called with every level.
        journal: keeps what was computed; a run that was killed, and is called again with the same arguments, goes on
            from there and ends with the same draws. ``max_seconds`` counts both parts.

    Returns:
        Probabilities of the models with standard errors, and weighted draws of their parameters. A run that was
        ended early, by a limit or by the keyboard, says so in its notes.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> time = np.arange(40) / 10.0
        >>> noise = 0.02 * np.random.default_rng(0).normal(size=40)
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.exp(-0.7 * time) + noise})
        >>> def decay(rate):
        ...     return np.exp(-rate * time)
        >>> def line(slope):
        ...     return 1.0 - slope * time
        >>> problems = [
        ...     vb.Problem(decay, record, {"rate": vb.Uniform(0.1, 2.0)}),
        ...     vb.Problem(line, record, {"slope": vb.Uniform(0.0, 1.0)}),
        ... ]
        >>> posterior = vb.infer(0, problems, vb.DataAnnealedSMC(chains=50))
        >>> posterior.selected.name, 0.7 in posterior["decay"].interval("rate")
        ('decay', True)
    """
    require_usable_jax("infer")
    problems = _require_problems(problems)
    likely = any(problem.likely for problem in problems)
    if method is None:
        method = default_method(problems)
    if not isinstance(method, Sampler | LikelihoodSampler) or isinstance(method, type):
        raise InvalidInput("infer.method", "a method of inference", repr(method), "try DataAnnealedSMC()")
    if isinstance(method, DataAnnealedSMC):
        _require_trajectories(problems, method)
    elif likely and not isinstance(method, LikelihoodSampler):
        expected, remedy = "a method that works with a likelihood, for outputs have noise", "try TemperedSMC()"
        raise InvalidInput("infer.method", expected, type(method).__name__, remedy)
    for name, limit in (("max_simulations", max_simulations), ("max_seconds", max_seconds)):
        if limit is not None and not limit > 0:
            raise InvalidInput(f"infer.{name}", "a positive number", repr(limit), "leave it out for no limit")
    rng = _generator(key)
    recalls = _recalls(journal, key, problems, method)
    elapsed = stopwatch(journal)
    show = listener(progress, problems)
    limits = partial(_spent, max_simulations=max_simulations, max_seconds=max_seconds)
    budget = Budget(elapsed, max_seconds, max_simulations)
    if isinstance(method, LikelihoodSampler):
        return sampled(rng, problems, method, show, limits, elapsed, recalls, budget)
    kind: Any = _TARGETS.get(getattr(method, "sees", ""), ProblemCandidate)
    candidates: list[Any] = [
        kind(each, remember=recall, budget=budget) for each, recall in zip(problems, recalls, strict=True)
    ]
    budget.counts = [candidate.count for candidate in candidates]
    for candidate in candidates:
        _ = candidate.feasible  # refuses priors that never meet the constraints
    last: Snapshot | None = None

    def levels():
        nonlocal last
        for last in method.levels(rng, candidates):
            yield _level(last, candidates, elapsed())

    trace, ended = watched(levels(), show, limits)
    return _posterior(candidates, last, trace, elapsed(), ended)


def _require_problems(problems: Any) -> tuple[Problem, ...]:
    given = (problems,) if isinstance(problems, Problem) else tuple(problems)
    if not given:
        raise InvalidInput("infer.problems", "at least one Problem", "none", "pose one, as Problem(structure, ...)")
    for number, problem in enumerate(given):
        if not isinstance(problem, Problem):
            raise InvalidInput(f"infer.problems[{number}]", "a Problem", repr(problem), "pose one")
        if problem.record is not given[0].record and not np.array_equal(
            problem.record.output, given[0].record.output, equal_nan=True
        ):
            remedy = "compare models of the same measurements"
            raise InvalidInput(f"infer.problems[{number}].record", "the outputs of the first", "others", remedy)
    names = [problem.name for problem in given]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput("infer.problems", "models with names of their own", f"{twice!r} twice", "give each a name")
    return given


def default_method(problems: Sequence[Problem]) -> Sampler | LikelihoodSampler:
    """The method that fits what was measured and how it is compared."""
    if any(_unsuited(problem) for problem in problems):
        return TemperedSMC()
    return DataAnnealedSMC() if all(isinstance(each.distance, NMSE) for each in problems) else FollowAndWeigh()


def _unsuited(problem: Problem) -> str:
    """Why a problem cannot be simulated along its record; nothing if it can."""
    if problem.filter is not None:
        return repr(problem.filter)
    return "points of backbones" if problem.of_backbones else "random inputs" if problem.random else ""


def _require_trajectories(problems: Sequence[Problem], method: DataAnnealedSMC) -> None:
    """Refuse problems that are not of a measured input and output, for a method that simulates."""
    for problem in problems:
        if unsuited := _unsuited(problem):
            expected = f"measured inputs, and no filter or solver, for {type(method).__name__} (model {problem.name!r})"
            raise InvalidInput("infer.method", expected, unsuited, "try TemperedSMC()")


def _generator(key: Any) -> np.random.Generator:
    try:
        if isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
            key = jax.random.key_data(key)
        return np.random.default_rng(np.atleast_1d(np.asarray(key)).astype(np.uint32).tolist())
    except (TypeError, ValueError):
        raise InvalidInput("infer.key", "a whole number or a JAX key", repr(key), "write infer(0, ...)") from None


def _recalls(journal: Journal | None, key: Any, problems: Sequence[Problem], method: Any) -> list[Recall]:
    """For each problem; what was kept for another problem, key or setting of the method is not found."""
    if journal is None:
        return [always_computed] * len(problems)
    if not isinstance(journal, Journal):
        raise InvalidInput("infer.journal", "a Journal", repr(journal), 'write journal=Journal("journal.bin")')
    return [journal.recalling(fingerprint(_generator(key).random(), problem, method)) for problem in problems]


def listener(progress: Any, problems: Sequence[Problem]) -> Callable[[Level], Any]:
    """What is called with every level."""
    if progress is True:
        names = [problem.name for problem in problems]
        if sys.stderr.isatty() and find_spec("rich") is not None:
            from vibayes.live import LiveProgress  # a package that the core does without

            return LiveProgress(names, sys.stderr)
        return Progress(names, sys.stderr)
    return progress if callable(progress) else (lambda level: None)


def _level(snapshot: Snapshot, candidates: Sequence[ProblemCandidate | PrefixTarget], seconds: float) -> Level:
    return Level(
        stage=snapshot.stage,
        model="" if snapshot.model is None else candidates[snapshot.model].name,
        threshold=float(snapshot.threshold),
        followed=float(snapshot.followed),
        acceptance=float(snapshot.acceptance),
        particles=tuple(len(draws.points) for draws in snapshot.draws),
        probabilities=tuple(float(p) for p in snapshot.probabilities),
        simulations=sum(candidate.count.simulations for candidate in candidates),
        seconds=seconds,
        done=float(snapshot.done),
    )


def _spent(level: Level, max_simulations: int | None, max_seconds: float | None) -> str:
    if max_simulations is not None and level.simulations >= max_simulations:
        return f"ended after {level.simulations:,} simulations, as max_simulations {LIMITED}"
    if max_seconds is not None and level.seconds >= max_seconds:
        return f"ended after {level.seconds:.1f} s, as max_seconds {LIMITED}"
    return ""


def _of_draws(model: ModelPosterior, several: bool) -> list[str]:
    """What is to be said of the draws of a model that may be right."""
    if not len(model.weights) or model.probability < _MATTERS:
        return []
    said = (f"{each[0].lower()}{each[1:].rstrip('.')}" for each in model.diagnostics().verdicts)
    return [f"{model.name}: {each}" if several else each for each in said]


def _logs_of(draws: Draws | None) -> np.ndarray:
    return np.empty(0) if draws is None or draws.log_likelihoods is None else draws.log_likelihoods


def _posterior(candidates, last: Snapshot | None, trace, seconds: float, ended: str) -> Posterior:
    notes = [note for note in (ended, last.note if last else "nothing was done") if note]
    models = []
    for number, candidate in enumerate(candidates):
        draws = last.draws[number] if last else None
        count = candidate.count
        if count.failures == count.simulations > 0:
            notes.append(f"every simulation of {candidate.name!r} failed; the first: {count.first_failure}")
        elif count.failures:
            share = f"{count.failures:,} of {count.simulations:,} simulations of {candidate.name!r}"
            notes.append(f"{share} failed and count as infinitely far; the first: {count.first_failure}")
        points = draws.points if draws else np.empty((0, candidate.size))
        models.append(
            ModelPosterior(
                problem=candidate.problem,
                probability=float(last.probabilities[number]) if last else float("nan"),
                standard_error=float(last.standard_errors[number]) if last else float("nan"),
                log_evidence=draws.log_mass - candidate.feasible.log_share if draws else np.nan,
                log_evidence_error=float(np.hypot(draws.standard_error, candidate.feasible.error)) if draws else np.nan,
                draws=candidate.values(points),
                weights=draws.weights if draws else np.empty(0),
                distances=draws.distances if draws else np.empty(0),
                simulations=count.simulations,
                failures=count.failures,
                first_failure=count.first_failure,
                log_likelihoods=_logs_of(draws),
                chains=draws.sample.points.shape[0] if draws and draws.sample else 1,
                sample=draws.sample if draws else None,
            )
        )
        notes += _of_draws(models[-1], len(candidates) > 1)
    threshold = float(last.threshold) if last else float("nan")
    white_noise = last.white_noise if last else 0
    return Posterior(tuple(models), threshold, tuple(trace), seconds, tuple(notes), white_noise)
