"""From outputs alone to a posterior: the whole way through `infer`."""

import numpy as np
import pytest

import vibayes as vb
from vibayes.targets import ProblemTarget

COMPUTES = True

TRUE = {"k": 40.0, "S0": 0.5}
PRIORS = {"k": vb.LogUniform(5.0, 300.0), "S0": vb.LogNormal(0.5, 3.0), "sigma": vb.LogUniform(0.001, 1.0)}


def shaken(sensors=None):
    sensors = [vb.AbsoluteAcceleration("m1")] if sensors is None else sensors
    linear = vb.Structure.chain([1.0], [[vb.Spring("k"), vb.Damper(0.8)]], sensors=sensors)
    return linear.driven_by(vb.KanaiTajimi(12.0, 0.4, "S0"))


@pytest.fixture(scope="module")
def record():
    ground = vb.realise(5, shaken(), TRUE, rate=40.0, samples=250, refinement=8)
    clean = np.asarray(vb.simulate(shaken(), ground, TRUE, states=False).outputs)[::8]
    noise = 0.1 * clean.std() * np.random.default_rng(0).standard_normal(clean.shape)
    return vb.Record.from_arrays(rate=40.0, output=clean + noise)


@pytest.fixture(scope="module")
def problem(record):
    return vb.Problem(shaken(), record, PRIORS, "linear", noise="sigma")


METHODS = {
    "tempered": vb.TemperedSMC(particles=300),
    "adaptive": vb.AdaptiveMetropolis(draws=100, chains=32, warmup=80, particles=200),
    "nuts": vb.NUTS(draws=100, chains=2, warmup=50, particles=100),
    "laplace": vb.Laplace(starts=8, draws=500),
}


@pytest.fixture(scope="module")
def posteriors(problem):
    return {name: vb.infer(1, problem, method) for name, method in METHODS.items()}


@pytest.mark.slow
def test_all_methods_find_the_same_posterior(posteriors):
    reference = posteriors["tempered"].selected
    for name, posterior in posteriors.items():
        model = posterior.selected
        for parameter, value in TRUE.items():
            assert value in model.interval(parameter, 0.99), (name, parameter)
            spread = reference.standard_deviation()[parameter]
            assert abs(model.mean()[parameter] - reference.mean()[parameter]) < 0.4 * spread, (name, parameter)


@pytest.mark.slow
def test_evidences_of_two_methods_agree(posteriors):
    one, other = (posteriors[name].selected for name in ("tempered", "laplace"))
    assert abs(one.log_evidence - other.log_evidence) < 0.5


@pytest.mark.slow
def test_the_right_structure_is_the_more_probable(record, problem):
    rigid = vb.Problem(shaken(), record, PRIORS | {"k": vb.Uniform(2000.0, 3000.0)}, "rigid", noise="sigma")
    posterior = vb.infer(0, [rigid, problem], vb.TemperedSMC(particles=100))
    assert posterior.selected.name == "linear"
    assert posterior.probabilities["linear"] > 0.99


@pytest.mark.slow
def test_a_method_without_evidence_says_so(record, problem):
    other = vb.Problem(shaken(), record, PRIORS, "again", noise="sigma")
    posterior = vb.infer(0, [problem, other], vb.Metropolis(draws=10, chains=2))
    assert any("no evidence" in note for note in posterior.notes)
    assert np.isnan(posterior["linear"].probability)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda r: vb.Problem(shaken(), r, PRIORS), "inputs are random"),
        (lambda r: vb.Problem(shaken(), r, PRIORS, noise=0.0), "positive standard deviations"),
        (lambda r: vb.Problem(shaken(), r, {"k": PRIORS["k"]}, noise="sigma"), "none for S0, sigma"),
        (lambda r: vb.infer(0, vb.Problem(shaken(), r, PRIORS, noise="sigma"), vb.FollowAndWeigh()), "likelihood"),
    ],
)
def test_what_cannot_be_inferred_is_refused_in_words(make, words, record):
    with pytest.raises(vb.InvalidInput, match=words):
        make(record)


def test_what_needs_a_distance_says_so(problem):
    posterior = vb.infer(0, problem, vb.Metropolis(draws=10, chains=2))
    with pytest.raises(vb.InvalidInput, match="works with a distance"):
        posterior.below(1.0)


@pytest.mark.slow
def test_a_run_that_is_over_is_not_called_ended_by_a_limit_it_has_passed(problem):
    whole = vb.infer(0, problem, vb.Metropolis(draws=10, chains=2))
    again = vb.infer(0, problem, vb.Metropolis(draws=10, chains=2), max_simulations=whole.simulations)
    assert not any("max_simulations" in note for note in again.notes)
    cut = vb.infer(0, problem, vb.Metropolis(draws=10, chains=2), max_simulations=3)
    assert "max_simulations" in cut.notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("measured", [False, True])
def test_a_record_taken_for_noisier_is_one_with_that_much_more_noise(measured, record):
    outputs = np.array(record.output)
    outputs[3:9] = np.nan
    if measured:
        inputs = np.sin(np.arange(len(outputs)) / 3.0)
        structure = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.3)], sensors=[vb.Displacement("mass")])
        noise, priors = 0.02, {"k": vb.Uniform(5.0, 15.0)}
        given = vb.Record.from_arrays(rate=record.rate, input=inputs, output=outputs)
    else:
        structure, noise = shaken(), 0.1
        priors = {name: PRIORS[name] for name in TRUE}
        given = vb.Record.from_arrays(rate=record.rate, output=outputs)
    size = float(np.sqrt(np.nanmean(outputs**2)))
    points = np.random.default_rng(0).standard_normal((5, len(priors)))
    soft = ProblemTarget(vb.Problem(structure, given, priors, "soft", noise=noise)).softened(0.7)
    harder = vb.Problem(structure, given, priors, "noisy", noise=float(np.hypot(noise, 0.7 * size)))
    assert np.allclose(soft.log_likelihood(points), ProblemTarget(harder).log_likelihood(points), rtol=1e-12)
    increments = soft.follow(points, soft.begin(points), 0, soft.samples)[0]
    assert np.allclose(increments.sum(axis=1), soft.log_likelihood(points), rtol=1e-10)
