"""Posteriors that lean on an end of their prior, or are cut by a constraint: there the prior decides how far they go.

In shares of the prior, u = F(θ), the prior is uniform, and the density of the posterior is the marginal likelihood up
to a factor. With p_b the shares of the posterior in B parts of the prior of equal probability, their overlap is
Σ_b min(p_b, 1/B); where it is near one the record said nothing. Otherwise, with δ the width of the shortest interval of
u that holds a share P of the posterior, the density at the end u = 0, as a share of the largest, is about

    r = Pr(u < δ) / P.

A normal posterior has r = 0.1 where its mean is 2.1 standard deviations from the end. Beyond that less than 2 % of it
is cut off, and the end decides nothing.

An end counts where the density of the prior does not vanish towards it: F⁻¹(ε) - F⁻¹(0) grows as fast as ε. The end of
a normal prior that is cut far out in its tail, and zero as the end of a log-normal prior, do not count.

A constraint is a function that says yes or no, so the posterior is moved instead: by half a standard deviation along
each of its principal axes. Draws that then break the constraint, and break it further out as well, lie within half a
deviation of a border; a normal posterior has 3.5 % of them where r = 0.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from vibayes.constraints import Increasing, require_mask
from vibayes.priors import Prior
from vibayes.problem import Problem

_PARTS = 10
_SAME = 0.9
"""Overlap from which the record said nothing."""
_SURE = 4.0
"""Standard errors by which a tenth of the prior at one of its ends holds too much to be like the prior."""
_LEANS = 0.1
"""Density at an end, as a share of the largest, from which a posterior leans on it."""
_PRESSED = 0.5
"""The same, from which the end is about the likeliest value."""
_COUNTED = 100.0
"""Effective draws that the densest interval holds; those near an end are compared with them."""
_SMALLEST, _LARGEST = 0.05, 0.25
"""Shares of the posterior that the densest interval may hold."""
_SMALL = 0.01
"""Share of the prior that tells whether its density vanishes towards an end."""
_STEP, _FURTHER = 0.5, (1.0, 2.0, 4.0, 8.0)
"""Standard deviations that draws are moved by to meet a constraint, and multiples at which it is still broken."""
_CUT = 0.035
_TRIED = 1000
"""Draws that are moved."""


class Leaning(NamedTuple):
    """An end of a prior that a posterior leans on.

    Attributes:
        end: value of the parameter there.
        density: of the posterior at the end, as a share of its largest.
        share: of the draws, within a tenth of the prior.
    """

    end: float
    density: float
    share: float

    @property
    def pressed(self) -> bool:
        """Whether the end is about the likeliest value."""
        return self.density >= _PRESSED


def overlap(scores: np.ndarray, weights: np.ndarray) -> float:
    """Overlap of a posterior with its prior: 1 where the record said nothing.

    Examples:
        >>> import numpy as np
        >>> from vibayes.leaning import overlap
        >>> z = np.random.default_rng(0).normal(size=4000)
        >>> equal = np.full(4000, 1 / 4000)
        >>> overlap(z, equal) > 0.95, overlap(0.1 * z, equal) < 0.3
        (True, True)
    """
    return float(np.minimum(_shares(scores, weights), 1.0 / _PARTS).sum())


def like_prior(scores: np.ndarray, weights: np.ndarray, effective: float) -> bool:
    """Whether a posterior cannot be told from its prior, and neither end holds more than chance puts there."""
    scatter = 0.4 * np.sqrt(_PARTS / effective)  # what chance takes from an overlap of one
    at_ends = _shares(scores, weights)[[0, -1]].max()
    crowded = at_ends > 1.0 / _PARTS + _SURE * np.sqrt((1.0 - 1.0 / _PARTS) / _PARTS / effective)
    return bool(overlap(scores, weights) > _SAME - scatter and not crowded)


def _shares(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.histogram(ndtr(scores), _PARTS, (0.0, 1.0), weights=weights)[0]


def leaning(prior: Prior, scores: np.ndarray, weights: np.ndarray, effective: float) -> Leaning | None:
    """The end of a prior that a posterior leans on most, if any; none where the record said nothing.

    Args:
        prior: of the parameter.
        scores: draws in coordinates in which the prior is standard normal.
        weights: of the draws; their sum is one.
        effective: draws that are worth something.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.leaning import leaning
        >>> from vibayes.priors import normal_scores
        >>> prior, rng, equal = vb.Uniform(0.0, 10.0), np.random.default_rng(0), np.full(800, 1 / 800)
        >>> leaning(prior, normal_scores(prior, rng.exponential(size=800)), equal, 800.0).end
        0.0
        >>> leaning(prior, normal_scores(prior, rng.normal(5.0, 1.0, size=800)), equal, 800.0) is None
        True
    """
    if like_prior(scores, weights, effective):
        return None
    found = []
    for side, signed in ((0.0, scores), (1.0, -scores)):
        end = float(np.asarray(prior.icdf(side)))
        if np.isfinite(end) and _ends_abruptly(prior, side, end):
            u = ndtr(signed)
            found.append(Leaning(end, density_at_end(u, weights, effective), float(weights[u < 0.1].sum())))
    worst = max(found, key=lambda each: each.density, default=None)
    return worst if worst is not None and worst.density > _LEANS else None


def density_at_end(u: np.ndarray, weights: np.ndarray, effective: float) -> float:
    """Density of draws near zero, as a share of their largest density.

    Args:
        u: draws, from 0 at the end to 1.
        weights: of the draws; their sum is one.
        effective: draws that are worth something.
    """
    share = float(np.clip(_COUNTED / effective, _SMALLEST, _LARGEST))
    order = np.argsort(u)
    places, below = u[order], np.cumsum(weights[order])
    # From each draw up to the one with which the interval holds the share.
    last = np.searchsorted(below, below - weights[order] + share)
    held = last < len(places)
    width = float(np.min(places[last[held]] - places[held])) if held.any() else 0.0
    return float(weights[u < max(width, 1e-300)].sum() / share)


def _ends_abruptly(prior: Prior, side: float, end: float) -> bool:
    """Whether the density of a prior does not vanish towards an end."""
    near, far = (float(np.asarray(prior.icdf(abs(side - each)))) for each in (0.5 * _SMALL, _SMALL))
    return abs(far - end) > 1.5 * abs(near - end)


class Cut(NamedTuple):
    """A constraint that cuts a posterior.

    Attributes:
        constraint: its name.
        parameters: that it is about.
        share: of the draws, within half a standard deviation of the border.
    """

    constraint: str
    parameters: tuple[str, ...]
    share: float


def cut_by_constraints(problem: Problem, scores: np.ndarray, weights: np.ndarray) -> tuple[Cut, ...]:
    """Constraints that cut a posterior; an order of parameters is a matter of labels, and does not.

    Args:
        problem: with the constraints.
        scores: draws in coordinates in which the priors are standard normal, (draws, parameters).
        weights: of the draws; their sum is one.
    """
    asked = [(i, each) for i, each in enumerate(problem.constraints) if not isinstance(each, Increasing)]
    if not asked:
        return ()
    chosen = np.random.default_rng(0).choice(len(weights), _TRIED, p=weights)
    points = scores[chosen]
    sizes, axes = np.linalg.eigh(np.atleast_2d(np.cov(points, rowvar=False)))
    steps = (np.sqrt(np.maximum(sizes, 0.0)) * axes).T
    found = []
    for number, constraint in asked:
        where = f"Problem.constraints[{number}]"
        name = getattr(constraint, "__name__", type(constraint).__name__)
        worst = max((_broken(where, constraint, problem, points, sign * step) for step in steps for sign in (-1, 1)),
                    key=lambda each: each[0])  # fmt: skip
        if worst[0] > _CUT:
            found.append(Cut(name, worst[1], worst[0]))
    return tuple(found)


def _broken(where: str, constraint: Any, problem: Problem, points: np.ndarray, step: np.ndarray):
    """Share of draws that a step takes out of a constraint for good, and the parameters that it takes there."""
    out = np.ones(len(points), bool)
    for times in _FURTHER:
        out &= ~_holds(where, constraint, problem, points + times * _STEP * step)
    out &= _holds(where, constraint, problem, points)
    moved = points + _STEP * step
    names = []
    for column, name in enumerate(problem.priors):
        back = moved.copy()
        back[:, column] = points[:, column]
        if out.any() and np.mean(_holds(where, constraint, problem, back)[out]) > 0.2:
            names.append(name)
    return float(out.mean()), tuple(names)


def _holds(where: str, constraint: Any, problem: Problem, points: np.ndarray) -> np.ndarray:
    shares = ndtr(points)
    values = {n: np.asarray(p.icdf(shares[:, i]), float) for i, (n, p) in enumerate(problem.priors.items())}
    return require_mask(where, constraint, values, len(points))


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
