"""Piecewise-linear structures: a solution in 30 digits, conservation of energy, grazing, one method against another."""

import jax
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ellipj, ellipk
from tests.oracles import piecewise_linear_oscillator

import vibayes as vb

TRILINEAR = vb.Structure.single_dof("m", [vb.Damper("c"), vb.PiecewiseLinearSpring(("kL", "k0", "kR"), ("dL", "dR"))])
USUAL = {"m": 1.0, "c": 2.0, "kL": 3e3, "k0": 1e3, "kR": 7e3, "dL": -1e-3, "dR": 0.5e-3}


def noise(seed: int, samples: int = 1000) -> vb.Sampled:
    return vb.band_limited_noise(jax.random.key(seed), 100.0, samples, 2.0, high_hz=20.0)


def in_30_digits(values: dict[str, float], force: vb.Sampled):
    slopes, breaks = (values["kL"], values["k0"], values["kR"]), (values["dL"], values["dR"])
    u = np.asarray(force.values)[:, 0]
    return piecewise_linear_oscillator(values["m"], values["c"], slopes, breaks, u, 1 / force.rate)


def tolerance(rtol: float) -> vb.EventLocated:
    return vb.EventLocated(rtol, 1e-3 * rtol)


# ---- against 30 digits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 9))])
def test_exact_trilinear_response_has_twelve_digits_over_the_whole_record(seed):
    force = noise(seed)
    solution, expected = vb.simulate(TRILINEAR, force, USUAL, method=vb.Exact()), in_30_digits(USUAL, force)
    assert solution.status == vb.Status.SUCCESS
    for name, true in (("displacement", expected.displacement), ("velocity", expected.velocity)):
        assert np.abs(solution[f"{name} of mass"] - true).max() < 1e-11 * true.std()


@pytest.mark.slow
def test_exact_finds_every_crossing_at_its_time():
    force = noise(1)
    solution, expected = vb.simulate(TRILINEAR, force, USUAL, method=vb.Exact()), in_30_digits(USUAL, force)
    assert solution.events is not None and len(solution.events) == len(expected.crossings) > 300
    np.testing.assert_allclose(solution.events.time, expected.crossings, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_event_located_trilinear_response_meets_its_tolerance():
    force = noise(0, samples=300)
    expected = in_30_digits(USUAL, force).displacement
    for rtol in (1e-6, 1e-8, 1e-10):
        error = np.abs(vb.simulate(TRILINEAR, force, USUAL, method=tolerance(rtol))["displacement of mass"] - expected)
        assert error.max() < 100 * rtol * expected.std()


@pytest.mark.slow
@example(stiffness=(10.0, 19196.0, 10.0), breaks=(-0.001953125, 0.00019738588348543583), damping=2.46875, seed=982)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    stiffness=st.tuples(*(st.floats(10, 2e4) for _ in range(3))),
    breaks=st.tuples(st.floats(-3e-3, -1e-5), st.floats(1e-5, 3e-3)),
    damping=st.floats(0, 6),
    seed=st.integers(0, 1000),
)
def test_exact_has_ten_digits_for_any_trilinear_oscillator(stiffness, breaks, damping, seed):
    values = dict(zip(USUAL, (1.0, damping, *stiffness, *breaks), strict=True))
    force = noise(seed, samples=150)
    x, expected = (
        vb.simulate(TRILINEAR, force, values, method=vb.Exact())["displacement of mass"],
        in_30_digits(values, force),
    )
    # No arithmetic knows the mass better than by its last digit. Where a corner is grazed between stiffnesses of 10 and
    # 20,000 that makes more than ten digits' worth: there, and nowhere else, the error may be that of some last digits.
    moved = vb.simulate(TRILINEAR, force, values | {"m": 1.0 + 1e-9}, method=vb.Exact())["displacement of mass"]
    last_digit = 2.2e-16 * np.abs(moved - x).max() / 1e-9
    allowed = max(1e-10 * expected.displacement.std(), 4.0 * last_digit)
    assert np.abs(x - expected.displacement).max() < allowed


# ---- energy and periods without damping -----------------------------------------------------------------------------

CYCLES, PER_CYCLE = 300, 8


def free(structure: vb.Structure, start: float, period: float, method: vb.Method, cycles: int = CYCLES):
    """Displacement and velocity of a free vibration from rest, ``PER_CYCLE`` samples in each period."""
    silence = vb.Sampled(np.zeros(cycles * PER_CYCLE + 1), PER_CYCLE / period, vb.ZeroOrderHold())
    solution = vb.simulate(structure, silence, method=method, displacement=start)
    return solution["displacement of mass"], solution["velocity of mass"]


def gap_oscillator():
    """Spring 1 and, beyond 0.2, a stop of stiffness 50; released at −1. Structure, start, period, potential."""
    k, b = 50.0, 0.2
    speed, w = np.sqrt(1 - b * b), np.sqrt(1 + k)
    period = 2 * np.arctan2(speed * w, b) / w + 2 * (np.pi / 2 + np.arcsin(b))
    structure = vb.Structure.single_dof(1.0, [vb.Spring(1.0), vb.gap(k, b)])
    return structure, -1.0, period, lambda x: 0.5 * x**2 + 0.5 * k * np.maximum(x - b, 0) ** 2


