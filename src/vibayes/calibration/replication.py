"""One replication of a calibration: a truth drawn from the priors, a record simulated from it, a posterior inferred."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import jax
import numpy as np
from scipy.special import ndtr

from vibayes.budget import LIMITED
from vibayes.calibration.ranks import effective_draws, ranks_of
from vibayes.calibration.records import generator
from vibayes.calibration.truths import Truth, draw_truth
from vibayes.candidates import ProblemCandidate
from vibayes.errors import InvalidInput
from vibayes.inference import infer
from vibayes.likelihood import TrajectoryTarget
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.prior_space import scores_at
from vibayes.problem import Problem
from vibayes.progress import INTERRUPTED
from vibayes.targets import ProblemTarget

_TRIES = 1000
"""Draws of the prior until one can be simulated."""


@dataclass(frozen=True)
class Replication:
    """One record that was simulated from the priors, and how the truth lies in what was inferred from it.

    Attributes:
        number: of the replication.
        model: name of the true model.
        truth: true values of its parameters.
        ranks: normalised ranks of these among draws of the posterior, and that of the log-likelihood.
        draws: among which they are ranks; 0 where the true model has none.
        effective: independent draws that those of the true model are worth.
        probabilities: of all models; NaN where the method has none.
        redrawn: draws of the priors before this one that could not be simulated.
        failure: why there is no posterior; empty if there is.
        posterior: what was inferred; None where it failed or comes from a journal.
    """

    number: int
    model: str
    truth: Mapping[str, float]
    ranks: Mapping[str, float] = field(default_factory=dict)
    draws: int = 0
    effective: float = float("nan")
    probabilities: tuple[float, ...] = ()
    redrawn: int = 0
    failure: str = ""
    posterior: Posterior | None = field(default=None, repr=False, compare=False)

    def packed(self) -> np.ndarray:
        """As bytes for a journal, without the posterior."""
        plain = asdict(replace(self, posterior=None))
        return np.frombuffer(json.dumps(plain).encode(), np.uint8)

    @staticmethod
    def unpacked(given: np.ndarray) -> Replication:
        """From the bytes of `packed`."""
        plain = json.loads(given.tobytes())
        return Replication(**{**plain, "probabilities": tuple(plain["probabilities"])})


@dataclass(frozen=True)
class Setting:
    """What all replications have in common.

    Attributes:
        problems: the models.
        simulators: of their records: functions of a key and values.
        method: of inference; None for the one that `infer` would choose.
        limits: of each inference, by the names that `infer` has for them.
    """

    problems: Sequence[Problem]
    simulators: Sequence[Callable[[Any, Mapping[str, float]], Any]]
    method: Any = None
    limits: Mapping[str, Any] = field(default_factory=dict)


def replicate(key: Any, number: int, setting: Setting) -> Replication:
    """One replication, with a key of its own.

    Raises:
        KeyboardInterrupt: also from within the inference, which would end with what there is.
    """
    simulation, inference, ranking = (jax.random.fold_in(key, each) for each in range(3))
    truth, record, redrawn = _simulated(simulation, setting)
    problem = setting.problems[truth.model]
    begun = Replication(number, problem.name, truth.values, redrawn=redrawn)
    try:
        posed = [replace(each, record=_with_outputs(each.record, record)) for each in setting.problems]
        posterior = infer(inference, posed, setting.method, **setting.limits)
    except InvalidInput as trouble:
        return replace(begun, failure=str(trouble))
    ended = next((note for note in posterior.notes if note == INTERRUPTED or note.endswith(LIMITED)), "")
    if ended == INTERRUPTED:
        raise KeyboardInterrupt
    model = posterior.models[truth.model]
    if ended or not any(len(each.weights) for each in posterior.models):
        return replace(begun, failure=ended or "; ".join(posterior.notes) or "no draws", posterior=posterior)
    probabilities = tuple(each.probability for each in posterior.models)
    done = replace(begun, probabilities=probabilities, posterior=posterior)
    if not len(model.weights):  # the true model was dropped: that counts against the probabilities
        return done
    logs = _log_likelihood(posed[truth.model], model, truth.values)
    ranks, draws = ranks_of(generator(ranking), model, truth.values, logs)
    return replace(done, ranks=ranks, draws=draws, effective=effective_draws(model))


def _simulated(key: Any, setting: Setting) -> tuple[Truth, Any, int]:
    """A truth, its record, and draws before it that could not be simulated.

    To a posterior such draws are impossible: the prior that it stands for is the one without them.
    """
    for redrawn in range(_TRIES):
        mine = jax.random.fold_in(key, redrawn)
        truth = draw_truth(generator(mine), setting.problems)
        record = setting.simulators[truth.model](jax.random.fold_in(mine, 1), truth.values)
        if record is not None:
            return truth, record, redrawn
    names = ", ".join(repr(problem.name) for problem in setting.problems)
    remedy = "narrow the priors to where the model can be simulated"
    raise InvalidInput(f"calibrate({names})", "draws of the priors that can be simulated", "none", remedy)


def _with_outputs(old: Any, new: Any) -> Any:
    """The record of one of several problems with the outputs of the simulated one; its inputs are its own."""
    return replace(old, output=new.output) if hasattr(old, "rate") else new


def _log_likelihood(problem: Problem, model: ModelPosterior, truth: Mapping[str, float]) -> float:
    """Log-likelihood of the truth, by the likelihood that the draws have; minus its distance, where they have that."""
    point = scores_at(problem, {name: np.array([value]) for name, value in truth.items()})
    if not len(model.log_likelihoods):
        found = -ProblemCandidate(problem).judge(ndtr(point), np.inf)
    elif len(model.distances):
        found = TrajectoryTarget(problem).log_likelihoods_at_best(point)
    else:
        found = ProblemTarget(problem).log_likelihood(point)
    return float(found[0])
