"""Likelihoods of backbone points, and samplers on them against closed forms."""

from typing import Any

import equinox as eqx
import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.optimize import fsolve
from scipy.stats import invgamma, multivariate_normal

import vibayes as vb
from vibayes.targets import ProblemTarget

TRUTH = {"a1": 0.5, "a2": 0.05, "a3": 0.4}


def springs(a1: Any = "a1", a2: Any = "a2", a3: Any = "a3"):
    elements = [
        vb.Duffing(1.0, a1).between("ground", "m1"),
        vb.Duffing(0.105, a2).between("m1", "m2"),
        vb.Duffing(1.0, a3).between("ground", "m2"),
    ]
    return vb.Structure({"m1": 1.0, "m2": 1.0}, elements)


def measured(order=1, noise=1e-3, seed=0, count=20):
    """Points on both backbones of a normal form, with errors in frequency and amplitudes."""
    form, rng, found = vb.normal_form(springs(), order=order), np.random.default_rng(seed), []
    for mode, largest in ((1, 0.7), (2, 0.5)):
        curve = vb.backbone_curve(form, np.linspace(0.15, largest, count), TRUTH, mode=mode)
        amplitudes = curve.amplitudes + noise * rng.standard_normal(curve.amplitudes.shape)
        found.append(
            vb.BackbonePoints(
                curve.frequency + 0.1 * noise * rng.standard_normal(count),
                amplitudes,
                np.full(count, 0.1 * noise),
                np.full(amplitudes.shape, noise),
                (f"S{mode}",) * count,
            )
        )
    return vb.joined(found)


VALUES = TRUTH | {"s1": 2e-4, "s2": 3e-4}
FIRST = vb.BackboneResidual(1, remainder=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        FIRST,
        vb.BackboneResidual(2),
        vb.BackboneResidual(2, vb.MeasuredScatter()),
        vb.BackboneResidual(3, remainder=False),
    ],
    ids=lambda m: f"order {m.order}, {type(m.scatter).__name__}",
)
def test_tabulated_polynomials_are_the_residuals(method):
    prepared = vb.fitting(springs(), measured(), ("s1", "s2"), method)
    without = eqx.tree_at(lambda each: each.table, prepared, None)
    assert prepared.table is not None
    np.testing.assert_allclose(prepared.log_likelihood(VALUES), without.log_likelihood(VALUES), rtol=1e-7)


def random_backbone(seed):
    """A chain of one to three masses with springs of random powers, points near one of its modes, and values."""
    rng = np.random.default_rng(seed)
    count = 1 + seed % 3
    springs, values = [], {}
    for number in range(count):
        powers = sorted(rng.choice([2, 3, 4, 5], size=rng.integers(1, 3), replace=False).tolist())
        names = [f"a{number}{power}" for power in powers]
        values |= {name: float(rng.normal(0.0, 0.3)) for name in names}
        springs.append(vb.PolynomialSpring((1.0 + number, *names), (1, *powers)))
    structure = vb.Structure.chain([1.0, 1.37, 0.81][:count], springs)
    modes = tuple(range(1, count + 1)) if rng.random() < 0.5 else (1,)
    amplitudes = np.linspace(0.1, 0.5, 12)[:, None] * np.array([1.0, -0.07, 0.03])[: len(modes)]
    frequency = float(vb.linear_modes(structure).frequencies[0]) * (1.0 + 0.1 * amplitudes[:, 0] ** 2)
    errors = 1e-4 * np.ones_like(amplitudes)
    return structure, vb.BackbonePoints(frequency, amplitudes, 1e-4 * frequency, errors, modes=modes), values


