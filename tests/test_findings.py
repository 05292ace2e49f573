"""What is said of a result: each matter where it must speak, and where it must be silent."""

import dataclasses

import numpy as np
import pytest
from tests.reported import believed, empty, posterior_of

import vibayes as vb
from vibayes.findings import (
    Finding,
    Residuals,
    comparison,
    coverage,
    diagnose,
    draws,
    learning,
    reach,
    run,
    whiteness,
    worst,
)
from vibayes.posterior import Posterior
from vibayes.prediction import Prediction
from vibayes.samplers.likely import Sample
from vibayes.samplers.verdicts import Verdict, verdicts

TIME = np.arange(400) / 100.0
RNG = np.random.default_rng(3)
NOISE = RNG.normal(size=400)
FORCE = np.convolve(RNG.normal(size=400), np.ones(5), "same")
RECORD = vb.Record.from_arrays(rate=100.0, input={"force": FORCE}, output={"x": np.sin(9.0 * TIME) + 0.02 * NOISE})
PRIORS = {"a": vb.Uniform(0.0, 2.0), "w": vb.LogUniform(1.0, 100.0)}


def sine(a, w):
    return a * np.sin(w * TIME)


def problem_of(name="sine", **settings):
    return vb.Problem(sine, RECORD, PRIORS, name, **settings)


def model_of(centre=None, spread=0.002, **settings):
    return believed(problem_of(settings.pop("name", "sine")), centre or {"a": 1.0, "w": 9.0}, spread, **settings)


def with_draws(**values):
    model = model_of()
    return dataclasses.replace(model, draws=dict(model.draws) | {n: np.asarray(v, float) for n, v in values.items()})


def left_over(normalised, noise_known=True, innovations=True, signal=None):
    """Residuals that are known, beside a record of size one."""
    measured = np.sin(9.0 * TIME) if signal is None else signal
    expected = measured - 0.02 * normalised
    spread = np.full((400, 1), 0.02)
    return Residuals(
        ("x",), TIME, measured[:, None], expected[:, None], spread, FORCE[:, None], ("force",), noise_known, innovations
    )


def troubles(findings):
    return [finding for finding in findings if finding.rank]


def test_residuals_that_are_noise_are_called_good():
    found = left_over(NOISE)
    for matter in (whiteness.of_residuals, whiteness.against_inputs, coverage.coverage, reach.of_fit):
        assert [each.severity for each in matter(found)] == ["good"], matter


def test_few_white_records_are_blamed():
    rng = np.random.default_rng(0)
    blamed = sum(bool(troubles(whiteness.of_residuals(left_over(rng.normal(size=400))))) for _ in range(300))
    assert blamed <= 4  # a thousandth of them is expected


def test_a_correlation_that_lasts_is_told_with_its_threshold():
    lasting = np.convolve(NOISE, 0.8 ** np.arange(20), "same")
    (said,) = troubles(whiteness.of_residuals(left_over(lasting / lasting.std())))
    assert (
        said.severity == "warning"
        and "0.01 s earlier is +0.79" in said.sentence
        and "chance stays within ±0." in said.sentence
    )


def test_what_follows_the_input_is_told_with_its_delay():
    late = np.roll(FORCE, 7) / FORCE.std()
    (said,) = troubles(whiteness.against_inputs(left_over(0.9 * late + 0.4 * NOISE)))
    assert said.severity == "warning" and "follows force" in said.sentence and "0.07 s" in said.sentence


def test_a_coloured_residual_seldom_seems_to_follow_a_coloured_input_by_chance():
    rng, blamed = np.random.default_rng(1), 0
    for _ in range(200):
        coloured = np.convolve(rng.normal(size=440), np.ones(12), "same")[:400]
        blamed += bool(troubles(whiteness.against_inputs(left_over(coloured / coloured.std()))))
    assert blamed <= 6


@pytest.mark.parametrize(("factor", "severity"), [(2.0, "warning"), (0.3, "notice"), (8.0, "serious")])
def test_a_band_that_is_too_narrow_or_too_wide_is_told(factor, severity):
    (said,) = troubles(coverage.coverage(left_over(factor * NOISE)))
    assert said.severity == severity and "should hold 95 %" in said.sentence


def test_the_share_in_a_band_is_counted_without_missing_values():
    found = left_over(np.where(np.arange(400) < 100, np.nan, np.where(np.arange(400) < 130, 9.0, 0.0)))
    assert coverage.share_inside(found)[0] == pytest.approx(270 / 300)


def test_a_fit_that_leaves_more_than_the_noise_is_out_of_reach():
    (said,) = troubles(reach.of_fit(left_over(5.0 * NOISE)))
    assert said.severity == "serious" and "5 times the noise" in said.sentence


def test_a_fit_that_leaves_much_is_serious_unless_what_it_leaves_is_white():
    slow = 30.0 * np.sin(9.0 * TIME)
    (motion,) = troubles(reach.of_fit(left_over(slow, False, False)))
    (noise,) = troubles(reach.of_fit(left_over(25.0 * NOISE, False, False)))
    assert (motion.severity, noise.severity) == ("warning", "notice") and "white" in noise.sentence


def test_no_model_within_the_threshold_is_serious():
    found = diagnose(posterior_of(empty(problem_of())))
    assert found[0].severity == "serious" and "None of the models" in found[0].sentence


def test_a_parameter_the_record_says_nothing_of_is_named_and_no_other():
    model = with_draws(a=RNG.random(400) * 2.0)
    (said,) = troubles(learning.of_priors(model))
    assert "says nothing of a" in said.sentence and said.severity == "notice"
    assert not troubles(learning.of_priors(model_of()))


