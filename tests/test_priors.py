"""Priors against SciPy's distributions, and as they are refused."""

import numpy as np
import pytest
from scipy import stats

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.priors import require_priors

SHARES = np.linspace(0.001, 0.999, 41)
PAIRS = {
    "uniform": (vb.Uniform(-2.0, 5.0), stats.uniform(-2.0, 7.0)),
    "log-uniform": (vb.LogUniform(0.1, 40.0), stats.loguniform(0.1, 40.0)),
    "normal": (vb.Normal(1.0, 2.0), stats.norm(1.0, 2.0)),
    "cut normal": (vb.Normal(1.0, 2.0, low=0.0, high=4.0), stats.truncnorm(-0.5, 1.5, 1.0, 2.0)),
    "log-normal": (vb.LogNormal(3.0, 1.3), stats.lognorm(np.log(1.3), scale=3.0)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_values_at_given_shares_are_those_of_scipy(name):
    ours, theirs = PAIRS[name]
    np.testing.assert_allclose(ours.icdf(SHARES), theirs.ppf(SHARES), rtol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: vb.Uniform(1.0, 1.0),
        lambda: vb.Uniform(0.0, np.inf),
        lambda: vb.LogUniform(0.0, 1.0),
        lambda: vb.LogUniform(2.0, 1.0),
        lambda: vb.Normal(0.0, 0.0),
        lambda: vb.Normal(0.0, 1.0, low=2.0, high=1.0),
        lambda: vb.LogNormal(-1.0, 1.2),
        lambda: vb.LogNormal(1.0, 0.9),
    ],
)
def test_impossible_priors_are_refused(make):
    with pytest.raises(InvalidInput, match=r"expected .* got .*;"):
        make()


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([1.0], "expected priors by name"),
        ({"k": vb.Uniform(0, 1), "q": vb.Uniform(0, 1)}, "got q; remove"),
        ({}, "none for k"),
        ({"k": 3.0}, "expected a distribution with icdf, got 3.0"),
    ],
)
def test_priors_must_fit_the_unknowns(priors, message):
    with pytest.raises(InvalidInput, match=message):
        require_priors("Problem.priors", priors, ("k",))


def test_priors_come_in_the_order_of_the_unknowns():
    priors = {"b": vb.Uniform(0, 1), "a": vb.Uniform(1, 2)}
    assert list(require_priors("Problem.priors", priors, ("a", "b"))) == ["a", "b"]
