"""A problem as samplers along the record see it: log-likelihoods of prefixes of the record, in normal coordinates.

A point z has a coordinate for every unknown; under the prior all are independent standard normals. What differs between
a likelihood and a distance is the function of the simulated response; what they share is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from vibayes.budget import Budget, unlimited
from vibayes.candidates import Count
from vibayes.journal import Arrays, Recall, always_computed
from vibayes.nesting import embedded, preimages
from vibayes.prior_space import Feasible, feasible, meets, shares_at
from vibayes.problem import Problem

_FIRST = 24
"""Samples of the first block at least: fewer tell too little of a wide prior to be worth a step."""
_BEGUN = 1e-4
"""Share of the energy of the outputs after which a motion has begun."""
_CHECKED = 24
"""Points at which the error of simulation is measured."""


@dataclass
class PrefixTarget(ABC):
    """One problem with measured inputs, with a count of what it has cost, and with what was computed of it before."""

    problem: Problem
    count: Count = field(default_factory=Count)
    remember: Recall = always_computed
    budget: Budget = field(default_factory=unlimited)
    unnoticed: float = 0.1
    """Root mean square error of the log-likelihood, in nats, that a method of simulation may make."""

    _methods: tuple[Any, ...] = field(default=(), init=False, repr=False)
    """Of simulation, from the quickest to the most accurate."""
    _level: int = field(default=0, init=False, repr=False)
    """Number of the one in use."""

    @abstractmethod
    def prefix_log_likelihoods(
        self, points: np.ndarray, checkpoints: Sequence[int], required: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-likelihood of the first samples, for several numbers of samples: (points, checkpoints).

        Minus infinity where a constraint is broken, a simulation fails, or the value at the first checkpoint is below
        what is ``required`` of the point: such a simulation stops as soon as that is certain.
        """

    @property
    def name(self) -> str:
        """Of the model."""
        return self.problem.name

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.problem.priors)

    @property
    def prior_probability(self) -> float:
        """Of the model."""
        return self.problem.prior_probability

    @property
    def samples(self) -> int:
        """Of the record."""
        return self.problem.motions.samples

    @cached_property
    def feasible(self) -> Feasible:
        """Share of the prior that the constraints leave, over which it is normalised."""
        return feasible(self.problem)

    @cached_property
    def log_prior_share(self) -> float:
        """Logarithm of the share of the prior that meets the constraints, whether or not it is normalised over it."""
        if self.problem.constrained_prior == "normalised":
            return self.feasible.log_share
        return feasible(replace(self.problem, constrained_prior="normalised")).log_share

    def values(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """Parameters of every point, by name."""
        shares = np.clip(shares_at(self.problem, ndtr(points)), 1e-300, 1.0 - 1e-16)
        priors = self.problem.priors.items()
        return {name: np.asarray(prior.icdf(shares[:, i]), float) for i, (name, prior) in enumerate(priors)}

    def allowed(self, points: np.ndarray) -> np.ndarray:
        """Whether points meet the constraints."""
        return np.array(meets(self.problem, self.values(points))) if len(points) else np.ones(0, bool)

    def embedded(self, rng: np.random.Generator, small: PrefixTarget, points: np.ndarray) -> np.ndarray:
        """Points of a smaller model as points of this one, with the rest drawn from the prior."""
        return _scores(embedded(rng, small.problem, self.problem, ndtr(points)))

    def preimages(self, small: PrefixTarget, points: np.ndarray) -> np.ndarray | None:
        """Points of a smaller model that would become these, (ways, points, its unknowns); None if it is not nested."""
        found = preimages(small.problem, self.problem, ndtr(points))
        return None if found is None else _scores(found)

    @property
    def method(self) -> Any:
        """The method of simulation in use; None for a simulator of one's own."""
        return self._methods[self._level] if self._methods else None

    @property
    def approximate(self) -> bool:
        """Whether there is a more accurate method than the one in use."""
        return self._level + 1 < len(self._methods)

    def refine(self, points: np.ndarray, samples: int) -> bool:
        """Whether a more accurate method of simulation was needed for the first samples, at points of the posterior.

        Its error must not be seen by the likelihood: the root mean square difference from the most accurate method is
        held to `unnoticed`.
        """
        refined = False
        while self.approximate:
            chosen = points[np.linspace(0, len(points) - 1, min(_CHECKED, len(points))).astype(int)]
            there = self._at_level(chosen, samples, len(self._methods) - 1)
            here = self._at_level(chosen, samples, self._level)
            both = np.isfinite(there) & np.isfinite(here)
            if both.any() and np.sqrt(np.mean((there - here)[both] ** 2)) < self.unnoticed:
                break
            self._level += 1
            refined = True
        return refined

    def log_likelihoods_at_best(self, points: np.ndarray) -> np.ndarray:
        """Log-likelihoods of the whole record by the most accurate method."""
        return self._at_level(points, self.samples, max(len(self._methods) - 1, 0))

    def _at_level(self, points: np.ndarray, samples: int, level: int) -> np.ndarray:
        before, self._level = self._level, level
        try:
            return self.prefix_log_likelihoods(points, (samples,))[:, 0]
        finally:
            self._level = before

    def recall(self, kind: str, inputs: Sequence[Any], compute: Callable[[], Sequence[Any]]) -> Arrays:
        """What was computed of this problem for these inputs before, if it was kept; else it is computed."""
        return self.remember(f"{self.name}: {kind}", inputs, compute)

    def counted(self, simulations: int, failures: int, message: np.ndarray) -> None:
        """Add to the count what a batch has cost."""
        self.count.simulations += simulations
        self.count.failures += failures
        self.count.first_failure = self.count.first_failure or message.tobytes().decode()


def first_samples(size: int, weighted: np.ndarray) -> int:
    """Samples that are taken together first: from where the motion begins, some for every unknown.

    Args:
        size: unknowns.
        weighted: measured outputs in units of their standard deviations, (samples, outputs); 0 where one is missing.
    """
    energy = np.cumsum(np.sum(weighted**2, axis=1))
    begun = int(np.searchsorted(energy, _BEGUN * energy[-1]))
    outputs = max(int(np.count_nonzero(np.any(weighted != 0.0, axis=0))), 1)
    return min(begun + max(_FIRST, -(-2 * size // outputs)), len(weighted))


def _scores(coordinates: np.ndarray) -> np.ndarray:
    """Normal coordinates of points of the unit cube."""
    return ndtri(np.clip(coordinates, 1e-300, 1.0 - 1e-16))