@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
@pytest.mark.parametrize("seed", [2, 3, 5, *(pytest.param(each, marks=pytest.mark.verify) for each in range(6, 60))])
def test_tabulated_polynomials_are_the_residuals_whatever_the_powers(seed, monkeypatch):
    """Even powers have no resonant term of first order, and a spring may not be deformed by the modes at all."""
    monkeypatch.setattr("vibayes.backbone.form.refuse_undeclared", lambda *given: None)
    structure, points, values = random_backbone(seed)
    order = 1 + (seed // 2) % 3
    method = vb.BackboneResidual(order, vb.MeasuredScatter(), remainder=order < 3)
    prepared = vb.fitting(structure, points, 1e-3, method)
    assert prepared.table is not None
    found, left_out = prepared._errors(values)
    wanted, next_term = prepared.method.errors(prepared.form, values, prepared.points)
    size = np.abs(prepared.outputs).max()
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-12 * size)
    if next_term is not None:
        assert left_out is not None
        np.testing.assert_allclose(left_out, next_term, rtol=0.0, atol=1e-12 * size)
    without = eqx.tree_at(lambda each: each.table, prepared, None)
    np.testing.assert_allclose(prepared._spread(values), without._spread(values), rtol=1e-4, atol=1e-18)


def test_quadratic_and_cubic_springs_are_found_from_a_backbone():
    structure = vb.Structure.single_dof(1.0, [vb.PolynomialSpring((1.0, "a2", "a3"), (1, 2, 3))])
    truth, sizes = {"a2": 0.3, "a3": 0.5}, np.linspace(0.05, 0.5, 30)
    clean = vb.backbone_curve(vb.normal_form(structure, order=2), sizes, truth).frequency
    points = vb.BackbonePoints(clean + 1e-4 * np.random.default_rng(0).standard_normal(30), sizes)
    prepared = vb.fitting(structure, points, 1e-4)
    without = eqx.tree_at(lambda each: each.table, prepared, None)
    np.testing.assert_allclose(prepared.log_likelihood(truth), without.log_likelihood(truth), rtol=1e-9)


