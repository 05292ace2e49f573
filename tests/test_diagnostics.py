"""Diagnostics of chains against arviz, and against chains whose correlation is known."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

from vibayes.samplers import diagnostics
from vibayes.samplers.diagnostics import (
    ess_bulk,
    ess_mean,
    information_gain,
    mcse_mean,
    mcse_quantile,
    rhat,
    rhat_of_groups,
)
from vibayes.samplers.likely import Sample
from vibayes.samplers.ridges import ridges
from vibayes.samplers.verdicts import verdicts


def autoregressive(seed: int, shape: tuple[int, ...], correlation: float) -> np.ndarray:
    """Chains of standard normals, each correlated with the one before it."""
    values = np.random.default_rng(seed).normal(size=shape)
    for number in range(1, shape[1]):
        fresh = np.sqrt(1.0 - correlation**2) * values[:, number]
        values[:, number] = correlation * values[:, number - 1] + fresh
    return values


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("shape", [(4, 100, 3), (4, 101, 2), (2, 7, 2), (8, 1000, 2)])
@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.99, -0.5])
@pytest.mark.parametrize("rounded", [False, True])
def test_all_are_those_of_arviz(shape, correlation, rounded):
    arviz = pytest.importorskip("arviz")
    values = autoregressive(0, shape, correlation)
    values = np.round(values, 1) if rounded else values
    data = arviz.convert_to_dataset(values)
    for mine, theirs in [
        (rhat(values), arviz.rhat(data)),
        (ess_bulk(values), arviz.ess(data, method="bulk")),
        (diagnostics.ess_tail(values), arviz.ess(data, method="tail")),
        (ess_mean(values), arviz.ess(data, method="mean")),
        (mcse_mean(values), arviz.mcse(data, method="mean")),
        (mcse_quantile(values, 0.05), arviz.mcse(data, method="quantile", prob=0.05)),
    ]:
        assert np.allclose(mine, theirs["x"].values, rtol=1e-9)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_effective_draws_are_those_of_an_autoregressive_chain(correlation):
    values = autoregressive(1, (4, 20_000), correlation)
    exact = values.size * (1.0 - correlation) / (1.0 + correlation)
    assert abs(ess_mean(values) / exact - 1.0) < 0.1


def test_standard_errors_are_the_scatter_over_repeated_runs():
    values = autoregressive(2, (4, 300, 400), 0.7)
    for said, estimate in [
        (mcse_mean(values), values.mean(axis=(0, 1))),
        (mcse_quantile(values, 0.9), np.quantile(values, 0.9, axis=(0, 1))),
    ]:
        assert abs(said.mean() / estimate.std() - 1.0) < 0.12


def test_one_parameter_and_many_agree():
    values = autoregressive(3, (4, 50, 3), 0.5)
    for function in (rhat, ess_bulk, mcse_mean):
        assert np.allclose(function(values), [function(values[..., k]) for k in range(3)])


def test_information_is_that_of_a_gaussian():
    for width in (1.0, 0.3, 1e-3):
        points = 0.5 + width * autoregressive(4, (4, 1000, 1), 0.5)
        exact = (0.5 * (width**2 + 0.25 - 1.0) - np.log(width)) / np.log(2.0)
        assert abs(information_gain(points)[0] - exact) < 0.15


@pytest.mark.parametrize(("centre", "width"), [(0.0, 1.0), (0.5, 0.9), (2.0, 0.05), (-3.5, 0.01)])
def test_information_is_right_within_its_monte_carlo_error(centre, width):
    points = centre + width * np.random.default_rng(6).normal(size=(4, 250, 20))
    exact = (0.5 * (width**2 + centre**2 - 1.0) - np.log(width)) / np.log(2.0)
    # Of the mean of log posterior / prior over the draws; spacings have a bias of some hundredths of a bit.
    logs = (-0.5 * ((points - centre) / width) ** 2 + 0.5 * points**2) / np.log(2.0)
    error = logs.std() / np.sqrt(points.shape[0] * points.shape[1])
    assert np.all(np.abs(information_gain(points) - exact) < 4.0 * error + 0.05)


def test_information_tells_a_little_from_nothing():
    rng = np.random.default_rng(7)
    nothing, little = (width * rng.normal(size=(4, 250, 20)) for width in (1.0, 0.7))
    assert information_gain(nothing).max() < 0.03 < 0.06 < information_gain(little).min()


def test_many_short_chains_agree_where_each_is_its_own():
    short = autoregressive(8, (48, 40, 2), 0.8)
    assert rhat(short).max() > 1.05
    assert rhat_of_groups(short).max() < 1.03


@pytest.mark.parametrize("seed", range(5))
def test_many_chains_that_stay_in_two_modes_are_found(seed):
    there = np.random.default_rng(seed).random((48, 1, 1)) < 0.5
    apart = autoregressive(9, (48, 200, 1), 0.5) + 6.0 * there
    said = verdicts(sample(0.1 * apart), ["k"])[0]
    assert "Chains do not agree on k" in said or "few effective draws of k" in said


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda a, b, e: (np.exp(a + e), np.exp(a)), "tells k / c within 4.9 %"),
        (lambda a, b, e: (np.exp(a + e), np.exp(-a)), "tells k · c within 4.9 %"),
        (lambda a, b, e: (np.exp(2.0 * a + e), np.exp(a)), "tells k / c^2 within 4.9 %"),
        (lambda a, b, e: (3.0 * a + e, -a), "tells k + 3 c within 0.049"),
        (lambda a, b, e: (np.exp(a), np.exp(b)), ""),
        (lambda a, b, e: (np.exp(a), np.exp(a + b)), ""),
    ],
)
def test_what_is_known_of_two_on_a_ridge_is_their_combination(made, says):
    a, b, e = np.random.default_rng(1).normal(size=(3, 1000)) * np.array([[1.0], [1.0], [0.05]])
    values = np.stack(made(a, b, e), axis=1)
    points = np.log(values) if (values > 0).all() else values
    said = ridges(points, values, ["k", "c"])
    assert says in said[0] if says else said == ()


def test_information_of_a_stuck_chain_is_not_known():
    assert np.isnan(information_gain(np.zeros((2, 100, 1)))[0])


def sample(points: np.ndarray, acceptance: float = 0.4, **settings) -> Sample:
    return Sample(points, np.zeros(points.shape[:2]), acceptance, **settings)


GOOD = 0.1 * np.random.default_rng(5).normal(size=(4, 500, 2))


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (sample(GOOD + np.array([0.0, 0.0, 0.0, 0.2])[:, None, None]), "Chains do not agree on k"),
        (sample(GOOD[:1, :300]), "There are few effective draws of k"),
        (sample(GOOD, acceptance=0.01), "Only 1.00% of moves were made: give more warm-up"),
        (sample(GOOD, log_evidence_error=0.9), "The evidence is rough"),
        (sample(GOOD + 4.0), "The prior hardly allows what the record says of k (+4.0 standard deviations off)"),
        (sample(10.0 * GOOD), "The record says nothing of k"),
        (sample(GOOD, note="12 trajectories diverged"), "12 trajectories diverged."),
        (sample(GOOD[:, :3]), "There are too few draws to judge"),
        (sample(0.1 * autoregressive(7, (4, 4000, 2), 0.999), acceptance=0.97), "they lead nowhere"),
    ],
)
def test_what_is_wrong_is_said(made, says):
    assert any(says in sentence for sentence in verdicts(made, ["k", "c"]))


def test_nothing_is_said_of_a_good_sample():
    assert verdicts(sample(GOOD), ["k", "c"]) == ()


@pytest.mark.parametrize("count", [10, 37, 1000])
def test_entropy_and_ranks_are_those_of_scipy(count):
    rng = np.random.default_rng(count)
    draws = rng.standard_normal(count)
    expected = stats.differential_entropy(draws, method="ebrahimi")
    assert diagnostics.entropy(draws) == pytest.approx(expected, rel=1e-12)
    tied = rng.integers(0, 9, (2, count, 1)).astype(float)
    scores = ndtri((stats.rankdata(tied).reshape(tied.shape) - 0.375) / (tied.size + 0.25))
    np.testing.assert_allclose(diagnostics._scores(tied), scores, rtol=1e-12)
