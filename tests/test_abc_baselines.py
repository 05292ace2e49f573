"""Rejection, ABC-SMC and the published ABC-NS on models whose prior mass within a threshold is the volume of a ball."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import stats

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.samplers.ellipsoids import Ellipsoid, enclosing, moments, unit_ball
from vibayes.samplers.nested import ABCNestedSampling, cut_off, dropped_share, particle_weights, peak_density
from vibayes.samplers.rejection import ABCRejection, attempt, collect, from_prior
from vibayes.samplers.smc import ABCSMC

SEEDS = range(5)
THRESHOLD = 0.03


@dataclass
class Ball:
    """Distance |x - 0.5|² / radius² + floor: within a threshold lies a ball of the unit cube, or half of one."""

    size: int
    radius: float
    floor: float = 0.0
    half: bool = False
    prior_probability: float = 1.0
    name: str = "ball"
    length: int = 10
    measured: int = 10
    has_errors: bool = False
    beginning: int = 10
    feasible: tuple[float, float] = (0.0, 0.0)
    proposed: list[np.ndarray] = field(default_factory=list)

    def errors(self, points, samples):
        raise NotImplementedError

    def allowed(self, points):
        self.proposed.append(points)
        inside = np.all((points > 0) & (points < 1), axis=1)
        return inside & (points[:, 0] < 0.5) if self.half else inside

    def judge(self, points, limit):
        assert not self.half or np.all(points[:, 0] < 0.5), "what breaks a constraint is not simulated"
        assert np.all((points > 0) & (points < 1)), "what leaves the cube is not simulated"
        distance = np.sum((points - 0.5) ** 2, axis=1) / self.radius**2 + self.floor
        return np.where(distance <= limit, distance, np.inf)

    def returned(self, other, points):
        return None

    def adopt(self, rng, other, points):
        raise NotImplementedError

    def mass(self, threshold):
        reach = self.radius * math.sqrt(threshold - self.floor)
        whole = math.pi ** (self.size / 2) / math.gamma(self.size / 2 + 1) * reach**self.size
        return whole / 2 if self.half else whole


class Hopeless(Ball):
    """No point can be simulated."""

    def judge(self, points, limit):
        return np.full(len(points), np.inf)


def balls(floor=0.0):
    return [Ball(3, 0.8, floor), Ball(5, 1.4, floor)]


def run(method, candidates, seed=0):
    return list(method.levels(np.random.default_rng(seed), candidates))


def exact(candidates, threshold):
    masses = np.array([c.prior_probability * c.mass(threshold) for c in candidates])
    return masses / masses.sum()


def off(snapshot, candidates):
    """Error of the first probability in standard errors."""
    p = exact(candidates, snapshot.threshold)
    return (snapshot.probabilities[0] - p[0]) / snapshot.standard_errors[0]


RIGHT = {"rejection": ABCRejection(THRESHOLD), "smc": ABCSMC(threshold=THRESHOLD)}
ALL = {**RIGHT, "nested": ABCNestedSampling(n_s=300, threshold=THRESHOLD)}


# What rejection and SMC have in common


@pytest.mark.parametrize("method", RIGHT.values(), ids=RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_probabilities_are_the_closed_form_within_three_standard_errors(method, seed):
    candidates = balls()
    assert abs(off(run(method, candidates, seed)[-1], candidates)) < 3


@pytest.mark.parametrize("method", RIGHT.values(), ids=RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_log_masses_are_volumes_of_balls_within_three_standard_errors(method, seed):
    candidates = balls()
    for draws, candidate in zip(run(method, candidates, seed)[-1].draws, candidates, strict=True):
        assert abs(draws.log_mass - math.log(candidate.mass(THRESHOLD))) < 3 * draws.standard_error


@pytest.mark.slow
@pytest.mark.parametrize("method", [ABCRejection(THRESHOLD, 300), ABCSMC(300, threshold=THRESHOLD)], ids=RIGHT)
def test_standard_errors_are_the_scatter_over_seeds(method):
    candidates = balls()
    errors = np.array([off(run(method, candidates, seed)[-1], candidates) for seed in range(60)])
    # The root mean square of 60 standard normal numbers has a standard deviation of 1 / √120.
    assert abs(np.sqrt(np.mean(errors**2)) - 1.0) < 3.5 / math.sqrt(120)


@pytest.mark.parametrize("method", RIGHT.values(), ids=RIGHT)
def test_prior_probabilities_of_models_count(method):
    candidates = [Ball(3, 0.8, prior_probability=1.0), Ball(3, 0.8, prior_probability=4.0)]
    last = run(method, candidates)[-1]
    assert abs(last.probabilities[0] - 0.2) < 3 * last.standard_errors[0]


@pytest.mark.parametrize("method", RIGHT.values(), ids=RIGHT)
def test_a_constraint_costs_prior_mass(method):
    candidates = [Ball(3, 0.8), Ball(3, 0.8, half=True)]
    assert abs(off(run(method, candidates)[-1], candidates)) < 3


@pytest.mark.parametrize("method", RIGHT.values(), ids=RIGHT)
def test_draws_fill_the_ball_evenly(method):
    last = run(method, balls())[-1]
    for draws, candidate in zip(last.draws, balls(), strict=True):
        # In a ball of radius R, the mean of r² is R² d / (d + 2).
        squares = draws.distances / THRESHOLD
        mean = np.sum(draws.weights * squares)
        error = np.sqrt(np.sum(draws.weights**2 * (squares - mean) ** 2))
        assert abs(mean - candidate.size / (candidate.size + 2)) < 3 * error


@pytest.mark.parametrize("seed", SEEDS)
def test_without_weights_smc_would_be_wrong(seed):
    candidates = balls()
    last = run(RIGHT["smc"], candidates, seed)[-1]
    counts = np.array([len(draws.points) for draws in last.draws])
    share = counts[0] / counts.sum()
    assert abs(share - exact(candidates, THRESHOLD)[0]) > 3 * math.sqrt(share * (1 - share) / counts.sum())


# What all three have in common


@pytest.mark.parametrize("method", ALL.values(), ids=ALL)
def test_the_same_seed_gives_the_same_result(method):
    first, second = (run(method, balls(), seed=7)[-1] for _ in range(2))
    for mine, other in zip(first.draws, second.draws, strict=True):
        np.testing.assert_array_equal(mine.points, other.points)


@pytest.mark.parametrize("method", ALL.values(), ids=ALL)
def test_only_the_last_snapshot_says_done(method):
    stages = [snapshot.stage for snapshot in run(method, balls())]
    assert stages.count("done") == 1 and stages[-1] == "done"


@pytest.mark.parametrize("method", ALL.values(), ids=ALL)
def test_weights_of_a_model_add_up_to_one(method):
    for draws in run(method, balls())[-1].draws:
        np.testing.assert_allclose(draws.weights.sum(), 1.0)


@pytest.mark.parametrize("method", ALL.values(), ids=ALL)
def test_all_draws_are_within_the_threshold(method):
    for snapshot in run(method, balls()):
        assert all(np.all(draws.distances <= snapshot.threshold) for draws in snapshot.draws)


@pytest.mark.parametrize("method", ALL.values(), ids=ALL)
def test_a_run_that_reaches_its_threshold_has_no_note(method):
    last = run(method, balls())[-1]
    assert (last.threshold, last.note) == (THRESHOLD, "")


@pytest.mark.parametrize("name", ["smc", "nested"])
def test_thresholds_fall_from_population_to_population(name):
    thresholds = [snapshot.threshold for snapshot in run(ALL[name], balls())[:-1]]
    assert len(thresholds) > 4 and np.all(np.diff(thresholds[1:]) < 0) and thresholds[0] > thresholds[1]


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (ABCRejection(1.0, max_draws=2000), "0 of 1,000 particles were found within 1 in 2,000 draws"),
        (ABCSMC(particles=20), "draws of the prior: only 0 of 2,000 draws are allowed and can be simulated"),
        (ABCNestedSampling(max_draws=2000), "acceptance collapsed: 0 particles instead of 1,000 within 200 in 2,000"),
    ],
)
def test_a_run_in_which_nothing_can_be_accepted_ends_with_a_note(method, message):
    last = run(method, [Hopeless(2, 1.0), Hopeless(3, 1.0)])[-1]
    assert message in last.note and last.probabilities == (0.0, 0.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ABCRejection(0.0),
        lambda: ABCRejection(1.0, particles=0),
        lambda: ABCSMC(quantile=1.0),
        lambda: ABCSMC(threshold=-1.0),
        lambda: ABCSMC(min_acceptance=0.0),
        lambda: ABCNestedSampling(n_s=10.5),  # pyright: ignore[reportArgumentType]
        lambda: ABCNestedSampling(gamma=1.0),
        lambda: ABCNestedSampling(p_best=1.0),
        lambda: ABCNestedSampling(models="all"),
    ],
)
def test_impossible_settings_are_refused(make):
    with pytest.raises(InvalidInput, match=r"ABC\w+\.\w+: expected .* got .*;"):
        make()


@pytest.mark.slow
@pytest.mark.parametrize("method", [ABCRejection(1.0, 300), ABCSMC(300, threshold=1.0), ABCNestedSampling(n_s=300)])
def test_infer_finds_the_right_model_and_its_parameter(method):
    time = np.arange(40) / 10.0
    noise = 0.02 * np.random.default_rng(0).normal(size=40)
    record = vb.Record.from_arrays(rate=10.0, output={"x": np.exp(-0.7 * time) + noise})
    problems = [
        vb.Problem(lambda rate: np.exp(-rate * time), record, {"rate": vb.Uniform(0.1, 2.0)}, name="decay"),
        vb.Problem(lambda slope: 1.0 - slope * time, record, {"slope": vb.Uniform(0.0, 1.0)}, name="line"),
    ]
    posterior = vb.infer(0, problems, method)
    # The least-squares rate of this record is 0.7063, and draws are within 0.05 of it at the threshold 1.
    assert posterior.selected.name == "decay" and abs(posterior["decay"].mean()["rate"] - 0.7063) < 0.05


# Rejection alone


def test_a_threshold_that_holds_everything_leaves_the_prior_probabilities_as_they_are():
    last = run(ABCRejection(1e9), [Ball(2, 1.0, prior_probability=1.0), Ball(3, 1.0, prior_probability=3.0)])[-1]
    np.testing.assert_allclose([*last.probabilities, *last.standard_errors], [0.25, 0.75, 0.0, 0.0], atol=1e-8)


def test_the_standard_error_of_a_mass_is_binomial():
    last = run(ABCRejection(THRESHOLD), [Ball(3, 0.8)])[-1]
    kept, acceptance = len(last.draws[0].points), last.acceptance
    np.testing.assert_allclose(last.draws[0].standard_error, math.sqrt((1 - acceptance) / kept), rtol=1e-9)


def test_particles_that_were_not_found_are_missed_in_a_note():
    last = run(ABCRejection(THRESHOLD, max_draws=5000), balls())[-1]
    assert "of 1,000 particles were found within 0.03 in 5,000 draws" in last.note and sum(last.probabilities) > 0


def test_draws_beyond_the_number_wanted_are_as_if_never_made():
    candidates, shares = balls(), np.array([0.5, 0.5])
    found = []
    for wanted in (None, 20):
        rng = np.random.default_rng(3)
        found.append(attempt(rng, candidates, from_prior(rng, candidates), shares, 0.3, 500, wanted))
    everything, some = found
    assert some.count == 20 and some.tried < everything.tried
    for mine, full in zip(some.points, everything.points, strict=True):
        np.testing.assert_array_equal(mine, full[: len(mine)])


def test_the_number_of_draws_for_one_particle_is_geometric():
    candidates, rng = [Ball(3, 0.8)], np.random.default_rng(0)
    shares, mass = np.ones(1), Ball(3, 0.8).mass(0.3)
    propose = from_prior(rng, candidates)
    tries = [collect(rng, candidates, propose, shares, 0.3, 1, 10_000).tried for _ in range(2000)]
    # Its mean is 1 / mass; its standard deviation is √(1 - mass) / mass.
    assert abs(np.mean(tries) - 1 / mass) < 3 * math.sqrt(1 - mass) / mass / math.sqrt(2000)


# SMC alone


def test_smc_says_when_it_cannot_come_down_to_its_threshold():
    last = run(ABCSMC(particles=300, threshold=0.005), balls(floor=0.01))[-1]
    assert "not 0.005: the threshold hardly falls any more" in last.note and last.threshold < 0.012


def test_smc_says_when_too_few_draws_are_accepted():
    last = run(ABCSMC(particles=300, threshold=0.001, min_acceptance=0.15), balls())[-1]
    assert "less than 0.15 of the draws are within" in last.note and last.threshold > 0.001


def test_smc_says_when_it_ends_for_the_number_of_populations():
    last = run(ABCSMC(particles=300, max_populations=4), balls())[-1]
    assert last.note == "ended after 4 populations, while the threshold was still falling"


def test_smc_without_a_threshold_ends_at_the_noise_floor_without_a_note():
    last = run(ABCSMC(particles=300), balls(floor=0.01))[-1]
    assert last.threshold < 0.011 and last.note == ""


# Ellipsoids


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_radius_of_a_draw_from_a_ball_to_the_power_of_its_dimension_is_uniform(size):
    radii = np.linalg.norm(unit_ball(np.random.default_rng(0), 5000, size), axis=1)
    assert stats.kstest(radii**size, "uniform").pvalue > 0.01


def test_draws_from_an_ellipsoid_have_the_covariance_of_a_uniform_one():
    factor = np.array([[0.3, 0.0], [0.2, 0.05]])
    draws = Ellipsoid(np.array([0.2, 0.7]), factor).at(unit_ball(np.random.default_rng(0), 100_000, 2))
    # A uniform ellipsoid has the covariance of its matrix by d + 2; the scatter of 100,000 draws is about 0.5 %.
    np.testing.assert_allclose(np.cov(draws.T), factor @ factor.T / 4.0, rtol=0.02)


def test_means_and_covariances_are_those_of_equation_15():
    rng = np.random.default_rng(0)
    points, weights = rng.random((30, 3)), rng.random(30)
    mean, factor = moments(points, weights)
    expected = sum(w * p for w, p in zip(weights, points, strict=True)) / weights.sum()
    outer = sum(w * np.outer(p - expected, p - expected) for w, p in zip(weights, points, strict=True))
    np.testing.assert_allclose(mean, expected)
    np.testing.assert_allclose(factor @ factor.T, outer / weights.sum(), rtol=1e-6, atol=1e-9)


def test_an_ellipsoid_just_holds_its_points_before_it_is_enlarged():
    rng = np.random.default_rng(0)
    points, weights = rng.random((50, 3)), rng.random(50)
    assert enclosing(points, weights, 1.0).contains(points).all()
    assert not enclosing(points, weights, 0.999).contains(points).all()


def test_a_shrunken_ellipsoid_has_its_matrix_multiplied_and_its_centre_moved():
    ellipsoid = Ellipsoid(np.zeros(2), np.array([[2.0, 0.0], [1.0, 1.0]])).moved(np.ones(2), 0.1)
    np.testing.assert_allclose(ellipsoid.factor @ ellipsoid.factor.T, 0.1 * np.array([[4.0, 2.0], [2.0, 2.0]]))
    np.testing.assert_array_equal(ellipsoid.centre, 1.0)


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_the_ellipsoid_of_a_handful_of_points_has_a_volume_and_holds_them(count):
    points = np.random.default_rng(0).random((count, 5))
    ellipsoid = enclosing(points, np.ones(count), 1.1)
    assert np.all(np.diag(ellipsoid.factor) > 1e-3) and ellipsoid.contains(points).all()


# The published scheme, piece by piece


def test_weights_are_those_of_algorithm_3():
    weights = particle_weights(np.array([1.0, 2.0, 3.0]), epsilon=4.0, upcoming=3.0)
    raw = np.array([(1 - 1 / 16) / 4, (1 - 4 / 16) / 4, 0.0])
    np.testing.assert_allclose(weights, raw / raw.sum())


def test_the_next_threshold_is_an_element_of_the_sorted_distances():
    # Of ten distances in descending order, the fourth: 10, 9, 8, 7.
    assert cut_off([np.array([3.0, 10, 5, 1, 8]), np.array([2.0, 9, 7, 4, 6])], alpha=0.4) == 7.0


def test_densities_are_those_of_scipy_with_the_bandwidth_of_matlab():
    values = np.random.default_rng(0).exponential(size=200)
    sigma = stats.median_abs_deviation(values) / 0.6745
    bandwidth = sigma * (4 / (3 * 200)) ** 0.2
    density = stats.gaussian_kde(values, bandwidth / values.std(ddof=1))
    grid = np.linspace(values.min(), values.max(), 100)
    np.testing.assert_allclose(peak_density(values), density(grid).max(), rtol=1e-9)


def test_distances_that_come_closer_by_a_factor_drop_as_much():
    before = np.random.default_rng(0).random(100)
    # Densities of distances half as far apart are twice as high: 1 - 1/2.
    np.testing.assert_allclose(dropped_share([before], [0.5 * before]), 0.5)


def test_the_model_whose_distances_come_closest_decides():
    before = np.random.default_rng(0).random(100)
    np.testing.assert_allclose(dropped_share([before, before], [0.9 * before, 0.25 * before]), 0.75)


def test_never_less_than_a_tenth_is_dropped():
    before = np.random.default_rng(0).random(100)
    assert dropped_share([before], [2.0 * before]) == 0.1


@pytest.mark.parametrize("few", [[], [0.001]])
def test_a_model_without_a_density_has_no_say_in_the_threshold(few):
    before = np.random.default_rng(0).random(100)
    np.testing.assert_allclose(dropped_share([before, before], [0.5 * before, np.array(few)]), 0.5)


# The published scheme as a whole


def test_defaults_are_those_of_the_paper():
    method = ABCNestedSampling()
    assert (method.n_s, method.epsilon_1, method.alpha_0, method.p_best) == (1000, 200.0, 0.4, 0.05)
    assert (method.gamma, method.epsilon_tol, method.f_0) == (0.1, 0.005, 1.1)


def test_the_first_population_has_the_first_threshold_and_every_population_all_its_particles():
    snapshots = run(ABCNestedSampling(n_s=200, epsilon_1=0.5, threshold=THRESHOLD), balls())
    assert snapshots[0].threshold == 0.5
    assert all(sum(len(draws.points) for draws in snapshot.draws) == 200 for snapshot in snapshots)


def test_probabilities_are_shares_of_the_last_population():
    last = run(ALL["nested"], balls())[-1]
    np.testing.assert_allclose(last.probabilities, [len(draws.points) / 300 for draws in last.draws])


def test_the_second_threshold_drops_the_share_alpha_0_of_the_first_population():
    first, second, *_ = run(ABCNestedSampling(n_s=200, alpha_0=0.3, threshold=THRESHOLD), balls())
    distances = np.concatenate([draws.distances for draws in first.draws])
    assert np.sum(distances >= second.threshold) == 60


def test_active_particles_survive_into_the_next_population():
    first, second, *_ = run(ABCNestedSampling(n_s=200, threshold=THRESHOLD), balls())
    for before, now in zip(first.draws, second.draws, strict=True):
        active = before.points[before.distances < second.threshold]
        np.testing.assert_array_equal(now.points[: len(active)], active)


def test_the_run_ends_when_the_threshold_would_fall_by_less_than_the_tolerance():
    method = ABCNestedSampling(n_s=300, epsilon_tol=0.02)
    *populations, last = run(method, balls(floor=0.01))
    thresholds = np.array([snapshot.threshold for snapshot in populations])
    before, now = ([draws.distances for draws in each.draws] for each in populations[-2:])
    upcoming = cut_off(now, dropped_share(before, now))
    assert np.all(-np.diff(thresholds[1:]) / thresholds[1:-1] >= 0.02) and last.note == ""
    assert (last.threshold - upcoming) / last.threshold < 0.02


def test_a_rule_that_ends_the_run_above_the_threshold_asked_for_is_noted():
    last = run(ABCNestedSampling(n_s=300, threshold=0.001), balls(floor=0.01))[-1]
    assert "the stopping rule ended the run at" in last.note and "above the threshold 0.001" in last.note


def test_a_model_that_cannot_follow_leaves_and_does_not_return():
    candidates = [Ball(3, 0.8), Ball(3, 0.8, floor=0.1)]
    shares = [snapshot.probabilities[1] for snapshot in run(ALL["nested"], candidates)]
    left = shares.index(0.0)
    assert left > 1 and not any(shares[left:])


def test_a_draw_that_breaks_a_constraint_is_lost_to_its_model():
    candidates = [Ball(2, 1.0), Ball(2, 1.0, half=True)]
    first = run(ABCNestedSampling(n_s=2000, max_populations=1), candidates)[0]
    # Both get as many draws, and half of the second's are lost: 2 to 1.
    assert abs(first.probabilities[0] - 2 / 3) < 3 * first.standard_errors[0]


@pytest.mark.parametrize("models", ["population", "prior"])
def test_models_of_new_particles_are_drawn_from_what_was_asked_for(models):
    candidates = [Ball(3, 0.8), Ball(3, 0.8, floor=0.2)]
    levels = ABCNestedSampling(n_s=3000, models=models).levels(np.random.default_rng(0), candidates)
    first = next(levels)
    for candidate in candidates:
        candidate.proposed.clear()
    threshold = next(levels).threshold
    active = [np.sum(draws.distances < threshold) for draws in first.draws]
    expected = active[0] / sum(active) if models == "population" else 0.5
    proposed = [sum(len(points) for points in candidate.proposed) for candidate in candidates]
    # The second model loses more particles: its share is 0.4. A count of n draws scatters by at most √n / 2.
    assert abs(proposed[0] / sum(proposed) - expected) < 3 * 0.5 / math.sqrt(sum(proposed))


def test_a_share_p_best_of_the_draws_is_around_the_best_particle():
    ball = Ball(3, 0.8)
    levels = ABCNestedSampling(n_s=3000, p_best=0.3, gamma=1e-12).levels(np.random.default_rng(0), [ball])
    draws = next(levels).draws[0]
    ball.proposed.clear()
    next(levels)
    proposed = np.concatenate(ball.proposed)
    near = np.linalg.norm(proposed - draws.points[np.argmin(draws.distances)], axis=1) < 1e-5
    assert abs(near.mean() - 0.3) < 3 * math.sqrt(0.3 * 0.7 / len(near))


def test_an_acceptance_that_collapses_ends_the_run_with_what_there_is():
    last = run(ABCNestedSampling(n_s=200, max_draws=210), balls())[-1]
    assert "the acceptance collapsed" in last.note and math.isclose(sum(last.probabilities), 1.0)


def test_distances_that_are_all_the_same_end_the_run_with_a_note():
    last = run(ABCNestedSampling(n_s=100), [Ball(2, 1e9, floor=1.0)])[-1]
    assert "many at the very same distance" in last.note


def test_the_number_of_populations_is_limited():
    last = run(ABCNestedSampling(n_s=100, max_populations=5), balls())[-1]
    assert last.note == "ended after 5 populations, while the threshold was still falling"


@pytest.mark.slow
def test_where_sets_are_ellipsoids_the_published_probabilities_are_near_the_closed_form():
    shares = [run(ABCNestedSampling(threshold=THRESHOLD), balls(), seed)[-1].probabilities[0] for seed in range(8)]
    # They scatter by about 0.08 from run to run, far more than independent particles would (0.014).
    assert abs(np.mean(shares) - exact(balls(), THRESHOLD)[0]) < 0.1
