"""What samplers of a likelihood and their callers agree on: how a model is seen, and what a sampler gives.

A point z has a coordinate for every unknown. Before the record all are independent standard normals, whatever the prior
of the parameter: its value is icdf(Φ(z)), Φ being the normal cumulative distribution. So with a likelihood L

    posterior(z)  =  N(z; 0, I) L(z) / evidence,        evidence  =  ∫ N(z; 0, I) L(z) dz.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np

from vibayes.errors import InvalidInput

Carried = tuple[np.ndarray, ...]
_TRIES = 200
"""Draws of the prior per point wanted, where few are possible."""


class Likely(Protocol):
    """A model with a likelihood, as a sampler sees it."""

    @property
    def name(self) -> str:
        """Of the model."""
        ...

    @property
    def size(self) -> int:
        """Number of unknowns."""
        ...

    @property
    def prior_probability(self) -> float:
        """Of the model, before the record."""
        ...

    @property
    def traceable(self) -> Callable[[jax.Array], jax.Array] | None:
        """Log-likelihood of one point for JAX to differentiate; None if the model cannot be differentiated."""
        ...

    def log_likelihood(self, points: np.ndarray) -> np.ndarray:
        """Of all points (n, size) at once; minus infinity or NaN where a point is impossible."""
        ...


@runtime_checkable
class Sequential(Likely, Protocol):
    """A model whose likelihood comes sample by sample."""

    @property
    def samples(self) -> int:
        """Of the record."""
        ...

    def begin(self, points: np.ndarray) -> Carried:
        """What is carried along the record, before its first sample: arrays with one row per point."""
        ...

    def follow(self, points: np.ndarray, carried: Carried, first: int, last: int) -> tuple[np.ndarray, Carried]:
        """Increments of the log-likelihood, (points, last − first), and what is carried on."""
        ...


@runtime_checkable
class Softening(Sequential, Protocol):
    """A model whose record can be taken for noisier than it is."""

    @property
    def softens(self) -> bool:
        """Whether that lets false summits vanish, as it does where errors build up along a motion."""
        ...

    def softened(self, share: float) -> Softening:
        """The same with noise added, by a share of the outputs' root mean square."""
        ...

    def increments(self, points: np.ndarray) -> np.ndarray:
        """Of the log-likelihood with every sample, (points, samples)."""
        ...


@dataclass(frozen=True)
class Sample:
    """Draws of one model's posterior, and its evidence where the method knows it.

    Attributes:
        points: (chains, draws, size). Draws that follow one another may be alike; chains are independent.
        log_likelihoods: (chains, draws).
        acceptance: share of proposals that were accepted, once the method was tuned.
        log_evidence: logarithm of the evidence.
        log_evidence_error: its standard error.
        note: what a person must know of the result; empty if all is well.
        maximum: the point of largest posterior density, if it was sought.
        gradients: evaluations of the likelihood together with its gradient, which its target cannot count.
        weights: of all draws, with a sum of one; without, they are equal.
        state: what the method needs to go on when more of the record has come.
    """

    points: np.ndarray
    log_likelihoods: np.ndarray
    acceptance: float
    log_evidence: float = np.nan
    log_evidence_error: float = np.nan
    note: str = ""
    maximum: np.ndarray | None = None
    gradients: int = 0
    weights: np.ndarray | None = None
    state: Any = None

    @property
    def flat(self) -> np.ndarray:
        """All draws, (chains · draws, size)."""
        return self.points.reshape(-1, self.points.shape[-1])


@dataclass(frozen=True)
class Stage:
    """Where a sampler is."""

    name: str
    done: float
    """Share of the work, as far as can be said."""
    acceptance: float = np.nan
    sample: Sample | None = None
    """What there is so far."""


@runtime_checkable
class LikelihoodSampler(Protocol):
    """A method: a small frozen object whose fields are its settings."""

    def sample(self, rng: np.random.Generator, target: Likely) -> Iterator[Stage]:
        """Work stage by stage; the last one has the result, and any earlier one what there was."""
        ...


