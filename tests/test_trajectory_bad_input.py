"""Bad input to `DataAnnealedSMC`: what is wrong is said in words, in a refusal or in a note beside the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import vibayes as vb
from vibayes.priors import normal_scores
from vibayes.samplers.ridges import ridges

SMALL = vb.DataAnnealedSMC(effective=50, populations=2, chains=20, max_moves=6, max_sweeps=24)
TIME = np.arange(40) / 10.0
MEASURED = np.exp(-0.7 * TIME) + 0.02 * np.random.default_rng(0).standard_normal(len(TIME))
PRIORS = {"rate": vb.Uniform(0.1, 2.0)}


def decay(rate):
    return np.exp(-rate[:, None] * TIME)


def problem(model: Callable[..., Any] = decay, name: str = "model", output: Any = MEASURED, **more: Any) -> vb.Problem:
    """A simulator of one's own; by default one that can be found, of a sound record."""
    outputs = output if isinstance(output, dict) else {"y": output}
    record = vb.Record.from_arrays(rate=10.0, output=outputs)
    return vb.Problem(model, record, more.pop("priors", PRIORS), name, vectorised=more.pop("vectorised", True), **more)


def posterior(*problems: vb.Problem) -> vb.Posterior:
    return vb.infer(0, problems, SMALL)


def said(*problems: vb.Problem) -> str:
    return " ".join(posterior(*problems).notes)


def constant(value: float) -> Callable[..., Any]:
    return lambda rate: np.full((len(rate), len(TIME)), value)


def raises(rate):
    raise ZeroDivisionError("no stiffness")


def broken(why: str):
    """What is wrong now, and must go with its cure."""
    return pytest.mark.xfail(strict=True, reason=why)


def test_a_sound_problem_of_this_size_is_solved_without_a_word_of_failure():
    """Negative control of all that follows."""
    found = posterior(problem())
    assert 0.7 in found["model"].interval("rate", 0.999)
    assert np.isfinite([found["model"].log_evidence, found["model"].log_evidence_error]).all()
    assert not any(word in " ".join(found.notes) for word in ("fail", "noise", "samples"))


# ---- simulations that fail -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_models_none_of_which_gives_finite_outputs_are_refused(value):
    both = [problem(constant(value), name) for name in "ab"]
    with pytest.raises(vb.InvalidInput, match="model 'a', sample 24: expected parameters that explain it, got none"):
        posterior(*both)


def test_a_simulator_that_always_raises_is_refused():
    with pytest.raises(vb.InvalidInput, match="expected parameters that explain it, got none"):
        posterior(problem(raises, vectorised=False))


@broken("annealing.step says that no parameters explain the record, not that every simulation failed, nor of what")
def test_the_refusal_of_a_simulator_that_always_raises_says_what_it_raised():
    with pytest.raises(vb.InvalidInput, match="ZeroDivisionError: no stiffness"):
        posterior(problem(raises, vectorised=False))


@broken("judging.outputs_of_function calls a vectorised simulator unguarded: its traceback reaches the user")
def test_a_vectorised_simulator_that_raises_is_refused_in_words():
    with pytest.raises(vb.InvalidInput, match="ZeroDivisionError: no stiffness"):
        posterior(problem(raises))


@broken("one model without a likelihood ends the comparison of all")
def test_a_model_that_always_fails_beside_a_sound_one_is_dropped_with_a_note():
    found = posterior(problem(constant(np.nan), "fails"), problem(decay, "sound"))
    assert found.probabilities == {"fails": 0.0, "sound": 1.0}
    assert "every simulation of 'fails' failed" in " ".join(found.notes)


def test_simulations_some_of_which_fail_are_counted_in_a_note():
    def fast_fails(rate):
        return np.where(rate[:, None] > 1.0, np.nan, decay(rate))

    notes = said(problem(fast_fails))
    assert "simulations of 'model' failed" in notes and "the outputs are not finite" in notes


