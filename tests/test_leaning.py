"""A posterior that leans on an end of its prior, or is cut by a constraint, is never called sound."""

import numpy as np
import pytest
from scipy.stats import truncnorm
from tests.reported import posterior_of
from tests.test_findings import RECORD, sine

import vibayes as vb
from vibayes.findings import diagnose, learning
from vibayes.leaning import cut_by_constraints, density_at_end, leaning
from vibayes.posterior import ModelPosterior
from vibayes.priors import normal_scores
from vibayes.report import write_report

RNG = np.random.default_rng(11)
UNIFORM = vb.Uniform(0.0, 2.0)


def model_of(prior, values, constraints=(), **others):
    """A model whose parameter a has these draws, and w is known well."""
    count = len(values)
    draws = {"a": np.asarray(values, float), "w": 9.0 + 0.02 * RNG.normal(size=count), **others}
    priors = {"a": prior, "w": vb.LogUniform(1.0, 100.0), **dict.fromkeys(others, vb.Uniform(0.0, 2.0))}
    problem = vb.Problem(lambda a, w, **_: sine(a, w), RECORD, priors, "sine", constraints)
    weights = np.full(count, 1.0 / count)
    return ModelPosterior(problem, 1.0, 0.0, -2.0, 0.1, draws, weights, np.ones(count), 5000, 0)


def cut(mean, deviation, low, high, count=1000):
    a, b = (low - mean) / deviation, (high - mean) / deviation
    return np.asarray(truncnorm.rvs(a, b, mean, deviation, size=count, random_state=np.random.default_rng(5)))


def quarter_at_the_floor(count=1000):
    """26 % of the draws within a tenth of the prior's floor, the rest anywhere: overlap with the prior 84 %."""
    low = RNG.random(count) < 0.26
    return np.where(low, 0.2 * RNG.random(count), 0.2 + 1.8 * RNG.random(count))


LEANS = {
    "a quarter at the floor": (UNIFORM, quarter_at_the_floor()),
    "one-sided": (UNIFORM, 1.2 * RNG.random(1000)),
    "best beyond the end": (UNIFORM, cut(-0.5, 0.8, 0.0, 2.0)),
    "a deviation and a half from the end": (UNIFORM, cut(0.3, 0.2, 0.0, 2.0)),
    "upper end": (UNIFORM, 2.0 - cut(0.3, 0.2, 0.0, 2.0)),
    "a limit from above, of a logarithm": (vb.LogUniform(1e-3, 1e3), 10.0 ** RNG.uniform(-3.0, 0.5, 1000)),
    "a limit from below, of a logarithm": (vb.LogUniform(1e-3, 1e3), 10.0 ** RNG.uniform(-0.5, 3.0, 1000)),
    "a normal prior that is cut": (vb.Normal(0.5, 1.0, low=0.0), cut(0.1, 0.2, 0.0, 9.0)),
}
CLEAR = {
    "three deviations away": (UNIFORM, cut(0.6, 0.2, 0.0, 2.0)),
    "near the end and small": (UNIFORM, cut(0.05, 0.01, 0.0, 2.0)),
    "a logarithm": (vb.LogUniform(1e-3, 1e3), 10.0 ** cut(-1.0, 0.5, -3.0, 3.0)),
    "two modes, both inside": (UNIFORM, np.where(RNG.random(1000) < 0.5, 0.2, 1.8) + 0.02 * RNG.normal(size=1000)),
    "a normal prior that is not cut": (vb.Normal(5.0, 1.0, low=0.0), cut(4.0, 0.4, 0.0, 99.0)),
    "a normal prior whose end is far, and a weak record": (vb.Normal(1.0, 0.3, low=0.0), cut(0.95, 0.22, 0.0, 9.0)),
    "a prior without ends": (vb.LogNormal(1.0, 2.0), np.exp(RNG.normal(-0.9, 0.4, 1000))),
}


