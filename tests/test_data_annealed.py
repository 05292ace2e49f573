"""Data-annealed SMC: posteriors, evidences and Bayes factors against quadrature; trajectories against `simulate`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

import vibayes as vb
from vibayes.likelihood import TrajectoryTarget
from vibayes.samplers.bridge import bridge

QUICK = vb.DataAnnealedSMC(effective=400, chains=60, max_moves=8, max_sweeps=80)
X = np.linspace(-1.0, 1.0, 80)


def record_of(values: np.ndarray) -> vb.Record:
    return vb.Record.from_arrays(rate=10.0, output={"y": values})


def line(a, b):
    return np.asarray(a)[:, None] * X + np.asarray(b)[:, None]


def slope(a):
    return np.asarray(a)[:, None] * X


@pytest.fixture(scope="module")
def noisy_line() -> vb.Record:
    return record_of(0.8 * X + 0.06 + 0.2 * np.random.default_rng(5).standard_normal(len(X)))


def quadrature(record: vb.Record, outputs: np.ndarray) -> np.ndarray:
    """Log-likelihoods with the noise integrated out, by their formula."""
    y = record.output[:, 0]
    return -0.5 * len(y) * np.log(np.sum((y - outputs) ** 2, axis=1) / np.sum((y - y.mean()) ** 2))


def grid(count: int, low: float, high: float) -> np.ndarray:
    return low + (high - low) * (np.arange(count) + 0.5) / count


def problems_of(record: vb.Record) -> list[vb.Problem]:
    priors = {"a": vb.Uniform(0.0, 2.0), "b": vb.Uniform(-1.0, 1.0)}
    return [
        vb.Problem(slope, record, {"a": priors["a"]}, vectorised=True),
        vb.Problem(line, record, priors, vectorised=True),
    ]


@pytest.fixture(scope="module")
def posterior(noisy_line) -> vb.Posterior:
    return vb.infer(3, problems_of(noisy_line), QUICK)


def test_posteriors_are_those_of_quadrature(noisy_line, posterior):
    a, b = (each.ravel() for each in np.meshgrid(grid(400, 0.0, 2.0), grid(400, -1.0, 1.0)))
    logs = np.concatenate([quadrature(noisy_line, line(a[i], b[i])) for i in np.array_split(np.arange(len(a)), 40)])
    weights = np.exp(logs - logsumexp(logs))
    model = posterior["line"]
    found = model.diagnostics()
    for name, values in (("a", a), ("b", b)):
        mean, deviation = weights @ values, np.sqrt(weights @ (values - weights @ values) ** 2)
        error = deviation / np.sqrt(found[name].ess_bulk)
        assert abs(model.mean()[name] - mean) < 4.0 * error
        assert model.standard_deviation()[name] == pytest.approx(deviation, rel=4.0 / np.sqrt(found[name].ess_bulk))


def test_evidences_and_their_ratio_are_those_of_quadrature(noisy_line, posterior):
    a, b = (each.ravel() for each in np.meshgrid(grid(400, 0.0, 2.0), grid(400, -1.0, 1.0)))
    logs = np.concatenate([quadrature(noisy_line, line(a[i], b[i])) for i in np.array_split(np.arange(len(a)), 40)])
    exact = {"line": logsumexp(logs) - np.log(len(logs))}
    alone = quadrature(noisy_line, slope(grid(4000, 0.0, 2.0)))
    exact["slope"] = logsumexp(alone) - np.log(len(alone))
    for name, value in exact.items():
        model = posterior[name]
        assert model.log_evidence_error < 0.1
        assert abs(model.log_evidence - value) < 4.0 * model.log_evidence_error + 0.01
    odds = np.exp(exact["line"] - exact["slope"])
    # Fails if a model is taken for more probable by the prior volume of its own parameter.
    assert posterior.probabilities["line"] == pytest.approx(odds / (1.0 + odds), abs=0.03)


def test_both_modes_are_found_with_their_probabilities():
    record = record_of(0.49 * X**2 + 0.05 * np.random.default_rng(1).standard_normal(len(X)))
    problem = vb.Problem(
        lambda a: np.asarray(a)[:, None] ** 2 * X**2, record, {"a": vb.Uniform(-1.0, 2.0)}, "square", vectorised=True
    )
    model = vb.infer(0, problem, QUICK)["square"]
    assert np.mean(model.draws["a"] < 0.0) == pytest.approx(0.5, abs=4.0 * 0.5 / np.sqrt(200))
    assert np.abs(model.draws["a"]).mean() == pytest.approx(0.7, abs=0.05)


def test_bridge_sampling_gives_a_known_evidence():
    rng = np.random.default_rng(0)
    # With the prior N(0, I) and L = exp(-|z - m|²/2s²), everything is Gaussian.
    m, s, size = np.array([0.7, -0.4, 0.2]), 0.3, 3
    points = m / (1 + s**2) + s / np.sqrt(1 + s**2) * rng.standard_normal((4000, size))

    def log_likelihood(z):
        return -0.5 * np.sum((z - m) ** 2, axis=1) / s**2

    exact = 0.5 * size * np.log(s**2 / (1 + s**2)) - 0.5 * np.sum(m**2) / (1 + s**2)
    found = bridge(rng, log_likelihood, points, log_likelihood(points), 4000)
    assert found.error < 0.05
    assert abs(found.log - exact) < 4.0 * found.error
    # Draws of twice the width are not of this posterior.
    wrong = m / (1 + s**2) + 2.0 * (points - m / (1 + s**2))
    off = bridge(rng, log_likelihood, wrong, log_likelihood(wrong), 4000)
    assert abs(off.log - exact) > 4.0 * off.error


def oscillator(noise=None) -> tuple[vb.Problem, dict[str, float]]:
    spring = vb.PiecewiseLinearSpring.around_zero("k0", ("k1",), ("d1",))
    sensors = [vb.Displacement("mass"), vb.RelativeAcceleration("mass")]
    structure = vb.Structure.single_dof(1.0, [vb.Damper("c"), spring], sensors=sensors)
    truth = {"c": 1.0, "k0": 400.0, "k1": 1500.0, "d1": 2e-3}
    force = vb.band_limited_noise(2, 50.0, 200, 2.0, high_hz=10.0)
    clean = np.asarray(vb.simulate(structure, force, truth, states=False).outputs)
    measured = clean + 0.05 * clean.std(axis=0) * np.random.default_rng(4).standard_normal(clean.shape)
    measured[20:25, 1] = np.nan
    record = vb.Record.from_arrays(
        rate=50.0, input={"f": np.asarray(force.values)[:, 0]}, output={"x": measured[:, 0], "a": measured[:, 1]}
    )
    priors = {
        "c": vb.LogUniform(0.2, 5.0), "k0": vb.LogUniform(100.0, 2000.0), "k1": vb.LogUniform(100.0, 5000.0),
        "d1": vb.Uniform(-0.01, 0.01),
    }  # fmt: skip
    if noise is not None:
        priors = priors | {"s": vb.LogUniform(1e-3, 10.0)}
    return vb.Problem(structure, record, priors, "bilinear", noise=noise), truth


@pytest.fixture(scope="module")
def target() -> TrajectoryTarget:
    return TrajectoryTarget(oscillator()[0])


def residual_sums(target: TrajectoryTarget, points: np.ndarray, samples: int) -> np.ndarray:
    problem = target.problem
    assert isinstance(problem.model, vb.Structure)
    values = {name: target.values(points)[name] for name in problem.model.parameters}
    outputs = np.asarray(vb.simulate(problem.model, problem.excitation(), values, states=False).outputs)
    return np.nansum((outputs - problem.motions.output)[:, :samples] ** 2, axis=1)


def test_likelihoods_of_prefixes_are_those_of_simulated_responses(target):
    points = np.random.default_rng(0).standard_normal((40, target.size))
    output = target.problem.motions.output
    variances = np.nanvar(output, axis=0)
    found = target.prefix_log_likelihoods(points, (60, 130, 200))
    for column, samples in enumerate((60, 130, 200)):
        numbers = np.sum(np.isfinite(output[:samples]), axis=0)
        sums = residual_sums(target, points, samples) + numbers * 1e-8 * variances
        exact = -np.sum(0.5 * numbers * np.log(sums / (numbers * variances)), axis=1)
        np.testing.assert_allclose(found[:, column], exact, rtol=1e-7)


def test_noise_that_is_known_or_has_a_prior_is_taken_as_given():
    problem, _ = oscillator(noise=(0.01, "s"))
    target = TrajectoryTarget(problem)
    points = np.random.default_rng(1).standard_normal((16, target.size))
    sums, sigma = residual_sums(target, points, 200), np.stack([np.full(16, 0.01), target.values(points)["s"]], axis=1)
    numbers = np.sum(np.isfinite(problem.motions.output), axis=0)
    sigma = np.maximum(sigma, 1e-4 * np.nanstd(problem.motions.output, axis=0))
    exact = -np.sum(0.5 * sums / sigma**2 + numbers * np.log(np.sqrt(2.0 * np.pi) * sigma), axis=1)
    np.testing.assert_allclose(target.prefix_log_likelihoods(points, (200,))[:, 0], exact, rtol=1e-7)


def test_a_simulation_is_stopped_only_where_its_likelihood_is_too_small(target):
    points = np.random.default_rng(2).standard_normal((200, target.size))
    whole = target.prefix_log_likelihoods(points, (80, 160))
    required = np.random.default_rng(3).permutation(whole[:, 0])
    found = target.prefix_log_likelihoods(points, (80, 160), required)
    kept = whole[:, 0] >= required
    assert 20 < kept.sum() < 180
    np.testing.assert_array_equal(found[kept], whole[kept])
    assert np.isneginf(found[~kept & (whole[:, 0] < required - 1e-9)]).all()


def test_smooth_laws_get_steps_whose_error_the_likelihood_does_not_see():
    force = vb.band_limited_noise(2, 50.0, 150, 4.0, high_hz=10.0)
    structure = vb.Structure.single_dof(1.0, [vb.Damper("c"), vb.Duffing("k", "k3")], sensors=[vb.Displacement("mass")])
    clean = np.asarray(vb.simulate(structure, force, {"c": 1.0, "k": 400.0, "k3": 5e5}, states=False).outputs)
    priors = {"c": vb.LogUniform(0.5, 2.0), "k": vb.LogUniform(320.0, 500.0), "k3": vb.LogUniform(2.5e5, 1e6)}
    levels = []
    for noise in (0.3, 1e-4):  # of the deviation: steps must be finer where less noise hides their error
        measured = clean + noise * clean.std() * np.random.default_rng(4).standard_normal(clean.shape)
        record = vb.Record.from_arrays(rate=50.0, input=np.asarray(force.values), output={"x": measured[:, 0]})
        target = TrajectoryTarget(vb.Problem(structure, record, priors, "cubic"))
        points = 1e-6 * np.random.default_rng(0).standard_normal((24, 3))  # about the true values
        target.refine(points, 150)
        here, best = target.prefix_log_likelihoods(points, (150,))[:, 0], target.log_likelihoods_at_best(points)
        assert np.sqrt(np.mean((here - best) ** 2)) < 0.1
        levels.append(target.method)
    assert isinstance(levels[0], vb.FixedStep) and repr(levels[0]) != repr(levels[1])


@pytest.fixture(scope="module")
def piecewise() -> vb.Posterior:
    problem, _ = oscillator()
    assert isinstance(problem.model, vb.Structure)
    linear = vb.Structure.single_dof(1.0, [vb.Damper("c"), vb.Spring("k0")], sensors=problem.model.sensors)
    priors = {name: problem.priors[name] for name in ("c", "k0")}
    simple = vb.Problem(linear, problem.record, priors, "linear")
    return vb.infer(1, [simple, problem], QUICK)


def test_the_true_values_of_a_piecewise_linear_oscillator_are_found(piecewise):
    _, truth = oscillator()
    model = piecewise["bilinear"]
    assert all(value in model.interval(name, 0.999) for name, value in truth.items())
    assert model.least_effective >= 400


def test_a_hopeless_model_is_dropped_on_the_way_and_said_to_be(piecewise):
    assert piecewise.probabilities == {"linear": 0.0, "bilinear": 1.0}
    assert any("linear lies" in note and "nats behind bilinear" in note for note in piecewise.notes)


def test_a_run_that_is_ended_early_tells_of_the_samples_it_has_seen(noisy_line):
    ended = vb.infer(3, problems_of(noisy_line), QUICK, max_simulations=9000)
    said = " ".join(ended.notes)
    assert "max_simulations" in said and "of 80 samples were taken into account" in said


def test_a_run_resumes_with_the_same_draws(tmp_path, noisy_line, posterior):
    path = tmp_path / "journal.bin"
    with vb.Journal(path) as journal:
        vb.infer(3, problems_of(noisy_line), QUICK, max_simulations=20_000, journal=journal)
    with vb.Journal(path) as journal:
        resumed = vb.infer(3, problems_of(noisy_line), QUICK, journal=journal)
    for name in ("slope", "line"):
        assert all(np.array_equal(posterior[name].draws[p], resumed[name].draws[p]) for p in posterior[name].draws)
        assert posterior[name].log_evidence == resumed[name].log_evidence


def test_problems_without_trajectories_are_refused_in_words():
    storey = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.8)], sensors=[vb.Displacement("mass")])
    record = vb.Record.from_arrays(rate=40.0, output=np.sin(np.arange(60.0)))
    shaken = storey.driven_by(vb.WhiteNoise(1.0))
    problem = vb.Problem(shaken, record, {"k": vb.LogNormal(40.0, 1.2)}, noise=0.1)
    with pytest.raises(vb.InvalidInput, match="random inputs"):
        vb.infer(0, problem, QUICK)
