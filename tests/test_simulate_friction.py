"""Dry friction: closed forms of sliding, sticking and slipping, and one method against another."""

import jax
import numpy as np
import pytest
from scipy.optimize import brentq

import vibayes as vb

pytestmark = pytest.mark.slow

METHODS = pytest.mark.parametrize(
    "method, accuracy", [(vb.Exact(), 1e-12), (vb.EventLocated(1e-10, 1e-13), 1e-8)], ids=["exact", "event-located"]
)
STUCK = 1


def silence(samples: int, rate: float) -> vb.Sampled:
    return vb.Sampled(np.zeros(samples), rate, vb.ZeroOrderHold())


# ---- a block on a rough floor ---------------------------------------------------------------------------------------

BLOCK = vb.Structure.single_dof(2.0, [vb.CoulombFriction("f")])


@METHODS
def test_a_sliding_block_decelerates_evenly_and_stops(method, accuracy):
    # From 1.5 m/s with 3 N on 2 kg: at rest after 1 s and 0.75 m.
    solution = vb.simulate(BLOCK, silence(161, 80.0), {"f": 3.0}, method=method, velocity=1.5)
    left = np.maximum(1.0 - solution.times, 0.0)
    np.testing.assert_allclose(solution["velocity of mass"], 1.5 * left, rtol=0, atol=accuracy)
    np.testing.assert_allclose(solution["displacement of mass"], 0.75 * (1 - left**2), rtol=0, atol=accuracy)


@METHODS
def test_a_block_stops_once_and_for_good(method, accuracy):
    solution = vb.simulate(BLOCK, silence(161, 80.0), {"f": 3.0}, method=method, velocity=1.5)
    assert solution.status == vb.Status.SUCCESS
    assert solution.events is not None
    assert [row[3:] for row in solution.events.rows()] == [("sliding on", "stuck")]
    assert solution.events.time[0] == pytest.approx(1.0, abs=accuracy)
    assert np.ptp(solution["displacement of mass"][81:]) == 0.0


@METHODS
def test_a_bingham_damper_stops_a_block_after_the_logarithm_of_its_speed(method, accuracy):
    m, f, c, v0 = 2.0, 3.0, 1.6, 1.5
    structure = vb.Structure.single_dof(m, [vb.Bingham(f, c)])
    solution = vb.simulate(structure, silence(161, 80.0), method=method, velocity=v0)
    stop = m / c * np.log1p(c * v0 / f)
    t = np.minimum(solution.times, stop)
    v = (v0 + f / c) * np.exp(-c * t / m) - f / c
    x = (v0 + f / c) * m / c * -np.expm1(-c * t / m) - f / c * t
    assert solution.events is not None
    np.testing.assert_allclose(solution.events.time, [stop], rtol=0, atol=accuracy)
    np.testing.assert_allclose(solution["velocity of mass"], v, rtol=0, atol=accuracy)
    np.testing.assert_allclose(solution["displacement of mass"], x, rtol=0, atol=accuracy)


@METHODS
def test_a_slow_force_makes_a_block_stick_and_slip_at_the_times_of_newtons_law(method, accuracy):
    # 5 sin(wt) against 3 N: break-away where it reaches 3 N, standstill where the impulse is used up, then backwards.
    m, f, F, w = 2.0, 3.0, 5.0, 2 * np.pi * 0.1
    drive = vb.Sine(amplitude=F, frequency_hz=0.1)
    solution = vb.simulate(BLOCK, drive, {"f": f}, method=method, rate=2.0, samples=63)
    away = np.arcsin(f / F) / w
    velocity = lambda t: F / (m * w) * (np.cos(w * away) - np.cos(w * t)) - f / m * (t - away)  # noqa: E731
    rest = brentq(velocity, away + 1.0, away + 9.0, xtol=1e-15)
    assert rest < 5.0 + away  # it rests before the force pulls back
    expected = np.concatenate([np.array([away, rest]) + 5.0 * half for half in range(6)])
    assert solution.events is not None
    np.testing.assert_allclose(solution.events.time, expected, rtol=0, atol=10 * accuracy)
    modes = [after for *_, after in solution.events.rows()]
    assert modes == ["sliding on", "stuck", "sliding back", "stuck"] * 3


def test_a_force_below_the_limit_moves_nothing():
    solution = vb.simulate(BLOCK, vb.Sine(amplitude=2.999999, frequency_hz=0.3), {"f": 3.0}, rate=5.0, samples=101)
    assert np.abs(solution["displacement of mass"]).max() == 0.0
    assert solution.events is not None and len(solution.events) == 0


