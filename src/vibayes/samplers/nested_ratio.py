"""The Bayes factor of nested models, from points embedded both ways.

Let a draw s of the smaller model's posterior be embedded in the larger: what both have is kept, the rest is drawn from
the prior. A draw l of the larger posterior has preimages in several ways; one of the prior, in a way drawn at random,
is a draw of the smaller prior. So with likelihoods L, evidences Z, and any function g of a pair,

    Z_small · E( L(l) g(s, l) | s )  =  Z_large · E( mean over the ways of L(s) g(s, l) | l ),

where the first average is over draws s of the smaller model and what is added to them, the second over draws l of the
larger. With g = 1 / (L(s) + L(l)) both are bounded, as in bridge sampling (Meng & Wong 1996). Where the addition has no
effect, as a break point has where the motion never goes, both averages are near a half, and the ratio is known
well however thin the posteriors are and however roughly either evidence is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from vibayes.samplers.bridge import Evidence

_DRAWS = 600
"""Draws of each model."""
_TIMES = 6
"""That each draw of the smaller model is embedded."""
_GROUPS = 20
"""Of draws, whose means give the standard error: neighbours of one chain stay together."""


class Posterior(NamedTuple):
    """A model, the logarithm of its likelihood or kernel as a function of points, draws, and their logarithms."""

    target: Any
    log: Callable[[np.ndarray], np.ndarray]
    points: np.ndarray
    logs: np.ndarray


def nested_ratio(rng: np.random.Generator, large: Posterior, small: Posterior) -> Evidence | None:
    """Logarithm of the larger evidence over the smaller, and its standard error; None if they are not nested.

    The evidences are those under priors of all points, whether or not constraints allow them.
    """
    points, logs = _some(large)
    before = large.target.preimages(small.target, points)
    if before is None:
        return None
    ways = [expit(small.log(each) - logs) for each in before]
    back = np.mean(ways, axis=0)
    points, logs = _some(small)
    into = large.target.embedded(rng, small.target, np.repeat(points, _TIMES, axis=0))
    forth = expit(large.log(into) - np.repeat(logs, _TIMES)).reshape(-1, _TIMES).mean(axis=1)
    if not (back.mean() > 0 and forth.mean() > 0):
        return None
    error = np.hypot(_relative_error(back), _relative_error(forth))
    return Evidence(float(np.log(forth.mean() / back.mean())), float(error))


def _some(of: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Some draws, evenly spread over chains."""
    chosen = np.linspace(0, len(of.points) - 1, min(_DRAWS, len(of.points))).astype(int)
    return of.points[chosen], of.logs[chosen]


def _relative_error(values: np.ndarray) -> float:
    means = np.array([each.mean() for each in np.array_split(values, _GROUPS)])
    return float(means.std(ddof=1) / np.sqrt(len(means)) / values.mean())
