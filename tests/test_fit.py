"""Fits along the record: steps against least squares, roads to the needle, and what they keep of one another."""

from dataclasses import replace

import numpy as np
import pytest

import vibayes as vb
from vibayes.candidates import ProblemCandidate
from vibayes.samplers.fit import around, distinct, fits_at, follow, further, improve
from vibayes.samplers.search import from_prior

TIME = np.arange(400) / 20.0


def candidate_of(simulator, truth, priors, noise=0.02, **settings) -> ProblemCandidate:
    clean = simulator(**{name: np.array([value]) for name, value in truth.items()})[0]
    measured = clean + noise * clean.std() * np.random.default_rng(2).standard_normal(clean.shape)
    record = vb.Record.from_arrays(rate=20.0, output={"x": measured})
    return ProblemCandidate(vb.Problem(simulator, record, priors, vectorised=True, **settings))


def chirp(f, g):
    """Its phase at the end has turned dozens of times: over the whole record the right frequency is a needle."""
    return np.sin(2 * np.pi * (f[:, None] * TIME + 0.5 * g[:, None] * TIME**2))


PRIORS = {"f": vb.Uniform(0.5, 6.0), "g": vb.Uniform(-0.1, 0.3)}
TRUTH = {"f": 2.3, "g": 0.11}


def needle(**settings):
    return candidate_of(chirp, TRUTH, PRIORS, **settings)


def last(fits):
    return list(fits)[-1]


@pytest.mark.parametrize("seed", range(6))
def test_the_needle_is_found_along_the_record(seed):
    candidate, rng = needle(), np.random.default_rng(seed)
    fits = last(follow(rng, candidate, from_prior(rng, candidate, 400), 40))
    assert fits.samples == 400
    assert fits.best() < 1.1 * 0.04, "the noise floor is 0.02² or 0.04 percent"
    found = candidate.values(fits.points[:1])
    assert found["f"][0] == pytest.approx(2.3, abs=0.01) and found["g"][0] == pytest.approx(0.11, abs=0.001)


def test_over_the_whole_record_at_once_the_needle_is_missed():
    """Negative control: the same fits without a growing part of the record."""
    candidate = needle(sequential=False)
    assert candidate.beginning == 400
    missed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        missed += last(follow(rng, candidate, from_prior(rng, candidate, 400), 40)).best() > 1.0
    assert missed >= 3


def test_one_step_of_a_linear_model_is_least_squares():
    candidate = candidate_of(lambda a, b: a[:, None] + b[:, None] * TIME, {"a": 0.4, "b": 0.6}, {
        "a": vb.Uniform(0.0, 1.0), "b": vb.Uniform(0.0, 1.0)
    })  # fmt: skip
    start = fits_at(candidate, np.array([[0.2, 0.9], [0.7, 0.1]]), 400)
    fits = improve(candidate, replace(start, damping=np.full(2, 1e-9)))
    measured = candidate.problem.record.output[:, 0]
    expected = np.linalg.lstsq(np.column_stack([np.ones(400), TIME]), measured, rcond=None)[0]
    np.testing.assert_allclose(fits.points, [expected, expected], rtol=1e-6)
    scale = 100.0 / (400 * measured.var())
    assert fits.curvature[0, 1, 1] == pytest.approx(scale * np.sum(TIME**2), rel=1e-4)


def test_a_step_never_makes_a_fit_worse_and_keeps_the_constraints():
    candidate = needle(constraints=[lambda v: v["f"] + v["g"] < 4.0])
    rng = np.random.default_rng(0)
    fits = fits_at(candidate, from_prior(rng, candidate, 50), 60)
    for _ in range(4):
        better = improve(candidate, fits)
        assert np.all(better.misfits <= fits.misfits)
        assert candidate.allowed(better.points).all()
        np.testing.assert_allclose(
            better.misfits, (candidate.errors(better.points, 60) ** 2).sum(axis=(1, 2)), rtol=1e-9
        )
        fits = better


def test_points_that_cannot_be_simulated_are_left_behind():
    def moody(f, g):
        return np.where(f[:, None] > 4.0, np.nan, chirp(f, g))

    candidate, rng = candidate_of(moody, TRUTH, PRIORS), np.random.default_rng(1)
    fits = last(follow(rng, candidate, from_prior(rng, candidate, 400), 40))
    assert fits.best() < 1.1 * 0.04
    assert candidate.count.failures > 0


def test_draws_around_a_fit_raise_the_misfit_by_the_share_that_was_asked():
    candidate, rng = needle(), np.random.default_rng(1)
    fits = last(follow(rng, candidate, from_prior(rng, candidate, 400), 40)).of(np.array([0]))
    for rise in (0.5, 0.05):
        points = around(rng, candidate, fits, 2000, rise)
        rises = candidate.judge(points, np.inf) / fits.best() - 1.0
        # A rise is chi-square with two unknowns, of mean ``rise``: its standard error is rise / √2000.
        assert abs(rises.mean() - rise) < 0.1 * rise + 3.0 * rise / np.sqrt(2000)


def test_of_fits_at_one_place_the_best_is_kept():
    candidate = needle()
    fits = fits_at(candidate, np.array([[0.5, 0.5], [0.501, 0.5], [0.2, 0.2]]), 50)
    kept = distinct(fits, 10)
    assert len(kept.points) == 2 and kept.best() == fits.best()
    assert np.all(np.diff(kept.misfits) >= 0)


def test_fits_that_lose_the_record_get_few_more_samples_and_those_that_follow_get_many():
    candidate = needle()
    right = np.array([[(2.3 - 0.5) / 5.5, 0.21 / 0.4]])
    follows = further(candidate, fits_at(candidate, np.repeat(right, 3, axis=0), 100))
    loses = further(candidate, fits_at(candidate, np.repeat(right * [1.015, 1.0], 3, axis=0), 100))
    assert follows.samples == 151 and 104 <= loses.samples < 130
    assert further(candidate, fits_at(candidate, right, 400)).samples == 400
