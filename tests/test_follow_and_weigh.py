"""Follow and weigh: masses and probabilities against closed forms, and what it says when a question has no answer."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gammaln

import vibayes as vb
from vibayes.samplers import weigh
from vibayes.samplers.chart import chart
from vibayes.samplers.cloud import cloud
from vibayes.samplers.proposal import proposal
from vibayes.samplers.shapes import Draws
from vibayes.samplers.weigh import Round, combine, grow

COMPUTES = True

SAMPLES = 60
TIME = np.linspace(0.0, 1.0, SAMPLES)
RNG = np.random.default_rng(5)
MEASURED = 0.3 + 0.8 * TIME + 0.05 * RNG.standard_normal(SAMPLES)
RECORD = vb.Record.from_arrays(rate=SAMPLES - 1.0, output={"y": MEASURED})
METHOD = vb.FollowAndWeigh(fits=30, particles=300, draws=1500)
LEVEL, SLOPE = vb.Uniform(-2.0, 2.0), vb.Normal(0.0, 1.0)


def constant(a):
    return np.full((len(a), SAMPLES), 1.0) * a[:, None]


def line(a, b):
    return a[:, None] + b[:, None] * TIME


def problems():
    return [
        vb.Problem(constant, RECORD, {"a": LEVEL}, vectorised=True),
        vb.Problem(line, RECORD, {"a": LEVEL, "b": SLOPE}, vectorised=True),
    ]


def exact_masses(threshold: float) -> np.ndarray:
    """Prior mass of each model within a threshold: the distance is a quadratic form in the parameters."""
    scale = 100.0 / (SAMPLES * MEASURED.var())

    def half_width(b):
        """Of the values of a for which the line is within the threshold."""
        offset = (MEASURED - b * TIME).mean()
        rest = threshold / scale / SAMPLES - np.mean((MEASURED - b * TIME - offset) ** 2)
        return np.sqrt(max(rest, 0.0)), offset

    def share(b):
        width, offset = half_width(b)
        low, high = np.clip([offset - width, offset + width], -2.0, 2.0)
        return (high - low) / 4.0

    slopes = np.linspace(-5.0, 5.0, 10_001)
    line_mass = integrate.simpson([share(b) * stats.norm.pdf(b) for b in slopes], x=slopes)
    return np.array([share(0.0), line_mass])


@cache
def posterior(threshold: float, seed: int) -> vb.Posterior:
    return vb.infer(seed, problems(), vb.FollowAndWeigh(fits=30, particles=300, draws=1500, threshold=threshold))


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [150.0, 120.0, 103.0])
def test_probabilities_of_linear_models_are_those_of_quadrature(threshold):
    masses = exact_masses(threshold)
    exact = masses / masses.sum()
    for seed in range(4):
        found = posterior(threshold, seed)
        assert found.threshold == threshold
        for model, p, mass in zip(found, exact, masses, strict=True):
            assert abs(model.probability - p) <= 3.0 * model.standard_error + 1e-12, (model.name, seed)
            if mass > 0:
                assert abs(model.log_evidence - np.log(mass)) <= 3.0 * model.log_evidence_error + 1e-9, (
                    model.name,
                    seed,
                )


def test_at_a_smaller_threshold_the_same_draws_give_the_probabilities_of_quadrature():
    masses = exact_masses(105.0)
    exact = masses / masses.sum()
    found = posterior(120.0, 0).below(105.0)
    # The draws within the smaller threshold are a share of all; three of their standard errors.
    share = min(np.sum(m.distances <= 105.0) for m in posterior(120.0, 0))
    assert abs(found["constant"] - exact[0]) < 3.0 / np.sqrt(share)


@pytest.mark.slow
def test_a_proposal_whose_density_is_wrong_fails_the_same_test(monkeypatch):
    """Negative control: tails left out of the density, but not of the draws."""

    def broken(points, weights, width):
        source = proposal(points, weights, width)
        narrow = proposal(points, weights, 0.5 * width)
        return type("Broken", (), {"draw": staticmethod(source.draw), "log_density": staticmethod(narrow.log_density)})

    monkeypatch.setattr(weigh, "proposal", broken)
    masses = exact_masses(120.0)
    found = vb.infer(0, problems(), vb.FollowAndWeigh(fits=30, particles=300, draws=1500, threshold=120.0))
    errors = [abs(m.log_evidence - np.log(x)) / m.log_evidence_error for m, x in zip(found, masses, strict=True)]
    assert max(errors) > 3.0


@pytest.mark.slow
def test_standard_errors_are_as_large_as_the_scatter_of_runs():
    errors = [
        (m.log_evidence - np.log(mass)) / m.log_evidence_error
        for seed in range(12)
        for m, mass in zip(posterior(120.0, seed), exact_masses(120.0), strict=True)
    ]
    # 24 standardised errors: their mean square is 1 with a standard error of √(2/24).
    assert 0.2 < np.mean(np.square(errors)) < 1.0 + 3.0 * np.sqrt(2.0 / 24)


def test_parameters_of_the_line_are_found():
    found = vb.infer(1, problems(), METHOD)
    assert found.selected.name == "line"
    assert 0.3 in found["line"].interval("a") and 0.8 in found["line"].interval("b")


@dataclass
class Bent:
    """A ball bent by a shear, which keeps its volume, in two copies far apart."""

    size: int = 5
    radius: float = 0.04
    length: int = 1
    name: str = "bent"
    prior_probability: float = 1.0
    has_errors: bool = False
    beginning: int = 1
    feasible: tuple[float, float] = (0.0, 0.0)

    def errors(self, points, samples):
        raise NotImplementedError

    def allowed(self, points):
        return np.all((points > 0) & (points < 1), axis=1)

    def judge(self, points, limit):
        def square(centre):
            p = points - centre
            p = np.column_stack([p[:, 0] * 0.2, p[:, 1:-1], 30.0 * (p[:, -1] - 3.0 * p[:, 0] ** 2)])
            return np.sum((p / self.radius) ** 2, axis=1)

        distance = np.minimum(square(0.3), square(0.7))
        return np.where(distance <= limit, distance, np.inf)

    def log_volume(self):
        ball = 0.5 * self.size * np.log(np.pi) - gammaln(0.5 * self.size + 1)
        return ball + self.size * np.log(self.radius) - np.log(0.2) - np.log(30.0) + np.log(2.0)


def grown(candidate, seed: int) -> Draws:
    rng = np.random.default_rng(seed)
    start = np.concatenate([c + 0.002 * rng.normal(size=(100, candidate.size)) for c in (0.3, 0.7)])
    start = start[candidate.judge(start, 1.0) <= 1.0]
    rounds = [Round(start, np.zeros(len(start)), np.zeros(len(start)), 1)]
    for _ in range(14):
        found = grow(rng, candidate, rounds, 1.0, 3000)
        assert found is not None
        rounds.append(found)
    return combine(rounds[-5:])


@pytest.mark.slow
def test_the_volume_of_two_bent_sheets_is_known_within_its_error():
    for seed in range(3):
        draws = grown(Bent(), seed)
        assert draws.standard_error < 0.1
        assert abs(draws.log_mass - Bent().log_volume()) < 3.0 * draws.standard_error


@pytest.mark.slow
def test_both_of_two_pieces_are_kept_in_their_shares():
    draws = grown(Bent(), 3)
    lower = draws.weights[draws.points[:, 1] < 0.5].sum()
    assert abs(lower - 0.5) < 3.0 * 0.5 / np.sqrt(draws.effective)


def test_a_chart_is_undone_and_keeps_volumes():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 3)) * [1.0, 0.3, 0.001]
    points = z + np.column_stack([0 * z[:, 0], 0 * z[:, 0], 0.05 * z[:, 0] ** 2])
    made = chart(points, np.ones(400))
    np.testing.assert_allclose(made.points(made.straight(points)), points, atol=1e-12)
    x, step = points[7], 1e-6
    slopes = (made.straight(x + step * np.eye(3)) - made.straight(x - step * np.eye(3))) / (2 * step)
    assert np.linalg.slogdet(slopes)[1] == pytest.approx(-made.log_volume, rel=1e-6)
    assert made.spreads.min() < 0.1, "the bend is taken out"


def test_the_density_of_a_cloud_integrates_to_one():
    rng = np.random.default_rng(1)
    source = cloud(rng.normal(size=(40, 2)), np.ones(40), 1.0, 8)
    axis = np.linspace(-25.0, 25.0, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert np.exp(source.log_density(grid)).sum() * (axis[1] - axis[0]) ** 2 == pytest.approx(1.0, rel=1e-3)


def test_draws_of_a_proposal_have_its_density():
    """The mean of 1/q over draws in a box is the box's volume."""
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.random((100, 2)) * 0.2, 0.7 + rng.random((100, 2)) * 0.2])
    source = proposal(points, np.ones(200), 1.0)
    assert len(source.pieces) == 2
    drawn = source.draw(rng, 40_000)
    inside = np.all((drawn > 0.75) & (drawn < 0.85), axis=1)
    weights = np.where(inside, np.exp(-source.log_density(drawn)), 0.0)
    assert abs(weights.mean() - 0.01) < 3.0 * weights.std() / np.sqrt(len(weights))