@METHODS
def test_a_pulled_block_creeps_forward_by_equal_slips(method, accuracy):
    # A force that grows steadily against friction and a spring: the speed (r/k)(1 − cos wt) touches zero every cycle.
    m, k, f, rate = 1.0, 25.0, 2.0, 4.0
    structure = vb.Structure.single_dof(m, [vb.Spring(k), vb.CoulombFriction(f)])
    ramp = vb.Sampled(rate * np.arange(101) * 0.07, 1 / 0.07, vb.StraightLines())
    solution = vb.simulate(structure, ramp, method=method)
    t = np.maximum(solution.times - f / rate, 0.0)
    w = np.sqrt(k / m)
    assert solution.status == vb.Status.SUCCESS
    np.testing.assert_allclose(
        solution["displacement of mass"], rate / k * (t - np.sin(w * t) / w), rtol=0, atol=100 * accuracy
    )


# ---- free vibration -------------------------------------------------------------------------------------------------

OSCILLATOR = vb.Structure.single_dof(1.0, [vb.Spring(100.0), vb.CoulombFriction("f", offset="o")])
HALF_PERIOD = np.pi / 10.0


def decay(times: np.ndarray, start: float, dead: float, shift: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Displacement, velocity and number of half-cycles of free vibration at 10 rad/s from rest at ``start``.

    In each half-cycle the motion is a cosine about ``shift`` ± ``dead``; it ends where a turning point lies within.
    """
    x, v, turn, halves = np.full_like(times, np.nan), np.zeros_like(times), start, 0
    while abs(turn - shift) > dead:
        centre = shift + dead * np.sign(turn - shift)
        phase = 10.0 * times - np.pi * halves
        now = (phase >= 0) & (phase <= np.pi)
        x[now] = centre + (turn - centre) * np.cos(phase[now])
        v[now] = -10.0 * (turn - centre) * np.sin(phase[now])
        turn, halves = 2 * centre - turn, halves + 1
    x[np.isnan(x)] = turn
    return x, v, halves


CASES = {"f": np.array([2.0, 2.0, 0.9, 2.0]), "o": np.array([0.0, 1.0, -0.7, 0.0])}
STARTS = np.array([0.31, 0.35, -0.5, 0.0199])


@METHODS
def test_free_vibration_under_friction_is_cosines_about_shifted_centres(method, accuracy):
    solution = vb.simulate(OSCILLATOR, silence(501, 80.0), CASES, method=method, displacement=STARTS[:, None])
    for i, start in enumerate(STARTS):
        x, v, _ = decay(solution.times, start, CASES["f"][i] / 100.0, -CASES["o"][i] / 100.0)
        np.testing.assert_allclose(solution["displacement of mass"][i], x, rtol=0, atol=accuracy)
        np.testing.assert_allclose(solution["velocity of mass"][i], v, rtol=0, atol=10 * accuracy)


@METHODS
def test_amplitude_falls_by_four_dead_zones_a_cycle_until_the_mass_sticks_for_good(method, accuracy):
    rate = 2 / HALF_PERIOD  # every other sample is a turning point: events coincide with samples
    solution = vb.simulate(OSCILLATOR, silence(41, rate), {"f": 2.0, "o": 0.0}, method=method, displacement=0.31)
    turns = solution["displacement of mass"][::2]
    expected = [0.31, -0.27, 0.23, -0.19, 0.15, -0.11, 0.07, -0.03, -0.01, *[-0.01] * 12]
    np.testing.assert_allclose(turns, expected, rtol=0, atol=accuracy)
    assert solution.modes is not None
    assert (solution.modes[17:, 1] == STUCK).all()
    assert np.abs(solution["velocity of mass"][17:]).max() < 1e-14


@METHODS
def test_every_turning_point_is_one_standstill_and_one_break_away(method, accuracy):
    solution = vb.simulate(OSCILLATOR, silence(41, 9.0), {"f": 2.0, "o": 0.0}, method=method, displacement=0.31)
    assert solution.events is not None
    moves = [after for *_, after in solution.events.rows()]
    # Breaking away out of the initial state is no event: the mass was never held there.
    assert moves == (["stuck", "sliding on", "stuck", "sliding back"] * 4)[:-1]
    np.testing.assert_allclose(
        solution.events.time, np.repeat(np.arange(9), 2)[2:-1] * HALF_PERIOD, rtol=0, atol=10 * accuracy
    )


# ---- several sliders ------------------------------------------------------------------------------------------------

TWO_SLIDERS = vb.Structure(
    {"m1": 1.0, "m2": "m"},
    [
        vb.CoulombFriction("f1").between("ground", "m1", name="lower"),
        vb.Bingham("f2", "c").between("m1", "m2", name="upper"),
        vb.Spring("k").between("ground", "m1"),
        vb.Spring(60.0).between("m1", "m2"),
    ],
    inputs=[vb.BaseAcceleration()],
)


def slider_sets(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    ranges = {"m": (0.5, 2.0), "f1": (0.5, 3.0), "f2": (0.3, 2.0), "c": (0.0, 0.5), "k": (20.0, 120.0)}
    return {name: rng.uniform(*ends, count) for name, ends in ranges.items()}


@pytest.mark.parametrize("seed", [1, 2])
def test_exact_and_event_located_agree_on_two_sliders_in_a_chain(seed):
    parameters = slider_sets(24)
    shaking = vb.band_limited_noise(jax.random.key(seed), 40.0, 160, 3.0, high_hz=4.0)
    exact = vb.simulate(TWO_SLIDERS, shaking, parameters, method=vb.Exact())
    other = vb.simulate(TWO_SLIDERS, shaking, parameters, method=vb.EventLocated(1e-10, 1e-13))
    assert exact.successful.all() and other.successful.all()
    assert exact.work is not None and exact.work.events.min() > 5
    scale = np.abs(exact.outputs).max(axis=1, keepdims=True)
    moved = np.delete(np.arange(6), [2, 5])  # accelerations jump at break-away, so a sample there may see either side
    assert np.max((np.abs(exact.outputs - other.outputs) / scale)[..., moved]) < 1e-6


SIDE_BY_SIDE = vb.Structure(
    {"light": 1.0, "heavy": 2.0},
    [
        vb.CoulombFriction("f").between("ground", "light", name="first"),
        vb.CoulombFriction(1.2).between("ground", "heavy", name="second"),
    ],
    inputs=[vb.Force("light"), vb.Force("heavy")],
)


@METHODS
def test_two_blocks_pushed_beyond_their_limits_at_one_instant_both_slide(method, accuracy):
    pushes = np.array([0.0, 2.0, 1.9, 0.0, 0.0, 0.0, 0.0])
    push = vb.Sampled(np.stack([pushes, pushes], axis=1), 1.0, vb.ZeroOrderHold())
    solution = vb.simulate(SIDE_BY_SIDE, push, {"f": 1.0}, method=method)
    for name, m, f in (("light", 1.0, 1.0), ("heavy", 2.0, 1.2)):
        x, v, expected = 0.0, 0.0, [0.0, 0.0]
        for p in pushes[1:-1]:
            a = (p - f) / m
            t = min(1.0, -v / a) if a < 0 else 1.0
            x, v = x + v * t + 0.5 * a * t * t, v + a * t
            expected.append(x)
        np.testing.assert_allclose(solution[f"displacement of {name}"], expected, rtol=0, atol=accuracy)


def test_the_motion_of_a_slider_does_not_depend_on_its_neighbour():
    # The same load on both, largest at the start; the neighbour's limit decides whether it moves at that instant too.
    load = [vb.Sine(amplitude=2.0, frequency_hz=0.1, phase=np.pi / 2)] * 2
    together = vb.simulate(
        SIDE_BY_SIDE, load, {"f": np.array([1.0, 1.9, 5.0])}, method=vb.Exact(), rate=2.0, samples=21
    )
    x = together["displacement of heavy"]
    assert x[0].max() > 0.1
    np.testing.assert_allclose(x, np.tile(x[2], (3, 1)), rtol=0, atol=1e-12)


def test_stuck_sliders_make_two_masses_one():
    # The upper slider holds: both move as a mass of 1 + 2 on the spring.
    parameters = {"m": 2.0, "f1": 0.0, "f2": 1e6, "c": 0.0, "k": 27.0}
    solution = vb.simulate(TWO_SLIDERS, silence(101, 20.0), parameters, method=vb.Exact(), velocity=[0.4, 0.4])
    x = 0.4 / 3.0 * np.sin(3.0 * solution.times)
    np.testing.assert_allclose(solution["displacement of m1"], x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution["displacement of m2"], x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", [vb.Exact(), vb.EventLocated(1e-8)], ids=["exact", "event-located"])
def test_random_sliders_never_chatter(method):
    shaking = vb.band_limited_noise(jax.random.key(3), 40.0, 160, 3.0, high_hz=4.0)
    status = vb.simulate(TWO_SLIDERS, shaking, slider_sets(300), method=method, states=False).status
    np.testing.assert_array_equal(status, vb.Status.SUCCESS)


def test_friction_dissipates_what_the_spring_loses():
    sensors = [vb.Displacement("mass"), vb.Velocity("mass"), vb.HystereticEnergy("slider")]
    structure = vb.Structure.single_dof(
        1.0, [vb.Spring(100.0), vb.CoulombFriction(2.0).between("ground", "mass", name="slider")], sensors=sensors
    )
    solution = vb.simulate(structure, silence(201, 80.0), method=vb.Exact(), displacement=0.31)
    x, v, lost = np.asarray(solution.outputs).T
    np.testing.assert_allclose(0.5 * v**2 + 50.0 * x**2 + lost, 50.0 * 0.31**2, rtol=1e-12)
