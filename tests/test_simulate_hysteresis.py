"""Hysteretic structures: two formulations of one law, balances of energy, and SciPy with the laws written anew."""

from functools import cache

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import vibayes as vb

pytestmark = pytest.mark.slow

# ---- the mixed and the flow-controlled formulation of bilinear hysteresis -------------------------------------------

TWINS = vb.Structure(
    {"mixed": 1.0, "flow": 1.0},
    [
        vb.BilinearHysteresis("k", "y", "alpha").between("ground", "mixed", name="M"),
        vb.BilinearHysteresisFlow("k", "y", "alpha").between("ground", "flow", name="F"),
        vb.Damper("c").between("ground", "mixed"),
        vb.Damper("c").between("ground", "flow"),
    ],
    inputs=[vb.BaseAcceleration()],
)
TWIN_VALUES = {"k": 40.0, "y": 0.05, "alpha": 0.2, "c": 0.3}
DRIVES = {
    "sine": vb.Sine(amplitude=3.0, frequency_hz=0.8),
    "modulated sine": vb.ModulatedSine(amplitude=3.5, frequency_hz=0.9, modulation_hz=0.1),
}
METHODS = {"exact": vb.Exact(), "event-located": vb.EventLocated(1e-10, 1e-14)}
BOTH_METHODS = pytest.mark.parametrize("method", METHODS)
BOTH_DRIVES = pytest.mark.parametrize("drive", DRIVES)


@cache
def twins(drive: str, method: str) -> vb.Solution:
    return vb.simulate(TWINS, DRIVES[drive], TWIN_VALUES, method=METHODS[method], rate=25.0, samples=501)


def times_of(solution: vb.Solution, element: str) -> np.ndarray:
    assert solution.events is not None
    return solution.events.time[[name == element for name in solution.events.element]]


@BOTH_METHODS
@BOTH_DRIVES
def test_mixed_and_flow_controlled_formulations_give_one_response(drive, method):
    solution = twins(drive, method)
    for kind in ("displacement", "velocity", "absolute acceleration"):
        one, other = solution[f"{kind} of mixed"], solution[f"{kind} of flow"]
        assert np.abs(one - other).max() < 1e-10 * np.abs(one).max()


@BOTH_METHODS
@BOTH_DRIVES
def test_mixed_and_flow_controlled_formulations_have_their_events_at_the_same_times(drive, method):
    solution = twins(drive, method)
    mixed, flow = times_of(solution, "M"), times_of(solution, "F")
    assert len(mixed) == len(flow) > 20
    np.testing.assert_allclose(mixed, flow, rtol=0, atol=1e-10)


@BOTH_DRIVES
def test_event_located_gives_the_exact_response_of_bilinear_hysteresis(drive):
    exact, other = (twins(drive, method)["displacement of mixed"] for method in METHODS)
    assert np.abs(exact - other).max() < 1e-8 * np.abs(exact).max()


@BOTH_METHODS
@BOTH_DRIVES
def test_no_element_switches_twice_at_one_instant(drive, method):
    solution = twins(drive, method)
    for element in ("M", "F"):
        assert np.diff(times_of(solution, element)).min() > 1e-6


def test_event_tables_of_yielding_chains_are_those_of_the_exact_method_whatever_the_tolerance():
    structure = vb.Structure.chain(
        ["m1", 1.0], [[vb.BilinearHysteresis("k", "y", "alpha"), vb.Damper("c")], [vb.Spring(120.0), vb.Damper(1.0)]]
    )
    rng = np.random.default_rng(3)
    ranges = {"m1": (0.5, 2.0), "k": (50.0, 400.0), "y": (0.01, 0.05), "alpha": (0.0, 0.5), "c": (0.2, 2.0)}
    parameters = {name: rng.uniform(*ends, 60) for name, ends in ranges.items()}
    push = vb.band_limited_noise(jax.random.key(2), 50.0, 150, 8.0, high_hz=10.0)
    exact = vb.simulate(structure, push, parameters, method=vb.Exact()).work
    assert exact is not None and exact.events.mean() > 5
    for rtol in (1e-9, 1e-10, 1e-11):
        method = vb.EventLocated(rtol, 1e-3 * rtol)
        located = vb.simulate(structure, push, parameters, method=method).work
        assert located is not None
        np.testing.assert_array_equal(located.events, exact.events)


# ---- energy ---------------------------------------------------------------------------------------------------------