# What it says when a question has no good answer.


def test_a_threshold_no_model_reaches_is_a_verdict_and_not_a_loop():
    found = vb.infer(0, problems(), vb.FollowAndWeigh(fits=30, particles=200, draws=1000, threshold=1e-6))
    assert found.selected.name == "line"
    assert any("no model comes within 1e-06" in note for note in found.notes)


@pytest.mark.slow
def test_a_model_off_by_orders_of_magnitude_gets_no_probability_and_a_hint():
    far = vb.Problem(line, RECORD, {"a": vb.Uniform(1e6, 2e6), "b": SLOPE}, "far", vectorised=True)
    alone = vb.infer(0, far, METHOD)
    assert any("check units" in note for note in alone.notes)
    beside = vb.infer(0, [problems()[1], far], METHOD)
    assert beside["far"].probability == 0.0 and beside.selected.name == "line"


def test_a_run_out_of_budget_says_so_and_gives_what_it_has():
    found = vb.infer(0, problems(), METHOD, max_simulations=100)
    assert any("max_simulations" in note for note in found.notes)
    assert np.isnan(found.models[0].probability)


@pytest.mark.slow
def test_the_same_key_gives_the_same_result():
    one, other = (vb.infer(3, problems(), METHOD) for _ in range(2))
    assert one.probabilities == other.probabilities


