"""The weights of `FollowAndWeigh` by default: posteriors and evidence of white noise, against closed forms."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.polynomials import POWERS, PRIORS, exact, problem, record

import vibayes as vb

COMPUTES = True
METHOD = vb.FollowAndWeigh(fits=20, searches=1, particles=150, draws=600, rounds=3)


@cache
def posterior(samples: int, method: vb.FollowAndWeigh = METHOD) -> vb.Posterior:
    return vb.infer(0, [problem(name, samples) for name in POWERS], method)


def bayes_factor(samples: int, found: vb.Posterior) -> tuple[float, float, float]:
    """Its logarithm, cubic over linear: found, its standard error, exact."""
    ratio = found["cubic"].log_evidence - found["linear"].log_evidence
    error = np.hypot(found["cubic"].log_evidence_error, found["linear"].log_evidence_error)
    return ratio, error, exact("cubic", samples)[0] - exact("linear", samples)[0]


@pytest.mark.parametrize("samples", [1000, 20_000])
def test_the_bayes_factor_is_the_exact_one_however_long_the_record(samples):
    found = posterior(samples)
    ratio, error, true = bayes_factor(samples, found)
    assert error < 0.3 and abs(ratio - true) < 3.0 * error
    assert found.selected.name == ("cubic" if true > 0 else "linear")


def test_a_cubic_term_of_fifteen_standard_errors_is_found_in_a_long_record():
    true = exact("cubic", 20_000)
    assert true[1]["b3"] / true[2]["b3"] == pytest.approx(15.5, abs=3.0)
    assert posterior(20_000).probabilities["cubic"] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("samples", [1000, 20_000])
def test_posteriors_are_as_wide_as_the_exact_ones(samples):
    model = posterior(samples)["cubic"]
    _, means, deviations = exact("cubic", samples)
    for name, deviation in model.standard_deviation().items():
        # The standard error of a deviation is 1/√(2 draws) of it, of a mean 1/√draws of the deviation.
        effective = model.effective_draws
        assert effective > 100
        assert abs(deviation / deviations[name] - 1.0) < 3.0 / np.sqrt(2.0 * effective)
        assert abs(model.mean()[name] - means[name]) < 3.0 * deviations[name] / np.sqrt(effective)


def test_evidence_is_that_of_the_record_against_noise_about_its_mean():
    for name in POWERS:
        model = posterior(1000)[name]
        assert abs(model.log_evidence - exact(name, 1000)[0]) < 3.0 * model.log_evidence_error


def test_missing_samples_are_not_counted():
    model = vb.infer(0, problem("cubic", 1000, missing=600), METHOD).selected
    evidence, _, deviations = exact("cubic", 1000, missing=600)
    assert abs(model.log_evidence - evidence) < 3.0 * model.log_evidence_error
    assert abs(model.standard_deviation()["b3"] / deviations["b3"] - 1.0) < 3.0 / np.sqrt(2.0 * model.effective_draws)


def test_a_threshold_of_two_percent_gets_all_of_it_wrong():
    """Negative control: all that is within 1.02 times the smallest distance counts alike."""
    old = posterior(20_000, vb.FollowAndWeigh(fits=20, searches=1, particles=150, draws=600, rounds=3, excess=1.02))
    assert old.selected.name == "linear"
    _, _, deviations = exact("cubic", 20_000)
    assert old["cubic"].standard_deviation()["b3"] > 5.0 * deviations["b3"]


def test_a_distance_of_ones_own_has_a_threshold_that_follows_the_record():
    def squares(measured, simulated):
        return float(np.mean((measured - simulated) ** 2))

    widths = {}
    for samples in (250, 4000):
        x, measured = record(samples)
        own = vb.Problem(lambda b1, x=x: b1 * x, measured, {"b1": PRIORS[1]}, "linear", distance=squares)
        model = vb.infer(0, own, vb.FollowAndWeigh(particles=60, draws=150, rounds=2)).selected
        widths[samples] = model.standard_deviation()["b1"]
    # In proportion to the root of the number of samples: a factor of four; a threshold at 1.02 gives less than two.
    assert widths[250] / widths[4000] == pytest.approx(4.0, rel=0.25)


def test_noise_below_the_finest_distance_is_noted_and_told_by_a_finer_one():
    x, _ = record(250)
    y = x + 1e-4 * np.random.default_rng(3).standard_normal(250)
    measured = vb.Record.from_arrays(rate=1.0, output={"y": y})
    quiet = vb.Problem(
        lambda b1: b1[:, None] * x, measured, {"b1": PRIORS[1]}, "linear", sequential=False, vectorised=True
    )
    assert any("FollowAndWeigh.finest" in note for note in vb.infer(0, quiet, METHOD).notes)
    fine = vb.infer(0, quiet, replace(METHOD, finest=1e-9))
    rest = np.sum((y - x * (x @ y) / (x @ x)) ** 2)
    deviation, found = np.sqrt(rest / (250 - 3) / (x @ x)), fine.selected
    assert abs(found.standard_deviation()["b1"] / deviation - 1.0) < 3.0 / np.sqrt(2.0 * found.effective_draws)
    assert not any("finest" in note for note in fine.notes)
