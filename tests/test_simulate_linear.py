"""Linear structures against the matrix exponential, which is exact for held and for straight-line inputs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.linalg import eigh
from tests.oracles import first_order, linear_response

import vibayes as vb

RATE, SAMPLES, SETS = 50.0, 300, 4
RNG = np.random.default_rng(5)
INCIDENCE = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
"""Deformations of the three storeys of a chain from its displacements."""


@dataclass(frozen=True)
class Case:
    """A structure, values of its parameters (one row per set), and its equations by hand: dy/dt = A y + B u."""

    structure: vb.Structure
    parameters: dict[str, np.ndarray]
    equations: Callable[..., tuple[np.ndarray, np.ndarray]]
    hold: vb.Hold

    @property
    def excitation(self) -> vb.Sampled:
        values = np.random.default_rng(7).normal(size=(SAMPLES, len(self.structure.inputs)))
        return vb.Sampled(values, RATE, self.hold)

    def expected(self) -> np.ndarray:
        """States (x, v, …) of every set."""
        lines, values = isinstance(self.hold, vb.StraightLines), np.asarray(self.excitation.values)
        rows = [dict(zip(self.parameters, row, strict=True)) for row in zip(*self.parameters.values(), strict=True)]
        systems = [self.equations(**row) for row in rows]
        return np.array([linear_response(A, B, values, 1 / RATE, lines) for A, B in systems])


def draws(**ranges: tuple[float, float]) -> dict[str, np.ndarray]:
    return {name: RNG.uniform(*ends, SETS) for name, ends in ranges.items()}


def chain_matrices(m, k):
    return np.diag(m), INCIDENCE.T @ np.diag(k) @ INCIDENCE


def oscillator(m, c, k):
    return first_order(np.array([[m]]), np.array([[c]]), np.array([[k]]), np.array([[1.0]]))


def shaken_oscillator(m, c, k):
    return first_order(np.array([[m]]), np.array([[c]]), np.array([[k]]), np.array([[-m]]))


def rayleigh_chain(m1, m2, m3, k1, k2, k3, a, b):
    M, K = chain_matrices((m1, m2, m3), (k1, k2, k3))
    return first_order(M, a * M + b * K, K, -M @ np.ones((3, 1)))


def modal_chain(m1, m2, m3, k1, k2, k3, z1, z2):
    """Two forces, on the first mass and the last; ratios z1, z2 and 0.03 of the modes from the lowest."""
    M, K = chain_matrices((m1, m2, m3), (k1, k2, k3))
    squares, shapes = eigh(K, M)
    C = M @ shapes @ np.diag(2 * np.array([z1, z2, 0.03]) * np.sqrt(squares)) @ shapes.T @ M
    return first_order(M, C, K, np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]))


def cantilever(m1, m2, m3, rigidity, height, a, b):
    """The beam from its finite elements, rotations condensed, instead of from its flexibility."""
    beam = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]) * rigidity / height**3
    whole = np.zeros((8, 8))
    for storey in range(3):
        whole[2 * storey : 2 * storey + 4, 2 * storey : 2 * storey + 4] += beam
    free = whole[2:, 2:]  # rotations are in units of 1/height
    x, r = [0, 2, 4], [1, 3, 5]
    K = free[np.ix_(x, x)] - free[np.ix_(x, r)] @ np.linalg.solve(free[np.ix_(r, r)], free[np.ix_(r, x)])
    M = np.diag([m1, m2, m3])
    return first_order(M, a * M + b * K, K, -M @ np.ones((3, 1)))


def zener(m, k1, k2, c2):
    """A mass on a spring k1 beside a spring k2 in series with a damper c2; third state: the force of that branch."""
    A = np.array([[0, 1, 0], [-k1 / m, 0, -1 / m], [0, k2, -k2 / c2]])
    return A, np.array([[0.0], [1 / m], [0.0]])


def burgers(m, k1, c1, k2, c2):
    """A mass on a Maxwell and a Kelvin model in series: states x, v, force, extension of the Kelvin model."""
    rate_2 = np.array([0, 0, 1 / c2, -k2 / c2])
    force = k1 * (np.array([0, 1, -1 / c1, 0]) - rate_2)
    return np.array([[0, 1, 0, 0], [0, 0, -1 / m, 0], force, rate_2]), np.array([[0], [1 / m], [0], [0]])


CHAIN_RANGES = {"m1": (0.5, 2), "m2": (0.5, 2), "m3": (0.5, 2), "k1": (200, 900), "k2": (200, 900), "k3": (200, 900)}
SINGLE = draws(m=(0.5, 2), c=(0.1, 3), k=(100, 4000))
STOREYS = [vb.Spring("k1"), vb.Spring("k2"), vb.Spring("k3")]
OSCILLATOR = vb.Structure.single_dof("m", [vb.Damper("c"), vb.Spring("k")])
RAYLEIGH = vb.Structure.chain(["m1", "m2", "m3"], STOREYS, damping=vb.Rayleigh("a", "b"))
RAYLEIGH_DRAWS = draws(**CHAIN_RANGES, a=(0, 0.5), b=(0, 0.01))
MODAL = vb.Structure(
    {"m1": "m1", "m2": "m2", "m3": "m3"},
    [STOREYS[0].between("ground", "m1"), STOREYS[1].between("m1", "m2"), STOREYS[2].between("m2", "m3")],
    inputs=[vb.Force("m1"), vb.Force("m3")],
    damping=vb.ModalDamping(("z1", "z2", 0.03)),
)
CASES = {
    "oscillator, held force": Case(OSCILLATOR, SINGLE, oscillator, vb.ZeroOrderHold()),
    "oscillator, straight-line force": Case(OSCILLATOR, SINGLE, oscillator, vb.StraightLines()),
    "oscillator on a shaken base": Case(
        vb.Structure.single_dof("m", [vb.Damper("c"), vb.Spring("k")], base_acceleration=True),
        SINGLE, shaken_oscillator, vb.StraightLines(),
    ),
    "Rayleigh chain on a shaken base, held": Case(RAYLEIGH, RAYLEIGH_DRAWS, rayleigh_chain, vb.ZeroOrderHold()),
    "Rayleigh chain on a shaken base, lines": Case(RAYLEIGH, RAYLEIGH_DRAWS, rayleigh_chain, vb.StraightLines()),
    "modally damped chain under two forces": Case(
        MODAL, draws(**CHAIN_RANGES, z1=(0, 0.1), z2=(0, 0.1)), modal_chain, vb.StraightLines()
    ),
    "flexural cantilever": Case(
        vb.Structure(
            {"m1": "m1", "m2": "m2", "m3": "m3"}, [], inputs=[vb.BaseAcceleration()],
            damping=vb.Rayleigh("a", "b"), frames=[vb.FlexuralCantilever("rigidity", "height")],
        ),
        draws(m1=(0.5, 2), m2=(0.5, 2), m3=(0.5, 2), rigidity=(10, 30), height=(0.5, 1), a=(0, 0.5), b=(0, 0.003)),
        cantilever, vb.StraightLines(),
    ),
    "mass on a standard solid": Case(
        vb.Structure.single_dof("m", [vb.standard_solid_2("k1", "k2", "c2")]),
        draws(m=(0.5, 2), k1=(100, 900), k2=(100, 900), c2=(1, 30)), zener, vb.StraightLines(),
    ),
    "mass on Burgers' fluid": Case(
        vb.Structure.single_dof("m", [vb.series(vb.maxwell("k1", "c1"), vb.kelvin("k2", "c2"))]),
        draws(m=(0.5, 2), k1=(100, 900), c1=(1, 30), k2=(100, 900), c2=(1, 30)), burgers, vb.ZeroOrderHold(),
    ),
}  # fmt: skip


def relative_error(case: Case, method: vb.Method) -> float:
    """Largest error of any displacement or velocity in units of the largest of its kind."""
    solution = vb.simulate(case.structure, case.excitation, case.parameters, method=method)
    masses = len(case.structure.masses)
    expected, motion = case.expected(), np.asarray(solution.states)
    kinds = (slice(0, masses), slice(masses, 2 * masses))
    errors = [
        np.abs(motion[..., kind] - expected[..., kind]).max((1, 2)) / np.abs(expected[..., kind]).max((1, 2))
        for kind in kinds
    ]
    return float(np.max(errors))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_exact_is_the_matrix_exponential(case):
    assert relative_error(case, vb.Exact()) < 1e-12


TIGHT = ["oscillator, straight-line force", "Rayleigh chain on a shaken base, held", "mass on a standard solid"]


@pytest.mark.slow
@pytest.mark.parametrize("case", [CASES[name] for name in TIGHT], ids=TIGHT)
def test_event_located_meets_its_tolerance(case):
    for rtol in (1e-6, 1e-8, 1e-10):
        method = vb.EventLocated(rtol, 1e-3 * rtol)
        assert relative_error(case, method) < 30 * rtol


def test_an_accelerometer_feels_spring_and_damper_only_when_the_base_shakes():
    case = CASES["oscillator on a shaken base"]
    solution = vb.simulate(case.structure, case.excitation, case.parameters, method=vb.Exact())
    m, c, k = (case.parameters[name][:, None] for name in ("m", "c", "k"))
    x, v = case.expected()[..., 0], case.expected()[..., 1]
    felt = solution["absolute acceleration of mass"]
    np.testing.assert_allclose(felt, -(c * v + k * x) / m, rtol=0, atol=1e-11 * np.abs(felt).max())


def test_exact_needs_no_finer_samples_for_stiff_frequencies():
    # Forty radians per sample: the series must be split, and the answer remain exact.
    case = CASES["oscillator, held force"]
    stiff = Case(
        case.structure, {**SINGLE, "m": np.ones(SETS), "k": np.full(SETS, 4e6)}, oscillator, vb.ZeroOrderHold()
    )
    assert relative_error(stiff, vb.Exact()) < 1e-11


def test_free_vibration_starts_from_the_given_state():
    p, start = {name: values[0] for name, values in SINGLE.items()}, np.array([0.3, -2.0])
    silence = vb.Sampled(np.zeros(SAMPLES), RATE, vb.StraightLines())
    solution = vb.simulate(OSCILLATOR, silence, p, method=vb.Exact(), displacement=start[0], velocity=start[1])
    expected = linear_response(*oscillator(**p), np.zeros((SAMPLES, 1)), 1 / RATE, True, start)
    np.testing.assert_allclose(np.asarray(solution.states), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_smooth_sine_gives_the_steady_state_of_the_frequency_response():
    m, c, k, frequency = 1.3, 9.0, 500.0, 2.5
    force = vb.Sine(amplitude=2.0, frequency_hz=frequency, phase=0.4)
    solution = vb.simulate(OSCILLATOR, force, {"m": m, "c": c, "k": k}, method=vb.Exact(), rate=40.0, samples=801)
    s = 2j * np.pi * frequency
    settled = solution.times > 15.0  # the transient has decayed by exp(−52)
    expected = np.imag(2.0 * np.exp(s * solution.times + 0.4j) / (m * s * s + c * s + k))
    error = np.abs(solution["displacement of mass"] - expected)[settled].max()
    assert error < 1e-12 * np.abs(expected).max()
