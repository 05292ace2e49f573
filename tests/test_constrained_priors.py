"""Order is a labelling and costs nothing; other constraints cost nothing by default: evidence against closed forms."""

from functools import cache, partial

import jax
import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import ndtr

import vibayes as vb
from vibayes import sampling
from vibayes.candidates import ProblemCandidate
from vibayes.prior_space import coordinates_at, feasible, orders_of, scores_at, shares_at, values_at
from vibayes.targets import ProblemTarget

COMPUTES = True
TIME = np.linspace(0.0, 1.0, 40)
RECORD = vb.Record.from_arrays(rate=39.0, output={"y": TIME + 0.1 * np.random.default_rng(0).standard_normal(40)})
SLOPE, PLACE = vb.Uniform(0.0, 2.0), vb.Uniform(0.0, 1.0)
APART = 0.2
"""Least distance of the two places, which meets a share (1 - APART)² of sorted draws."""


def apart(values):
    return values["d2"] - values["d1"] > APART


def line(a, **_):
    return a[:, None] * TIME


def model(name: str, places: int = 0, constraints=(), convention: str = "normalised", **priors) -> vb.Problem:
    """A line, with parameters in order that change nothing."""
    names = tuple(f"d{i + 1}" for i in range(places))
    order = [vb.Increasing(names)] if places > 1 else []
    return vb.Problem(
        line, RECORD, {"a": SLOPE, **dict.fromkeys(names, PLACE), **priors}, name, [*order, *constraints],
        sequential=False, vectorised=True, constrained_prior=convention,
    )  # fmt: skip


# Coordinates


@pytest.mark.parametrize("places", [2, 3, 5])
def test_points_of_the_cube_are_sorted_draws_of_the_prior(places):
    rng = np.random.default_rng(places)
    values = values_at(model("m", places), rng.random((20_000, places + 1)))
    ours = np.stack([values[f"d{i + 1}"] for i in range(places)], axis=1)
    assert np.all(np.diff(ours, axis=1) > 0)
    for rank, mine in enumerate(ours.T, 1):
        # The k-th of n sorted uniform draws has the distribution Beta(k, n + 1 - k).
        assert stats.kstest(mine, stats.beta(rank, places + 1 - rank).cdf)[1] > 0.01
    spacings = np.diff(ours, axis=1, prepend=0.0, append=1.0)  # exchangeable: all have the same distribution
    assert all(np.asarray(stats.ks_2samp(spacings[:, 0], each))[1] > 0.01 for each in spacings.T[1:])


def test_no_point_breaks_an_order_and_nothing_is_lost_for_it():
    candidate = ProblemCandidate(model("m", 3))
    assert candidate.allowed(np.random.default_rng(0).random((1000, 4))).all()
    assert candidate.feasible == (0.0, 0.0)


def test_coordinates_are_found_again_from_values():
    problem, rng = model("m", 3), np.random.default_rng(1)
    z = rng.standard_normal((50, 4))
    points = ndtr(z)
    np.testing.assert_allclose(coordinates_at(problem, shares_at(problem, points)), points, atol=1e-12)
    np.testing.assert_allclose(scores_at(problem, values_at(problem, points)), z, atol=1e-9)
    with jax.enable_x64(True):
        np.testing.assert_allclose(
            shares_at(problem, jax.numpy.asarray(points)), shares_at(problem, points), atol=1e-15
        )


def test_an_order_of_different_priors_is_a_constraint_like_any_other():
    """With d1 in (0, 1) and d2 in (0, 2), a share 3/4 of the draws is in order."""
    wider = model("m", constraints=[vb.Increasing(("d1", "d2"))], d1=PLACE, d2=vb.Uniform(0.0, 2.0))
    assert orders_of(wider) == ()
    share = feasible(wider)
    assert abs(share.log_share - np.log(0.75)) < 3.0 * share.error and 0.0 < share.error < 0.01


def test_an_order_that_shares_a_parameter_with_another_is_counted():
    """a < b and b < c: 1/6 of all draws, 1/3 of those with a < b."""
    both = model("m", constraints=[vb.Increasing(("x", "y")), vb.Increasing(("y", "z"))], x=PLACE, y=PLACE, z=PLACE)
    share = feasible(both)
    assert abs(share.log_share - np.log(1 / 3)) < 3.0 * share.error


def test_the_feasible_share_of_slopes_that_differ_is_that_of_quadrature():
    """Of two log-uniform slopes over a decade, |log k1 - log k2| >= log 1.05."""
    spring = vb.PiecewiseLinearSpring(("k1", "k2"), (0.0,))
    slope = vb.LogUniform(1.0, 10.0)
    share = feasible(model("m", constraints=[vb.distinct_slopes(spring, 0.05)], k1=slope, k2=slope))
    assert abs(share.log_share - 2.0 * np.log(1.0 - np.log10(1.05))) < 3.0 * share.error


def test_a_convention_of_another_name_is_refused():
    with pytest.raises(vb.InvalidInput, match="'normalised' or 'unnormalised'"):
        model("m", convention="published")