@pytest.mark.parametrize(
    "shape", [(len(TIME) - 1,), (len(TIME), 2), ()], ids=["a sample too few", "an output too many", "a number"]
)
@pytest.mark.parametrize("vectorised", [True, False])
def test_outputs_of_a_wrong_shape_are_refused_with_the_right_one(shape, vectorised):
    def wrong(rate):
        return np.zeros((len(rate), *shape) if vectorised else shape)

    with pytest.raises(vb.InvalidInput, match=r"Problem.model: expected outputs of shape \(40, 1\)"):
        posterior(problem(wrong, vectorised=vectorised))


@broken("judging.outputs_of_function converts to numbers unguarded: a ValueError of NumPy reaches the user")
@pytest.mark.parametrize("vectorised", [True, False])
def test_outputs_that_are_no_numbers_are_refused_in_words(vectorised):
    with pytest.raises(vb.InvalidInput, match=r"Problem\.model: expected numbers"):
        posterior(problem(lambda rate: "fast", vectorised=vectorised))


@broken("judging.outputs_of_function drops imaginary parts")
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_complex_outputs_are_refused():
    with pytest.raises(vb.InvalidInput, match=r"Problem\.model"):
        posterior(problem(lambda rate: 1j * decay(rate)))


# ---- models that cannot move ---------------------------------------------------------------------------------------


@broken("nothing is said of models that are no better than noise about the mean of the record")
def test_models_all_of_which_stand_still_are_said_to_explain_nothing():
    assert "no model explains the record better than noise" in said(*(problem(constant(0.0), name) for name in "ab"))


# ---- noise ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, -1.0, np.nan])
def test_noise_that_is_not_positive_is_refused(noise):
    with pytest.raises(vb.InvalidInput, match="noise: expected positive standard deviations or names"):
        posterior(problem(noise=noise))


@broken("TrajectoryTarget does not ask for a prior of a noise that has a name: a KeyError reaches the user")
def test_a_noise_with_a_name_but_no_prior_is_refused():
    with pytest.raises(vb.InvalidInput, match=r"Problem.priors.*'sigma'"):
        posterior(problem(noise="sigma"))


@broken("the noise is given to a simulator of one's own as if it were one of its parameters")
def test_a_noise_with_a_prior_is_not_given_to_a_simulator_of_ones_own():
    model = posterior(problem(noise="sigma", priors=PRIORS | {"sigma": vb.LogUniform(1e-3, 1.0)}))["model"]
    assert 0.02 in model.interval("sigma", 0.999)


@broken("only the first block is tempered: one sample leaves one particle; evidences are off by hundreds, or NaN")
@pytest.mark.filterwarnings("ignore:All-NaN slice", "ignore:invalid value")
def test_the_evidence_under_a_noise_two_hundred_times_too_small_is_that_of_quadrature():
    sigma, rates = 1e-4, np.linspace(0.69, 0.725, 20_001)
    rest = np.array([np.sum((MEASURED - np.exp(-rate * TIME)) ** 2) for rate in rates])
    logs = -0.5 * rest / sigma**2 - len(TIME) * np.log(np.sqrt(2.0 * np.pi) * sigma)
    exact = logsumexp(logs) + np.log((rates[1] - rates[0]) / 1.9)
    model = posterior(problem(noise=sigma))["model"]
    assert abs(model.log_evidence - exact) < 3.0 * model.log_evidence_error < 1.0


@broken("a noise below the resolution is replaced by it in silence")
@pytest.mark.filterwarnings("ignore:All-NaN slice", "ignore:invalid value")
def test_a_noise_below_the_resolution_of_the_record_is_noted():
    assert "resolution" in said(problem(noise=1e-12))


# ---- records that tell little --------------------------------------------------------------------------------------


@broken("with as few samples as unknowns and noise, the evidence is that of the resolution, not of the record")
def test_a_record_of_two_samples_is_too_short_for_an_unknown_and_its_noise():
    short = problem(lambda rate: decay(rate)[:, :2], output=MEASURED[:2])
    with pytest.raises(vb.InvalidInput, match="samples"):
        posterior(short)


def test_a_constant_output_is_refused():
    with pytest.raises(vb.InvalidInput, match="expected an output 'y' that varies"):
        posterior(problem(output=np.ones(len(TIME))))


