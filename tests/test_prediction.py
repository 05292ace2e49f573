"""Predictions: draws of the posterior, simulated, beside what was measured."""

import dataclasses

import jax
import numpy as np
import pytest

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.prediction import Prediction, predict

TIME = np.arange(30) / 10.0
RECORD = vb.Record.from_arrays(rate=10.0, output={"x": 2.0 * TIME})
SLOPES = np.array([1.0, 2.0, 3.0, 50.0])
WEIGHTS = np.array([0.2, 0.5, 0.3, 0.0])


def line(slope):
    return slope * TIME


def problem_of(model=line, **settings):
    return vb.Problem(model, RECORD, {"slope": vb.Uniform(0.0, 100.0)}, **settings)


def posterior_of(problem, slopes=SLOPES, weights=WEIGHTS, probability=1.0):
    distances = np.ones(len(slopes))
    return ModelPosterior(problem, probability, 0.0, 0.0, 0.0, {"slope": slopes}, weights, distances, 10, 0)


def slopes_in(prediction):
    """The slope of every predicted line."""
    return prediction.outputs[:, -1, 0] / TIME[-1]


def test_outputs_are_those_of_the_draws_as_often_as_their_weights_say():
    prediction = predict(0, posterior_of(problem_of()), draws=4000)
    found = slopes_in(prediction).round(9)
    assert prediction.outputs.shape == (4000, 30, 1) and prediction.failures == 0
    shares = [np.mean(found == slope) for slope in SLOPES]
    assert shares == pytest.approx(WEIGHTS, abs=0.03) and shares[-1] == 0.0
    assert np.allclose(prediction.outputs[:, :, 0], found[:, None] * TIME)


def test_the_model_at_the_mean_has_the_weighted_mean_of_the_parameters():
    prediction = predict(0, posterior_of(problem_of()), draws=5)
    assert np.allclose(prediction.at_mean[:, 0], 2.1 * TIME)
    assert prediction.nmse_at_mean == pytest.approx(100 * np.mean((0.1 * TIME) ** 2) / np.var(2.0 * TIME))


def test_mean_band_and_distance_of_known_draws():
    slopes = np.linspace(1.0, 3.4, 25)
    prediction = Prediction(RECORD, slopes[:, None, None] * TIME[None, :, None], RECORD.output)
    assert np.allclose(prediction.mean()[:, 0], 2.2 * TIME)
    low, high = prediction.band(0.5)
    assert np.allclose(low[:, 0], 1.6 * TIME) and np.allclose(high[:, 0], 2.8 * TIME)
    assert prediction.nmse == pytest.approx(100 * np.mean((0.2 * TIME) ** 2) / np.var(2.0 * TIME))
    assert prediction.nmse_at_mean == 0.0


def test_a_band_holds_a_share_between_none_and_all():
    prediction = Prediction(RECORD, RECORD.output[None], RECORD.output)
    for share in (0.0, 1.5):
        with pytest.raises(InvalidInput, match=r"band\.prob"):
            prediction.band(share)


def test_a_vectorised_simulator_predicts_the_same():
    plain = predict(3, posterior_of(problem_of()), draws=20)
    together = problem_of(lambda slope: slope[:, None] * TIME, name="line", vectorised=True)
    assert np.array_equal(plain.outputs, predict(3, posterior_of(together), draws=20).outputs)


