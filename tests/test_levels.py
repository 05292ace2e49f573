"""The level sampler against sets whose volume is known in closed form."""

from functools import cache

import numpy as np
import pytest
from scipy.special import gammaln

from vibayes.infer.levels import Population, Settings, begin, climb
from vibayes.infer.neighbours import Cloud, cloud

pytestmark = pytest.mark.slow
SETTINGS = Settings(particles=1000)
RUNS = 16
SEEDS = range(100, 100 + RUNS)
"""Not those the settings of the sampler were chosen with."""


class Ball:
    """Score −r², r the distance from the centre, in units that differ from coordinate to coordinate."""

    def __init__(self, widths: np.ndarray, bend: float = 0.0):
        self.widths, self.bend, self.size = np.asarray(widths), bend, len(widths)

    def draw(self, rng, count):
        return rng.random((count, self.size))

    def allowed(self, points):
        return np.all((points > 0) & (points < 1), axis=1)

    def score(self, points, above):
        points = points - 0.5
        # A shear bends the ball without changing its volume.
        bent = np.column_stack([points[:, :-1], points[:, -1] - self.bend * points[:, 0] ** 2])
        return -np.sum((bent / self.widths) ** 2, axis=1)

    def log_volume(self, radius: float) -> float:
        unit = 0.5 * self.size * np.log(np.pi) - gammaln(0.5 * self.size + 1)
        return float(unit + self.size * np.log(radius) + np.log(self.widths).sum())


class TwoBalls(Ball):
    """Two balls of equal radius at each level, of which the second is stretched: its volume is twice the first's."""

    def score(self, points, above):
        one = np.sum(((points - 0.25) / self.widths) ** 2, axis=1)
        stretched = self.widths * np.array([2.0, *[1.0] * (self.size - 1)])
        return -np.minimum(one, np.sum(((points - 0.75) / stretched) ** 2, axis=1))


def climbed(candidate, goal: float, seed: int, settings: Settings = SETTINGS) -> Population:
    rng = np.random.default_rng(seed)
    population = begin(rng, candidate, settings)
    while population.threshold < goal:
        population = climb(rng, candidate, population, goal, settings)
    return population


@cache
def errors_of(case: str) -> tuple[np.ndarray, np.ndarray]:
    return errors(*CASES[case])


def errors(candidate: Ball, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Errors of the logarithm of the mass in several runs, and the standard errors the runs claim."""
    runs = [climbed(candidate, -(radius**2), seed) for seed in SEEDS]
    truth = candidate.log_volume(radius)
    return np.array([run.log_mass - truth for run in runs]), np.array([run.standard_error for run in runs])


CASES = {
    "round": (Ball(np.full(5, 1.0)), 0.01),
    "thin": (Ball(np.array([0.3, 1e-2, 1e-3, 1e-4])), 0.05),
    "bent and thin": (Ball(np.array([0.3, 0.3, 1e-3]), bend=3.0), 0.5),
}


@pytest.mark.parametrize("case", CASES)
def test_the_mass_is_the_volume_within_three_standard_errors(case):
    found, claimed = errors_of(case)
    assert abs(found.mean()) < 3 * claimed.mean() / np.sqrt(RUNS)


@pytest.mark.parametrize("case", CASES)
def test_runs_scatter_as_they_say(case):
    found, claimed = errors_of(case)
    assert 0.4 < found.std(ddof=1) / claimed.mean() < 2.0


def test_jumps_that_ignore_their_own_density_give_a_wrong_mass(monkeypatch):
    monkeypatch.setattr(Cloud, "log_density", lambda self, points: np.zeros(len(points)))
    found, claimed = errors(*CASES["bent and thin"])
    assert abs(found.mean()) > 3 * claimed.mean() / np.sqrt(RUNS)


def test_points_are_spread_evenly_over_the_set():
    ball, radius = CASES["round"]
    population = climbed(ball, -(radius**2), seed=1)
    shares = (np.sqrt(-population.scores) / radius) ** ball.size  # uniform on (0, 1) for a uniform ball
    for q in (0.25, 0.5, 0.75):
        assert abs(np.mean(shares < q) - q) < 5 * np.sqrt(q * (1 - q) / len(shares))


def test_two_separate_sets_keep_their_shares():
    balls = TwoBalls(np.array([0.1, 0.1, 0.1]))
    shares = [np.mean(climbed(balls, -(0.02**2), seed).points[:, 0] > 0.5) for seed in range(RUNS)]
    assert abs(np.mean(shares) - 2 / 3) < 3 * np.std(shares, ddof=1) / np.sqrt(RUNS)


def test_the_trace_has_falling_mass_and_rising_thresholds():
    trace = climbed(Ball(np.ones(3)), -1e-4, seed=0).trace
    assert all(np.diff([level.threshold for level in trace]) > 0)
    assert all(np.diff([level.log_mass for level in trace]) < 0)


# ---- clouds ---------------------------------------------------------------------------------------------------------


def test_the_density_of_a_cloud_is_that_of_its_draws():
    rng = np.random.default_rng(0)
    source = cloud(rng.normal(size=(256, 2)) * np.array([1.0, 100.0]), 64, 1.0)
    drawn = source.draw(rng, 400_000) / np.array([1.0, 100.0])
    counts, *edges = np.histogram2d(*drawn.T, bins=20, range=[[-1, 1], [-1, 1]])
    x, y = (0.5 * (e[1:] + e[:-1]) for e in edges)
    grid = np.stack(np.meshgrid(x, 100.0 * y, indexing="ij"), axis=-1).reshape(-1, 2)
    expected = np.exp(source.log_density(grid)).reshape(counts.shape)
    ratio = counts / expected  # constant but for the noise of counting
    assert counts.min() > 50 and np.std(ratio) / np.mean(ratio) < 3 * np.mean(1 / np.sqrt(counts))
