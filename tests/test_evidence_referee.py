"""Evidences of `DataAnnealedSMC` beside referees: closed forms, quadrature and the nested sampling of dynesty.

Five problems: a line, two modes, ten unknowns, a piecewise-linear and a cubic oscillator. Then the standard errors
themselves: over fifty keys and one record, z = (log evidence - truth) / standard error has a mean square of one, and
fifty times it a chi-square distribution. Where the truth is not known the mean over all keys takes its place, which
costs a degree of freedom.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from tests import polynomials, refereed

import vibayes as vb
from vibayes.posterior import ModelPosterior

COMPUTES = True
SMALL = vb.DataAnnealedSMC(effective=400, chains=60, max_moves=10, max_sweeps=80)
KEYS, CHANCE = 50, 1e-3
"""Repetitions, and the probability that the mean of z² of right standard errors leaves its limits: 0.47 to 1.79."""


def evidence(model: ModelPosterior) -> tuple[float, float]:
    return float(model.log_evidence), float(model.log_evidence_error)


# ---- five referees -------------------------------------------------------------------------------------------------


@cache
def lines() -> vb.Posterior:
    return vb.infer(3, refereed.lines(), SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slope", "line"])
def test_the_evidence_of_a_line_is_that_in_closed_form(name):
    found, error = evidence(lines()[name])
    assert error < 0.05
    assert abs(found - refereed.evidences_of_lines()[name]) < 3.0 * error


@pytest.mark.slow
def test_the_bayes_factor_of_nested_lines_is_that_in_closed_form():
    (small, a), (large, b) = evidence(lines()["slope"]), evidence(lines()["line"])
    exact = refereed.evidences_of_lines()
    assert abs(large - small - (exact["line"] - exact["slope"])) < 3.0 * np.hypot(a, b)


@cache
def two_modes() -> vb.Posterior:
    return vb.infer(0, refereed.two_modes(), SMALL)


@pytest.mark.slow
def test_the_evidence_of_two_modes_is_that_of_quadrature_over_both():
    found, error = evidence(two_modes().selected)
    assert error < 0.05
    assert abs(found - refereed.evidence_of_two_modes()) < 3.0 * error


@pytest.mark.slow
def test_the_evidence_of_one_of_two_modes_would_not_pass():
    """Negative control: each of them alone is off by many standard errors."""
    found, error = evidence(two_modes().selected)
    for side in (-1.0, 1.0):
        assert abs(found - refereed.evidence_of_two_modes(side)) > 6.0 * error


@pytest.mark.slow
def test_the_evidence_of_ten_correlated_unknowns_is_that_in_closed_form():
    found, error = evidence(vb.infer(0, refereed.ten_unknowns(), SMALL).selected)
    assert error < 0.05
    assert abs(found - refereed.evidence_of_ten_unknowns()) < 3.0 * error


@pytest.mark.verify
@pytest.mark.parametrize("make", [refereed.bilinear, refereed.duffing])
def test_the_evidence_of_an_oscillator_is_that_of_nested_sampling(make):
    if importlib.util.find_spec("dynesty") is None:
        pytest.skip("dynesty is not installed")
    found, error = evidence(vb.infer(0, make(), vb.DataAnnealedSMC()).selected)
    exact, uncertain = refereed.nested_sampling(make)
    assert error < 0.05 and uncertain < 0.4
    assert abs(found - exact) < 3.0 * np.hypot(error, uncertain)


# ---- the long record -----------------------------------------------------------------------------------------------


@cache
def polynomials_of(samples: int) -> vb.Posterior:
    """Linear and cubic; neither is dropped for being behind."""
    method = vb.DataAnnealedSMC(effective=200, chains=20, max_moves=10, max_sweeps=40, margin=1000.0)
    return vb.infer(0, [polynomials.problem(name, samples) for name in polynomials.POWERS], method)


LENGTHS = pytest.mark.parametrize(
    "samples", [pytest.param(1000, marks=pytest.mark.slow), pytest.param(20_000, marks=pytest.mark.verify)]
)


@LENGTHS
def test_the_bayes_factor_is_the_exact_one_however_long_the_record(samples):
    """Of 20,000 samples, in which the cubic term is 15.5 standard errors from zero, its logarithm is +122.1."""
    found = polynomials_of(samples)
    (small, a), (large, b) = evidence(found["linear"]), evidence(found["cubic"])
    exact = polynomials.exact("cubic", samples)[0] - polynomials.exact("linear", samples)[0]
    assert np.hypot(a, b) < 0.1
    assert abs(large - small - exact) < 3.0 * np.hypot(a, b)


@LENGTHS
def test_the_posterior_of_the_larger_model_is_as_wide_as_the_exact_one_however_long_the_record(samples):
    model = polynomials_of(samples)["cubic"]
    _, _, deviations = polynomials.exact("cubic", samples)
    for name, deviation in model.standard_deviation().items():
        # The standard error of a deviation is 1/√(2 draws) of it; the chains are independent of one another.
        assert abs(deviation / deviations[name] - 1.0) < 4.0 / np.sqrt(2.0 * model.chains)


@pytest.mark.verify
def test_a_model_that_lies_hopelessly_behind_is_dropped_with_the_distance_said():
    method = vb.DataAnnealedSMC(effective=200, chains=20, max_moves=10, max_sweeps=40)
    problems = [polynomials.problem(name, 20_000) for name in polynomials.POWERS]
    (note,) = (each for each in vb.infer(0, problems, method).notes if "nats behind" in each)
    assert note.startswith("linear lies 12")


# ---- standard errors -----------------------------------------------------------------------------------------------


@cache
def repeated(make: Callable[[], Any], method: vb.DataAnnealedSMC = SMALL) -> tuple[np.ndarray, np.ndarray]:
    """Log evidences and standard errors, (keys, models)."""
    problems = make()
    found = [[evidence(model) for model in vb.infer(key, problems, method).models] for key in range(KEYS)]
    logs, errors = np.moveaxis(np.array(found), 2, 0)
    return logs, errors


def mean_square(values: np.ndarray, errors: np.ndarray, exact: float | None) -> tuple[float, tuple[float, float]]:
    """Mean of z² and the limits that chance leaves it."""
    freedom = len(values) if exact is not None else len(values) - 1
    z = (values - (values.mean() if exact is None else exact)) / errors
    low, high = chi2.ppf([0.5 * CHANCE, 1.0 - 0.5 * CHANCE], freedom) / freedom
    return float(np.sum(z**2) / freedom), (low, high)


def require_right(values: np.ndarray, errors: np.ndarray, exact: float | None) -> None:
    found, (low, high) = mean_square(values, errors, exact)
    assert low < found < high, f"mean of z² {found:.2f}, limits {low:.2f} to {high:.2f}"
    for factor in (0.5, 2.0):  # negative control: errors half or twice as large are not right
        wrong, _ = mean_square(values, factor * errors, exact)
        assert not low < wrong < high


@pytest.mark.verify
@pytest.mark.parametrize("number", [0, 1], ids=["slope", "line"])
def test_standard_errors_of_the_evidence_of_lines_are_right(number):
    logs, errors = repeated(refereed.lines)
    require_right(logs[:, number], errors[:, number], list(refereed.evidences_of_lines().values())[number])


@pytest.mark.verify
def test_standard_errors_of_the_bayes_factor_of_lines_are_right():
    logs, errors = repeated(refereed.lines)
    exact = refereed.evidences_of_lines()
    ratio, error = logs[:, 1] - logs[:, 0], np.hypot(errors[:, 0], errors[:, 1])
    require_right(ratio, error, exact["line"] - exact["slope"])


@pytest.mark.verify
def test_standard_errors_of_the_evidence_of_two_modes_are_right():
    logs, errors = repeated(refereed.two_modes)
    require_right(logs[:, 0], errors[:, 0], refereed.evidence_of_two_modes())


@pytest.mark.verify
def test_standard_errors_of_the_evidence_of_ten_unknowns_are_right():
    logs, errors = repeated(refereed.ten_unknowns)
    require_right(logs[:, 0], errors[:, 0], refereed.evidence_of_ten_unknowns())


@pytest.mark.verify
def test_standard_errors_of_the_evidence_of_an_oscillator_are_right():
    logs, errors = repeated(refereed.bilinear)
    require_right(logs[:, 0], errors[:, 0], None)


@pytest.mark.verify
@pytest.mark.parametrize("number", [0, 1], ids=["trilinear", "quadlinear"])
def test_standard_errors_of_the_evidence_of_springs_are_right(number):
    logs, errors = repeated(refereed.springs)
    require_right(logs[:, number], errors[:, number], None)


@pytest.mark.verify
def test_standard_errors_of_the_bayes_factor_of_springs_are_right():
    logs, errors = repeated(refereed.springs)
    require_right(logs[:, 1] - logs[:, 0], np.hypot(errors[:, 0], errors[:, 1]), None)