# Methods that work with a distance


def candidates(convention: str) -> list[vb.Problem]:
    """All explain the record alike; only what they lose by constraints can tell them apart."""
    return [
        model("line"), model("ordered", 3), model("apart", 2, [apart], convention),
        model("below", constraints=[lambda v: v["e"] < 0.3], convention=convention, e=PLACE),
    ]  # fmt: skip


METHODS = {
    "rejection": vb.ABCRejection(threshold=30.0, particles=2000),
    "smc": vb.ABCSMC(particles=1500, threshold=15.0),
    "weigh": vb.FollowAndWeigh(fits=10, searches=1, particles=100, draws=400, rounds=2, threshold=15.0),
    "kernel": vb.FollowAndWeigh(fits=10, searches=1, particles=100, draws=400, rounds=2),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("convention", "left"), [("normalised", [1, 1, 1, 1]), ("unnormalised", [1, 1, (1 - APART) ** 2, 0.3])]
)
def test_models_that_differ_in_constraints_alone_are_equally_probable(method, convention, left):
    found = vb.infer(3, candidates(convention), METHODS[method])
    for each, share in zip(found, np.array(left) / np.sum(left), strict=True):
        assert abs(each.probability - share) < 3.5 * each.standard_error + 1e-12, (each.name, found.probabilities)
        assert each.standard_error < 0.03
    logs = np.array([each.log_evidence for each in found]) - np.log(left)
    errors = np.array([each.log_evidence_error for each in found])
    assert np.all(np.abs(logs - np.average(logs, weights=errors**-2.0)) < 3.5 * errors)


def test_the_published_scheme_loses_draws_for_constraints_but_not_for_order():
    """Of the first population, at a threshold that all draws meet, a share 1 : 1 : 0.64 : 0.3."""
    first = vb.infer(0, candidates("normalised"), vb.ABCNestedSampling(n_s=3000, max_populations=1, epsilon_1=1e6))
    expected = np.array([1.0, 1.0, (1 - APART) ** 2, 0.3])
    expected /= expected.sum()
    for each, share in zip(first, expected, strict=True):
        assert abs(each.probability - share) < 3.5 * np.sqrt(share * (1 - share) / 3000)


# Methods that work with a likelihood


class Analytic(ProblemTarget):
    """Independent Gaussian readings of d1 and d2, in two samples."""

    centres, deviation = np.array([0.35, 0.5]), 0.1

    def __post_init__(self):
        self._shares = ()

    samples, softens, traceable = 2, False, None  # type: ignore[assignment]

    def log_likelihood(self, points):
        return self.follow(points, self.begin(points), 0, 2)[0].sum(axis=1)

    def begin(self, points):
        values, allowed = self._allowed(points)
        self.count.simulations += len(points)
        return np.where(allowed[:, None], np.stack([values["d1"], values["d2"]], axis=1), np.nan), np.zeros(len(points))

    def follow(self, points, carried, first, last):
        logs = -0.5 * ((carried[0] - self.centres) / self.deviation) ** 2
        return np.where(np.isnan(logs), -np.inf, logs)[:, first:last], carried


@cache
def exact(least: float) -> float:
    """Logarithm of the integral of the likelihood over sorted draws at least so far apart."""

    def height(d2, d1):
        away = (np.array([d1, d2]) - Analytic.centres) / Analytic.deviation
        return 2.0 * np.exp(-0.5 * away @ away)

    return float(np.log(integrate.dblquad(height, 0.0, 1.0 - least, lambda d1: d1 + least, 1.0)[0]))


SAMPLERS = {
    "tempered": vb.TemperedSMC(particles=1500),
    "metropolis": vb.AdaptiveMetropolis(draws=60, warmup=60, particles=300),
    "laplace": vb.Laplace(draws=4000, correct=True),
    "ibis": vb.IBIS(particles=1500),
}


@pytest.mark.parametrize("method", SAMPLERS)
@pytest.mark.parametrize(("convention", "mass"), [("normalised", (1 - APART) ** 2), ("unnormalised", 1.0)])
def test_evidence_is_that_of_the_prior_of_what_is_allowed(method, convention, mass, monkeypatch):
    for name in ("doubts", "unfelt"):
        monkeypatch.setattr(sampling, name, lambda target: ())
    targets = [Analytic(model("ordered", 2)), Analytic(model("apart", 2, [apart], convention))]
    run = partial(SAMPLERS[method].sample, np.random.default_rng(2))
    found = sampling.followed(targets, [run, run], lambda level: None, lambda level: "", lambda: 0.0)
    for each, evidence in zip(found, (exact(0.0), exact(APART) - np.log(mass)), strict=True):
        assert each.log_evidence_error < 0.15
        assert abs(each.log_evidence - evidence) < 3.5 * each.log_evidence_error, each.name
    odds = np.exp(exact(APART) - np.log(mass) - exact(0.0))
    assert abs(found["apart"].probability - odds / (1.0 + odds)) < 3.5 * found["apart"].standard_error
