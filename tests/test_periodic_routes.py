"""Harmonic balance, shooting and long simulation agree: smooth, piecewise-linear and hysteretic oscillators."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import vibayes as vb
from vibayes.periodic.oscillation import forced_drive, oscillation_of
from vibayes.structure.element import as_arrays

pytestmark = pytest.mark.slow

FREQUENCY = 0.8


class Case(NamedTuple):
    """An oscillator, the force on it, and how closely routes agree (by harmonics and steps of each)."""

    structure: vb.Structure
    force: float
    harmonics: int
    steps: int
    tolerance: float
    by_shooting: bool = True


def oscillator(*elements: vb.Element) -> vb.Structure:
    return vb.Structure.single_dof(1.0, [*elements, vb.Damper(0.2)], sensors=[vb.Displacement("mass")])


CASES = {
    "Duffing": Case(oscillator(vb.Duffing(1.0, 0.5)), 0.5, 15, 256, 1e-8),
    "piecewise-linear": Case(oscillator(vb.PiecewiseLinearSpring((3.0, 1.0, 2.0), (-0.5, 0.8))), 0.5, 31, 1024, 1e-4),
    "Bouc–Wen": Case(oscillator(vb.Spring(0.5), vb.BoucWen(0.5, 0.25, 0.25)), 0.4, 15, 512, 2e-6),
    "bilinear hysteresis": Case(oscillator(vb.BilinearHysteresis(1.0, 0.5, 0.3)), 0.5, 31, 0, 1e-3, False),
}


def simulated(case: Case, periods: int = 120, samples: int = 128) -> np.ndarray:
    """Displacement over the last of many periods."""
    period = 2.0 * np.pi / FREQUENCY
    method = None if all(link.element.affine for link in case.structure.links) else vb.EventLocated(1e-11, 1e-13)
    push = vb.Sine(case.force, 1.0 / period, np.pi / 2.0)
    found = vb.simulate(
        case.structure, push, method=method, rate=samples / period, samples=periods * samples + 1, states=False
    )
    return np.asarray(found.outputs)[-samples - 1 : -1, 0]


@pytest.mark.parametrize("name", CASES)
def test_harmonic_balance_shooting_and_long_simulation_agree(name):
    case = CASES[name]
    exact = simulated(case)
    scale = np.abs(exact).max()
    methods: list[vb.PeriodicMethod] = [vb.HarmonicBalance(case.harmonics)]
    if case.by_shooting:
        methods.append(vb.Shooting(steps=case.steps, harmonics=case.harmonics))
    for method in methods:
        branch = vb.forced_response(case.structure, {}, {"mass": case.force}, (FREQUENCY - 0.05, FREQUENCY), method)
        assert branch.complete
        assert np.abs(branch.displacement("mass", -1, len(exact)) - exact).max() < case.tolerance * scale
        assert branch.stable.all()


def test_a_loop_that_forgets_slowly_is_found_all_the_same():
    """At small amplitude a Bouc–Wen loop is thin: marching from rest would take hundreds of periods to centre it."""
    case = CASES["Bouc–Wen"]
    branch = vb.forced_response(case.structure, {}, {"mass": 0.004}, (0.3, 0.4), vb.HarmonicBalance(case.harmonics))
    linear = 0.004 / np.abs(1.0 - branch.frequencies**2 + 0.2j * branch.frequencies)
    assert np.abs(branch.amplitude("mass") / linear - 1.0).max() < 5e-3
    assert np.abs(branch.coefficients[:, 0]).max() < 1e-6


def test_with_memory_the_multipliers_of_both_routes_agree():
    case = CASES["Bouc–Wen"]
    span = (FREQUENCY - 0.05, FREQUENCY)
    balance, shooting = (
        vb.forced_response(case.structure, {}, {"mass": case.force}, span, method).multipliers[-1]
        for method in (vb.HarmonicBalance(15), vb.Shooting(steps=512, harmonics=15))
    )
    assert np.abs(np.sort_complex(balance) - np.sort_complex(shooting)).max() < 1e-3


def test_errors_of_shooting_fall_with_the_fifth_power_of_the_step():
    which = oscillation_of(as_arrays(CASES["Duffing"].structure.bind()))
    drive = forced_drive(2, np.array([[0.0], [0.5], [0.2]]))
    start, frequency = np.array([1.0, -0.4]), 0.8

    def flow(t, y):
        force = 0.5 * np.cos(frequency * t) + 0.2 * np.sin(frequency * t)
        return [y[1], force - 0.2 * y[1] - y[0] - 0.5 * y[0] ** 3]

    end = solve_ivp(flow, (0.0, 2.0 * np.pi / frequency), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    errors = []
    for steps in (40, 80):
        found = vb.Shooting(steps=steps).residual(which, drive, jnp.asarray(start), jnp.asarray(0.8), jnp.ones(()))
        errors.append(np.abs(np.asarray(found) + start - end).max())
    assert 4.5 < np.log2(errors[0] / errors[1]) < 5.7


def test_a_one_sided_stop_doubles_the_period_near_twice_its_own_frequency():
    """In contact the frequency is √2, else 1: on the whole 2√2/(1 + √2), and twice that is within the interval."""
    stop = vb.Structure.single_dof(1.0, [vb.Spring(1.0), vb.gap(1.0, 0.0), vb.Damper(0.02)])
    branch = vb.forced_response(stop, {}, {"mass": 0.3}, (1.8, 3.4), vb.HarmonicBalance(15, samples=256))
    doublings = [special for special in branch.specials if special.kind == "period doubling"]
    assert len(doublings) == 2
    assert doublings[0].frequency < 4.0 * np.sqrt(2.0) / (1.0 + np.sqrt(2.0)) < doublings[1].frequency
    for special in doublings:
        assert abs(special.multipliers[0] + 1.0) < 1e-2
    between = (branch.frequencies > doublings[0].frequency) & (branch.frequencies < doublings[1].frequency)
    assert np.array_equal(~branch.stable, between)
