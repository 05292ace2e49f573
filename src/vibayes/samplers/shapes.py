"""What samplers and their callers agree on: how a model is seen, and what a sampler gives after every level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from vibayes.samplers.likely import Sample


class Candidate(Protocol):
    """A model as a sampler sees it: points in the unit cube, whose prior is uniform where they are allowed."""

    @property
    def name(self) -> str:
        """Of the model."""
        ...

    @property
    def size(self) -> int:
        """Number of unknowns."""
        ...

    @property
    def length(self) -> int:
        """Samples of the record."""
        ...

    @property
    def measured(self) -> int:
        """Values of the record whose squared errors make the distance."""
        ...

    @property
    def prior_probability(self) -> float:
        """Of the model, before the record."""
        ...

    @property
    def feasible(self) -> tuple[float, float]:
        """Logarithm of the share of the cube over which the prior is normalised, and the standard error of that."""
        ...

    def allowed(self, points: np.ndarray) -> np.ndarray:
        """Whether points lie in the cube and meet the constraints."""
        ...

    def judge(self, points: np.ndarray, limit: float) -> np.ndarray:
        """Distance of every point; infinite beyond the limit."""
        ...

    @property
    def has_errors(self) -> bool:
        """Whether the distance is a sum of squared errors along the record, which can be fitted."""
        ...

    @property
    def beginning(self) -> int:
        """Samples that are fitted first."""
        ...

    def errors(self, points: np.ndarray, samples: int) -> np.ndarray:
        """Errors over the first samples, (points, samples, outputs), whose squares sum up to the distance."""
        ...

    def adopt(self, rng: np.random.Generator, other: Any, points: np.ndarray) -> np.ndarray:
        """Points of another model as points of this one: what both have is kept, the rest is drawn from the prior."""
        ...

    def returned(self, other: Any, points: np.ndarray) -> np.ndarray | None:
        """Points of another model that would become these if it lent them, in every way: (ways, points, unknowns).

        None if it has parameters that this one has not.
        """
        ...


@dataclass(frozen=True)
class Draws:
    """Weighted points of one model within the threshold, and the logarithm of the prior mass they stand for."""

    points: np.ndarray
    weights: np.ndarray
    distances: np.ndarray
    log_mass: float = -np.inf
    standard_error: float = 0.0
    """Of the logarithm of the mass."""
    sample: Sample | None = None
    """The same draws as chains, of a method that has them."""
    log_likelihoods: np.ndarray | None = None

    @property
    def effective(self) -> float:
        """Equally weighted draws that would tell as much."""
        return float(np.sum(self.weights) ** 2 / np.sum(self.weights**2)) if len(self.weights) else 0.0

    @staticmethod
    def none(size: int) -> Draws:
        """Of a model that does not come within the threshold."""
        return Draws(np.empty((0, size)), np.empty(0), np.empty(0))

    @staticmethod
    def unknown(size: int) -> Draws:
        """Of a model that has not been weighed yet."""
        return Draws(np.empty((0, size)), np.empty(0), np.empty(0), np.nan, np.nan)


@dataclass(frozen=True)
class Snapshot:
    """Where a sampler is after a level: what a person watching wants to know, and the draws so far."""

    stage: str
    threshold: float
    followed: float
    """Share of the record that is followed within the threshold."""
    acceptance: float
    probabilities: tuple[float, ...]
    standard_errors: tuple[float, ...]
    draws: tuple[Draws, ...]
    note: str = ""
    """What a person must know of the result."""
    model: int | None = None
    """The model that was worked on, if it was one."""
    done: float = np.nan
    """Share of the work that is done, as far as can be said."""
    white_noise: int = 0
    """Measured values, if draws count by the likelihood of white noise (`kernel`)."""


@runtime_checkable
class Sampler(Protocol):
    """A method of inference: a small frozen object whose fields are its settings."""

    def levels(self, rng: np.random.Generator, candidates: Sequence[Candidate]) -> Iterator[Snapshot]:
        """Work level by level; the last snapshot is the result, and any earlier one the best there was."""
        ...


def probabilities_of(
    draws: Sequence[Draws],
    candidates: Sequence[Any],
    covariance: np.ndarray | None = None,
    normalised: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Of the models, from their masses in the cube; and their standard errors, to first order. NaN if one is unknown.

    With p_i proportional to prior_i exp(log_mass_i) / feasible_i, the slope of p_i by the logarithm of a mass m_j is
    p_i (δ_ij - p_j). The covariance of the logarithms of masses is diagonal unless given. Masses may be
    ``normalised`` already: divided by feasible_i.
    """
    feasible = [(0.0, 0.0) if normalised else candidate.feasible for candidate in candidates]
    shares, errors = np.array(feasible, float).T
    logs = np.array([d.log_mass + np.log(c.prior_probability) for d, c in zip(draws, candidates, strict=True)]) - shares
    if np.isnan(logs).any():  # of one that is not known the others' probabilities depend as well
        return np.full(len(logs), np.nan), np.full(len(logs), np.nan)
    if not np.isfinite(logs).any():
        return np.zeros(len(logs)), np.zeros(len(logs))
    relative = np.exp(logs - logs.max())
    p = relative / relative.sum()
    if covariance is None:
        covariance = np.diag([d.standard_error**2 for d in draws])
    covariance = covariance + np.diag(errors**2)
    slopes = p[:, None] * (np.eye(len(p)) - p[None])
    # A model of no mass has no error either.
    covariance = np.where(np.outer(p > 0, p > 0), covariance, 0.0)
    return p, np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slopes, covariance, slopes), 0.0))