def trilinear_oscillator():
    """The usual trilinear spring without damping, released at 2e-3."""
    sides = ((3e3, 1e-3), (7e3, 0.5e-3))

    def potential(x):
        inner = np.clip(x, -1e-3, 0.5e-3)
        beyond = x - inner
        return 0.5e3 * inner**2 + 1e3 * inner * beyond + 0.5 * np.where(x < 0, 3e3, 7e3) * beyond**2

    energy = potential(2e-3)
    period = 0.0
    for k, b in sides:
        speed, w = np.sqrt(2 * energy - 1e3 * b * b), np.sqrt(k)
        period += 2 * np.arctan2(speed * w, 1e3 * b) / w + 2 * np.arcsin(b / np.sqrt(2 * energy / 1e3)) / np.sqrt(1e3)
    structure = vb.Structure.single_dof(1.0, [vb.PiecewiseLinearSpring((3e3, 1e3, 7e3), (-1e-3, 0.5e-3))])
    return structure, 2e-3, period, potential


ELASTIC = pytest.mark.parametrize("oscillator", [gap_oscillator, trilinear_oscillator], ids=["gap", "trilinear"])


@pytest.mark.slow
@ELASTIC
def test_exact_conserves_energy_without_damping(oscillator):
    structure, start, period, potential = oscillator()
    x, v = free(structure, start, period, vb.Exact())
    energy = 0.5 * v**2 + potential(x)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-12)


@pytest.mark.slow
@ELASTIC
def test_exact_returns_to_its_start_after_every_period(oscillator):
    structure, start, period, _ = oscillator()
    x, v = free(structure, start, period, vb.Exact())
    np.testing.assert_allclose(x[::PER_CYCLE], start, rtol=1e-11)
    assert np.abs(v[::PER_CYCLE]).max() < 1e-10 * np.abs(v).max()


DUFFING = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 2.0)])
DUFFING_SPEED, DUFFING_MODULUS = np.sqrt(3.0), 1 / 3
"""Released at 1, x = cn(√(k + k₃) t | k₃ / 2(k + k₃))."""
DUFFING_PERIOD = 4 * ellipk(DUFFING_MODULUS) / DUFFING_SPEED


@pytest.mark.slow
def test_event_located_conserves_the_energy_of_duffing_to_its_tolerance():
    for rtol in (1e-8, 1e-11):
        x, v = free(DUFFING, 1.0, DUFFING_PERIOD, tolerance(rtol), cycles=100)
        energy = 0.5 * v**2 + 0.5 * x**2 + 0.5 * x**4
        assert np.abs(energy / energy[0] - 1).max() < 100 * rtol


def test_event_located_follows_jacobis_elliptic_function():
    x, _ = free(DUFFING, 1.0, DUFFING_PERIOD, tolerance(1e-11), cycles=100)
    times = np.arange(len(x)) * DUFFING_PERIOD / PER_CYCLE
    assert np.abs(x - ellipj(DUFFING_SPEED * times, DUFFING_MODULUS)[1]).max() < 1e-7


# ---- grazing --------------------------------------------------------------------------------------------------------

# Released at −1 inside a region of stiffness 1 that reaches far to the left, the mass peaks at +1 in every cycle.
# The spring beyond the break point has the same stiffness, so that the motion is cos t whatever happens there.
GRAZING = vb.Structure.single_dof(1.0, [vb.PiecewiseLinearSpring((1.0, 1.0, 1.0), (-10.0, "b"))])
BEYOND = np.array([1e-3, 1e-6, 1e-9])
CYCLES_OF_GRAZING = 4


def graze(breaks: np.ndarray, method: vb.Method, rate: float = 1.0) -> vb.Solution:
    samples = int(2 * np.pi * CYCLES_OF_GRAZING * rate) + 1
    silence = vb.Sampled(np.zeros(samples), rate, vb.ZeroOrderHold())
    return vb.simulate(GRAZING, silence, {"b": breaks}, method=method, displacement=-1.0, events=True)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.31, 1.0])
def test_exact_finds_both_crossings_of_a_peak_that_passes_by_a_billionth(rate):
    solution = graze(1 / (1 + BEYOND), vb.Exact(), rate)
    assert solution.work is not None
    np.testing.assert_array_equal(solution.work.events, 2 * CYCLES_OF_GRAZING)


@pytest.mark.parametrize("rate", [0.31, 1.0])
def test_exact_reports_no_crossing_of_a_peak_that_falls_short_by_a_billionth(rate):
    solution = graze(1 / (1 - BEYOND), vb.Exact(), rate)
    assert solution.work is not None
    np.testing.assert_array_equal(solution.work.events, 0)


