"""Periodic solutions against closed forms: elliptic functions, linear responses, matrix exponentials."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.special import ellipk

import vibayes as vb

LINEAR = vb.Structure(
    {"m1": 1.5, "m2": "m"},
    [
        vb.Spring(2.0).between("ground", "m1"),
        vb.Spring("k").between("m1", "m2"),
        vb.Damper(0.05).between("ground", "m1"),
    ],
    damping=vb.Rayleigh(0.01, 0.02),
)
LINEAR_VALUES = {"m": 0.7, "k": 1.2}
DUFFING = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "k3"), vb.Damper("c")])
HALF = {"k3": 0.5, "c": 0.02}
THREE = vb.HarmonicBalance(3)


def matrices() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, damping and stiffness of the linear structure, by hand."""
    mass = np.diag([1.5, 0.7])
    stiffness = np.array([[3.2, -1.2], [-1.2, 1.2]])
    return mass, np.diag([0.05, 0.0]) + 0.01 * mass + 0.02 * stiffness, stiffness


def duffing_frequency(amplitude: np.ndarray, cubic: float) -> np.ndarray:
    """Of a free oscillation of m = k = 1, by the complete elliptic integral."""
    hard = 1.0 + cubic * amplitude**2
    return np.pi * np.sqrt(hard) / (2.0 * ellipk(cubic * amplitude**2 / (2.0 * hard)))


@pytest.mark.parametrize("method", [vb.HarmonicBalance(15), vb.Shooting()], ids=["harmonic balance", "shooting"])
def test_the_backbone_of_duffings_oscillator_is_that_of_elliptic_functions(method):
    backbone = vb.nonlinear_mode(DUFFING, HALF, 1, amplitude=2.0, method=method)
    exact = duffing_frequency(backbone.amplitude("mass"), 0.5)
    assert backbone.complete
    assert backbone.amplitude("mass")[-1] > 2.0
    assert np.abs(backbone.frequencies / exact - 1.0).max() < 1e-8


def test_harmonics_that_are_left_out_show_in_the_backbone_and_in_its_tail():
    coarse, fine = (vb.nonlinear_mode(DUFFING, HALF, 1, 2.0, method=vb.HarmonicBalance(h)) for h in (1, 7))
    errors = [np.abs(b.frequencies / duffing_frequency(b.amplitude("mass"), 0.5) - 1.0).max() for b in (coarse, fine)]
    assert errors[0] > 1e-3 > 1e-6 > errors[1]
    assert fine.tail < 1e-4


@pytest.mark.parametrize("method", [THREE, vb.Shooting(harmonics=3)])
def test_a_linear_forced_response_is_that_of_its_receptance(method):
    forcing = {"m1": 0.3 + 0.1j, "m2": -0.2}
    branch = vb.forced_response(LINEAR, LINEAR_VALUES, forcing, (0.3, 2.5), method)
    mass, damping, stiffness = matrices()
    for point in range(0, len(branch), 7):
        w = branch.frequencies[point]
        exact = np.linalg.solve(stiffness - w**2 * mass + 1j * w * damping, np.array([0.3 + 0.1j, -0.2]))
        found = [branch.harmonic(name)[point] for name in ("m1", "m2")]
        assert np.abs(found - exact).max() < 1e-8 * np.abs(exact).max()
    assert branch.frequencies[0] == 0.3
    assert branch.frequencies[-1] == 2.5
    assert branch.stable.all()
    assert branch.specials == ()


def test_shaking_of_the_ground_is_a_force_on_every_mass():
    shaken = vb.forced_response(LINEAR, LINEAR_VALUES, {"ground": 2.0}, (0.3, 0.5), THREE)
    pushed = vb.forced_response(LINEAR, LINEAR_VALUES, {"m1": -3.0, "m2": -1.4}, (0.3, 0.5), THREE)
    assert np.allclose(shaken.coefficients, pushed.coefficients, rtol=1e-9, atol=1e-12)


def test_forces_at_a_multiple_of_the_frequency_act_there():
    branch = vb.forced_response(LINEAR, LINEAR_VALUES, {"m2": (0.0, 0.5)}, (0.3, 0.5), THREE)
    mass, damping, stiffness = matrices()
    w = 2.0 * branch.frequencies[-1]
    exact = np.linalg.solve(stiffness - w**2 * mass + 1j * w * damping, np.array([0.0, 0.5]))
    assert abs(branch.harmonic("m2", 2)[-1] - exact[1]) < 1e-9
    assert abs(branch.harmonic("m2", 1)[-1]) < 1e-12


@pytest.mark.parametrize("method", [THREE, vb.Shooting(harmonics=3)])
def test_multipliers_of_a_linear_structure_are_those_of_the_matrix_exponential(method):
    branch = vb.forced_response(LINEAR, LINEAR_VALUES, {"m1": 1.0}, (0.9, 1.1), method)
    mass, damping, stiffness = matrices()
    inverse = np.linalg.inv(mass)
    flow = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ stiffness, -inverse @ damping]])
    exact = np.linalg.eigvals(expm(flow * 2.0 * np.pi / branch.frequencies[-1]))
    found = branch.multipliers[-1]
    assert np.abs(np.sort_complex(found) - np.sort_complex(exact)).max() < 1e-8


def test_folds_of_a_weak_duffing_oscillator_are_those_of_its_single_harmonic_equation():
    k3, c, force = 1e-3, 0.01, 0.1
    branch = vb.forced_response(DUFFING, {"k3": k3, "c": c}, {"mass": force}, (0.9, 1.2), vb.HarmonicBalance(1))
    a = np.linspace(0.5, 10.0, 200_001)
    # One harmonic: ((1 + 3/4 k3 a² − w²)² + c² w²) a² = P², whose w² are the two roots of a parabola.
    middle = 1.0 + 0.75 * k3 * a**2 - 0.5 * c**2
    root = (force / a) ** 2 - (1.0 + 0.75 * k3 * a**2) ** 2 + middle**2
    upper = np.sqrt(middle[root >= 0] + np.sqrt(root[root >= 0]))
    # From small amplitudes to large ones the upper root falls to one fold and then rises to the other.
    turning = np.array([upper.min(), upper[upper.argmin() :].max()])
    folds = sorted(s.frequency for s in branch.specials if s.kind == "fold")
    assert len(folds) == 2
    assert np.abs(np.array(folds) - turning).max() < 1e-6


def test_between_the_folds_the_middle_solution_is_unstable_and_only_that():
    branch = vb.forced_response(DUFFING, {"k3": 0.1, "c": 0.05}, {"mass": 0.1}, (0.5, 1.6))
    first, second = (s.after for s in branch.specials)
    unstable = np.flatnonzero(~branch.stable)
    assert unstable.tolist() == list(range(first + 1, second + 1))


def test_in_phase_resonance_the_force_makes_up_for_damping():
    backbone = vb.phase_resonance(DUFFING, HALF, {"mass": 1.0}, 1, amplitude=1.5)
    z = backbone.harmonic("mass")
    dissipated = sum(
        0.02 * backbone.frequencies * k**2 * np.abs(backbone.harmonic("mass", k)) ** 2 for k in range(1, 8)
    )
    assert np.abs(np.real(z)).max() < 1e-9
    assert np.allclose(backbone.levels * np.abs(z), dissipated, rtol=1e-9)
    free = vb.nonlinear_mode(DUFFING, HALF, 1, amplitude=1.4)
    at = np.interp(1.3, backbone.amplitude("mass"), backbone.frequencies)
    assert abs(at - np.interp(1.3, free.amplitude("mass"), free.frequencies)) < 1e-3
