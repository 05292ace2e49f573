"""Run a sampler of a likelihood over several problems, and make a posterior of what it gives."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vibayes.budget import Budget, LimitReached
from vibayes.errors import IdentifiabilityWarning
from vibayes.identifiability import doubts, unfelt
from vibayes.journal import Journal, Recall
from vibayes.posterior import Level, ModelPosterior, Posterior
from vibayes.problem import Problem
from vibayes.progress import watched
from vibayes.samplers.diagnostics import rhat_of_groups
from vibayes.samplers.likely import LikelihoodSampler, Sample, Stage
from vibayes.samplers.shapes import Draws, probabilities_of
from vibayes.targets import ProblemTarget

_FEWEST = 10
"""Draws of a chain before which nothing can be said of it."""


def sampled(
    rng: np.random.Generator,
    problems: Sequence[Problem],
    method: LikelihoodSampler,
    show: Callable[[Level], Any],
    spent: Callable[[Level], str],
    elapsed: Callable[[], float],
    recalls: Sequence[Recall],
    budget: Budget,
) -> Posterior:
    """One model after the other; what there is if a limit or the keyboard ends it."""
    targets = [
        ProblemTarget(each, remember=recall, budget=budget) for each, recall in zip(problems, recalls, strict=True)
    ]
    budget.counts = [target.count for target in targets]
    return followed(targets, [partial(method.sample, rng)] * len(targets), show, spent, elapsed)


def stopwatch(journal: Journal | None = None) -> Callable[[], float]:
    """Seconds since now; those of the part of the run that a journal recalls included."""
    clock = time.perf_counter if journal is None else journal.elapsed
    start = clock()
    return lambda: clock() - start


def followed(
    targets: Sequence[ProblemTarget],
    runs: Sequence[Callable[[ProblemTarget], Iterator[Stage]]],
    show: Callable[[Level], Any],
    spent: Callable[[Level], str],
    elapsed: Callable[[], float],
) -> Posterior:
    """The stages of a run for each target, and the posterior of what they give."""
    doubted, guessed = (
        [said if len(targets) == 1 else f"{t.name}: {said}" for t in targets for said in _in_time(ask, t)]
        for ask in (doubts, unfelt)
    )
    for said in (*doubted, *guessed):
        warnings.warn(said, IdentifiabilityWarning, stacklevel=3)
    samples: list[Sample | None] = [None] * len(targets)

    def levels():
        for number, (target, run) in enumerate(zip(targets, runs, strict=True)):
            for stage in run(target):
                samples[number] = _normalised(stage.sample, target) or samples[number]
                yield _level(stage, targets, samples, number, elapsed())

    trace, ended = watched(levels(), show, spent)
    posterior = _posterior(targets, samples, trace, elapsed(), ended)
    trusted = [
        said if len(targets) == 1 else f"{target.name}: {said}"
        for target, model in zip(targets, posterior.models, strict=True)
        for said in (target.trust(model.mean()) if len(model.weights) else ())
    ]
    return replace(posterior, notes=(*posterior.notes, *doubted, *trusted))


def _in_time(ask: Callable[[ProblemTarget], Sequence[str]], target: ProblemTarget) -> Sequence[str]:
    """What is said of a target; nothing if the time of the run is over before that."""
    try:
        return ask(target)
    except LimitReached:
        return ()


def _normalised(sample: Sample | None, target: ProblemTarget) -> Sample | None:
    """With the evidence under the prior of what the constraints allow; samplers have it under that of all points."""
    if sample is None:
        return None
    log_share, error = target.feasible
    return replace(
        sample,
        log_evidence=sample.log_evidence - log_share,
        log_evidence_error=float(np.hypot(sample.log_evidence_error, error)),
    )


def _level(stage: Stage, targets, samples, number: int, seconds: float) -> Level:
    return Level(
        stage=stage.name,
        model=targets[number].name,
        threshold=np.nan,
        followed=1.0,
        acceptance=stage.acceptance,
        particles=tuple(0 if sample is None else len(sample.flat) for sample in samples),
        probabilities=tuple(_probabilities(targets, samples)[0]),
        simulations=sum(target.count.simulations for target in targets),
        seconds=seconds,
        done=(number + stage.done) / len(targets),
        rhat=_rhat(stage),
    )


def _rhat(stage: Stage) -> float:
    """Whether chains agree so far: the largest R-hat of all unknowns."""
    if stage.sample is None or stage.name not in ("draw", "done"):
        return np.nan
    chains, draws = stage.sample.points.shape[:2]
    return float(np.max(rhat_of_groups(stage.sample.points))) if chains > 1 and draws >= _FEWEST else np.nan


def _probabilities(targets, samples) -> tuple[np.ndarray, np.ndarray]:
    """Of the models, by their evidence; unknown as long as one of them is."""
    unknown = np.full(len(targets), np.nan)
    if len(targets) == 1 and samples[0] is not None:
        return np.ones(1), np.zeros(1)
    if any(sample is None or not np.isfinite(sample.log_evidence) for sample in samples):
        return unknown, unknown
    nothing = np.empty(0)
    evidences = [Draws(nothing, nothing, nothing, s.log_evidence, s.log_evidence_error) for s in samples]
    return probabilities_of(evidences, targets, normalised=True)


def _posterior(targets, samples, trace, seconds: float, ended: str) -> Posterior:
    probabilities, errors = _probabilities(targets, samples)
    notes = [ended] if ended else []
    if not ended and len(targets) > 1 and np.isnan(probabilities).any():
        notes.append("this method gives no evidence, so there are no probabilities: use TemperedSMC() for them")
    models = []
    for target, sample, probability, error in zip(targets, samples, probabilities, errors, strict=True):
        count = target.count
        if count.failures:
            share = f"{count.failures:,} of {count.simulations:,} likelihoods of {target.name!r}"
            notes.append(f"{share} could not be computed and count as impossible; the first: {count.first_failure}")
        points = np.empty((0, target.size)) if sample is None else sample.flat
        weights = np.full(len(points), 1.0 / max(len(points), 1))
        if sample is not None and sample.weights is not None:
            weights = sample.weights
        models.append(
            ModelPosterior(
                problem=target.problem,
                probability=float(probability),
                standard_error=float(error),
                log_evidence=np.nan if sample is None else sample.log_evidence,
                log_evidence_error=np.nan if sample is None else sample.log_evidence_error,
                draws=target.values(points),
                weights=weights,
                distances=np.empty(0),
                simulations=count.simulations + (0 if sample is None else sample.gradients),
                failures=count.failures,
                first_failure=count.first_failure,
                log_likelihoods=np.empty(0) if sample is None else sample.log_likelihoods.ravel(),
                chains=1 if sample is None else sample.points.shape[0],
                sample=sample,
            )
        )
        if sample is not None:
            verdicts = (f"{said[0].lower()}{said[1:].rstrip('.')}" for said in models[-1].diagnostics().verdicts)
            notes += [f"{target.name}: {said}" if len(targets) > 1 else said for said in verdicts]
    return Posterior(tuple(models), np.nan, tuple(trace), seconds, tuple(notes))
