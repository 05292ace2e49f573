"""Nested models: points of a smaller model as points of a larger one, and back.

Both are in the unit cube of their priors (`prior_space`). A spring with a break point where the motion never goes is
one without it: the larger model contains the smaller, and their Bayes factor is known best from points embedded both
ways (`samplers.nested_ratio`).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from vibayes.constraints import Increasing
from vibayes.prior_space import coordinates_at, orders_of, same_prior, shares_at
from vibayes.problem import Problem


def embedded(rng: np.random.Generator, small: Problem, large: Problem, points: np.ndarray) -> np.ndarray:
    """Points of one model as points of another, (points, unknowns of the latter).

    Parameters that both have, with the same prior, are kept; the rest is drawn from the prior. Parameters that must be
    in order are taken in any order, each with its companion, and put in order here.
    """
    theirs, mine = list(small.parameters), list(large.parameters)
    shares = np.array(shares_at(small, points))
    for constraint in _orders(small):
        _shuffle(rng, shares, _groups(constraint, theirs))
    result = rng.random((len(points), len(mine)))
    for column, name in enumerate(mine):
        if name in theirs and same_prior(small.priors[name], large.priors[name]):
            result[:, column] = shares[:, theirs.index(name)]
    for constraint in _orders(large):
        _sort(result, _groups(constraint, mine))
    return coordinates_at(large, result)


def preimages(small: Problem, large: Problem, points: np.ndarray) -> np.ndarray | None:
    """Points of the smaller model that would become these if they were embedded: (ways, points, its unknowns).

    None if not all of its parameters are in the larger model with the same prior.
    """
    theirs, mine = list(small.parameters), list(large.parameters)
    here, there = large.priors, small.priors
    if not all(name in mine and same_prior(here[name], there[name]) for name in theirs):
        return None
    if not all(each in orders_of(large) for each in _orders(large)):
        return None
    ways = [{name: mine.index(name) for name in theirs}]
    for constraint in _orders(large):
        rows = (constraint.names, constraint.carrying) if constraint.carrying else (constraint.names,)
        if not all(same_prior(here[name], here[row[0]]) for row in rows for name in row):
            return None
        lent = [[name for name in row if name in theirs] for row in rows]
        if len({len(row) for row in lent}) > 1:
            return None
        # Any of those in order may be the ones that were embedded.
        ways = [
            {**way, **{name: mine.index(row[i]) for row, names in zip(rows, lent, strict=True)
                       for i, name in zip(kept, names, strict=True)}}
            for way in ways
            for kept in combinations(range(len(constraint.names)), len(lent[0]))
        ]  # fmt: skip
    shares = shares_at(large, points)
    return np.stack([coordinates_at(small, shares[:, [way[name] for name in theirs]]) for way in ways])


def _orders(problem: Problem) -> list[Increasing]:
    return [each for each in problem.constraints if isinstance(each, Increasing)]


def _groups(constraint: Increasing, names: list[str]) -> list[np.ndarray]:
    """Columns of the parameters in order, then those of their companions."""
    rows = (constraint.names, constraint.carrying) if constraint.carrying else (constraint.names,)
    return [np.array([names.index(name) for name in row]) for row in rows]


def _shuffle(rng: np.random.Generator, points: np.ndarray, groups: list[np.ndarray]) -> None:
    _rearrange(points, groups, np.argsort(rng.random((len(points), len(groups[0]))), axis=1))


def _sort(points: np.ndarray, groups: list[np.ndarray]) -> None:
    _rearrange(points, groups, np.argsort(points[:, groups[0]], axis=1))


def _rearrange(points: np.ndarray, groups: list[np.ndarray], order: np.ndarray) -> None:
    for columns in groups:
        points[:, columns] = np.take_along_axis(points[:, columns], order, axis=1)