def test_work_put_in_is_kinetic_plus_elastic_plus_hysteretic_energy():
    m, k, y, alpha = 1.3, 40.0, 0.05, 0.2
    structure = vb.Structure.single_dof(
        m,
        [vb.BilinearHysteresis(k, y, alpha).between("ground", "mass", name="yielding")],
        sensors=[vb.Displacement("mass"), vb.Velocity("mass"), vb.HystereticEnergy("yielding")],
    )
    force = np.random.default_rng(1).normal(0.0, 6.0, 400)
    solution = vb.simulate(structure, vb.Sampled(force, 20.0, vb.ZeroOrderHold()), method=vb.Exact())
    x, v, absorbed = np.asarray(solution.outputs).T
    work = np.concatenate(
        [[0.0], np.cumsum(force[:-1] * np.diff(x))]
    )  # a held force works along the way between samples
    assert np.abs(x).max() > 3 * y
    balance = 0.5 * m * v**2 + 0.5 * alpha * k * x**2 + absorbed
    np.testing.assert_allclose(balance, work, rtol=0, atol=1e-12 * work.max())


def integral(rate: np.ndarray, slope: np.ndarray, h: float) -> np.ndarray:
    """Running integral from values and derivatives at the samples: the trapezium corrected at both ends."""
    pieces = 0.5 * h * (rate[:-1] + rate[1:]) + h**2 / 12 * (slope[:-1] - slope[1:])
    return np.concatenate([[0.0], np.cumsum(pieces)])


def test_with_damping_work_put_in_is_kinetic_plus_elastic_plus_hysteretic_plus_viscous_energy():
    m, c, k, y, alpha = 1.3, 0.8, 40.0, 0.05, 0.2
    structure = vb.Structure.single_dof(
        m,
        [vb.Damper(c), vb.BilinearHysteresis(k, y, alpha).between("ground", "mass", name="yielding")],
        sensors=[
            vb.Displacement("mass"),
            vb.Velocity("mass"),
            vb.RelativeAcceleration("mass"),
            vb.HystereticEnergy("yielding"),
        ],
    )
    drive, h = vb.Sine(amplitude=3.0, frequency_hz=0.8), 1e-3
    solution = vb.simulate(structure, drive, method=vb.Exact(), rate=1 / h, samples=6001)
    (x, v, a, absorbed), w = np.asarray(solution.outputs).T, 2 * np.pi * 0.8
    force, force_rate = 3.0 * np.sin(w * solution.times), 3.0 * w * np.cos(w * solution.times)
    work = integral(force * v, force_rate * v + force * a, h)
    viscous = integral(c * v**2, 2 * c * v * a, h)
    assert viscous[-1] > 0.1 * work[-1] and absorbed[-1] > 0.1 * work[-1]
    balance = 0.5 * m * v**2 + 0.5 * alpha * k * x**2 + absorbed + viscous
    np.testing.assert_allclose(balance, work, rtol=0, atol=1e-8 * work.max())


LOSSY = {
    "bilinear": (vb.BilinearHysteresis(40.0, 0.05, 0.2), 8.0),
    "bilinear flow-controlled": (vb.BilinearHysteresisFlow(40.0, 0.05, 0.2), 8.0),
    "Bouc-Wen": (vb.BoucWen(A=40.0, beta=3.0, gamma=8.0, n=1.5), 0.0),
    "Bouc-Wen of the benchmark": (vb.BoucWenBenchmark(alpha=40.0, beta=5.0, gamma=1.2, delta=-0.4), 0.0),
    "Bouc-Wen-Baber-Noori": (
        vb.BoucWenBaberNoori(0.2, 40.0, 12.0, 6.0, 1.0, 0.3, 0.2, 0.1, 0.7, 1.0, 0.1, 0.05, 0.2), 8.0
    ),
    "Ramberg-Osgood": (vb.RambergOsgood(40.0, 2.0, 3.0, 0.8), 0.0),
    "Coulomb": (vb.CoulombFriction(0.9, offset=0.1), 0.0),
}  # fmt: skip
"""Element and the stiffness of the elastic part of its force, which is no part of the hysteretic one."""


@cache
def lossy_motion() -> tuple[vb.Solution, float]:
    """All of them side by side, each on its own mass above the same shaken base."""
    links = [law.between("ground", name, name=name) for name, (law, _) in LOSSY.items()]
    kinds = (vb.Displacement, vb.Velocity, vb.ElementForce, vb.HystereticEnergy)
    structure = vb.Structure(
        dict.fromkeys(LOSSY, 1.0), links, inputs=[vb.BaseAcceleration()], sensors=[k(n) for n in LOSSY for k in kinds]
    )
    drive, rate = vb.ModulatedSine(amplitude=4.0, frequency_hz=0.9, modulation_hz=0.2), 1000.0
    return vb.simulate(structure, drive, method=vb.EventLocated(1e-8, 1e-12), rate=rate, samples=4001), 1 / rate


