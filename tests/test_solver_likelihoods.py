"""Records whose inputs were measured, with solvers in the likelihood: posteriors, streams, predictions, bad input."""

from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb

TRUTH = {"k": 30.0, "c": 0.6}
PRIORS = {"k": vb.LogNormal(25.0, 1.4), "c": vb.LogNormal(0.5, 2.0), "sigma": vb.LogUniform(1e-3, 0.1)}
RATE, SAMPLES = 10.0, 120
METHODS: Any = {"euler": "euler"}


def oscillator(*sensors):
    members = [vb.Spring("k"), vb.Damper("c"), vb.PolynomialSpring((40.0,), (3,))]
    return vb.Structure.single_dof(1.0, members, sensors=sensors or (vb.Displacement("mass"),))


@pytest.fixture(scope="module")
def record():
    rng = np.random.default_rng(5)
    times, drawn = np.arange(SAMPLES) / RATE, (rng.uniform(2, 6, 4), (0.3, 0.7, 0.9, 1.3), rng.uniform(0, 6, 4))
    lines = [vb.Sine(a, f, p) for a, f, p in zip(*drawn, strict=True)]
    force = sum(np.array([float(line.value(t)) for t in times]) for line in lines)
    fine = np.interp(np.arange(20 * (SAMPLES - 1) + 1) / (20 * RATE), times, force)
    clean = vb.simulate(oscillator(), vb.Sampled(fine, 20 * RATE, vb.StraightLines()), TRUTH).outputs
    noisy = np.asarray(clean)[::20, 0] + 0.01 * rng.standard_normal(SAMPLES)
    return vb.Record.from_arrays(rate=RATE, input=force, output=noisy)


def published(**settings):
    """EKF0 unless something else is said."""
    return vb.ODEFilter(**({"linearised": False, "corrected": False} | settings))


def posed(record, **settings):
    return vb.Problem(oscillator(), record, PRIORS, noise="sigma", filter=published(**settings))


@pytest.mark.slow
@pytest.mark.parametrize("settings", [dict(order=2, steps=4), dict(order=2, linearised=True)])
def test_along_the_record_and_as_a_whole_the_posterior_is_the_same(record, settings):
    along = vb.infer(0, posed(record, **settings), vb.IBIS(particles=400)).selected
    whole = vb.infer(1, posed(record, **settings), vb.TemperedSMC(particles=400)).selected
    error = np.hypot(along.log_evidence_error, whole.log_evidence_error)
    assert abs(along.log_evidence - whole.log_evidence) < 4.0 * error
    for name in PRIORS:
        spread = np.std(whole.draws[name])
        assert abs(along.mean()[name] - whole.mean()[name]) < 5.0 * spread / np.sqrt(200.0)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [dict(order=2, steps=4), dict(order=2, corrected=True)])
