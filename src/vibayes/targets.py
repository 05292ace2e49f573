"""A problem with a likelihood as the samplers see it: log-likelihoods of points in normal coordinates.

The i-th coordinate z of a point gives the i-th parameter by its prior's inverse distribution, icdf(Φ(z)): a standard
normal z has the prior. Parameters in order are sorted draws of theirs (`prior_space`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import ndtr

from vibayes.backbone import BackbonePoints
from vibayes.backbone.trust import trust_notes
from vibayes.budget import Budget, unlimited
from vibayes.candidates import Count
from vibayes.errors import InvalidInput
from vibayes.filters.noise import noisier
from vibayes.filters.recursion import BLOCK
from vibayes.filters.verb import along, go_on, log_likelihoods, start
from vibayes.journal import Arrays, Recall, always_computed
from vibayes.prior_space import Feasible, feasible, meets, shares_at
from vibayes.problem import Problem
from vibayes.simulation.cores import cores

_CHUNK = 64
"""Batches of points that are kept in the journal together."""


@dataclass
class ProblemTarget:
    """One problem, with a count of what it has cost, and with what was computed of it before, if that was kept."""

    problem: Problem
    count: Count = field(default_factory=Count)
    remember: Recall = always_computed
    budget: Budget = field(default_factory=unlimited)

    def __post_init__(self) -> None:
        if not self.problem.likely:
            remedy = "give the noise of the outputs (Problem.noise), or use DataAnnealedSMC()"
            raise InvalidInput(f"Problem {self.name!r}", "a model with a likelihood", "none", remedy)
        self._filtering, self._steps, self._shares = self.problem.filtering(), 0, ()
        self._lost = False

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

    @cached_property
    def feasible(self) -> Feasible:
        """Share of the prior that the constraints leave, over which it is normalised."""
        return feasible(self.problem)

    def values(self, points: np.ndarray) -> dict[str, np.ndarray]:
        """Parameters of every point, by name."""
        shares = np.clip(shares_at(self.problem, ndtr(points)), 1e-300, 1.0 - 1e-16)
        priors = self.problem.priors.items()
        return {name: np.asarray(prior.icdf(shares[:, i]), float) for i, (name, prior) in enumerate(priors)}

    def log_likelihood(self, points: np.ndarray) -> np.ndarray:
        """Of all points; minus infinity where a constraint is broken or the filter fails."""
        # The program of the increments serves both, where there are any: it is compiled once.
        total = (lambda *given: np.asarray(along(*given)).sum(axis=1)) if self.softens else log_likelihoods
        found = self._computed("log-likelihood", points, (), total)
        self._tell(len(points) - int(np.sum(np.isneginf(found))), int(np.sum(np.isnan(found))))
        return np.where(np.isfinite(found), found, -np.inf)

    def increments(self, points: np.ndarray) -> np.ndarray:
        """Of the log-likelihood with every sample, (points, samples); minus infinity likewise."""
        found = self._computed("increments", points, (self.samples,), along)
        self._tell(len(points), 0)
        return np.where(np.isfinite(found), found, -np.inf)

    def _computed(
        self, kind: str, points: np.ndarray, shape: tuple[int, ...], compute: Callable[..., Any]
    ) -> np.ndarray:
        """Numbers of all points; minus infinity where a constraint is broken, and NaN where the filter fails."""
        values, allowed = self._allowed(points)
        result = np.full((len(points), *shape), -np.inf)
        if allowed.any():
            chosen = {name: value[allowed] for name, value in values.items()}
            (found,) = self._recalled(
                kind, (points[allowed],), (), lambda some: (compute(self._filtering, some),), (chosen,)
            )
            result[allowed] = np.where(np.isfinite(found), found, np.nan)
            self._lost = not np.isfinite(found.reshape(len(found), -1)).all(axis=1).any()
        return result

    def lost(self) -> tuple[str, str] | None:
        """What was got and what to do about it, if none of the last likelihoods that were asked for is a number."""
        if not self._lost:
            return None
        if self.problem.random or self.problem.of_backbones:
            got = "none: the filter loses the record, whatever the parameters"
            return got, "take more steps per sample, as UnscentedFilter(steps=4), or look for an outlier"
        solver = self.problem.solver()
        got = f"none: the solver loses the solution, whatever the parameters, with steps={solver.steps} per sample"
        return got, f"take {type(solver).__name__}(steps={4 * solver.steps}), or ODEFilter(), conditioned on samples"

    def trust(self, values: Mapping[str, float]) -> tuple[str, ...]:
        """Sentences on how far the likelihood itself can be trusted, at values that explain the record."""
        record = self.problem.record
        return trust_notes(self._filtering, record, values) if isinstance(record, BackbonePoints) else ()

    @property
    def softens(self) -> bool:
        """Points of backbones have no errors that build up, nor false summits."""
        return not self.problem.of_backbones

    def softened(self, share: float) -> ProblemTarget:
        """The same as if outputs had more noise: by a share of their root mean square."""
        other = copy(self)
        other._filtering, other._shares = noisier(self._filtering, share), (*self._shares, share)
        return other

    def recall(self, kind: str, inputs: Sequence[Any], compute: Callable[[], Sequence[Any]]) -> Arrays:
        """What was computed of this problem for these inputs before, if it was kept; else it is computed."""
        return self.remember(f"{self.name}: {kind}", (np.asarray(self._shares, float), *inputs), compute)

    @property
    def samples(self) -> int:
        """Of the record."""
        return self.problem.record.samples

    @property
    def settled(self) -> int:
        """Samples whose likelihood stays as it is when the record goes on."""
        return getattr(self._filtering, "settled", self.samples)

    def begin(self, points: np.ndarray) -> tuple[np.ndarray, ...]:
        """What is carried along the record, before its first sample: arrays with one row per point."""
        values, allowed = self._allowed(points)
        carried = self._recalled("begin", (points,), (), lambda some: start(self._filtering, some), (values,))
        carried[0][~allowed] = np.nan  # so that no increment is a number
        return carried

    def follow(
        self, points: np.ndarray, carried: tuple[np.ndarray, ...], first: int, last: int
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Increments of the log-likelihood from one sample up to another, (points, samples), and what is carried on."""

        def go(values, *carried):
            parts = []
            for begin in range(first, last, BLOCK):
                end = min(begin + BLOCK, last)
                totals, carried = go_on(self._filtering, values, carried, jnp.asarray(begin), jnp.asarray(end))
                parts.append(np.asarray(totals)[:, : end - begin])
            return (np.concatenate(parts, axis=1), *carried)

        rows = (self.values(points), *carried)
        increments, *after = self._recalled("follow", (points, *carried), (first, last), go, rows)
        self._steps += len(points) * (last - first)
        whole, self._steps = divmod(self._steps, self.samples)
        self._tell(whole, 0)
        computed = np.isfinite(increments).all(axis=1) | ~self._allowed(points)[1]
        self._lost = not computed.any()
        return np.where(np.isfinite(increments), increments, -np.inf), tuple(after)

    def _allowed(self, points: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Values of the points, and which of them meet the constraints."""
        values = self.values(points)
        return values, np.array(meets(self.problem, values)) if len(points) else np.ones(0, bool)

    def _tell(self, done: int, failed: int) -> None:
        self.count.simulations += done
        self.count.failures += failed
        if failed and not self.count.first_failure:
            self.count.first_failure = "the filter or solver lost the record: its likelihood is not a number"

    def _recalled(
        self, kind: str, inputs: tuple[np.ndarray, ...], settings: tuple[Any, ...],
        compute: Callable[..., tuple[Any, ...]], rows: Any,
    ) -> Arrays:  # fmt: skip
        """Arrays with one row per point, a chunk of them at a time, so that of a large batch no more is lost than that.

        Inputs say which result it is, and rows are what it is computed from.
        """
        count, size, parts = len(inputs[0]), _CHUNK * self._filtering.at_once, []
        for first in range(0, count, size):
            some = slice(first, min(first + size, count))
            if first:
                self.budget.require()
            given = tuple(each[some] for each in inputs)
            chosen = jax.tree.map(lambda each, some=some: each[some], rows)
            parts.append(self.recall(kind, (*given, *settings), lambda chosen=chosen: self._in_parts(compute, chosen)))
        return parts[0] if len(parts) == 1 else tuple(np.concatenate(each) for each in zip(*parts, strict=True))

    def _in_parts(self, compute: Callable[..., tuple[Any, ...]], rows: Any) -> tuple[np.ndarray, ...]:
        """Arrays of a function whose arguments have one row per point: batches of one size, for which alone it is
        compiled, on every core.
        """
        count, size = len(jax.tree.leaves(rows)[0]), self._filtering.at_once

        def part(first: int) -> list[np.ndarray]:
            self.budget.require_time()
            chosen = np.minimum(np.arange(first, first + size), count - 1)
            some = jax.tree.map(lambda each: jnp.asarray(np.asarray(each)[chosen]), rows)
            return [np.array(each)[: count - first] for each in compute(*some)]

        if count <= size:
            return tuple(part(0))  # a thread would take longer to begin than a quick likelihood to end
        workers = cores() if jax.default_backend() == "cpu" else 1
        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(part, range(0, count, size)))
        return tuple(np.concatenate(each) for each in zip(*parts, strict=True))

    def traceable(self, point: jax.Array) -> jax.Array:
        """Log-likelihood of one point, for JAX to differentiate."""
        shares = shares_at(self.problem, jax.scipy.special.ndtr(point))
        values: dict[str, Any] = {n: p.icdf(shares[i]) for i, (n, p) in enumerate(self.problem.priors.items())}
        total = self._filtering.log_likelihood(values)
        for constraint in self.problem.constraints:
            kept = jnp.all(jnp.asarray(constraint({name: value[None] for name, value in values.items()})))
            total = jnp.where(kept, total, -jnp.inf)
        return total
