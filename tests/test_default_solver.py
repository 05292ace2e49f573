"""The solver that a problem with measured inputs gets unless another is asked for: right at few steps per period."""

import warnings
from itertools import combinations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb
from vibayes.filters.verb import log_likelihoods

TRUTH = {"c": 0.5, "k": 40.0, "k3": 40.0}
FINE = 480.0
STEP = np.array([0.02, 0.002, 0.02])
"""Of differences, in logarithms of the parameters: less than their standard deviations."""
PUBLISHED = vb.ODEFilter(linearised=False, corrected=False)


def oscillator():
    members = [vb.Damper("c"), vb.PolynomialSpring(("k", "k3"), (1, 3))]
    return vb.Structure.single_dof(1.0, members, sensors=[vb.Displacement("mass")])


@pytest.fixture(scope="module")
def duffing():
    """Force and displacement of the documentation's oscillator, about 1 Hz."""
    times = np.arange(0.0, 12.0, 1.0 / FINE)
    force = 6.0 * np.sin(2.0 * np.pi * 0.9 * times) * np.minimum(times / 2.0, 1.0) ** 2
    clean = vb.simulate(oscillator(), vb.Sampled(force, FINE, vb.BandLimited()), TRUTH, states=False).outputs
    return force, np.asarray(clean)[:, 0]


def recorded(duffing, rate, seed):
    every = round(FINE / rate)
    force, clean = (each[::every] for each in duffing)
    level = 0.01 * float(clean.std())
    noisy = clean + level * np.random.default_rng(seed).standard_normal(len(clean))
    return vb.Record.from_arrays(rate=float(rate), input=force, output=noisy), level


def stencil():
    """Points by which gradient and Hessian are found."""
    axes = np.eye(3)
    pairs = [s * axes[i] + t * axes[j] for i, j in combinations(range(3), 2) for s in (1, -1) for t in (1, -1)]
    return np.array([np.zeros(3), *(s * each for each in axes for s in (1, -1)), *pairs])


def estimated(prepared):
    """Maximum of the likelihood in logarithms of the parameters, less the truth, and deviations: Newton's method."""
    truth = np.log(list(TRUTH.values()))
    place, points, covariance = truth.copy(), stencil(), np.eye(3)
    for _ in range(4):
        values = np.exp(place + points * STEP)
        logs = np.asarray(log_likelihoods(prepared, {n: jnp.asarray(values[:, i]) for i, n in enumerate(TRUTH)}))
        gradient, hessian = 0.5 * (logs[1:7:2] - logs[2:7:2]), np.diag(logs[1:7:2] + logs[2:7:2] - 2.0 * logs[0])
        for number, (i, j) in enumerate(combinations(range(3), 2)):
            a, b, c, d = logs[7 + 4 * number : 11 + 4 * number]
            hessian[i, j] = hessian[j, i] = 0.25 * (a - b - c + d)
        covariance = np.linalg.inv(-hessian)
        place = place + np.clip(covariance @ gradient, -10.0, 10.0) * STEP
    return (place - truth) / STEP, np.sqrt(np.diag(covariance))


def scores(duffing, rate, solver, seeds):
    """Errors of estimates in units of the deviation they are given, (seeds, parameters)."""
    record, level = recorded(duffing, rate, 0)
    prepared, found = vb.solving(oscillator(), record, level, solver), []
    for seed in range(seeds):
        outputs = jnp.asarray(recorded(duffing, rate, seed)[0].output)
        error, deviation = estimated(eqx.tree_at(lambda each: each.outputs, prepared, outputs))
        found.append(error / deviation)
    return np.array(found)


def covers(found, prob=0.95):
    """Whether intervals hold the truth about as often as they say, to four standard errors of that share."""
    inside = np.abs(found) < 1.96
    return bool(np.isfinite(found).all() and inside.mean() > prob - 4.0 * np.sqrt(prob * (1.0 - prob) / len(found)))


@pytest.mark.slow
def test_the_default_solver_covers_the_truth_at_sixteen_steps_per_second(duffing):
    found = scores(duffing, 16, None, 8)
    assert covers(found) and np.sqrt(np.mean(found**2)) < 1.0 + 4.0 / np.sqrt(2.0 * 8)
    assert not np.isfinite(scores(duffing, 16, PUBLISHED, 1)).any()  # the former default


@pytest.mark.verify
@pytest.mark.parametrize("rate", [8, 12, 16, 20, 24, 32, 48])
def test_the_default_solver_covers_the_truth_at_any_step(duffing, rate):
    assert covers(scores(duffing, rate, None, 100))
    if rate < 48:
        assert not covers(scores(duffing, rate, PUBLISHED, 20))


@pytest.mark.slow
def test_few_steps_per_period_are_warned_of_and_enough_are_not(duffing):
    priors = {"c": vb.LogNormal(0.5, 1.5), "k": vb.LogNormal(40.0, 1.2), "k3": vb.LogNormal(40.0, 1.5)}

    def notes(rate, solver):
        record, level = recorded(duffing, rate, 0)
        problem = vb.Problem(oscillator(), record.segment(0, 4 * rate), priors, noise=level, filter=solver)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            posterior = vb.infer(0, problem, vb.IBIS(particles=20, max_moves=1))
        said = [note for note in posterior.notes if "steps of the solver" in note]
        assert len(said) == sum("steps of the solver" in str(each.message) for each in caught)
        return said

    assert not notes(16, None)
    (few,) = notes(16, vb.RungeKutta())
    assert "15.9 steps of the solver" in few and "RungeKutta(steps=3)" in few
    (few,) = notes(5, None)
    assert "4.97 steps of the solver" in few and "ODEFilter(steps=2)" in few


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [vb.IBIS(particles=20), vb.TemperedSMC(particles=20)])
@pytest.mark.filterwarnings("ignore::vibayes.IdentifiabilityWarning")
def test_a_solver_that_loses_the_solution_is_not_blamed_on_the_priors(duffing, sampler):
    record, level = recorded(duffing, 16, 0)
    priors = {"c": vb.LogNormal(0.5, 1.5), "k": vb.LogNormal(40.0, 1.2), "k3": vb.LogNormal(40.0, 1.5)}
    problem = vb.Problem(oscillator(), record, priors, noise=level, filter=PUBLISHED)
    with pytest.raises(vb.InvalidInput, match=r"the solver loses the solution.*ODEFilter") as refused:
        vb.infer(0, problem, sampler)
    assert "widen" not in str(refused.value) and "outlier" not in str(refused.value)