def test_parts_of_a_record_give_the_draws_of_the_whole_bit_for_bit(record, settings):
    method = vb.IBIS(particles=40)
    whole = vb.infer(3, posed(record.segment(0, 60), **settings), method).selected
    found = vb.infer(3, posed(record.segment(0, 20), **settings), method)
    for first, last in pairwise((20, 27, 60)):
        found = vb.update(found, record.segment(first, last))
    for name in PRIORS:
        assert np.array_equal(whole.draws[name], found.selected.draws[name])
    assert whole.log_evidence == found.selected.log_evidence


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [dict(order=2, steps=4), dict(order=2, linearised=True), dict(order=2, steps=4, corrected=True)]
)
def test_increments_along_the_record_are_those_of_the_whole(record, settings):
    prepared = posed(record, **settings).filtering()
    values = {"k": jnp.array([28.0, 31.0]), "c": jnp.array([0.5, 0.7]), "sigma": jnp.array([0.01, 0.02])}
    wanted = np.asarray(prepared.increments(values)[0].log_likelihood).T
    carried, found = prepared.start(values), []
    for first, last in pairwise((0, 1, 37, SAMPLES)):
        totals, carried = prepared.follow(values, carried, first, last)
        found.append(np.asarray(totals)[:, : last - first])
    assert np.allclose(np.concatenate(found, axis=1), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.slow
def test_missing_samples_count_for_nothing(record):
    outputs = np.asarray(record.output).copy()
    outputs[30:50] = np.nan
    holed = vb.Record.from_arrays(rate=RATE, input=np.asarray(record.input), output=outputs)
    values = {"k": jnp.array([30.0]), "c": jnp.array([0.6]), "sigma": jnp.array([0.01])}
    for settings in (dict(order=2, steps=4), dict(order=2, steps=4, corrected=True)):
        found, _ = posed(holed, **settings).filtering().increments(values)
        assert np.all(np.asarray(found.log_likelihood)[30:50] == 0.0)
        assert np.isfinite(np.asarray(found.log_likelihood)).all()


@pytest.mark.slow
def test_a_trajectory_that_is_taken_at_its_word_is_that_of_the_simulator(record):
    prepared = vb.solving(oscillator(), record, 0.01, vb.RungeKutta(steps=20))
    found = vb.solve(prepared, TRUTH, of=[vb.Displacement("mass"), vb.AbsoluteAcceleration("mass")])
    structure = oscillator(vb.Displacement("mass"), vb.AbsoluteAcceleration("mass"))
    wanted = vb.simulate(structure, vb.Sampled(record.input, RATE, vb.StraightLines()), TRUTH).outputs
    assert np.allclose(found.means[0], wanted, atol=1e-7 * np.max(np.abs(wanted)))
    assert np.all(found.deviations == 0.0)


def test_where_it_begins_can_be_unknown(record):
    solver = published(order=2, steps=4, displacement="x0", velocity=0.3)
    priors = PRIORS | {"x0": vb.Normal(0.0, 0.1)}
    problem = vb.Problem(oscillator(), record, priors, noise="sigma", filter=solver)
    values = {"k": 30.0, "c": 0.6, "sigma": 0.01, "x0": 0.05}
    first = vb.solve(problem.filtering(), values, of=[vb.Displacement("mass"), vb.Velocity("mass")]).means[0, 0]
    assert np.allclose(first, [0.05, 0.3])
    assert set(problem.parameters) == {"k", "c", "sigma", "x0"}


@pytest.mark.slow
def test_friction_that_sticks_is_followed(record):
    members = [vb.Spring("k"), vb.CoulombFriction(8.0), vb.Damper(0.2)]
    structure = vb.Structure.single_dof(1.0, members, sensors=[vb.Displacement("mass"), vb.Velocity("mass")])
    force = np.asarray(record.input)
    wanted = np.asarray(vb.simulate(structure, vb.Sampled(force, RATE, vb.StraightLines()), {"k": 30.0}).outputs)
    both = vb.Record.from_arrays(rate=RATE, input=force, output=wanted + 0.0)
    errors = []
    for steps in (20, 80):
        found = vb.solve(vb.solving(structure, both, 0.1, published(order=2, steps=steps)), {"k": 30.0}).means[0]
        errors.append(np.sqrt(np.mean((found - wanted) ** 2)) / np.std(wanted))
    assert np.mean(np.abs(wanted[:, 1]) < 1e-12) > 0.05, "it sticks now and then"
    assert errors[0] < 0.1 and errors[1] < 0.4 * errors[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
def test_predictions_come_from_simulation_whatever_the_solver(record):
    posterior = vb.infer(0, posed(record, order=2, steps=4), vb.IBIS(particles=60))
    prediction = vb.predict(1, posterior, draws=20)
    assert prediction.nmse < 5.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda r: vb.Problem(oscillator(), r, PRIORS, noise="sigma", filter=vb.UnscentedFilter()),
            "a solver, for all",
        ),
        (lambda r: vb.Problem(oscillator(), r, PRIORS, filter=vb.ODEFilter()), "a filter without noise"),
        (lambda r: vb.infer(0, posed(r), vb.FollowAndWeigh()), "works with a likelihood"),
        (lambda r: vb.solve(posed(r).filtering(), {"k": 1.0}), "no c"),
        (lambda r: vb.solving(oscillator(), r, 0.1, METHODS["euler"]), "ODEFilter"),
        (lambda r: vb.solving(oscillator(), r, -0.1), "positive standard deviations"),
        (
            lambda r: vb.solving(oscillator().driven_by(vb.WhiteNoise(1.0)), r, 0.1),
            "inputs were measured",
        ),
        (
            lambda r: vb.update(
                vb.infer(0, posed(r.segment(0, 30), steps=4, diffusion=vb.Global()), vb.IBIS(particles=20)), r
            ),
            "Running",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
def test_what_makes_no_sense_is_refused_in_words(make, words, record):
    with pytest.raises(vb.InvalidInput, match=words):
        make(record)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
def test_a_mass_that_no_output_shows_leaves_its_parameters_free_in_words():
    links = [vb.Spring(30.0).between("ground", "seen"), vb.Damper(0.3).between("ground", "seen"),
             vb.Spring("k").between("ground", "unseen"), vb.Damper(0.1).between("ground", "unseen")]  # fmt: skip
    inputs, sensors = [vb.Force("seen")], [vb.Displacement("seen")]
    structure = vb.Structure({"seen": 1.0, "unseen": 1.0}, links, inputs=inputs, sensors=sensors)
    wave = np.sin(5.0 * np.arange(60) / 20.0)
    record = vb.Record.from_arrays(rate=20.0, input=wave, output=0.1 * wave)
    problem = vb.Problem(structure, record, {"k": vb.LogNormal(20.0, 1.5)}, noise=0.01)
    with pytest.warns(vb.IdentifiabilityWarning, match="no output depends on 'k'"):
        posterior = vb.infer(0, problem, vb.IBIS(particles=40))
    assert np.isfinite(posterior.selected.mean()["k"])


@pytest.mark.slow
def test_a_step_too_large_for_all_of_the_prior_ends_in_words(record):
    priors = {"k": vb.LogNormal(1e7, 1.1), "c": PRIORS["c"]}
    problem = vb.Problem(oscillator(), record, priors, noise=1e-3, filter=published(order=2))
    with pytest.raises(vb.InvalidInput, match=r"a particle that explains it.*the solver loses the solution"):
        vb.infer(0, problem, vb.IBIS(particles=40))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
def test_a_prior_far_from_the_data_still_ends_in_a_posterior(record):
    priors = {"k": vb.LogNormal(300.0, 1.1), "c": PRIORS["c"]}
    problem = vb.Problem(oscillator(), record, priors, noise=1e-2, filter=published(order=2, steps=4))
    model = vb.infer(0, problem, vb.IBIS(particles=60)).selected
    assert np.isfinite(model.log_evidence) and np.all(np.isfinite(model.draws["k"]))