def test_a_distance_of_the_users_descends_from_the_prior():
    """The root of the mean square of an error: the set within a threshold is that of the square."""

    def root(measured, simulated):
        return float(np.sqrt(100.0 * np.mean((measured - simulated) ** 2) / MEASURED.var()))

    threshold = np.sqrt(5.0)
    problem = vb.Problem(lambda a, b: a + b * TIME, RECORD, {"a": LEVEL, "b": SLOPE}, "line", distance=root)
    found = vb.infer(0, problem, vb.FollowAndWeigh(particles=100, draws=500, rounds=2, threshold=threshold))
    assert found.trace[0].stage == "search"
    model = found.selected
    assert abs(model.log_evidence - np.log(exact_masses(5.0)[1])) < 3.0 * model.log_evidence_error


def test_draws_of_one_place_are_near_the_best_fit_and_change_no_probability():
    """Two places, a and -a, fit alike: their mean fits nothing."""
    twin = vb.Problem(lambda a: 0.3 + a[:, None] ** 2 * TIME, RECORD, {"a": LEVEL}, "twin", vectorised=True)
    both, one = (vb.infer(1, twin, replace(METHOD, one_place=flag)).selected for flag in (False, True))
    assert one.log_evidence == both.log_evidence
    assert abs(both.mean()["a"]) < 0.1 and abs(one.mean()["a"]) == pytest.approx(np.sqrt(0.8), abs=0.05)
    assert len(np.unique(np.sign(one.draws["a"]))) == 1 and len(one.weights) >= 20


def test_a_handful_of_fits_is_enough_to_begin_with():
    found = vb.infer(0, problems(), vb.FollowAndWeigh(fits=2, searches=1, particles=40, draws=100))
    assert found.selected.name == "line"
