"""Markov chains by differential evolution, held to a multivariate t distribution, which the weights of distances make.

With n values and ρ = 1 + q/(n - d), q the squared length of x - μ in units of a scale Σ, the weights ρ^(-n/2) are the
density of a t distribution of ν = n - d degrees of freedom in d unknowns: mean μ, covariance Σ ν/(ν - 2).
"""

from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.test_abc_baselines import Ball

from vibayes.samplers.differential_evolution import walked
from vibayes.samplers.kernel import Kernel
from vibayes.samplers.proposal import proposal
from vibayes.samplers.settings import ENOUGH_DRAWS
from vibayes.samplers.shapes import Draws

SIZE, VALUES = 4, 24
SCALES = 0.03 * np.array([1.0, 0.1, 0.3, 1.0])
TURNED = np.linalg.qr(np.random.default_rng(0).normal(size=(SIZE, SIZE)))[0]
ROOT = TURNED * SCALES
DEGREES = VALUES - SIZE


@dataclass
class Turned(Ball):
    """A thin ellipsoid across the axes; counts what was simulated beyond the limit it was given."""

    size: int = SIZE
    radius: float = 1.0
    limits: list[float] = field(default_factory=list)

    def judge(self, points, limit):
        self.limits.append(limit)
        away = np.linalg.solve(ROOT, (points - 0.5).T)
        distances = 1.0 + np.sum(away**2, axis=0) / DEGREES
        return np.where(distances <= limit, distances, np.inf)


def start(seed, spread=3.0, count=60):
    """Some points that lie all about, a few of which have all the weight."""
    rng = np.random.default_rng(seed)
    points = 0.5 + spread * rng.normal(size=(count, SIZE)) @ ROOT.T
    distances = Turned().judge(points, np.inf)
    weights = distances ** (-VALUES / 2.0)
    return Draws(points, weights / weights.sum(), distances, log_mass=-3.0, standard_error=0.2)


def agrees(found: Draws) -> bool:
    """Whether means and covariances are those of the closed form, to four standard errors."""
    away = np.linalg.solve(ROOT, (found.points - 0.5).T).T
    pairs = away[:, :, None] * away[:, None] - np.eye(SIZE) * DEGREES / (DEGREES - 2)
    features = np.concatenate([away, pairs[:, *np.triu_indices(SIZE)]], axis=1)
    return bool(np.all(np.abs(features.mean(axis=0)) < 4.0 * features.std(axis=0) / np.sqrt(len(features))))


@pytest.mark.parametrize("seed", range(3))
def test_chains_from_a_few_heavy_draws_end_in_the_density_of_the_weights(seed):
    draws = start(seed)
    found = walked(np.random.default_rng(seed), Turned(), draws, Kernel(VALUES), np.inf, 400)
    assert draws.effective < 20 < ENOUGH_DRAWS <= len(found.points)
    assert agrees(found)
    assert (found.log_mass, found.standard_error) == (draws.log_mass, draws.standard_error)
    np.testing.assert_allclose(found.distances, Turned().judge(found.points, np.inf))


def test_chains_of_other_weights_do_not():
    found = walked(np.random.default_rng(0), Turned(), start(0), Kernel(VALUES // 2), np.inf, 400)
    assert not agrees(found)


def test_a_simulation_may_stop_where_the_move_is_rejected_whatever_else_it_would_do():
    candidate, kernel = Turned(), Kernel(VALUES)
    found = walked(np.random.default_rng(1), candidate, start(1), kernel, 50.0, 400)
    # The largest of two hundred bounds ρ u^(-2/n) is far below the limit as a rule.
    assert agrees(found) and max(candidate.limits) <= 50.0 and np.median(candidate.limits) < 5.0


def test_there_are_as_many_draws_as_they_are_worth():
    found = walked(np.random.default_rng(2), Turned(), start(2), Kernel(VALUES), np.inf, 400)
    assert len(np.unique(found.points, axis=0)) <= len(found.points) < 400 * 150 / 2
    assert found.effective == pytest.approx(len(found.points))


def test_too_few_points_for_an_ensemble_stay_as_they_are():
    few = start(0, count=2 * SIZE + 1)
    assert walked(np.random.default_rng(0), Turned(), few, Kernel(VALUES), np.inf, 400) is few


@pytest.mark.parametrize("kind", ["copies", "copies and a few", "one is heavy", "one lies apart"])
def test_a_proposal_of_points_that_have_hardly_a_shape_is_finite(kind):
    rng = np.random.default_rng(0)
    points, weights = 0.5 + 1e-3 * rng.random((60, 7)), np.ones(60)
    if kind == "one is heavy":
        weights = np.r_[1.0, np.full(59, 1e-300)]
    elif kind == "one lies apart":
        points[0] = 0.1
    else:
        points[: 55 if kind == "copies and a few" else 60] = points[0]
    with np.errstate(all="raise", under="ignore"):
        source = proposal(points, weights, 1.2)
        drawn = source.draw(rng, 200)
        assert np.isfinite(drawn).all() and np.isfinite(source.log_density(drawn)).all()
