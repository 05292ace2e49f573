"""Iterated batch importance sampling against a linear Gaussian model, whose every posterior and evidence is known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.likelihoods import gaussian

import vibayes as vb
from vibayes.samplers import ibis, moves, multinomial, residual, stratified, systematic
from vibayes.samplers.climb import scored
from vibayes.samplers.diagnostics import mcse_mean
from vibayes.samplers.ibis import IBIS
from vibayes.samplers.likely import finished
from vibayes.samplers.metropolis import AdaptiveMetropolis, _begin
from vibayes.targets import ProblemTarget


@dataclass
class Line:
    """y_t = z_1 + z_2 s_t + noise."""

    data: np.ndarray
    slopes: np.ndarray
    noise: float = 0.3
    name: str = "line"
    size: int = 2
    prior_probability: float = 1.0
    traceable: None = None
    softens: bool = True

    @property
    def samples(self):
        return len(self.data)

    def begin(self, points):
        return (points.copy(),)

    def follow(self, points, carried, first, last):
        assert np.array_equal(points, carried[0])  # what is carried belongs to its particle
        misfit = (self.data - points[:, :1] - points[:, 1:] * self.slopes)[:, first:last] / self.noise
        return -0.5 * misfit**2 - np.log(self.noise) - 0.5 * np.log(2.0 * np.pi), carried

    def increments(self, points):
        return self.follow(points, (points,), 0, self.samples)[0]

    def log_likelihood(self, points):
        return self.increments(points).sum(axis=1)

    def softened(self, share):
        return replace(self, noise=np.hypot(self.noise, share * np.sqrt(np.mean(self.data**2))))

    def exact(self, count):
        """Mean, covariance and log-evidence after so many samples."""
        design = np.stack([np.ones(count), self.slopes[:count]], axis=1)
        covariance = np.linalg.inv(np.eye(2) + design.T @ design / self.noise**2)
        mean = covariance @ design.T @ self.data[:count] / self.noise**2
        spread = design @ design.T + self.noise**2 * np.eye(count)
        misfit = self.data[:count] @ np.linalg.solve(spread, self.data[:count])
        return mean, covariance, -0.5 * (misfit + np.linalg.slogdet(2.0 * np.pi * spread)[1])


def line(samples=120, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=samples)
    return Line(0.7 - 0.4 * slopes + noise * rng.normal(size=samples), slopes, noise)


def off(sample, mean, covariance):
    """Errors of mean and covariance in Monte Carlo standard errors."""
    rounded = (sample.flat - mean) @ np.linalg.inv(np.linalg.cholesky(covariance)).T
    features = np.stack([*rounded.T, *(rounded**2).T, rounded[:, 0] * rounded[:, 1]], axis=1)
    weights = sample.weights
    found = weights @ features
    error = np.sqrt(np.sum(weights[:, None] ** 2 * (features - found) ** 2, axis=0))
    return float(np.max(np.abs(found - [0, 0, 1, 1, 0]) / error))


@pytest.mark.slow
@pytest.mark.parametrize("walks", [True, False])
@pytest.mark.parametrize("noise", [0.3, 0.003])
def test_posterior_and_evidence_of_every_prefix_are_exact(walks, noise):
    """With little noise the first samples tell too much at once, and are taken in powers."""
    target = line(noise=noise)
    seen, state = {}, ibis.State(*[np.empty(0)] * 7)  # type: ignore[arg-type]
    for stage in IBIS(particles=2000, walks=walks).sample(np.random.default_rng(0), target):
        assert stage.sample is not None
        state = stage.sample.state
        seen[state.time] = off(stage.sample, *target.exact(state.time)[:2])
        evidence = target.exact(state.time)[2]
        assert abs(state.evidences[-1] - evidence) < 4.0 * state.error
    assert len(seen) > 8 and max(seen.values()) < 4.5  # particles that were moved once are not quite independent
    path = [state.evidences[count - 1] - target.exact(count)[2] for count in range(1, 121)]
    assert len(state.evidences) == len(state.effective) == 120 and np.max(np.abs(path)) < 4.0 * state.error
    assert any(each.sample == state.rejuvenations[0].sample for each in state.rejuvenations[1:]) == (noise < 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("resampling", [multinomial, residual, stratified])
def test_the_posterior_is_exact_however_particles_are_drawn_anew(resampling):
    target = line()
    sample = finished(IBIS(particles=2000, resampling=resampling).sample(np.random.default_rng(2), target))
    mean, covariance, evidence = target.exact(120)
    assert off(sample, mean, covariance) < 4.0
    assert abs(sample.log_evidence - evidence) < 4.0 * sample.log_evidence_error


def test_the_acceptance_without_the_density_of_the_proposal_fails(monkeypatch):
    """As the paper prints it: the posterior becomes too narrow, for proposals are near the mean."""
    target = line()

    def as_printed(rng, target, points, how, power=1.0):
        now, logs = points
        proposed = how.pieces.draw(rng, len(now))
        values = moves.likelihoods(target, proposed)
        log_ratio = values - logs + moves.log_prior(proposed) - moves.log_prior(now)
        accept = np.log(rng.random(len(now))) < log_ratio
        moved = moves.Points(np.where(accept[:, None], proposed, now), np.where(accept, values, logs))
        return moved, moves.Made(np.exp(np.minimum(log_ratio, 0.0)), accept, ~accept, np.empty(0), accept)

    monkeypatch.setattr(ibis, "move", as_printed)
    sample = finished(IBIS(particles=2000, walks=False).sample(np.random.default_rng(0), target))
    assert off(sample, *target.exact(120)[:2]) > 8.0


def test_results_do_not_depend_on_how_far_is_looked_ahead(monkeypatch):
    samples = []
    for ahead in (1, 16, 1000):
        monkeypatch.setattr(ibis, "_SHORTEST", ahead)
        samples.append(finished(IBIS(particles=200).sample(np.random.default_rng(1), line())))
    for other in samples[1:]:
        assert np.array_equal(other.points, samples[0].points) and np.array_equal(other.weights, samples[0].weights)
        assert np.allclose(other.state.evidences, samples[0].state.evidences, rtol=1e-12)


@pytest.mark.slow
def test_rejuvenations_grow_like_the_logarithm_of_the_record():
    counts = []
    for samples in (200, 800, 3200):
        sample = finished(IBIS(particles=300).sample(np.random.default_rng(0), line(samples)))
        counts.append(len(sample.state.rejuvenations))
    growth = np.diff(counts)
    assert 0 < growth[0] < 12 and abs(growth[1] - growth[0]) <= 4  # a factor of 4 each


def test_a_likelihood_of_the_whole_record_is_refused():
    with pytest.raises(vb.InvalidInput, match="sample by sample"):
        finished(IBIS().sample(np.random.default_rng(0), gaussian()))


def test_a_record_that_nothing_explains_is_refused_in_words():
    target = line()
    target.data[57] = np.inf
    with pytest.raises(vb.InvalidInput, match=r"sample 58 of 'line'.*particle that explains it"):
        finished(IBIS(particles=100).sample(np.random.default_rng(0), target))


# ---- chains that begin along the record -----------------------------------------------------------------------


def test_climbers_that_know_the_samples_arrive_at_the_maximum():
    target = line()
    *_, (points, inverse) = scored(target, np.random.default_rng(0).normal(size=(6, 2)), 12)
    mean, covariance, _ = target.exact(120)
    assert np.allclose(points, mean, atol=0.05 * np.sqrt(np.diag(covariance)).min())  # one-sided differences
    assert np.allclose(inverse, covariance, rtol=0.5, atol=0.3 * covariance.max())  # of 120 samples


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "starts"), [(0.3, False), (0.003, False), (0.03, True)])
def test_chains_on_a_narrow_posterior_and_their_evidence_are_exact(noise, starts):
    """Wherever they begin: found in the prior, or beside, by some ten standard deviations."""
    target = line(noise=noise)
    beside = target.exact(120)[0] + 0.03 * np.random.default_rng(9).normal(size=(40, 2)) if starts else None
    method = AdaptiveMetropolis(draws=100, chains=24, warmup=40, particles=100, starts=beside)
    for seed in range(3):
        sample = finished(method.sample(np.random.default_rng(seed), target))
        mean, covariance, evidence = target.exact(120)
        rounded = (sample.points - mean) @ np.linalg.inv(np.linalg.cholesky(covariance)).T
        features = np.concatenate([rounded, rounded**2], axis=-1)
        assert np.all(np.abs(features.mean(axis=(0, 1)) - [0, 0, 1, 1]) < 4.0 * mcse_mean(features))
        assert abs(sample.log_evidence - evidence) < 4.0 * sample.log_evidence_error
        assert np.allclose(sample.log_likelihoods, target.log_likelihood(sample.flat).reshape(24, 100))


def test_starts_of_another_size_are_refused():
    with pytest.raises(vb.InvalidInput, match="more than 2 points of size 2"):
        finished(AdaptiveMetropolis(starts=np.zeros((40, 3))).sample(np.random.default_rng(0), line()))


def test_what_chains_begin_from_has_the_exact_evidence():
    target = line(noise=0.03)
    for seed in range(4):
        *_, last = _begin(np.random.default_rng(seed), target, 100)
        assert last.sample is not None
        assert abs(last.sample.log_evidence - target.exact(120)[2]) < 4.0 * last.sample.log_evidence_error < 2.0
        assert np.allclose(last.sample.log_likelihoods[0], target.log_likelihood(last.sample.flat))


class Mirrored(Line):
    """As likely on either side of z_1 = 0."""

    def follow(self, points, carried, first, last):
        points = np.stack([np.abs(points[:, 0]), points[:, 1]], axis=1)
        return super().follow(points, (points,), first, last)[0], carried


@pytest.mark.slow
def test_chains_begin_in_both_of_two_modes():
    whole = line()
    target = Mirrored(whole.data, whole.slopes)
    method = AdaptiveMetropolis(draws=100, chains=24, warmup=40, particles=200)
    for seed in range(3):
        sample = finished(method.sample(np.random.default_rng(seed), target))
        left = (sample.points[..., :1] < 0) * 1.0
        assert abs(left.mean() - 0.5) < 4.0 * mcse_mean(left)[0] and mcse_mean(left)[0] < 0.1
        assert abs(sample.log_evidence - whole.exact(120)[2] - np.log(2.0)) < 4.0 * sample.log_evidence_error


# ---- the filter's likelihood, sample by sample -----------------------------------------------------------------


def shaken(spring, missing=False):
    oscillator = vb.Structure.single_dof(1.0, [spring, vb.Damper(0.5)], sensors=[vb.Velocity("mass")])
    structure = oscillator.driven_by(vb.WhiteNoise(0.1))
    truth = {name: {"k": 9.0, "y": 0.2}[name] for name in structure.parameters}
    force = vb.realise(0, structure, truth, rate=10.0, samples=80)
    clean = np.asarray(vb.simulate(structure, force, truth).outputs)[::10]
    noisy = clean + 0.05 * np.random.default_rng(0).normal(size=clean.shape)
    if missing:
        noisy[10:15] = np.nan
    priors = {"k": vb.LogNormal(8.0, 1.5), "y": vb.Uniform(0.0, 1.0)}
    record = vb.Record.from_arrays(rate=10.0, output=noisy)
    return vb.Problem(structure, record, {name: priors[name] for name in truth}, noise=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("spring", [vb.Spring("k"), vb.BilinearHysteresis("k", "y", 0.1)])
def test_increments_in_pieces_add_up_to_the_likelihood(spring, missing):
    target = ProblemTarget(shaken(spring, missing))
    points = np.random.default_rng(1).normal(size=(20, target.size))
    carried, parts = target.begin(points), []
    for first, last in ((0, 1), (1, 30), (30, 31), (31, 80)):
        increments, carried = target.follow(points, carried, first, last)
        parts.append(increments)
    whole, after = target.follow(points, target.begin(points), 0, 80)
    assert np.array_equal(np.concatenate(parts, axis=1), whole)  # bit for bit, as streams need it
    assert all(np.array_equal(a, b) for a, b in zip(after, carried, strict=True))
    assert np.allclose(whole.sum(axis=1), target.log_likelihood(points), rtol=1e-9)


@pytest.mark.slow
def test_a_filtered_record_gives_what_tempered_smc_gives():
    problem = shaken(vb.BilinearHysteresis("k", "y", 0.1))
    along, whole = (vb.infer(0, problem, each) for each in (IBIS(particles=600), vb.TemperedSMC(particles=600)))
    a, b = along.selected, whole.selected
    assert abs(a.log_evidence - b.log_evidence) < 4.0 * np.hypot(a.log_evidence_error, b.log_evidence_error)
    for name in problem.parameters:
        errors = [m.diagnostics()[name].mcse for m in (a, b)]
        assert abs(a.mean()[name] - b.mean()[name]) < 4.0 * np.linalg.norm(errors)
        assert a.standard_deviation()[name] == pytest.approx(b.standard_deviation()[name], rel=0.25)
    assert a.diagnostics().acceptance > 0.1 and "effective draws at least" in along.summary()


def test_the_evidence_of_a_part_of_the_record_is_not_given_for_that_of_the_whole():
    target = line()
    *parts, last = list(IBIS(particles=200).sample(np.random.default_rng(0), target))
    part = next(stage for stage in parts if stage.done < 1.0)
    assert part.sample is not None and last.sample is not None
    assert np.isnan(part.sample.log_evidence) and np.isfinite(part.sample.state.evidences[-1])
    assert last.sample.log_evidence == last.sample.state.evidences[-1]


# ---- the published moves ---------------------------------------------------------------------------------------


def published_proposals(target, walks, seed=4):
    """Proposals of every move, whitened by mean and covariance of the weighted particles they follow (eq. 23)."""
    whitened, seen = [], {}

    @dataclass
    class Watched(Line):
        def begin(self, points):
            if "weights" in seen:
                mean = seen["weights"] @ seen["points"]
                away = seen["points"] - mean
                root = np.linalg.cholesky((away * seen["weights"][:, None]).T @ away)
                whitened.append((points - mean) @ np.linalg.inv(root).T)
            return super().begin(points)

        def follow(self, points, carried, first, last):
            if "weights" not in seen or first > 0:
                seen["points"] = points
            return super().follow(points, carried, first, last)

    def resampled(rng, weights):
        seen["weights"] = weights
        return systematic(rng, weights)

    watched = Watched(target.data, target.slopes, target.noise)
    method = IBIS(particles=1000, walks=walks, resampling=resampled, max_moves=3)
    finished(method.sample(np.random.default_rng(seed), watched))
    return np.concatenate(whitened)


def gaussian_to_four_errors(drawn):
    """Whether mean, covariance and fourth moment are those of a standard normal."""
    square = np.sum(drawn**2, axis=1)
    features = np.column_stack([drawn, drawn**2 - 1.0, drawn[:, 0] * drawn[:, 1], square**2 - 8.0])
    return bool(np.all(np.abs(features.mean(axis=0)) < 4.0 * features.std(axis=0) / np.sqrt(len(drawn))))


def test_without_walks_proposals_have_the_particles_mean_and_covariance_as_published():
    drawn = published_proposals(line(), walks=False)
    assert len(drawn) > 5000 and gaussian_to_four_errors(drawn)
    assert not gaussian_to_four_errors(published_proposals(line(), walks=True))  # a negative control