def test_the_likelihood_is_the_published_one():
    points = measured()
    found = vb.fitting(springs(), points, ("s1", "s2"), FIRST).log_likelihood(VALUES)
    residuals = np.asarray(vb.normal_form(springs()).residuals(points.frequency, points.amplitudes, TRUTH))
    sigma = np.array([2e-4, 3e-4])
    expected = np.sum(-0.5 * (residuals / sigma) ** 2 - np.log(sigma * np.sqrt(2.0 * np.pi)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_remainder_is_a_common_error_in_the_shape_of_the_next_term():
    points = measured()
    found = vb.fitting(springs(), points, 3e-4, vb.BackboneResidual(2)).log_likelihood(TRUTH)
    expansion = vb.normal_form(springs()).expansions(points.frequency, points.amplitudes, TRUTH, order=3)
    residuals = np.asarray(expansion.detuning + sum(expansion.resonant[:2]))
    expected = 0.0
    for n in range(2):
        shape = np.asarray(expansion.resonant[2])[:, n]
        covariance = 9e-8 * np.eye(len(shape)) + np.outer(shape, shape)
        expected += float(multivariate_normal.logpdf(residuals[:, n], cov=covariance))  # type: ignore[arg-type]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_increments_add_up_to_the_likelihood():
    problem = posed(vb.BackboneResidual(2))
    target = ProblemTarget(problem)
    points = np.random.default_rng(0).normal(size=(3, target.size))
    increments, _ = target.follow(points, target.begin(points), 0, target.samples)
    np.testing.assert_allclose(increments.sum(axis=1), target.log_likelihood(points), rtol=1e-9)


@pytest.mark.slow
def test_propagated_errors_are_the_scatter_of_residuals():
    # Errors of many data sets around the same truth, over what their standard errors say: of variance one.
    form, scores = vb.normal_form(springs()), []
    for seed in range(40):
        points = measured(seed=seed)
        prepared = vb.fitting(springs(), points, 1e-12, vb.BackboneResidual(1, vb.MeasuredScatter(), remainder=False))
        assert prepared.table is not None
        root = np.linalg.cholesky(np.asarray(prepared.table.spread(TRUTH)))
        residuals = np.asarray(form.residuals(points.frequency, points.amplitudes, TRUTH))
        scores.append(np.linalg.solve(root, residuals[:, :, None])[:, :, 0])
    white = np.concatenate(scores)
    count = white.size
    assert abs(np.var(white) - 1.0) < 4.0 * np.sqrt(2.0 / count)
    assert abs(np.mean(white[:, 0] * white[:, 1])) < 4.0 / np.sqrt(len(white))  # equations share the errors of a point
    assert abs(np.var(white / 1.2) - 1.0) > 4.0 * np.sqrt(2.0 / count)  # the negative control


@pytest.mark.slow
def test_covariances_of_points_and_a_remainder_make_one_gaussian():
    points, method = measured(count=5), vb.BackboneResidual(2, vb.MeasuredScatter())
    prepared = vb.fitting(springs(), points, (3e-4, 1e-4), method)
    assert prepared.table is not None
    spread = np.asarray(prepared.table.spread(TRUTH)) + np.diag([9e-8, 1e-8])
    expansion = vb.normal_form(springs()).expansions(points.frequency, points.amplitudes, TRUTH, order=3)
    residuals = np.asarray(expansion.detuning + sum(expansion.resonant[:2]))
    whole = block_diag(*spread)
    for n in range(2):
        shape = np.zeros_like(residuals)
        shape[:, n] = np.asarray(expansion.resonant[2])[:, n]
        whole = whole + np.outer(shape, shape)
    expected = float(multivariate_normal.logpdf(residuals.ravel(), cov=whole))  # type: ignore[arg-type]
    np.testing.assert_allclose(prepared.log_likelihood(TRUTH), expected, rtol=1e-9)
    np.testing.assert_allclose(prepared.totals(TRUTH)[-1], expected, rtol=1e-9)


@pytest.mark.slow
def test_explicit_amplitudes_are_zero_errors_on_the_backbone():
    prepared = vb.fitting(springs(), measured(noise=0.0), 1e-3, vb.BackboneAmplitudes(order=1))
    errors, _ = prepared.method.errors(prepared.form, TRUTH, prepared.points)
    np.testing.assert_allclose(errors, 0.0, atol=1e-9)
    away, _ = prepared.method.errors(prepared.form, TRUTH | {"a1": 0.52}, prepared.points)
    assert np.abs(np.asarray(away)).max() > 1e-3


def posed(method, noise=("s1", "s2"), **priors):
    known = {"a1": vb.Normal(0.5, 1.0), "a2": vb.Normal(0.0, 1.0), "a3": vb.Normal(0.5, 1.0)}
    scales = {name: vb.LogUniform(1e-6, 0.5) for name in noise if isinstance(name, str)}
    return vb.Problem(springs(), measured(), known | scales | priors, noise=noise, filter=method)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [vb.AdaptiveMetropolis(), vb.TemperedSMC(particles=1000)], ids=["chains", "SMC"])
def test_samplers_agree_with_the_closed_form_posterior(sampler):
    noise = (3e-4, 3e-4)
    exact = vb.linear_posterior(springs(), measured(), noise, [0.5, 0.0, 0.5], [1.0, 1.0, 1.0])
    posterior = vb.infer(1, posed(FIRST, noise), sampler).selected
    deviations = np.sqrt(np.diag(exact.covariance))
    for i, (name, row) in enumerate(zip(exact.names, posterior.diagnostics(), strict=True)):
        assert abs(posterior.mean()[name] - exact.mean[i]) < 4.0 * deviations[i] / np.sqrt(row.ess_bulk)
        assert abs(np.std(posterior.draws[name]) / deviations[i] - 1.0) < 4.0 / np.sqrt(2.0 * row.ess_bulk) + 0.01
    assert abs(posterior.log_evidence - exact.log_evidence) < 4.0 * posterior.log_evidence_error + 0.02


@pytest.mark.slow
def test_explicit_amplitudes_give_the_posterior_of_the_published_equations_solved_point_by_point():
    points, level = measured(), 1e-3
    known = {"a2": TRUTH["a2"], "a3": TRUTH["a3"]}

    def misfit(a1):
        def left(amplitudes, frequency):
            one, two = amplitudes
            first = (1.0 - frequency**2) * one + 3 / 8 * (a1 * (one + two) ** 3 + known["a3"] * (one - two) ** 3)
            second = (1.21 - frequency**2) * two + 3 / 8 * (
                a1 * (one + two) ** 3 - known["a3"] * (one - two) ** 3 + 16 * known["a2"] * two**3
            )
            return first, second

        pairs = zip(points.amplitudes, points.frequency, strict=True)
        return sum(np.sum((fsolve(left, a, args=(f,), xtol=1e-12) - a) ** 2) for a, f in pairs) / level**2

    grid = np.linspace(0.49, 0.51, 81)
    weights = np.exp(-0.5 * np.array([misfit(a1) for a1 in grid]) + 0.5 * misfit(0.5))
    mean = np.average(grid, weights=weights)
    deviation = np.sqrt(np.average((grid - mean) ** 2, weights=weights))
    assert deviation < 0.002, "the posterior is within the grid"
    prior = {"a1": vb.Uniform(0.3, 0.7)}
    problem = vb.Problem(springs(**known), points, prior, noise=(level, level), filter=vb.BackboneAmplitudes(order=1))
    found = vb.infer(1, problem, vb.AdaptiveMetropolis(draws=100, warmup=50, particles=100)).selected
    (row,) = found.diagnostics()
    assert abs(found.mean()["a1"] - mean) < 4.0 * deviation / np.sqrt(row.ess_bulk)
    assert abs(np.std(found.draws["a1"]) / deviation - 1.0) < 4.0 / np.sqrt(2.0 * row.ess_bulk) + 0.01


class InverseGammaRoot:
    """A prior of σ where σ² is inverse-gamma."""

    def __init__(self, shape, rate):
        self.distribution = invgamma(shape, scale=rate)

    def icdf(self, q):
        return np.sqrt(self.distribution.ppf(q))


@pytest.mark.slow
def test_an_unknown_level_gives_students_posterior():
    exact = vb.student_posterior(springs(), measured(), 2.0, 1e-7)
    wide = {name: vb.Uniform(-5.0, 5.0) for name in TRUTH}
    posterior = vb.infer(1, posed(FIRST, ("s", "s"), s=InverseGammaRoot(2.0, 1e-7), **wide), vb.AdaptiveMetropolis())
    model = posterior.selected
    rows = {row.name: row for row in model.diagnostics()}
    deviations = np.sqrt(np.diag(exact.covariance))
    for i, name in enumerate(exact.names):
        assert abs(model.mean()[name] - exact.mean[i]) < 4.0 * deviations[i] / np.sqrt(rows[name].ess_bulk)
        assert abs(np.std(model.draws[name]) / deviations[i] - 1.0) < 0.05
    assert abs(np.mean(model.draws["s"] ** 2) / exact.variance - 1.0) < 0.05


@pytest.mark.slow
def test_scatter_that_grows_with_amplitude_is_found_by_evidence():
    rng = np.random.default_rng(3)
    sizes = np.linspace(0.1, 0.8, 60)
    structure = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "a")])
    clean = vb.backbone_curve(vb.normal_form(structure), sizes, {"a": 0.5}).frequency
    points = vb.BackbonePoints(clean + 2e-3 * sizes * rng.standard_normal(60), sizes)
    priors = {"a": vb.Uniform(0.0, 2.0), "s": vb.LogUniform(1e-6, 0.5)}
    grows = vb.BackboneResidual(1, vb.AmplitudeScatter(2.0), remainder=False)
    problems = [
        vb.Problem(structure, points, priors, name="constant", noise="s", filter=FIRST),
        vb.Problem(structure, points, priors, name="grows", noise="s", filter=grows),
    ]
    posterior = vb.infer(0, problems, vb.TemperedSMC(particles=500))
    assert posterior.selected.name == "grows" and posterior["grows"].probability > 0.99


