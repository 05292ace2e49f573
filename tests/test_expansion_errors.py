"""How far a normal form can be trusted, against the exact period of one-dimensional conservative motion."""

import numpy as np
import pytest
from scipy.optimize import brentq
from tests.test_normal_form import balance_of, three_masses

import vibayes as vb
from vibayes.backbone.trust import trust_notes

LAW = {1: 1.0, 2: 0.3, 3: 0.5, 5: 0.2}


def quadrature(size, law):
    """Frequency of the motion whose fundamental has this amplitude: energy integral, Gauss–Chebyshev substitution."""
    angles = (np.arange(2000) + 0.5) * np.pi / 2000

    def potential(x):
        return sum(c * x ** (p + 1) / (p + 1) for p, c in law.items())

    def motion(right):
        left = brentq(lambda x: potential(x) - potential(right), -3.0 * right, -1e-9)
        x = 0.5 * (right + left) + 0.5 * (right - left) * np.cos(angles)
        rate = 0.5 * (right - left) * np.sin(angles) / np.sqrt(2.0 * (potential(right) - potential(x)))
        times = (np.cumsum(rate) - 0.5 * rate) * np.pi / 2000
        period = 2.0 * np.sum(rate) * np.pi / 2000
        fundamental = 4.0 / period * np.sum(x * np.cos(2.0 * np.pi * times / period) * rate) * np.pi / 2000
        return fundamental, 2.0 * np.pi / period

    return motion(brentq(lambda right: motion(right)[0] - size, 0.5 * size, 1.5 * size))[1]


def posed(law, sizes, method, noise=1e-4, **errors):
    names = {power: f"a{power}" for power in law if power > 1}
    spring = vb.PolynomialSpring((law[1], *names.values()), (1, *names))
    structure = vb.Structure.single_dof(1.0, [spring])
    points = vb.BackbonePoints([quadrature(size, law) for size in sizes], sizes, **errors)
    return vb.fitting(structure, points, noise, method), points, {names[p]: law[p] for p in names}


def test_the_frequency_without_expansion_is_that_of_the_energy_integral():
    prepared, points, values = posed(LAW, np.linspace(0.2, 1.1, 9), vb.BackboneResidual(2))
    found = vb.expansion_errors(prepared.form, points, values)
    np.testing.assert_allclose(found.frequency, points.frequency[found.point], rtol=1e-6)
    second, third = 100.0 * found.errors[1:, -1] / found.frequency[-1]
    assert -2.5 < second < -2.1 and 4.1 < third < 4.6  # where the series has long ceased to converge
    assert np.all(np.abs(found.errors[2, :3]) < np.abs(found.errors[1, :3]))  # and where it does


def test_a_third_order_that_is_worse_than_the_second_is_said():
    (said,) = trust_notes(*posed(LAW, np.linspace(0.1, 1.1, 24), vb.BackboneResidual(3, remainder=False)))
    assert "order 3 is off in frequency" in said and "the third by more than the second" in said
    (said,) = trust_notes(*posed(LAW, np.linspace(0.1, 1.1, 24), vb.BackboneResidual(2)))
    assert "does not converge" in said and "the remainder allows for the error" in said
    assert not trust_notes(*posed(LAW, np.linspace(0.05, 0.3, 24), vb.BackboneResidual(2)))


@pytest.mark.parametrize("known", [False, True])
def test_the_amplitude_from_which_on_errors_exceed_the_scatter_is_that_of_the_energy_integral(known):
    """By the scatter of the equations, σ / 2ΩU, or by standard errors of the points, which a fitted σ cannot hide."""
    law, sizes, level = {1: 1.0, 3: 0.5}, np.linspace(0.1, 1.2, 8), 2e-4
    errors = {"frequency_errors": np.full(8, level), "amplitude_errors": np.zeros((8, 1))} if known else {}
    method, sigma = vb.BackboneResidual(1, remainder=False), 10.0 if known else level
    (said,) = trust_notes(*posed(law, sizes, method, sigma, **errors))
    exact = np.array([quadrature(size, law) for size in sizes])
    off = np.abs(np.sqrt(1.0 + 0.75 * 0.5 * sizes**2) - exact)  # the first order in closed form
    first = sizes[np.argmax(off > (level if known else level / (2.0 * exact * sizes)))]
    assert f"from an amplitude of {first:.3g} of mode 1 on" in said and "order 1" in said


def test_the_frequency_without_expansion_of_several_masses_is_that_of_their_equations_of_motion():
    structure, masses, stiffness, forces = three_masses()
    sizes = np.array([0.3, 0.6])
    curve = vb.backbone_curve(vb.normal_form(structure, order=2), sizes)
    found = vb.expansion_errors(
        vb.normal_form(structure, order=2), vb.BackbonePoints(curve.frequency, curve.amplitudes)
    )
    oracle = balance_of(structure, masses, stiffness, forces)
    np.testing.assert_allclose(found.frequency, [oracle(size) for size in sizes], rtol=1e-9)
    np.testing.assert_allclose(found.errors[1], curve.frequency - found.frequency, atol=1e-12)