@pytest.mark.parametrize("end", [0.0, 2.0])
def test_a_posterior_pressed_against_its_prior_is_told_with_the_bound(end):
    model = with_draws(a=np.abs(end - 0.1 * RNG.exponential(size=400)))
    (said,) = troubles(learning.of_priors(model))
    assert said.severity == "warning" and f"presses a against the end of its prior, {end:.4g}" in said.sentence


def test_a_posterior_near_a_bound_but_clear_of_it_is_not_blamed():
    assert not troubles(learning.of_priors(with_draws(a=0.05 + 0.01 * RNG.normal(size=400))))


def test_a_ridge_is_told_with_the_combination_that_is_known():
    w = np.exp(0.2 * RNG.normal(size=400)) * 9.0
    (said,) = troubles(learning.of_ridges(with_draws(w=w, a=0.1 * w * (1.0 + 0.01 * RNG.normal(size=400)))))
    assert "tells a / w within 1 %" in said.sentence and "fix one" in said.remedy
    assert not troubles(learning.of_ridges(model_of()))


def test_few_draws_are_told_by_what_lies_beyond_an_interval():
    (said,) = troubles(draws.of_sample(model_of(count=60)))
    assert said.severity == "warning" and "1.5 lie beyond" in said.sentence
    assert not troubles(draws.of_sample(model_of(count=500)))


def sampled(points, acceptance=0.3):
    model = model_of()
    sample = Sample(points, np.zeros(points.shape[:2]), acceptance, -3.0, 0.05)
    drawn = {name: points[..., i].ravel() for i, name in enumerate(PRIORS)}
    count = points.shape[0] * points.shape[1]
    return dataclasses.replace(model, draws=drawn, weights=np.full(count, 1.0 / count), sample=sample, chains=4)


def test_chains_that_do_not_agree_are_serious_and_chains_that_do_are_good():
    points = 0.1 * RNG.normal(size=(4, 500, 2))
    assert worst(draws.of_sample(sampled(points))) == "good"
    assert worst(draws.of_sample(sampled(points + 0.3 * np.arange(4)[:, None, None]))) == "serious"
    (said,) = troubles(draws.of_sample(sampled(points, 0.001)))
    assert said.about == "acceptance" and "smaller step" in said.remedy


def test_a_rough_evidence_matters_where_models_are_compared():
    rough = dataclasses.replace(model_of(), log_evidence_error=1.2)
    assert worst(draws.of_evidence(rough, several=True)) == "warning"
    assert worst(draws.of_evidence(model_of(), several=True)) == "good"
    assert not draws.of_evidence(rough, several=False)


@pytest.mark.parametrize(
    ("first", "second", "error", "severity"),
    [(0.99, 0.01, 0.002, "good"), (0.7, 0.3, 0.01, "notice"), (0.52, 0.48, 0.05, "warning")],
)
def test_models_are_told_apart_by_odds_and_standard_errors(first, second, error, severity):
    models = [
        dataclasses.replace(model_of(name=n, probability=p), standard_error=error)
        for n, p in zip("ab", (first, second), strict=True)
    ]
    (said,) = comparison.of_models(posterior_of(*models))
    assert said.severity == severity


@pytest.mark.parametrize(("failures", "severity"), [(0, "good"), (3, "notice"), (900, "warning"), (5000, "serious")])
def test_failures_weigh_by_their_share(failures, severity):
    (said,) = run.of_failures(model_of(failures=failures))
    assert said.severity == severity


def test_a_run_that_was_ended_early_says_so_and_verdicts_are_not_told_twice():
    few = sampled(0.1 * RNG.normal(size=(4, 20, 2)))
    told = few.diagnostics().verdicts[0]
    notes = (
        "ended after 3.0 s, as max_seconds asked: this is what there was",
        f"{told[0].lower()}{told[1:].rstrip('.')}",
    )
    (said,) = run.of_notes(Posterior((few,), np.nan, (), 1.0, notes))
    assert said.severity == "warning" and said.sentence.startswith("Ended after 3.0 s")


def test_the_gravest_comes_first_and_a_good_result_has_no_troubles():
    found = diagnose(posterior_of(model_of(), threshold=1.0))
    assert not troubles(found) and {"draws", "prior", "ridge", "residuals", "coverage", "reach"} <= {
        f.about for f in found
    }
    found = diagnose(posterior_of(model_of({"a": 1.0, "w": 14.0}), threshold=1.0))
    assert found[0].severity == "serious" and [f.rank for f in found] == sorted((f.rank for f in found), reverse=True)


def test_random_inputs_are_judged_by_the_size_of_the_motion():
    outputs = RNG.normal(size=(50, 400, 1))
    near, far = (
        Prediction(
            vb.Record.from_arrays(rate=100.0, output={"x": size * NOISE}), outputs, outputs[0] * np.nan, random=True
        )
        for size in (1.0, 3.0)
    )
    assert worst(reach.of_random(near)) == "good" and worst(reach.of_random(far)) == "serious"


def test_a_verdict_is_text_that_knows_its_parts():
    points = 0.1 * RNG.normal(size=(4, 500, 1)) + np.array([0.0, 0.0, 0.0, 0.3])[:, None, None]
    (said, *_) = verdicts(Sample(points, np.zeros((4, 500)), 0.4), ["k"])
    assert isinstance(said, Verdict) and said == f"{said.sentence}: {said.remedy}." and said.about == "chains"


def test_what_is_no_posterior_is_refused():
    with pytest.raises(vb.InvalidInput, match="expected a Posterior, got dict"):
        diagnose({})  # pyright: ignore[reportArgumentType]


def test_findings_print_as_a_sentence():
    assert str(Finding("notice", "prior", "Little is known of c", "fix it")) == "notice: Little is known of c: fix it."
