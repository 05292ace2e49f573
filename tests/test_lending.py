"""The ratio of two masses by lending, against counts of draws of the prior."""

import numpy as np
import pytest

import vibayes as vb
from vibayes.candidates import ProblemCandidate
from vibayes.samplers.lending import mass_ratio
from vibayes.samplers.shapes import Draws

TIMES = np.linspace(0.0, 1.0, 20)
THRESHOLD = 12.0
PLACE, HEIGHT = vb.Uniform(-1.0, 2.0), vb.Uniform(0.2, 2.0)
"""Places before 0 and beyond 1 are never seen."""


def pulses(places, heights):
    pairs = zip(places, heights, strict=True)
    return np.sum([h[:, None] * np.exp(-0.5 * ((TIMES - d[:, None]) / 0.1) ** 2) for d, h in pairs], axis=0)


def one(d1, h1):
    return pulses([d1], [h1])


def two(d1, h1, d2, h2):
    return pulses([d1, d2], [h1, h2])


RECORD = vb.Record.from_arrays(
    rate=19.0, output={"y": one(np.array([0.5]), np.array([1.0]))[0] + 0.1 * np.sin(40 * TIMES)}
)


def three(d1, h1, d2, h2, d3, h3):
    return pulses([d1, d2, d3], [h1, h2, h3])


def candidates(second_place=PLACE):
    small = vb.Problem(one, RECORD, {"d1": PLACE, "h1": HEIGHT}, vectorised=True)
    priors = {"d1": PLACE, "h1": HEIGHT, "d2": second_place, "h2": HEIGHT}
    ordered = vb.Increasing(("d1", "d2"), ("h1", "h2"))
    large = vb.Problem(two, RECORD, priors, constraints=[ordered], vectorised=True)
    return ProblemCandidate(small), ProblemCandidate(large)


def with_three():
    """A model with two pulses more than the smallest."""
    places, heights = ("d1", "d2", "d3"), ("h1", "h2", "h3")
    priors = {**dict.fromkeys(places, PLACE), **dict.fromkeys(heights, HEIGHT)}
    return ProblemCandidate(
        vb.Problem(three, RECORD, priors, constraints=[vb.Increasing(places, heights)], vectorised=True)
    )


def log_mass(candidate, batches=40):
    """By counting draws of the prior."""
    rng, hits, size = np.random.default_rng(100), 0, 50_000
    for _ in range(batches):
        points = rng.random((size, candidate.size))
        points = points[candidate.allowed(points)]
        hits += int(np.sum(candidate.judge(points, THRESHOLD) <= THRESHOLD))
    return np.log(hits / (batches * size)), 1.0 / hits


def draws(rng, candidate, count):
    """Within the threshold, by rejection, with weights that differ for no reason."""
    kept = [np.empty((0, candidate.size))]
    while sum(map(len, kept)) < count:
        points = rng.random((20_000, candidate.size))
        points = points[candidate.allowed(points)]
        kept.append(points[candidate.judge(points, THRESHOLD) <= THRESHOLD])
    points = np.concatenate(kept)[:count]
    weights = rng.exponential(size=count)
    return Draws(points, weights / weights.sum(), np.zeros(count))


@pytest.fixture(scope="module")
def masses():
    (small, first), (large, second) = (log_mass(each) for each in candidates())
    return large - small, np.sqrt(first + second)


def ratio(seed, large=None):
    rng = np.random.default_rng(seed)
    small, two_pulses = candidates()
    large = large or two_pulses
    found = mass_ratio(rng, large, small, draws(rng, large, 400), draws(rng, small, 400), (THRESHOLD, THRESHOLD))
    assert found is not None
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_ratio_is_that_of_the_counts_within_three_standard_errors(seed, masses):
    found = ratio(seed)
    assert found.error < 0.1 and masses[1] < 0.05
    assert abs(found.log - masses[0]) < 3.0 * np.hypot(found.error, masses[1])


@pytest.mark.slow
def test_the_ratio_to_a_model_with_two_parameters_in_order_more_is_that_of_the_counts():
    small, _ = candidates()
    (one_mass, first), (three_mass, second) = log_mass(small), log_mass(with_three())
    found = ratio(0, with_three())
    assert found.error < 0.15
    assert abs(found.log - (three_mass - one_mass)) < 3.0 * np.hypot(found.error, np.sqrt(first + second))


def test_counting_a_way_back_that_is_none_is_noticed(masses, monkeypatch):
    whole = ProblemCandidate.returned

    def with_another(*args):
        ways = np.asarray(whole(*args))
        return np.concatenate([ways, np.full_like(ways[:1], 2.0)])  # outside the cube: it explains nothing

    monkeypatch.setattr(ProblemCandidate, "returned", with_another)
    found = ratio(0)
    assert abs(found.log - masses[0]) > 3.0 * np.hypot(found.error, masses[1])


def test_what_is_returned_becomes_the_same_point_when_it_is_lent_again():
    rng = np.random.default_rng(0)
    small, large = candidates()
    points = rng.random((50, 4))
    back = large.returned(small, points)
    assert back is not None and back.shape == (2, 50, 2)
    values = large.values(points)
    for way, number in zip(back, "12", strict=True):
        for name, value in small.values(way).items():
            np.testing.assert_allclose(value, values[f"{name[0]}{number}"], rtol=1e-12)


def test_models_that_do_not_contain_one_another_have_no_ratio():
    small, large = candidates()
    assert small.returned(large, np.full((1, 2), 0.5)) is None
    _, other = candidates(second_place=vb.Uniform(0.0, 3.0))  # places are not interchangeable
    assert other.returned(small, np.full((1, 4), 0.5)) is None
