"""Measured orders of convergence against claimed ones, across events too, and a method that must miss its order."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import vibayes as vb

pytestmark = pytest.mark.slow

SUBSTEPS = (3, 6, 12)


def order(steps: np.ndarray, errors: np.ndarray) -> float:
    """Slope of the logarithm of the error against that of the step."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def largest_error(solution: vb.Solution, expected: np.ndarray) -> float:
    return float(np.abs(solution["displacement of mass"] - expected).max())


# ---- a yielding oscillator, whose exact response is known -----------------------------------------------------------

YIELDING = vb.Structure.single_dof(1.0, [vb.Damper(0.3), vb.BilinearHysteresis(40.0, 0.05, 0.2)])
FORCE = vb.ModulatedSine(amplitude=3.5, frequency_hz=0.9, modulation_hz=0.1)


def yielding(method: vb.Method) -> vb.Solution:
    return vb.simulate(YIELDING, FORCE, method=method, rate=10.0, samples=61)


def order_of_fixed_steps(events: bool) -> float:
    expected = yielding(vb.Exact())["displacement of mass"]
    errors = [largest_error(yielding(vb.FixedStep(n, events=events)), expected) for n in SUBSTEPS]
    return order(1 / np.array(SUBSTEPS), np.array(errors))


def test_fixed_steps_that_end_at_events_keep_order_four_across_them():
    assert 3.7 < order_of_fixed_steps(events=True) < 4.5


def test_fixed_steps_that_step_over_yielding_lose_their_order():
    assert order_of_fixed_steps(events=False) < 2.5


def test_fixed_steps_keep_order_four_across_sticking_and_slipping():
    structure = vb.Structure.single_dof(1.0, [vb.Spring(40.0), vb.CoulombFriction(1.0)])
    run = lambda method: vb.simulate(structure, FORCE, method=method, rate=10.0, samples=61)  # noqa: E731
    expected = run(vb.Exact())["displacement of mass"]
    errors = [largest_error(run(vb.FixedStep(n, events=True)), expected) for n in SUBSTEPS]
    assert 3.7 < order(1 / np.array(SUBSTEPS), np.array(errors)) < 4.5


# ---- Duffing's oscillator, whose response is an elliptic cosine -----------------------------------------------------

DUFFING = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 2.0)])
SPEED, MODULUS = np.sqrt(3.0), 1 / 3
PERIOD = 4 * ellipk(MODULUS) / SPEED


def free(method: vb.Method, per_period: float, periods: int) -> vb.Solution:
    silence = vb.Sampled(np.zeros(round(periods * per_period) + 1), per_period / PERIOD, vb.ZeroOrderHold())
    return vb.simulate(DUFFING, silence, method=method, displacement=1.0, max_steps=10**6)


def duffing_error(method: vb.Method, per_period: float, periods: int = 5) -> float:
    solution = free(method, per_period, periods)
    return largest_error(solution, ellipj(SPEED * solution.times, MODULUS)[1])


def test_fixed_steps_without_events_have_order_four_on_a_smooth_oscillator():
    errors = [duffing_error(vb.FixedStep(n), per_period=40) for n in SUBSTEPS]
    assert 3.8 < order(1 / np.array(SUBSTEPS), np.array(errors)) < 4.3


def tolerance(rtol: float) -> vb.EventLocated:
    return vb.EventLocated(rtol, 1e-2 * rtol)


@pytest.mark.parametrize("per_period", [0.77, 10.0], ids=["steps of its own", "steps cut by samples"])
def test_the_error_of_event_located_is_proportional_to_its_tolerance(per_period):
    tolerances = 10.0 ** -np.arange(7, 12)
    errors = np.array([duffing_error(tolerance(r), per_period, periods=20) for r in tolerances])
    assert 0.9 < order(tolerances, errors) < 1.1


def test_event_located_takes_steps_in_proportion_to_the_fifth_root_of_its_tolerance():
    tolerances = 10.0 ** -np.arange(6, 12)
    works = [free(tolerance(r), 0.77, 20).work for r in tolerances]
    assert -0.22 < order(tolerances, np.array([work.steps for work in works if work is not None])) < -0.18