@pytest.mark.slow
def test_second_order_removes_most_of_the_bias():
    # Points on third-order backbones stand for a structure; the truth should be off at first order, and not at second.
    points, found = measured(order=3, noise=1e-5), {}
    for order in (1, 2):
        problem = vb.Problem(
            springs(), points, {n: vb.Uniform(-1.0, 3.0) for n in TRUTH}, noise=3e-5,
            filter=vb.BackboneResidual(order, remainder=order == 2),
        )  # fmt: skip
        posterior = vb.infer(0, problem, vb.Laplace())
        model = posterior.selected
        found[order] = {name: abs(model.mean()[name] / value - 1.0) for name, value in TRUTH.items()}
        warned = [note for note in posterior.notes if f"normal form of order {order} is off in frequency" in note]
        assert len(warned) == (2 if order == 1 else 0)  # one for each backbone
    assert max(found[2].values()) < 0.1 * max(found[1].values())


@pytest.mark.slow
def test_unknown_linear_stiffness_is_fitted_with_the_rest():
    structure = vb.Structure.single_dof(1.0, [vb.Duffing("k", "a")])
    sizes = np.linspace(0.1, 0.6, 30)
    clean = vb.backbone_curve(vb.normal_form(structure, order=2), sizes, {"k": 2.0, "a": 0.7}).frequency
    points = vb.BackbonePoints(clean + 1e-4 * np.random.default_rng(0).standard_normal(30), sizes)
    priors = {"k": vb.LogNormal(2.2, 1.2), "a": vb.Uniform(0.0, 3.0), "s": vb.LogUniform(1e-6, 0.1)}
    model = vb.infer(0, vb.Problem(structure, points, priors, noise="s"), vb.Laplace()).selected
    assert 2.0 in model.interval("k", 0.999) and 0.7 in model.interval("a", 0.999)