def test_an_output_without_a_sample_is_refused():
    with pytest.raises(vb.InvalidInput, match="expected measured values of 'y', got gaps only"):
        posterior(problem(output=np.full(len(TIME), np.nan)))


def test_an_output_without_a_sample_beside_a_good_one_is_refused_by_its_name():
    def twice(rate):
        return np.stack([decay(rate), decay(rate)], axis=2)

    outputs = {"good": MEASURED, "dead": np.full(len(TIME), np.nan)}
    with pytest.raises(vb.InvalidInput, match="measured values of 'dead', got gaps only; leave this output out"):
        posterior(problem(twice, output=outputs))


# ---- structures ----------------------------------------------------------------------------------------------------

LINEAR = {"c": vb.LogUniform(0.2, 5.0), "k": vb.LogUniform(100.0, 2000.0)}


def oscillator(springs: tuple[str, ...], priors: dict[str, Any], noise: Any = None) -> vb.Problem:
    """A mass on springs in parallel; the record is of one of 400 N/m."""
    force = vb.band_limited_noise(2, 50.0, 80, 2.0, high_hz=10.0)
    sensors = [vb.Displacement("mass")]
    truth = vb.Structure.single_dof(1.0, [vb.Damper(1.0), vb.Spring(400.0)], sensors=sensors)
    clean = np.asarray(vb.simulate(truth, force, {}, states=False).outputs)[:, 0]
    noisy = clean + 0.05 * clean.std() * np.random.default_rng(1).standard_normal(len(clean))
    record = vb.Record.from_arrays(rate=50.0, input={"f": np.asarray(force.values)[:, 0]}, output={"x": noisy})
    structure = vb.Structure.single_dof(1.0, [vb.Damper("c"), *map(vb.Spring, springs)], sensors=sensors)
    return vb.Problem(structure, record, priors, "oscillator", noise=noise)


@pytest.fixture(scope="module")
def parallel() -> vb.Posterior:
    return posterior(oscillator(("k1", "k2"), {"c": LINEAR["c"], "k1": LINEAR["k"], "k2": LINEAR["k"]}))


@pytest.mark.slow
def test_two_stiffnesses_of_which_only_the_sum_is_known_are_not_refused(parallel):
    draws = parallel["oscillator"].draws
    assert np.std(draws["k1"] + draws["k2"]) < 0.1 * np.std(draws["k1"])


@pytest.mark.slow
@pytest.mark.xfail(strict=False, reason="the ridge of a sum is curved in logarithms, where its correlation is sought")
def test_two_stiffnesses_of_which_only_the_sum_is_known_are_warned_of(parallel):
    assert any("k1 and k2 alone only" in note for note in parallel.notes)


@broken("the ridge of a sum is curved in logarithms, where its correlation is sought")
def test_draws_that_tell_a_sum_alone_are_warned_of():
    prior = LINEAR["k"]
    first = np.random.default_rng(0).uniform(100.0, 300.0, 2000)
    values = np.stack([first, 400.0 - first], axis=1)
    points = np.stack([normal_scores(prior, column) for column in values.T], axis=1)
    (warning,) = ridges(points, values, ["k1", "k2"])
    assert "k1 + k2" in warning


def test_draws_that_tell_both_are_not_warned_of():
    """Negative control of the tests above."""
    points = np.random.default_rng(0).standard_normal((2000, 2))
    assert ridges(points, 400.0 * np.exp(0.1 * points), ["k1", "k2"]) == ()


@pytest.mark.slow
def test_a_structure_whose_motion_overflows_is_refused():
    explosive = LINEAR | {"c": vb.Uniform(-5000.0, -4000.0)}
    with pytest.raises(vb.InvalidInput, match=r"model 'oscillator', sample .*: expected parameters that explain it"):
        posterior(oscillator(("k",), explosive))


def test_a_structure_without_noise_is_refused():
    with pytest.raises(vb.InvalidInput, match="noise: expected positive standard deviations or names"):
        oscillator(("k",), LINEAR, noise=0.0)
