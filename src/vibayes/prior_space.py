"""The prior of a problem as samplers see it: uniform in the unit cube, where the constraints allow it.

A coordinate is the share of a prior that lies below the parameter's value. Parameters that are in increasing order
(`Increasing`) and have the same prior are the order statistics of independent draws of it: which of the draws is called
the first is a labelling, and no information. With independent uniform coordinates v, their shares are

    u_n = v_n^(1/n),    u_k = u_{k+1} v_k^(1/k)    for k = n - 1 … 1,

which have the distribution of n sorted uniform draws, so no point is lost for its order. What any other constraint
leaves of the cube, its feasible share, divides the evidence: a prior is normalised over its constraints
(`Problem.constrained_prior`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import ndtr, ndtri

from vibayes.constraints import Increasing, require_mask
from vibayes.errors import InvalidInput
from vibayes.priors import normal_scores
from vibayes.problem import Problem

_BATCH, _BATCHES = 50_000, 16
"""Draws by which the feasible share is estimated at a time, and how often at most."""
_SURE = 0.005
"""Standard error of its logarithm that is small beside any error of a sampler."""


class Feasible(NamedTuple):
    """Share of the prior that meets the constraints: its logarithm, and the standard error of that."""

    log_share: float = 0.0
    error: float = 0.0


def orders_of(problem: Problem) -> tuple[Increasing, ...]:
    """Constraints of order between parameters of the same prior: those that coordinates meet by themselves."""
    found: list[Increasing] = []
    for each in problem.constraints:
        if not isinstance(each, Increasing) or len(each.names) < 2:
            continue
        priors = [problem.priors.get(name) for name in each.names]
        apart = not any(name in other.names for other in found for name in each.names)
        if apart and priors[0] is not None and all(same_prior(priors[0], prior) for prior in priors[1:]):
            found.append(each)
    return tuple(found)


def same_prior(one: Any, other: Any) -> bool:
    """Whether two priors are the same distribution, as far as can be told."""
    return one is other or (type(one) is type(other) and bool(np.all(one == other)))


def shares_at(problem: Problem, coordinates: Any) -> Any:
    """Shares of the priors below the values of points, (..., unknowns); NumPy's or JAX's."""
    library = jnp if isinstance(coordinates, jax.Array) else np
    columns = [coordinates[..., i] for i in range(len(problem.priors))]
    for places in _places(problem):
        above = 1.0
        for rank, place in reversed(list(enumerate(places, 1))):
            above = columns[place] = above * columns[place] ** (1.0 / rank)
    return library.stack(columns, -1)


def coordinates_at(problem: Problem, shares: np.ndarray) -> np.ndarray:
    """Points whose shares these are, (..., unknowns): the inverse of `shares_at`."""
    result = np.array(shares, float)
    for places in _places(problem):
        for rank, place in enumerate(places, 1):
            above = shares[..., places[rank]] if rank < len(places) else 1.0
            with np.errstate(divide="ignore", invalid="ignore"):
                result[..., place] = np.nan_to_num(np.clip(shares[..., place] / above, 0.0, 1.0)) ** rank
    return result


def values_at(problem: Problem, points: np.ndarray) -> dict[str, np.ndarray]:
    """Parameters of every point of the cube, by name.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=1.0, output={"x": np.arange(3.0)})
        >>> place = vb.Uniform(0.0, 1.0)
        >>> ordered = [vb.Increasing(("a", "b"))]
        >>> problem = vb.Problem(lambda a, b: np.arange(3.0), record, {"a": place, "b": place}, constraints=ordered)
        >>> {name: value.tolist() for name, value in values_at(problem, np.array([[0.9, 0.25]])).items()}
        {'a': [0.45], 'b': [0.5]}
    """
    shares = shares_at(problem, points)
    return {name: np.asarray(prior.icdf(shares[:, i]), float) for i, (name, prior) in enumerate(problem.priors.items())}


def scores_at(problem: Problem, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Points in normal coordinates whose values these are, (..., unknowns)."""
    scores = np.stack([normal_scores(problem.priors[name], values[name]) for name in problem.priors], axis=-1)
    if not orders_of(problem):
        return scores
    return ndtri(np.clip(coordinates_at(problem, ndtr(scores)), 1e-300, 1.0 - 1e-16))


def feasible(problem: Problem) -> Feasible:
    """The share of the prior by which the evidence is divided, by counting draws; exactly one without constraints.

    Refuses priors of which no draw is allowed.
    """
    if all(each in orders_of(problem) for each in problem.constraints):
        return Feasible()
    rng, met, drawn = np.random.default_rng(0), 0, 0
    for _ in range(_BATCHES):
        values = values_at(problem, rng.random((_BATCH, len(problem.priors))))
        met, drawn = met + int(meets(problem, values).sum()), drawn + _BATCH
        if met and (1.0 - met / drawn) / met < _SURE**2:
            break
    if not met:
        remedy = "widen the priors or drop a constraint"
        where, got = f"Problem {problem.name!r}", f"never in {drawn:,} draws"
        raise InvalidInput(where, "priors that meet the constraints now and then", got, remedy)
    if problem.constrained_prior == "unnormalised":
        return Feasible()
    return Feasible(float(np.log(met / drawn)), float(np.sqrt((1.0 - met / drawn) / met)))


def meets(problem: Problem, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Which sets of parameters the constraints of a problem allow."""
    count = len(next(iter(values.values())))
    allowed = np.ones(count, bool)
    for number, constraint in enumerate(problem.constraints):
        allowed &= require_mask(f"Problem.constraints[{number}]", constraint, values, count)
    return allowed


def _places(problem: Problem) -> list[list[int]]:
    """Columns of the parameters of each order, from the smallest to the largest."""
    names = list(problem.priors)
    return [[names.index(name) for name in each.names] for each in orders_of(problem)]