def test_exact_locates_grazing_crossings_where_the_guard_is_zero():
    breaks = 1 / (1 + BEYOND)
    events = graze(breaks, vb.Exact()).events
    assert events is not None
    np.testing.assert_allclose(-np.cos(events.time), breaks[events.parameter_set], rtol=0, atol=1e-13)


@pytest.mark.slow
def test_event_located_finds_both_crossings_of_every_peak_that_passes_by_more_than_its_own_error():
    passes = 10.0 ** -np.arange(1, 10)
    found = 0
    for rtol in 10.0 ** -np.arange(3, 11):
        solution = graze(np.array([9.0, *(1 / (1 + passes))]), tolerance(rtol))
        assert solution.work is not None
        x, v = (solution[f"{kind} of mass"][0] for kind in ("displacement", "velocity"))
        own_error = np.abs(np.hypot(x, v) - 1).max()  # of the amplitude, where the break point is out of reach
        clear = passes > 2 * own_error
        np.testing.assert_array_equal(solution.work.events[1:][clear], 2 * CYCLES_OF_GRAZING)
        found += clear.sum()
    assert found > 40


@pytest.mark.slow
def test_a_spring_that_nearly_yields_does_not():
    structure = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis(1.0, "y", 0.1)])
    silence = vb.Sampled(np.zeros(60), 1.0, vb.ZeroOrderHold())
    yields = {"y": 1 + 10.0 ** -np.arange(3, 12)}
    x = vb.simulate(structure, silence, yields, method=vb.Exact(), velocity=1.0)["displacement of mass"]
    np.testing.assert_allclose(x, np.tile(np.sin(np.arange(60.0)), (9, 1)), rtol=0, atol=1e-12)


# ---- one method against another -------------------------------------------------------------------------------------

RANGES = {
    "m1": (0.5, 2.0), "m2": (0.5, 2.0), "m3": (0.5, 2.0), "c": (0.2, 2.0), "k1": (50.0, 400.0), "k2": (50.0, 400.0),
    "k3": (50.0, 400.0), "y": (0.01, 0.05), "alpha": (0.0, 0.5), "stop": (500.0, 5000.0), "g": (0.005, 0.05),
    "left": (-0.05, -0.005), "right": (0.005, 0.05), "c_high": (2.0, 8.0), "speed": (0.05, 0.5),
}  # fmt: skip
ZOO = {
    "two masses, trilinear and gap": vb.Structure.chain(
        ["m1", "m2"],
        [
            [vb.PiecewiseLinearSpring(("k2", "k1", "k3"), ("left", "right")), vb.Damper("c")],
            [vb.Spring("k2"), vb.gap("stop", "g"), vb.Damper("c")],
        ],
    ),
    "three masses, yielding base, shock absorber, two-sided stop": vb.Structure.chain(
        ["m1", "m2", "m3"],
        [
            [vb.BilinearHysteresis("k1", "y", "alpha"), vb.Damper("c")],
            [vb.Spring("k2"), vb.PiecewiseLinearDamper(("c_high", "c", "c_high"), ("left", "speed"))],
            [vb.PiecewiseLinearSpring(("stop", "k3", "stop"), ("left", "right"))],
        ],
    ),
    "three masses, two stops, one of them against the ground": vb.Structure(
        {"m1": "m1", "m2": "m2", "m3": "m3"},
        [
            vb.Spring("k1").between("ground", "m1"),
            vb.Damper("c").between("ground", "m1"),
            vb.Spring("k2").between("m1", "m2"),
            vb.Damper("c").between("m1", "m2"),
            vb.maxwell("k3", "c_high").between("m2", "m3"),
            vb.Spring("k3").between("m2", "m3"),
            vb.gap("stop", "g").between("ground", "m3"),
            vb.gap("stop", "left", side=-1).between("m1", "m3"),
        ],
        inputs=[vb.Force("m1")],
    ),
}


def random_sets(structure: vb.Structure, seed: int, count: int = 12) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    drawn = {name: rng.uniform(*ends, count) for name, ends in RANGES.items()}
    return {name: drawn[name] for name in structure.parameters}


@pytest.mark.slow
@pytest.mark.parametrize("structure", ZOO.values(), ids=ZOO.keys())
@settings(max_examples=4, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_exact_and_event_located_agree_on_random_chains(structure, seed):
    parameters = random_sets(structure, seed)
    push = vb.band_limited_noise(jax.random.key(seed), 50.0, 150, 8.0, high_hz=10.0)
    exact = vb.simulate(structure, push, parameters, method=vb.Exact())
    other = vb.simulate(structure, push, parameters, method=vb.EventLocated(1e-11, 1e-14))
    assert exact.successful.all() and other.successful.all()
    assert exact.work is not None and other.work is not None
    assert exact.work.events.min() > 0
    scale = np.abs(exact.outputs).max(axis=1, keepdims=True)
    assert np.max(np.abs(exact.outputs - other.outputs) / scale) < 1e-6