def test_the_key_chooses_the_draws():
    model = posterior_of(problem_of())
    first, again, other = (slopes_in(predict(key, model, draws=50)) for key in (0, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert len(predict(jax.random.key(0), model, draws=3).outputs) == 3


def test_of_all_models_the_most_probable_is_simulated():
    unlikely = posterior_of(problem_of(name="unlikely"), np.array([9.0]), np.array([1.0]), 0.1)
    likely = posterior_of(problem_of(name="likely"), probability=0.9)
    prediction = predict(0, Posterior((unlikely, likely), 1.0, (), 0.0), draws=10)
    assert prediction.model == "likely" and slopes_in(prediction).max() < 9.0


def test_draws_that_fail_are_left_out_and_counted():
    def fragile(slope):
        if slope == 1.0:
            raise ArithmeticError("too flat")
        return slope * TIME if slope != 3.0 else np.full(30, np.nan)

    prediction = predict(0, posterior_of(problem_of(fragile)), draws=200)
    assert np.allclose(slopes_in(prediction), 2.0)
    assert len(prediction.outputs) + prediction.failures == 200
    assert prediction.failures / 200 == pytest.approx(0.5, abs=0.1)
    assert prediction.nmse == pytest.approx(0.0)


def test_when_all_draws_fail_the_first_failure_is_told():
    def broken(slope):
        raise ArithmeticError("no way")

    with pytest.raises(InvalidInput, match="7 failures, the first: ArithmeticError: no way"):
        predict(0, posterior_of(problem_of(broken)), draws=7)


def test_the_distance_is_that_of_the_problem_if_it_is_an_nmse():
    record = vb.Record.from_arrays(rate=10.0, output={"x": 2.0 * TIME, "y": TIME})
    weighted = vb.NMSE({"x": 1.0})

    def both(slope):
        return np.stack([slope * TIME, 7.0 * TIME], axis=1)

    for distance, exact in ((weighted, True), (lambda measured, simulated: 0.0, False)):
        problem = vb.Problem(both, record, {"slope": vb.Uniform(0.0, 9.0)}, distance=distance)
        prediction = predict(0, posterior_of(problem, np.array([2.0]), np.array([1.0])), draws=2)
        assert (prediction.nmse == 0.0) is exact
        assert prediction.distance == (weighted if exact else vb.NMSE())


def test_a_model_without_draws_and_a_wrong_argument_are_refused():
    with pytest.raises(InvalidInput, match="draws within the threshold"):
        predict(0, posterior_of(problem_of(), np.empty(0), np.empty(0)))
    with pytest.raises(InvalidInput, match="give what infer returns"):
        predict(0, problem_of())  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput, match=r"predict\.draws"):
        predict(0, posterior_of(problem_of()), draws=0)
    with pytest.raises(InvalidInput, match=r"predict\.key"):
        predict("today", posterior_of(problem_of()))


def test_a_simulator_cannot_be_driven_by_another_record():
    with pytest.raises(InvalidInput, match=r"none for a simulator of your own.*pose the problem with a Structure"):
        predict(0, posterior_of(problem_of()), record=RECORD)


# ---- structures -----------------------------------------------------------------------------------------------


def oscillator():
    return vb.Structure.single_dof(1.0, [vb.Spring("slope"), vb.Damper(0.2)], sensors=[vb.Displacement("mass")])


def driven_record(scale, samples=40, **units):
    force = scale * np.sin(np.arange(samples))
    response = vb.simulate(oscillator(), vb.Sampled(force, 10.0, vb.StraightLines()), {"slope": 2.0})
    return vb.Record.from_arrays(rate=10.0, input={"f": force}, output={"x": response.outputs[:, 0]}, units=units)


@pytest.mark.slow
def test_structures_are_simulated_under_their_own_and_under_another_record():
    record, other = driven_record(1.0), driven_record(-3.0)
    problem = vb.Problem(oscillator(), record, {"slope": vb.Uniform(0.1, 100.0)})
    model = posterior_of(problem)
    for given, expected in ((None, record), (other, other)):
        prediction = predict(5, model, record=given, draws=20)
        values = {"slope": slopes_of(prediction, expected)}
        force = vb.Sampled(expected.input, 10.0, vb.StraightLines())
        outputs = vb.simulate(oscillator(), force, values, states=False).outputs
        assert np.allclose(prediction.outputs, outputs, rtol=1e-9, atol=1e-12)
        assert prediction.record is expected
    true = dataclasses.replace(model, draws={"slope": np.array([2.0])}, weights=np.ones(1), distances=np.zeros(1))
    assert predict(0, true, record=other, draws=20).nmse == pytest.approx(0.0, abs=1e-9)


def slopes_of(prediction, record):
    """Stiffness of every prediction, as the possible one whose response is the nearest."""
    force = vb.Sampled(record.input, 10.0, vb.StraightLines())
    known = vb.simulate(oscillator(), force, {"slope": np.resize(SLOPES, 20)}, states=False).outputs[: len(SLOPES)]
    gaps = np.abs(prediction.outputs[:, None] - known[None]).max(axis=(2, 3))
    return SLOPES[np.argmin(gaps, axis=1)]


def test_another_record_must_have_the_same_channels_and_units():
    record = driven_record(1.0, x="mm")
    model = posterior_of(vb.Problem(oscillator(), record, {"slope": vb.Uniform(0.1, 100.0)}))
    with pytest.raises(InvalidInput, match=r"the channels and units.*rename, select or convert"):
        predict(0, model, record=driven_record(1.0, x="m"))
    with pytest.raises(InvalidInput, match=r"predict\.record: expected a Record, got ndarray"):
        predict(0, model, record=np.zeros(3))  # pyright: ignore[reportArgumentType]


# ---- random inputs --------------------------------------------------------------------------------------------


def shaken(samples=101):
    """An oscillator under white noise of unknown strength, and what is believed of it."""
    springs = [vb.Spring("k"), vb.Damper(0.6)]
    oscillator = vb.Structure.single_dof(1.0, springs, sensors=[vb.Velocity("mass")]).driven_by(vb.WhiteNoise("S0"))
    record = vb.Record.from_arrays(rate=5.0, output={"velocity": np.sin(np.arange(samples))})
    priors = {"k": vb.Uniform(1.0, 100.0), "S0": vb.Uniform(0.0, 1.0), "sigma": vb.Uniform(0.0, 1.0)}
    problem = vb.Problem(oscillator, record, priors, noise="sigma")
    draws = {"k": np.array([4.0, 9.0]), "S0": np.array([0.1, 0.3]), "sigma": np.array([0.1, 0.2])}
    return ModelPosterior(problem, 1.0, 0.0, 0.0, 0.0, draws, np.full(2, 0.5), np.empty(0), 10, 0)


@pytest.mark.slow
def test_new_realisations_have_the_variance_of_the_process():
    prediction = predict(0, shaken(), draws=800)
    assert prediction.outputs.shape == (800, 101, 1) and prediction.random and np.isnan(prediction.at_mean).all()
    # π S0 / (c m) once the start is forgotten, averaged over both draws; 10 instants, 800 realisations.
    settled = prediction.outputs[:, -30::3, 0]
    variances = np.mean(settled**2, axis=1)
    error = variances.std() / np.sqrt(800)
    assert abs(variances.mean() - np.pi * 0.2 / 0.6) < 4.0 * error
    assert abs(variances.mean() - np.pi * 0.1 / 0.6) > 4.0 * error  # as if the stronger one had never been drawn
    assert abs(np.corrcoef(settled[:400, 0], settled[400:, 0])[0, 1]) < 4.0 / np.sqrt(400)


@pytest.mark.slow
def test_inputs_that_were_measured_this_time_drive_the_draws():
    model = shaken()
    force = np.cos(np.arange(50) / 3.0)
    record = vb.Record.from_arrays(rate=5.0, input={"force": force}, output={"velocity": np.zeros(50)})
    prediction = predict(0, model, record, draws=20)
    assert not prediction.random
    structure = model.problem.model
    assert isinstance(structure, vb.Structure)
    own = {name: model.draws[name] for name in ("k", "S0")}
    expected = np.asarray(vb.simulate(structure, vb.Sampled(force, 5.0, vb.StraightLines()), own).outputs)
    nearest = np.min(np.max(np.abs(prediction.outputs[:, None] - expected), axis=(2, 3)), axis=1)
    assert np.all(nearest < 1e-9)
    wrong = vb.Record.from_arrays(rate=5.0, input=np.zeros((50, 2)), output={"velocity": np.zeros(50)})
    with pytest.raises(InvalidInput, match="0 inputs as in the record"):
        predict(0, model, wrong)