def finished(stages: Iterator[Stage]) -> Sample:
    """The result of a run."""
    result = deque(stages, maxlen=1)[0].sample
    assert result is not None, "the last stage has the result"
    return result


def within(first: float, last: float, stages: Iterator[Stage]) -> Iterator[Stage]:
    """Stages of a piece of work that takes from one share of the whole to another."""
    return (replace(stage, done=first + (last - first) * stage.done) for stage in stages)


def likelihoods(target: Likely, points: np.ndarray) -> np.ndarray:
    """Log-likelihoods; minus infinity for all that is impossible."""
    values = np.asarray(target.log_likelihood(points), float)
    if values.shape != (len(points),):
        remedy = "return one number per point"
        raise InvalidInput(f"log_likelihood of {target.name!r}", f"shape ({len(points)},)", str(values.shape), remedy)
    return np.where(np.isfinite(values), values, -np.inf)


def impossible(target: Likely, where: str, expected: str, got: str, remedy: str) -> InvalidInput:
    """No point is possible: in the words of the target if it was not able to compute any, which no prior can cure."""
    words = getattr(target, "lost", lambda: None)()
    return InvalidInput(where, expected, *((got, remedy) if words is None else words))


def recalled(model: Any, kind: str, inputs: Sequence[Any], compute: Callable[[], Sequence[Any]]) -> Sequence[Any]:
    """What a sampler computes of a model besides its likelihoods or distances: recalled if the model has kept it."""
    remember = getattr(model, "recall", None)
    return compute() if remember is None else remember(kind, inputs, compute)


def between_batches(model: Any) -> Callable[[], None]:
    """What a sampler calls now and then in computations of its own that may take long: it ends a run at its limit."""
    budget = getattr(model, "budget", None)
    return (lambda: None) if budget is None else budget.require_time


def recalled_draws(
    rng: np.random.Generator, model: Any, kind: str, inputs: Sequence[Any], compute: Callable[[], Sequence[Any]]
) -> Sequence[Any]:
    """The same where random numbers are drawn: the generator goes on from where it was after they had been."""

    def computed() -> Sequence[Any]:
        return *compute(), _state_of(rng)

    *found, state = recalled(model, kind, (*inputs, _state_of(rng)), computed)
    rng.bit_generator.state = json.loads(state.tobytes())
    return found


def _state_of(rng: np.random.Generator) -> np.ndarray:
    return np.frombuffer(json.dumps(rng.bit_generator.state, default=int).encode(), np.uint8)


def log_prior(points: np.ndarray) -> np.ndarray:
    """Logarithm of the prior density, up to a constant."""
    return -0.5 * np.sum(points**2, axis=-1)


def from_prior(rng: np.random.Generator, target: Likely, count: int) -> tuple[np.ndarray, np.ndarray, int]:
    """So many possible points of the prior and their log-likelihoods; and in how many draws so many were found.

    Where they are hard to find, the few there are come again and again.
    """
    points, logs = np.empty((0, target.size)), np.empty(0)
    tried = 0
    while len(points) < count and tried < _TRIES * count:
        trial = rng.standard_normal((count, target.size))
        values = likelihoods(target, trial)
        possible = np.isfinite(values)
        missing = count - len(points)
        enough = possible.sum() >= missing
        # Draws after the last that was wanted are as if they had never been.
        tried += int(np.flatnonzero(possible)[missing - 1]) + 1 if enough else count
        points = np.concatenate([points, trial[possible][:missing]])
        logs = np.concatenate([logs, values[possible][:missing]])
    if not len(points):
        got = f"none in {tried:,} draws of the prior"
        remedy = "look at the first of them, widen the priors or drop a constraint"
        raise impossible(target, f"log_likelihood of {target.name!r}", "a finite number somewhere", got, remedy)
    return np.resize(points, (count, target.size)), np.resize(logs, count), tried