@pytest.mark.parametrize("case", LEANS)
def test_a_posterior_that_leans_on_an_end_is_a_warning_and_never_good(case, tmp_path):
    model = model_of(*LEANS[case])
    found = learning.of_priors(model)
    assert [f.severity for f in found] == ["warning"] and "end of its prior" in found[0].sentence
    assert "leans on the end of its prior" in posterior_of(model, threshold=1.0).summary()


@pytest.mark.parametrize("case", CLEAR)
def test_a_posterior_clear_of_the_ends_is_not_blamed(case):
    model = model_of(*CLEAR[case])
    assert [f.severity for f in learning.of_priors(model)] == ["good"]
    assert "leans" not in posterior_of(model, threshold=1.0).summary()


def test_the_density_at_an_end_is_that_of_the_known_posterior_relative_to_its_maximum():
    """A normal posterior cut at z deviations from its mean: φ(z) / φ(0)."""
    for z in (0.5, 1.0, 1.5):
        values = cut(0.2 * z, 0.2, 0.0, 2.0, 40_000)
        known = np.exp(-0.5 * z**2)
        assert density_at_end(values / 2.0, np.full(40_000, 1 / 40_000), 40_000.0) == pytest.approx(known, abs=0.06)


def test_false_alarms_are_rare_where_posteriors_are_clear_by_three_deviations():
    alarms = 0
    for seed in range(200):
        values = 0.6 + 0.2 * np.random.default_rng(seed).normal(size=200)
        z = normal_scores(UNIFORM, np.clip(values, 1e-9, 2.0))
        alarms += leaning(UNIFORM, z, np.full(200, 1 / 200), 200.0) is not None
    assert alarms <= 6


def below(values):
    return values["a"] < values["b"]


@pytest.mark.parametrize(("gap", "cuts"), [(0.0, True), (0.8, False)])
def test_a_posterior_cut_by_a_constraint_is_told_with_its_parameters(gap, cuts):
    a, b = 1.0 + 0.1 * RNG.normal(size=(2, 3000))
    b += gap
    keep = a < b
    model = model_of(UNIFORM, a[keep], [below], b=b[keep])
    found = [f for f in learning.of_priors(model) if "constraint" in f.sentence]
    assert bool(found) is cuts
    if cuts:
        assert found[0].severity == "warning" and "below" in found[0].sentence and "a and b" in found[0].sentence


def test_a_constraint_along_a_ridge_and_a_thin_slit_do_not_cut():
    along = RNG.uniform(0.3, 1.5, 2000)
    model = model_of(UNIFORM, along, [below], b=along + 0.05 + 0.01 * RNG.normal(size=2000))
    assert not cut_by_constraints(model.problem, model.scores(), model.weights)
    a = RNG.normal(1.0, 0.3, 2000)
    a = a[(np.abs(a - 1.0) > 0.02) & (a > 0) & (a < 2)]
    slit = model_of(UNIFORM, a, [lambda v: np.abs(v["a"] - 1.0) > 0.02])
    assert not cut_by_constraints(slit.problem, slit.scores(), slit.weights)


def test_neither_diagnosis_nor_report_calls_a_leaning_posterior_sound(tmp_path):
    def page(values):
        posterior = posterior_of(model_of(UNIFORM, values), threshold=1.0)
        return write_report(posterior, tmp_path / "r.html").read_text(encoding="utf-8"), diagnose(posterior)

    text, found = page(cut(1.0, 0.004, 0.0, 2.0))
    assert "Nothing speaks against" in text and "within the prior" in " ".join(f.sentence for f in found)
    text, found = page(quarter_at_the_floor())
    assert "relied on" not in text and "Nothing speaks" not in text
    assert "within the prior" not in " ".join(f.sentence for f in found)


def test_where_the_record_says_nothing_the_report_does_not_vouch_for_the_interval(tmp_path):
    posterior = posterior_of(model_of(UNIFORM, RNG.random(1000) * 2.0), threshold=1.0)
    (said,) = learning.of_priors(posterior.models[0])
    assert said.severity == "notice" and "says nothing of a" in said.sentence
    text = write_report(posterior, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "can be relied on;" not in text