def test_too_few_points_for_the_parameters_are_refused():
    few = measured().chosen([0, 30])
    with pytest.raises(vb.InvalidInput, match=r"more equations than there are unknowns \(5\), got 2 points of 2"):
        vb.fitting(springs(), few, ("s1", "s2"))


def test_points_without_noise_or_with_a_filter_of_motions_are_refused():
    points, priors = measured(), {name: vb.Uniform(0.0, 1.0) for name in TRUTH}
    with pytest.raises(vb.InvalidInput, match="noise of its equations, for points of backbones"):
        vb.Problem(springs(), points, priors)
    with pytest.raises(vb.InvalidInput, match="BackboneResidual"):
        vb.Problem(springs(), points, priors, noise=0.1, filter=vb.UnscentedFilter())
    record = vb.Record.from_arrays(rate=1.0, input=np.ones(50), output=np.ones((50, 6)))
    with pytest.raises(vb.InvalidInput, match="for motions were measured"):
        vb.Problem(springs(), record, priors, noise=0.1, filter=FIRST)


@pytest.mark.slow
def test_a_posterior_of_points_predicts_no_record():
    posterior = vb.infer(0, posed(FIRST), vb.Laplace())
    with pytest.raises(vb.InvalidInput, match="a record of motions, got points of backbones"):
        vb.predict(0, posterior)


@pytest.mark.slow
def test_points_near_an_undeclared_resonance_are_warned_of():
    elements = [vb.Duffing(1.0, "a").between("ground", "m1"), vb.Spring(4.6).between("m1", "m2")]
    structure = vb.Structure({"m1": 1.0, "m2": 1.0}, [*elements, vb.Spring(1.0).between("ground", "m2")])
    points = vb.BackbonePoints(np.linspace(1.0, 1.08, 9), np.linspace(0.2, 0.5, 9), modes=(1,))
    with pytest.warns(vb.IdentifiabilityWarning, match="mode 2 is near 3 times Ω"):
        vb.fitting(structure, points, 1e-3)
