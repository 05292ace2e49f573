"""Figures of posteriors and estimates where inputs were not measured: what they show, not how they look."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import vibayes as vb
from vibayes.posterior import ModelPosterior

pytest.importorskip("matplotlib")
from vibayes.report import figure_of_estimate, figure_of_estimated_loop, figure_of_pairs, figure_of_parameters
from vibayes.report.style import pyplot

RECORD = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot().close("all")


def model_of(draws, priors):
    problem = vb.Problem(lambda **_: np.zeros(20), RECORD, priors)
    count = len(next(iter(draws.values())))
    return ModelPosterior(problem, 1.0, 0.0, 0.0, 0.0, draws, np.full(count, 1 / count), np.ones(count), 9, 0)


def test_lines_around_pairs_hold_their_share_of_the_belief():
    covariance: Any = np.array([[1.0, 1.6], [1.6, 4.0]])
    points = np.random.default_rng(0).multivariate_normal([5.0, 50.0], covariance, 4000)
    model = model_of(dict(zip("ab", points.T, strict=True)), {n: vb.Uniform(-100.0, 100.0) for n in "ab"})
    axes = figure_of_pairs(model, truth={"a": 5.0}).axes[2]
    lines = axes.collections[-1]
    outer, inner = (path for path in lines.get_paths())
    shares = [np.mean(path.contains_points(points)) for path in (outer, inner)]
    assert shares == pytest.approx([0.95, 0.5], abs=0.04)
    # The ellipse of the Gaussian that holds 50 %, as far as 1,000 draws and their smoothing tell.
    heights = multivariate_normal.pdf(np.asarray(inner.vertices), np.array([5.0, 50.0]), covariance)
    assert np.mean(heights) == pytest.approx(0.5 / (2 * np.pi * np.sqrt(np.linalg.det(covariance))), rel=0.15)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "b")


def test_pairs_on_a_line_and_chosen_names():
    a = np.linspace(0.0, 1.0, 200)
    model = model_of({"a": a, "b": 2 * a, "c": np.ones(200)}, {n: vb.Uniform(-9.0, 9.0) for n in "abc"})
    assert len(figure_of_pairs(model).axes) == 9
    assert len(figure_of_pairs(model, names=["b"]).axes) == 1
    with pytest.raises(vb.InvalidInput, match="'d'"):
        figure_of_pairs(model, names=["d"])


@pytest.mark.parametrize(
    "prior, expected", [(vb.Uniform(0.0, 4.0), 0.25), (vb.Normal(2.0, 0.5), 1 / np.sqrt(2 * np.pi) / 0.5)]
)
def test_the_prior_is_drawn_with_its_density(prior, expected):
    draws = np.random.default_rng(0).normal(2.0, 0.1, 500)
    axes = figure_of_parameters(model_of({"k": draws}, {"k": prior})).axes[0]
    (line,) = (line for line in axes.lines if line.get_label() == "prior")
    assert np.interp(2.0, *line.get_data()) == pytest.approx(expected, rel=0.01)
    assert axes.get_xlim()[1] < 3.0  # the posterior's place, not the prior's


def test_estimates_have_bands_and_loops_their_truth():
    times = np.arange(50) / 10.0
    found = vb.Estimate(("drift", "force"), times, np.ones((50, 2)), np.full((50, 2), 0.5))
    real = {"drift": np.sin(times), "force": np.cos(times)}
    upper, lower = figure_of_estimate(found, real, span=(1.0, 3.0)).axes
    band = upper.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(1.0 + 1.96 * 0.5, abs=1e-3)
    assert upper.get_xlim() == (1.0, 3.0) and lower.get_ylabel() == "force"
    loop = figure_of_estimated_loop(found, "drift", "force", real).axes[0]
    assert np.array_equal(loop.lines[0].get_ydata(), real["force"])
    with pytest.raises(vb.InvalidInput, match="two times within"):
        figure_of_estimate(found, span=(9.0, 12.0))
    with pytest.raises(vb.InvalidInput, match="'drift'"):
        figure_of_estimated_loop(found, "drifft", "force")
