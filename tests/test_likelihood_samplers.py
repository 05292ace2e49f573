"""Samplers of a likelihood on targets whose posterior and evidence are known."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from tests.likelihoods import Toy, banana, bimodal, cut, gaussian

from vibayes.errors import InvalidInput
from vibayes.samplers.climb import climb
from vibayes.samplers.diagnostics import mcse_mean
from vibayes.samplers.laplace import Laplace
from vibayes.samplers.likely import LikelihoodSampler, Sample, finished
from vibayes.samplers.metropolis import AdaptiveMetropolis, Metropolis
from vibayes.samplers.moves import Moves, Points, exchange, move
from vibayes.samplers.nuts import NUTS
from vibayes.samplers.pieces import Pieces, pieces_of
from vibayes.samplers.tempered import TemperedSMC
from vibayes.samplers.verdicts import verdicts

METROPOLIS = Metropolis(draws=6000, chains=8)
ADAPTIVE = AdaptiveMetropolis(draws=200, warmup=150)
TEMPERED = TemperedSMC(particles=1000)
CORRECTED = Laplace(starts=100, draws=4000, correct=True)
GRADIENTS = NUTS(draws=500)


def named(method, *marks):
    name = type(method).__name__ + ("-corrected" if getattr(method, "correct", False) else "")
    return pytest.param(method, id=name, marks=marks)


EVERY = [
    named(METROPOLIS),
    named(ADAPTIVE),
    named(TEMPERED),
    named(CORRECTED),
    named(GRADIENTS, pytest.mark.slow),
]
QUICK = [
    named(Metropolis(draws=40, chains=3)),
    named(AdaptiveMetropolis(draws=20, chains=10, warmup=20, particles=100)),
    named(TemperedSMC(particles=100)),
    named(Laplace(starts=4, draws=100)),
    named(Laplace(starts=4, draws=100, correct=True)),
    named(NUTS(draws=30, chains=2, warmup=50, particles=60), pytest.mark.slow),
]


def run(method: LikelihoodSampler, target: Toy, seed: int = 0) -> Sample:
    return finished(method.sample(np.random.default_rng(seed), target))


def off(sample: Sample, target: Toy) -> float:
    """The largest error of a posterior mean, in Monte Carlo standard errors."""
    features = target.features(sample.points)
    return float(np.max(np.abs(features.mean(axis=(0, 1)) - target.expected) / mcse_mean(features)))


@pytest.mark.slow
@pytest.mark.parametrize("method", EVERY)
def test_moments_of_a_correlated_gaussian(method):
    assert off(run(method, gaussian()), gaussian()) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("method", [m for m in EVERY if m.values[0] is not CORRECTED])
def test_moments_of_a_banana(method):
    target = banana(0.5) if method is GRADIENTS else banana(0.2)
    assert off(run(method, target), target) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("method", [named(ADAPTIVE), named(TEMPERED), named(CORRECTED)])
@pytest.mark.parametrize("seed", range(3))
def test_shares_of_two_modes_far_apart(method, seed):
    assert off(run(method, bimodal(), seed), bimodal()) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("method", [named(METROPOLIS), named(ADAPTIVE), named(TEMPERED)])
def test_mean_of_a_posterior_that_is_cut_off(method):
    assert off(run(method, cut()), cut()) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("method", [named(ADAPTIVE), named(TEMPERED), named(CORRECTED)])
@pytest.mark.parametrize("pose", [gaussian, bimodal, banana, cut])
def test_evidence_is_within_its_standard_errors(method, pose):
    if method is CORRECTED and pose in (banana, cut):
        pytest.skip("no Gaussian is near")
    target = pose()
    samples = [run(method, target, seed) for seed in range(1, 5)]
    scores = [(sample.log_evidence - target.log_evidence) / sample.log_evidence_error for sample in samples]
    assert np.max(np.abs(scores)) < 4.0
    assert np.sqrt(np.mean(np.square(scores))) < 2.2  # 4 scores of a normal: once in a thousand


@pytest.mark.slow
@pytest.mark.parametrize("pose", [gaussian, bimodal])
def test_standard_error_of_a_tempered_evidence_is_its_scatter(pose):
    target, method = pose(), TemperedSMC(particles=300)
    samples = [run(method, target, seed) for seed in range(40)]
    scatter = np.std([sample.log_evidence for sample in samples])
    said = np.mean([sample.log_evidence_error for sample in samples])
    # Of 40 the scatter is known to 11 %.
    assert 0.6 < scatter / said < 1.45


def test_evidence_of_laplace_is_exact_for_a_gaussian():
    for differentiable in (True, False):
        target = gaussian(size=5, differentiable=differentiable)
        sample = run(Laplace(starts=4), target)
        assert abs(sample.log_evidence - target.log_evidence) < 1e-6
        assert off(sample, target) < 4.0


@pytest.mark.parametrize("differentiable", [True, False])
def test_climbers_arrive_at_the_maximum_of_a_banana(differentiable):
    target = banana(0.02, differentiable=differentiable)
    starts = np.random.default_rng(0).normal(size=(8, 2))
    *_, last = climb(target, starts)
    grid = np.linspace(-2.0, 3.0, 1_000_001)
    profile = target.log_likelihood(np.stack([grid, (grid**2 - 0.5) / 1.0004], axis=1))
    highest = np.max(profile - 0.5 * grid**2 - 0.5 * ((grid**2 - 0.5) / 1.0004) ** 2)
    assert abs(last.values.max() - highest) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("width", [1e-3, 1e-7])
@pytest.mark.parametrize("method", [named(ADAPTIVE), named(TEMPERED), named(Laplace(draws=500))])
def test_a_posterior_that_is_tiny_within_the_prior_is_found(method, width):
    target = gaussian(size=4, width=width, differentiable=False)
    sample = run(method, target)
    assert off(sample, target) < 4.5
    error = sample.log_evidence_error if np.isfinite(sample.log_evidence_error) else 1e-4
    assert abs(sample.log_evidence - target.log_evidence) < 4.0 * error


@pytest.mark.slow
@pytest.mark.parametrize("method", [named(ADAPTIVE), named(TEMPERED)])
def test_twelve_unknowns(method):
    target = gaussian(size=12, width=0.01)
    sample = run(method, target)
    assert off(sample, target) < 4.5  # the largest of 156


def test_plain_chains_are_tuned_to_two_in_five():
    assert abs(run(METROPOLIS, gaussian()).acceptance - 0.4) < 0.05
    assert run(Metropolis(draws=500, step=1e-4), gaussian()).acceptance > 0.95


def test_chains_that_stay_in_their_modes_are_told_of():
    starts = np.array([[-1.5, 0.0], [-1.5, 0.0], [1.5, 0.0], [1.5, 0.0]])
    sample = run(Metropolis(draws=2000, starts=starts), bimodal())
    assert "Chains do not agree on a (R-hat" in verdicts(sample, ["a", "b"])[0]


# Negative controls: what is wrong must be found wrong.


def wrong_chain(target: Toy, only_accepted: bool = False, no_ratio: bool = False) -> Sample:
    """Metropolis as printed with an error: a step is counted only when it is made, or made whatever the target."""
    rng = np.random.default_rng(0)
    now, kept = np.zeros((64, target.size)), []
    logs = target.log_likelihood(now) - 0.5 * np.sum(now**2, axis=1)
    chains = [[] for _ in now]
    for _ in range(4000):
        there = now + 0.6 * rng.normal(size=now.shape)
        values = target.log_likelihood(there) - 0.5 * np.sum(there**2, axis=1)
        prior = 0.5 * np.sum(now**2 - there**2, axis=1)
        accept = np.log(rng.random(len(now))) < (prior if no_ratio else values - logs)
        now, logs = np.where(accept[:, None], there, now), np.where(accept, values, logs)
        for chain, point, moved in zip(chains, now, accept, strict=True):
            if moved or not only_accepted:
                chain.append(point)
    shortest = min(len(chain) for chain in chains)
    kept = np.array([chain[shortest // 4 : shortest] for chain in chains])
    return Sample(kept, np.zeros(kept.shape[:2]), 0.4)


@pytest.mark.slow
def test_the_same_chain_without_an_error_is_right():
    assert off(wrong_chain(gaussian()), gaussian()) < 4.0


def test_counting_only_accepted_moves_is_found_wrong():
    assert off(wrong_chain(gaussian(), only_accepted=True), gaussian()) > 8.0


def test_accepting_without_the_target_is_found_wrong():
    assert off(wrong_chain(gaussian(), no_ratio=True), gaussian()) > 8.0


class Forgetful(Pieces):
    """Says that it is equally dense everywhere."""

    def log_densities(self, points):
        return np.zeros((len(self.charts), len(points)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Pieces, Forgetful])
def test_jumps_keep_the_posterior_only_with_their_density(kind):
    target, rng = gaussian(), np.random.default_rng(0)
    cloud = rng.normal(size=(400, 3)) * [0.5, 1.0, 0.3] + [0.2, 0.0, 0.1]  # of something else
    moves = Moves(kind(*pieces_of(cloud, np.ones(400))), step=0.5, jumps=0.5)
    chains, kept = Points(np.zeros((40, 3)), target.log_likelihood(np.zeros((40, 3)))), []
    for _ in range(2000):
        chains, _ = move(rng, target, chains, moves)
        kept.append(chains.points)
    points = np.swapaxes(kept[100:], 0, 1)
    score = off(Sample(points, np.zeros(points.shape[:2]), 0.4), target)
    assert score < 4.0 if kind is Pieces else score > 8.0


def with_exchanges(exchanged, points):
    """Walks of 40 points, and exchanges between them."""
    target, rng = gaussian(), np.random.default_rng(0)
    chains, kept = Points(np.zeros((40, 3)), target.log_likelihood(np.zeros((40, 3)))), []
    cloud = rng.normal(size=(400, 3)) * [0.5, 1.0, 0.3] + [0.2, 0.0, 0.1]
    moves = Moves(pieces_of(cloud, np.ones(400)), step=0.5, jumps=0.5, forgets=0.2)
    for _ in range(points):
        chains, _ = move(rng, target, chains, moves)
        chains = exchanged(rng, target, chains)
        kept.append(chains.points)
    drawn = np.swapaxes(kept[100:], 0, 1)
    # Points that exchange are not independent; all of them together at each step are one draw.
    features = target.features(drawn).mean(axis=0)
    error = np.array([mcse_mean(each[None]) for each in features.T])
    return np.max(np.abs(features.mean(axis=0) - target.expected) / error)


@pytest.mark.slow
def test_exchanges_keep_the_posterior():
    assert with_exchanges(exchange, 2000) < 4.0


@pytest.mark.slow
def test_exchanges_that_one_of_the_two_wants_are_found_wrong():
    def greedy(rng, target, points):
        proposed = exchange(rng, Toy(lambda z, xp: xp.zeros(len(z)), 3, 0.0, lambda z: z, np.zeros(3)), points)
        logs = target.log_likelihood(proposed.points)
        accept = np.log(rng.random(len(logs))) < logs - points.log_likelihoods
        return Points(np.where(accept[:, None], proposed.points, points.points),
                      np.where(accept, logs, points.log_likelihoods))  # fmt: skip

    assert with_exchanges(greedy, 2000) > 8.0


@pytest.mark.parametrize("pose", [gaussian, banana, bimodal])
def test_mean_weight_is_the_evidence_only_with_the_volumes_of_the_pieces(pose):
    target, rng = pose(), np.random.default_rng(0)
    cloud = run(TEMPERED, target).flat
    pieces = pieces_of(cloud, np.ones(len(cloud)))
    drawn = pieces.draw(rng, 20_000)
    logs = target.log_likelihood(drawn) - 0.5 * np.sum(drawn**2, axis=1) - 0.5 * target.size * np.log(2 * np.pi)

    def score(densities):
        weights = np.exp(logs - densities)
        error = weights.std() / weights.mean() / np.sqrt(len(weights))
        return abs(np.log(weights.mean()) - target.log_evidence) / error

    volumes = np.array([chart.log_volume for chart in pieces.charts])
    assert score(pieces.log_density(drawn)) < 4.0
    assert score(np.logaddexp.reduce(pieces.log_densities(drawn) + volumes[:, None])) > 8.0


def test_evidence_without_resampling_weights_is_found_wrong(monkeypatch):
    monkeypatch.setitem(TemperedSMC.sample.__globals__, "systematic", lambda rng, weights: np.arange(len(weights)))
    monkeypatch.setattr(TemperedSMC, "_stir", lambda self, rng, target, points, moves, power: (points, moves, 0.0, 0.0))
    sample = run(TEMPERED, gaussian())
    assert abs(sample.log_evidence - gaussian().log_evidence) > 8.0 * sample.log_evidence_error


# What every sampler must do.


@pytest.mark.slow
@pytest.mark.parametrize("method", QUICK)
def test_contract_draws_are_finite_possible_and_repeatable(method):
    assert isinstance(method, LikelihoodSampler)
    target = cut()
    stages = list(method.sample(np.random.default_rng(3), target))
    sample, again = stages[-1].sample, run(method, target, 3)
    assert sample is not None and sample.points.shape == (*sample.log_likelihoods.shape, 2)
    assert np.isfinite(sample.points).all() and np.isfinite(sample.log_likelihoods).all()
    assert (sample.points[..., 0] > 0.3).all(), "neither minus infinity nor NaN is visited"
    assert np.allclose(sample.log_likelihoods, target.log_likelihood(sample.points), atol=1e-9)
    assert np.array_equal(sample.points, again.points) and sample.note == again.note
    assert not np.array_equal(sample.points, run(method, target, 4).points)
    done = [stage.done for stage in stages]
    assert stages[-1].name == "done" and done[-1] == 1.0
    assert all(0.0 <= before <= after + 1e-12 for before, after in pairwise(done))


@pytest.mark.parametrize("method", [named(METROPOLIS), named(ADAPTIVE), named(TEMPERED)])
def test_an_interrupted_run_has_what_there_was(method):
    for stage in method.sample(np.random.default_rng(0), gaussian()):
        if stage.name != "done" and stage.sample is not None:
            assert np.isfinite(stage.sample.points).all() and stage.done < 1.0
            return
    pytest.fail("there was nothing before the end")


def test_chains_are_moved_in_one_call():
    target = gaussian()
    run(Metropolis(draws=50, chains=7), target)
    assert set(target.batches) == {7} and len(target.batches) == 101


@pytest.mark.parametrize("method", [m for m in QUICK if not isinstance(m.values[0], NUTS)])
def test_a_likelihood_that_is_nowhere_finite_is_refused(method):
    target = gaussian(differentiable=False)
    target.formula = lambda z, xp: np.full(len(z), np.nan)
    with pytest.raises(InvalidInput, match="expected a finite number somewhere"):
        run(method, target)


def test_a_likelihood_of_the_wrong_shape_is_refused():
    target = gaussian()
    target.formula = lambda z, xp: np.zeros((len(z), 1))
    with pytest.raises(InvalidInput, match="return one number per point"):
        run(TEMPERED, target)


def test_gradients_are_asked_for():
    with pytest.raises(InvalidInput, match="need no gradients"):
        run(GRADIENTS, gaussian(differentiable=False))


def test_blackjax_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "blackjax", None)
    monkeypatch.setitem(sys.modules, "blackjax.adaptation.step_size", None)
    with pytest.raises(InvalidInput, match=r"pip install 'vibayes\[nuts\]'"):
        run(GRADIENTS, gaussian())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Metropolis(draws=0), "Metropolis.draws: expected a positive whole number"),
        (lambda: Metropolis(step=-1.0), "Metropolis.step: expected positive numbers"),
        (lambda: TemperedSMC(variation=0.0), "TemperedSMC.variation: expected a number above 0"),
        (lambda: NUTS(acceptance=1.5), "NUTS.acceptance: expected a number above 0 and below 1"),
        (lambda: run(TemperedSMC(particles=10), gaussian()), "give at least 5 per unknown"),
        (lambda: run(Metropolis(starts=np.zeros((2, 3))), gaussian()), "give one row per chain"),
        (lambda: run(Metropolis(starts=np.zeros((4, 2))), cut()), "begin elsewhere"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


@pytest.mark.parametrize("count", [1, 3, 8, 20])
def test_few_points_make_a_density_too(count):
    pieces = pieces_of(np.random.default_rng(0).normal(size=(count, 4)), np.ones(count))
    assert np.isfinite(pieces.log_density(pieces.draw(np.random.default_rng(1), 100))).all()


def test_a_bent_cloud_is_cut_and_a_round_one_is_not():
    rng = np.random.default_rng(0)
    along = rng.normal(size=2000)
    bent = np.stack([along, along**2 + 0.01 * rng.normal(size=2000)], axis=1)
    apart = np.concatenate([rng.normal(size=(500, 3)), rng.normal(size=(1500, 3)) + 20.0])
    assert len(pieces_of(bent @ [[0.8, 0.6], [-0.6, 0.8]], np.ones(2000)).charts) > 1
    assert len(pieces_of(rng.normal(size=(2000, 6)), np.ones(2000)).charts) == 1
    assert np.allclose(pieces_of(apart, np.ones(2000)).shares, [0.25, 0.75])


@pytest.mark.parametrize("how", [{"jumps": 0.0}, {"jumps": 1.0}, {"forgets": 1.0}, {"forgets": 0.3}], ids=str)
def test_every_way_of_moving_keeps_the_density(how):
    """Points of N(0.4, 1/2) in each coordinate stay so: with the likelihood exp(-(z - 0.8)² / 2)."""
    rng = np.random.default_rng(0)

    def log_likelihood(z):
        return -0.5 * np.sum((z - 0.8) ** 2, axis=1)

    target = Toy(lambda z, _: log_likelihood(z), 2, 0.0, np.asarray, np.zeros(2))
    start = 0.4 + np.sqrt(0.5) * rng.normal(size=(20_000, 2))
    pieces = pieces_of(0.4 + np.sqrt(0.5) * rng.normal(size=(500, 2)), np.ones(500))
    points = Points(start, log_likelihood(start))
    for _ in range(8):
        points, made = move(rng, target, points, Moves(pieces, **how))
        assert 0.2 < made.accepted < 1.0
    rounded = (points.points - 0.4) / np.sqrt(0.5)
    assert np.allclose(points.log_likelihoods, log_likelihood(points.points))
    assert np.all(np.abs(rounded.mean(axis=0)) < 4.0 / np.sqrt(20_000))
    assert np.all(np.abs(np.mean(rounded**2, axis=0) - 1.0) < 4.0 * np.sqrt(2.0 / 20_000))
    assert np.mean(points.points != start) > 0.9


@pytest.mark.slow
def test_evidence_of_chains_scatters_as_it_says():
    target, method = gaussian(), AdaptiveMetropolis(draws=100, chains=24, warmup=60, particles=200)
    samples = [run(method, target, seed) for seed in range(60)]
    scores = [(sample.log_evidence - target.log_evidence) / sample.log_evidence_error for sample in samples]
    assert 0.65 < np.sqrt(np.mean(np.square(scores))) < 1.37  # of 60 normal scores: 4 standard errors
