"""Calibration: exact posteriors pass it, wrong ones fail it; records are what the problem describes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
import pytest
from scipy import stats

import vibayes as vb
from vibayes.calibration import Replication
from vibayes.calibration.ranks import LOG_LIKELIHOOD, ecdf_band, thinned
from vibayes.calibration.records import record_simulator
from vibayes.calibration.result import PROBABILITIES
from vibayes.calibration.truths import draw_truth
from vibayes.journal import Journal
from vibayes.report import figure_of_calibration
from vibayes.samplers.shapes import Draws, Snapshot

T = np.linspace(0.0, 1.0, 12)
SIGMA, DEVIATION = 0.3, 0.5
GRID = (np.arange(400) + 0.5) / 400


def flat(level):
    return np.asarray(level)[:, None] * np.ones(len(T))


def ramp(slope):
    return np.asarray(slope)[:, None] * 1.5 * T


@dataclass(frozen=True)
class Quadrature:
    """A sampler of models with one unknown: exact draws and probabilities, from a grid of the prior's quantiles.

    Args:
        sigma: noise that the likelihood assumes.
        power: to which probabilities of models are raised; right ones have 1.
        prior: whether draws ignore the record.
    """

    sigma: float = SIGMA
    power: float = 1.0
    prior: bool = False

    def levels(self, rng: np.random.Generator, candidates: Sequence[Any]) -> Iterator[Snapshot]:
        """All at once."""
        draws = [self.draws(rng, each) for each in candidates]
        logs = np.array(
            [each.log_mass + np.log(c.prior_probability) for each, c in zip(draws, candidates, strict=True)]
        )
        shares = np.exp(self.power * (logs - logs.max()))
        p = tuple(shares / shares.sum())
        yield Snapshot("done", np.inf, 1.0, np.nan, p, (0.0,) * len(p), tuple(draws))

    def draws(self, rng: np.random.Generator, candidate: Any) -> Draws:
        """Of one model."""
        problem = candidate.problem
        (prior,) = problem.priors.values()
        misfits = np.nansum((problem.model(prior.icdf(GRID)) - problem.record.output[:, 0]) ** 2, axis=1)
        logs = -0.5 * misfits / self.sigma**2
        weights = np.full(len(GRID), 1.0) if self.prior else np.exp(logs - logs.max())
        chosen = rng.choice(len(GRID), 400, p=weights / weights.sum())
        points = (chosen + rng.random(400))[:, None] / len(GRID)
        distances = candidate.judge(points, np.inf)
        return Draws(points, np.full(400, 1 / 400), distances, float(np.logaddexp.reduce(logs)) - np.log(len(GRID)))


def record(**more: Any) -> vb.Record:
    return vb.Record.from_arrays(rate=10.0, output={"y": T}, **more)


def level_problem(**more: Any) -> vb.Problem:
    return vb.Problem(flat, record(), {"level": vb.Normal(0.0, DEVIATION)}, noise=SIGMA, vectorised=True, **more)


def slope_problem(**more: Any) -> vb.Problem:
    return vb.Problem(ramp, record(), {"slope": vb.Normal(0.0, DEVIATION)}, noise=SIGMA, vectorised=True, **more)


def within(share: float, expected: float, count: int) -> bool:
    """Within four binomial standard errors."""
    return abs(share - expected) < 4.0 * np.sqrt(expected * (1.0 - expected) / count)


# ---- one model -------------------------------------------------------------------------------------------------------


def test_exact_posteriors_are_calibrated():
    found = vb.calibrate(1, level_problem(), Quadrature(), records=120)
    assert found.records == 120 and list(found.ranks) == ["level", LOG_LIKELIHOOD]
    assert found.calibrated and "calibrated, as far as 120 records" in found.verdict
    for percent, share in found.coverage.items():
        assert within(share, percent / 100, 120)


@pytest.mark.parametrize(("assumed", "said"), [(0.5 * SIGMA, "too narrow"), (2.0 * SIGMA, "too wide")])
def test_a_wrong_noise_is_noticed(assumed, said):
    found = vb.calibrate(1, level_problem(), Quadrature(assumed), records=60)
    assert found.calibrated is False
    assert f"level: posteriors are {said}" in found.verdict


def test_a_posterior_that_ignores_the_record_shows_in_the_log_likelihood_alone():
    found = vb.calibrate(1, level_problem(), Quadrature(prior=True), records=40)
    assert found.corrected_p["level"] > 0.01
    assert found.corrected_p[LOG_LIKELIHOOD] < 1e-6
    assert "draws are less likely than the truth" in found.verdict


@pytest.mark.slow
def test_data_annealed_draws_of_a_conjugate_problem_are_calibrated():
    method = vb.DataAnnealedSMC(effective=100, populations=2, chains=50)
    found = vb.calibrate(2, level_problem(), method, records=40)
    assert found.calibrated and found.ess_min > 50


def test_a_replication_is_the_same_however_many_there_are():
    few, many = (vb.calibrate(3, level_problem(), Quadrature(), records=count) for count in (5, 9))
    np.testing.assert_array_equal(many.ranks["level"][:5], few.ranks["level"])
    other = vb.calibrate(4, level_problem(), Quadrature(), records=5)
    assert not np.any(other.ranks["level"] == few.ranks["level"])


def test_a_number_and_its_key_are_the_same():
    one, other = (vb.calibrate(key, level_problem(), Quadrature(), records=3) for key in (7, jax.random.key(7)))
    np.testing.assert_array_equal(one.ranks["level"], other.ranks["level"])


def test_few_records_are_not_judged():
    found = vb.calibrate(3, level_problem(), Quadrature(), records=5)
    assert found.calibrated is None and "too few" in found.verdict


@dataclass(frozen=True)
class Troubled:
    """A sampler that fails on some records."""

    trouble: Any
    number: Any

    def levels(self, rng, candidates):
        """Exact draws, or trouble."""
        if next(self.number) % 4 == 3:
            raise self.trouble
        yield from Quadrature().levels(rng, candidates)


def counter() -> Iterator[int]:
    yield from range(1000)


def test_an_inference_that_fails_is_counted_and_the_rest_goes_on():
    trouble = vb.InvalidInput("model", "a posterior", "none", "look elsewhere")
    found = vb.calibrate(5, level_problem(), Troubled(trouble, counter()), records=12)
    assert found.records == 9 and len(found.failures) == 3
    assert found.failures[0].startswith("record 3: model: expected a posterior")
    assert "3 records could not be inferred" in found.summary()


def test_an_interruption_keeps_the_records_so_far():
    found = vb.calibrate(5, level_problem(), Troubled(KeyboardInterrupt(), counter()), records=12)
    assert found.records == 3 and found.notes == ("interrupted from the keyboard after 3 of 12 records",)
    whole = vb.calibrate(5, level_problem(), Quadrature(), records=3)
    np.testing.assert_array_equal(found.ranks["level"], whole.ranks["level"])


def test_an_inference_that_a_limit_ends_is_counted():
    found = vb.calibrate(5, level_problem(), vb.FollowAndWeigh(), records=2, max_simulations=1)
    assert found.records == 0 and len(found.failures) == 2 and "max_simulations" in found.failures[0]


def test_a_journal_spares_what_was_computed(tmp_path):
    def counted(records: int) -> tuple[int, vb.Calibration]:
        seen: list[Replication] = []
        with Journal(tmp_path / "kept.bin", worth_keeping=np.inf) as journal:
            found = vb.calibrate(
                6, level_problem(), Quadrature(), records=records, journal=journal, progress=seen.append
            )
        return sum(each.posterior is not None for each in seen), found

    first, few = counted(4)
    again, many = counted(7)
    # The first result of a journal is computed again, to see that it is of these models.
    assert (first, again) == (4, 4)
    np.testing.assert_array_equal(many.ranks["level"][:4], few.ranks["level"])
    np.testing.assert_array_equal(many.probabilities, 1.0)


def test_a_posterior_is_given_with_every_replication():
    seen: list[Replication] = []
    found = vb.calibrate(6, level_problem(), Quadrature(), records=2, progress=seen.append)
    assert [each.number for each in seen] == [0, 1]
    assert all(isinstance(each.posterior, vb.Posterior) for each in seen)
    assert seen[1].ranks["level"] == found.ranks["level"][1]


@pytest.mark.parametrize(
    ("problems", "more"),
    [([], {}), (level_problem(), {"records": 0}), (level_problem(), {"noise": -1.0}),
     ([level_problem(), level_problem()], {})],
)  # fmt: skip
def test_what_cannot_be_calibrated_is_refused(problems, more):
    with pytest.raises(vb.InvalidInput, match="calibrate"):
        vb.calibrate(0, problems, Quadrature(), **more)


# ---- several models --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared() -> vb.Calibration:
    problems = [level_problem(prior_probability=3.0), slope_problem(prior_probability=1.0)]
    return vb.calibrate(1, problems, Quadrature(), records=160)


def sharpened(found: vb.Calibration, power: float) -> vb.Calibration:
    def sharp(each: Replication) -> Replication:
        shares = np.array(each.probabilities) ** power
        return replace(each, probabilities=tuple(shares / shares.sum()))

    return replace(found, replications=tuple(map(sharp, found.replications)))


def test_models_are_drawn_by_their_prior_probabilities(compared):
    assert within(float(np.mean(compared.true == 0)), 0.75, compared.records)


def test_exact_probabilities_of_models_are_calibrated(compared):
    assert compared.calibrated
    assert sorted(compared.ranks) == ["level", LOG_LIKELIHOOD, "slope"]
    assert len(compared.ranks["level"]) + len(compared.ranks["slope"]) == len(compared.ranks[LOG_LIKELIHOOD])
    of_truth = compared.probabilities[np.arange(compared.records), compared.true]
    error = 2.0 * of_truth.std() / np.sqrt(compared.records)
    assert abs(compared.brier - compared.expected_brier) < 4.0 * error
    assert sum(each.count for each in compared.reliability) == 2 * compared.records
    assert all(within(each.share, each.mean, each.count) for each in compared.reliability if each.count >= 30)


@pytest.mark.parametrize(("power", "said"), [(3.0, "too sure"), (0.3, "too cautious")])
def test_probabilities_that_are_too_sure_or_too_cautious_are_noticed(compared, power, said):
    found = sharpened(compared, power)
    assert found.corrected_p[PROBABILITIES] < 0.01 and f"{PROBABILITIES}: {said}" in found.verdict


def test_records_of_one_model_can_be_looked_at_alone(compared):
    alone = compared.of("ramp")
    assert alone.records == int(np.sum(compared.true == 1)) and list(alone.ranks) == ["slope", LOG_LIKELIHOOD]
    np.testing.assert_array_equal(alone.ranks["slope"], compared.ranks["slope"])
    with pytest.raises(vb.InvalidInput, match="name of a model"):
        compared.of("rmp")


def test_a_summary_fits_a_screen(compared):
    lines = str(compared).splitlines()
    assert len(lines) < 24 and max(map(len, lines)) < 160
    assert repr(compared) == "Calibration(160 records of 'flat', 'ramp': calibrated)"


def test_results_are_plain_numbers(compared):
    found = json.loads(json.dumps(compared.to_dict()))
    assert found["coverage"].keys() == {"50", "90", "95"} and found["calibrated"] is True
    assert {"brier", "right_when_above_90", "probability_bins", "ess_min", "rank_p"} <= set(found)


def test_the_figure_shows_every_quantity_and_the_models(compared):
    figure = figure_of_calibration(compared)
    assert len(figure.axes) == len(compared.ranks) + 2


# ---- draws of the priors ---------------------------------------------------------------------------------------------


def constrained(kind: str, **more: Any) -> vb.Problem:
    place = vb.Uniform(0.0, 1.0)
    constraints = {"order": vb.Increasing(("a", "b")), "half": lambda values: values["a"] < 0.5}
    return vb.Problem(lambda a, b: T, record(), {"a": place, "b": place}, kind, constraints=[constraints[kind]], **more)


def test_parameters_in_order_are_sorted_draws():
    rng = np.random.default_rng(0)
    drawn = [draw_truth(rng, [constrained("order")]).values for _ in range(400)]
    assert all(each["a"] < each["b"] for each in drawn)
    assert stats.kstest([each["b"] for each in drawn], stats.beta(2, 1).cdf).pvalue > 0.001


@pytest.mark.parametrize(("convention", "share"), [("normalised", 0.5), ("unnormalised", 1 / 3)])
def test_a_constraint_costs_a_model_prior_mass_where_it_is_said_to(convention, share):
    rng = np.random.default_rng(0)
    free = vb.Problem(lambda a: T, record(), {"a": vb.Uniform(0.0, 1.0)}, "free")
    problems = [constrained("half", constrained_prior=convention), free]
    drawn = [draw_truth(rng, problems) for _ in range(400)]
    assert within(float(np.mean([each.model == 0 for each in drawn])), share, 400)
    assert all(each.values["a"] < 0.5 for each in drawn if each.model == 0)


def test_priors_that_never_meet_their_constraints_are_refused():
    problem = replace(constrained("order"), constraints=[lambda values: values["a"] > 2.0])
    with pytest.raises(vb.InvalidInput, match="now and then"):
        draw_truth(np.random.default_rng(0), [problem])


# ---- records ---------------------------------------------------------------------------------------------------------


def many(problem: vb.Problem, values: dict[str, float], count: int = 300, noise: float = 0.0) -> np.ndarray:
    """Outputs of many records, (records, samples)."""
    simulated = record_simulator(problem, noise)
    found = [simulated(jax.random.key(i), values) for i in range(count)]
    return np.stack([each.output[:, -1] for each in found if each is not None])


def spread(values: np.ndarray, expected: float) -> bool:
    """Whether a standard deviation is right within four standard errors."""
    return abs(values.std() / expected - 1.0) < 4.0 / np.sqrt(2.0 * values.size)


def test_noise_has_the_level_of_the_problem():
    assert spread(many(level_problem(), {"level": 1.0}) - 1.0, SIGMA)


def test_noise_of_unknown_level_has_that_of_the_draw():
    def level(height, s):
        return flat(height)

    priors = {"height": vb.Normal(0.0, 1.0), "s": vb.LogNormal(0.1, 1.5)}
    problem = vb.Problem(level, record(), priors, noise="s", vectorised=True)
    assert spread(many(problem, {"height": 1.0, "s": 0.07}) - 1.0, 0.07)


def test_noise_that_is_integrated_out_is_a_share_of_the_clean_output():
    problem = replace(slope_problem(), noise=None)
    clean = ramp(np.ones(1))[0]
    assert spread(many(problem, {"slope": 1.0}, noise=0.2) - clean, 0.2 * clean.std())


def test_missing_samples_are_missing():
    gaps = vb.Record.from_arrays(rate=10.0, output={"y": np.where(T > 0.8, np.nan, T)})
    outputs = many(replace(level_problem(), record=gaps), {"level": 1.0}, 3)
    np.testing.assert_array_equal(np.isnan(outputs), np.tile(T > 0.8, (3, 1)))


def test_a_draw_that_cannot_be_simulated_is_drawn_again():
    def fragile(level):
        return np.where(np.asarray(level)[:, None] < 0.0, np.nan, flat(level))

    seen: list[Replication] = []
    problem = replace(level_problem(), model=fragile)
    found = vb.calibrate(0, problem, Quadrature(), records=10, progress=seen.append)
    assert found.redrawn > 0 and f"drawn again: {found.redrawn}" in found.summary()
    assert all(each.truth["level"] > 0.0 for each in seen)


@pytest.mark.slow
def test_records_under_random_inputs_begin_in_stationary_vibration():
    oscillator = vb.Structure.single_dof(1.0, [vb.Spring(40.0), vb.Damper("c")], sensors=[vb.Displacement("mass")])
    blank = vb.Record.from_arrays(rate=10.0, output=np.arange(8.0))
    problem = vb.Problem(
        oscillator.driven_by(vb.WhiteNoise(0.5)), blank, {"c": vb.Uniform(1.0, 3.0)}, "random", noise=1e-6
    )
    first = many(problem, {"c": 2.0}, 100)[:, 0]
    # With the two-sided density S per rad/s the variance is π S / (c k).
    expected = np.sqrt(np.pi * 0.5 / (2.0 * 40.0))
    assert spread(first, expected)


@pytest.mark.slow
def test_a_start_that_a_solver_knows_is_simulated():
    oscillator = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.4)], sensors=[vb.Displacement("mass")])
    blank = vb.Record.from_arrays(rate=10.0, input=np.zeros(8), output=np.arange(8.0))
    priors = {"k": vb.Uniform(1.0, 3.0), "x0": vb.Uniform(-1.0, 1.0)}
    solver = vb.ODEFilter(displacement="x0", start_velocity=0.5)
    problem = vb.Problem(oscillator, blank, priors, "start", noise=1e-6, filter=solver)
    outputs = many(problem, {"k": 2.0, "x0": 0.7}, 100)
    np.testing.assert_allclose(outputs[:, 0], 0.7, atol=1e-5)
    assert spread((outputs[:, 1] - outputs[:, 1].mean()) / 0.098, 0.5)  # e^(-ct/2) sin(ωt)/ω at 0.1 s


AMPLITUDES = np.linspace(0.2, 0.6, 8)


def backbone_problem(method: Any) -> vb.Problem:
    duffing = vb.Structure.single_dof(1.0, [vb.Duffing("k", 0.5)])
    points = vb.BackbonePoints(np.sqrt(1.0 + 0.375 * AMPLITUDES**2), AMPLITUDES)
    return vb.Problem(duffing, points, {"k": vb.LogNormal(1.0, 1.05)}, "duffing", noise=0.01, filter=method)


def points_of(method: Any, count: int, k: float) -> list[vb.BackbonePoints]:
    simulated = record_simulator(backbone_problem(method), 0.0)
    found = [simulated(jax.random.key(i), {"k": k}) for i in range(count)]
    return [each for each in found if isinstance(each, vb.BackbonePoints)]


@pytest.mark.slow
def test_points_leave_the_equation_errors_of_the_noise():
    points = points_of(vb.BackboneResidual(order=1, remainder=False), 60, 1.1)
    # First order: (k − Ω²) V + ¾ α V³, from the textbook.
    left = np.stack([(1.1 - p.frequency**2) * AMPLITUDES + 0.375 * AMPLITUDES**3 for p in points])
    assert spread(left, 0.01)


def test_the_remainder_of_a_normal_form_is_one_multiple_for_all_points():
    plain, wide = (points_of(vb.BackboneResidual(order=1, remainder=each), 1, 1.1)[0] for each in (False, True))
    shift = wide.frequency - plain.frequency
    assert np.all(shift > 0) or np.all(shift < 0)
    assert np.all(np.diff(np.abs(shift)) > 0)


def test_amplitude_errors_are_added_to_the_amplitudes():
    found = points_of(vb.BackboneAmplitudes(order=1), 60, 1.0)
    assert spread(np.stack([each.amplitudes[:, 0] for each in found]) - AMPLITUDES, 0.01)


def test_a_branch_that_is_not_there_is_drawn_again():
    assert not points_of(vb.BackboneAmplitudes(order=1), 1, 3.0)


# ---- ranks -----------------------------------------------------------------------------------------------------------


def test_thinning_takes_draws_at_equal_distances():
    chosen = thinned(np.random.default_rng(0), np.full(1000, 1e-3), 50.0)
    assert len(chosen) == 25 and set(np.diff(chosen)) <= {40}


def test_thinning_takes_draws_by_their_weights():
    weights = np.array([0.7, 0.0, 0.3])
    chosen = thinned(np.random.default_rng(0), weights, 200.0)
    np.testing.assert_array_equal(np.bincount(chosen, minlength=3), [70, 0, 30])


def test_the_band_holds_whole_distributions_as_often_as_it_says():
    grid = np.linspace(0.0, 1.0, 101)
    low, high = ecdf_band(100, grid)
    rng = np.random.default_rng(1)
    shares = np.stack([np.searchsorted(np.sort(rng.random(100)), grid, side="right") / 100 for _ in range(500)])
    assert within(float(np.mean(np.all((shares >= low) & (shares <= high), axis=1))), 0.95, 500)


def test_a_dropped_true_model_counts_against_the_probabilities():
    done = tuple(Replication(i, "a", {}, probabilities=(0.0, 1.0)) for i in range(30))
    found = vb.Calibration(("a", "b"), 30, done)
    assert found.brier == 2.0 and found.right_when_above_90 == 0.0 and found.calibrated is False