@pytest.mark.parametrize("name", LOSSY)
def test_hysteretic_energy_is_the_integral_of_hysteretic_force_times_velocity(name):
    solution, h = lossy_motion()
    x, v, force, absorbed = (
        solution[f"{kind} of {name}"] for kind in ("displacement", "velocity", "element force", "hysteretic energy")
    )
    power = (force - LOSSY[name][1] * x) * v
    expected = np.concatenate([[0.0], np.cumsum(0.5 * h * (power[1:] + power[:-1]))])
    assert expected.max() > 0.01
    np.testing.assert_allclose(absorbed, expected, rtol=0, atol=2e-5 * np.abs(expected).max())


def test_a_steady_bilinear_loop_dissipates_the_area_of_its_parallelogram():
    k, y, alpha, per_cycle = 40.0, 0.05, 0.2, 2000
    structure = vb.Structure.single_dof(
        1.0,
        [vb.Damper(0.5), vb.BilinearHysteresis(k, y, alpha).between("ground", "mass", name="yielding")],
        sensors=[vb.Displacement("mass"), vb.HystereticEnergy("yielding")],
    )
    drive = vb.Sine(amplitude=3.0, frequency_hz=0.8)
    solution = vb.simulate(structure, drive, method=vb.Exact(), rate=0.8 * per_cycle, samples=15 * per_cycle + 1)
    x, absorbed = np.asarray(solution.outputs).T
    cycle = slice(-per_cycle - 1, None)
    amplitude = 0.5 * np.ptp(x[cycle])
    area = 4 * (1 - alpha) * k * y * (amplitude - y)
    assert absorbed[cycle][-1] - absorbed[cycle][0] == pytest.approx(area, rel=1e-5)


# ---- SciPy with the laws written anew -------------------------------------------------------------------------------


def wen(x, v, z):
    return z, (40.0 * v - 8.0 * abs(v) * abs(z) ** 0.5 * z - 3.0 * v * abs(z) ** 1.5,)


def benchmark(x, v, z):
    return z, (40.0 * v - 5.0 * (1.2 * abs(v) * z - 0.4 * v * abs(z)),)


def baber_noori(x, v, z, e):
    alpha, k, beta, gamma, _, d_eta, d_nu, q, zeta10, p, psi0, d_psi, lam = (
        0.2, 40.0, 12.0, 6.0, 1.0, 0.3, 0.2, 0.1, 0.7, 1.0, 0.1, 0.05, 0.2
    )  # fmt: skip
    eta, nu = 1 + d_eta * e, 1 + d_nu * e
    severity = zeta10 * (1 - np.exp(-p * e))
    width = (psi0 + d_psi * e) * (lam + severity)
    pinch = 1 - severity * np.exp(-((z * np.sign(v) - q / (nu * (beta + gamma))) ** 2) / width**2)
    rate = pinch / eta * (v - nu * (beta * abs(v) * z + gamma * v * abs(z)))
    return k * (alpha * x + (1 - alpha) * z), (rate, (1 - alpha) * k * z * v)


REWRITTEN = {
    "Bouc-Wen": (wen, LOSSY["Bouc-Wen"][0], 1),
    "Bouc-Wen of the benchmark": (benchmark, LOSSY["Bouc-Wen of the benchmark"][0], 1),
    "Bouc-Wen-Baber-Noori": (baber_noori, LOSSY["Bouc-Wen-Baber-Noori"][0], 2),
    "Duffing": (lambda x, v: (40.0 * x + 900.0 * x**3, ()), vb.Duffing(40.0, 900.0), 0),
    "polynomial damper": (
        lambda x, v: (3.0 * np.sign(v) * abs(v) ** 2.5 + 0.2 * v, ()), vb.PolynomialDamper((3.0, 0.2), (2.5, 1)), 0
    ),
}  # fmt: skip


@cache
def rewritten_motion() -> vb.Solution:
    links = [law.between("ground", name) for name, (_, law, _) in REWRITTEN.items()]
    links += [vb.Spring(15.0).between("ground", name) for name in REWRITTEN]
    structure = vb.Structure(dict.fromkeys(REWRITTEN, 1.0), links, inputs=[vb.BaseAcceleration()])
    drive = vb.ModulatedSine(amplitude=4.0, frequency_hz=0.9, modulation_hz=0.2)
    return vb.simulate(structure, drive, method=vb.EventLocated(1e-11, 1e-14), rate=20.0, samples=101)


@pytest.mark.parametrize("name", REWRITTEN)
def test_event_located_agrees_with_scipy(name):
    law, _, states = REWRITTEN[name]

    def flow(t, y):
        force, rates = law(*y)
        shaking = 2.0 * (1 - np.cos(2 * np.pi * 0.2 * t)) * np.sin(2 * np.pi * 0.9 * t)
        return [y[1], -shaking - force - 15.0 * y[0], *rates]

    solution = rewritten_motion()
    start = np.zeros(2 + states)
    times = solution.times
    theirs = solve_ivp(flow, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-14, max_step=0.005)
    x = solution[f"displacement of {name}"]
    assert np.abs(x - theirs.y[0]).max() < 1e-7 * np.abs(x).max()
