"""A problem with a likelihood as the samplers see it: log-likelihoods of points in normal coordinates.

The i-th coordinate z of a point gives the i-th parameter by its prior's inverse distribution, icdf(Φ(z)): a standard
normal z has the prior.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import ndtr

from vibayes.candidates import Count
from vibayes.constraints import require_mask
from vibayes.errors import InvalidInput
from vibayes.filters.verb import log_likelihoods
from vibayes.problem import Problem
from vibayes.simulation.cores import cores

_AT_ONCE = 16
"""Points that a call of the compiled program takes; it is compiled for that number alone."""


@dataclass
class ProblemTarget:
    """One problem, with a count of what it has cost."""

    problem: Problem
    count: Count = field(default_factory=Count)

    def __post_init__(self) -> None:
        if not self.problem.random:
            remedy = "say what drives the structure (Structure.driven_by), or use FollowAndWeigh()"
            got = "a structure whose inputs were all measured" if self.problem.noise is not None else "none"
            raise InvalidInput(f"Problem {self.name!r}", "a model with a likelihood", got, remedy)
        self._filtering = self.problem.filtering()

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

    def values(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """Parameters of every point, by name."""
        shares = np.clip(ndtr(points), 1e-300, 1.0 - 1e-16)
        priors = self.problem.priors.items()
        return {name: np.asarray(prior.icdf(shares[:, i]), float) for i, (name, prior) in enumerate(priors)}

    def log_likelihood(self, points: np.ndarray) -> np.ndarray:
        """Of all points; minus infinity where a constraint is broken or the filter fails."""
        values = self.values(points)
        allowed = np.ones(len(points), bool)
        for number, constraint in enumerate(self.problem.constraints):
            allowed &= require_mask(f"Problem.constraints[{number}]", constraint, values, len(points))
        result = np.full(len(points), -np.inf)
        if allowed.any():
            result[allowed] = self._filtered({name: value[allowed] for name, value in values.items()})
        failed = allowed & ~np.isfinite(result)
        self.count.simulations += int(allowed.sum())
        self.count.failures += int(failed.sum())
        if failed.any() and not self.count.first_failure:
            self.count.first_failure = "the filter lost the record: its likelihood is not a number"
        return np.where(np.isfinite(result), result, -np.inf)

    def _filtered(self, values: dict[str, np.ndarray]) -> np.ndarray:
        """A batch of fixed size at a time, on every core."""
        count = len(next(iter(values.values())))

        def part(first: int) -> np.ndarray:
            chosen = np.minimum(np.arange(first, first + _AT_ONCE), count - 1)
            some = {name: jnp.asarray(value[chosen]) for name, value in values.items()}
            found = log_likelihoods(self._filtering, some)
            return np.asarray(found)[: count - first]

        workers = cores() if jax.default_backend() == "cpu" else 1
        with ThreadPoolExecutor(workers) as pool:
            return np.concatenate(list(pool.map(part, range(0, count, _AT_ONCE))))

    def traceable(self, point: jax.Array) -> jax.Array:
        """Log-likelihood of one point, for JAX to differentiate."""
        shares = jax.scipy.special.ndtr(point)
        values: dict[str, Any] = {n: p.icdf(shares[i]) for i, (n, p) in enumerate(self.problem.priors.items())}
        total = self._filtering.log_likelihood(values)
        for constraint in self.problem.constraints:
            kept = jnp.all(jnp.asarray(constraint({name: value[None] for name, value in values.items()})))
            total = jnp.where(kept, total, -jnp.inf)
        return total
