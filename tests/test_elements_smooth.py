"""Polynomial springs and dampers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.structure.element import Settled, initial_stiffness, parameter_names
from vibayes.structure.elements.sign_switched import positive_power

GRID = np.linspace(-2.0, 2.0, 9)
LAWS = pytest.mark.parametrize("law", [vb.PolynomialSpring, vb.PolynomialDamper])


def respond(element, argument):
    """Force as a function of what the element responds to."""
    field = "velocity" if isinstance(element, vb.PolynomialDamper) else "deformation"
    return vb.static_force(element, **{field: argument})


@LAWS
def test_integer_powers_are_a_polynomial(law):
    element = law((0.5, 3.0, -2.0, 1.5, 0.25), (0, 1, 2, 3, 7))
    expected = np.polynomial.polynomial.polyval(GRID, [0.5, 3.0, -2.0, 1.5, 0.0, 0.0, 0.0, 0.25])
    np.testing.assert_allclose(respond(element, GRID), expected, rtol=1e-14, atol=1e-14)


@LAWS
def test_other_powers_are_odd(law):
    expected = 3.0 * np.sign(GRID) * np.abs(GRID) ** 1.7 + 0.4 * np.sign(GRID) * np.abs(GRID) ** 0.5
    np.testing.assert_allclose(respond(law((3.0, 0.4), (1.7, 0.5)), GRID), expected, rtol=1e-14, atol=1e-14)


@LAWS
def test_a_whole_number_written_as_a_float_is_an_integer_power(law):
    np.testing.assert_array_equal(respond(law((3.0,), (2.0,)), GRID), respond(law((3.0,), (2,)), GRID))


def test_a_spring_ignores_velocity_and_a_damper_deformation():
    spring, damper = vb.PolynomialSpring((3.0,), (3,)), vb.PolynomialDamper((3.0,), (3,))
    assert spring.force(vb.Local(0.0, 5.0)) == damper.force(vb.Local(5.0, 0.0)) == 0.0


def test_integer_powers_are_multiplied_out():
    program = str(jax.make_jaxpr(lambda d: vb.PolynomialSpring((1.0,), (5,)).force(vb.Local(d, 0.0)))(2.0))
    assert "pow" not in program and program.count(" mul ") == 5  # five, with those by the coefficient and one


def test_duffing_is_linear_plus_cubic():
    np.testing.assert_allclose(respond(vb.Duffing(4.0, 0.5), GRID), 4.0 * GRID + 0.5 * GRID**3, rtol=1e-14)


def test_unknown_coefficients_are_parameters_and_powers_are_not():
    assert parameter_names(vb.Duffing("k", "k3")) == ("k", "k3")


def test_stiffness_at_rest_is_the_linear_coefficient():
    assert float(initial_stiffness(vb.PolynomialSpring((7.0, 2.0, 3.0), (1, 2.5, 3)))) == 7.0


@LAWS
@pytest.mark.parametrize("argument", [-1.3, 0.0, 0.8])
def test_gradient_with_respect_to_coefficients_is_the_powers(law, argument):
    element = law((1.0, 2.0, 3.0), (1, 2, 1.5))
    gradient = jax.grad(lambda e: e.force(vb.Local(argument, argument)))(element).coefficients
    expected = (argument, argument**2, np.sign(argument) * abs(argument) ** 1.5)
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)


@pytest.mark.parametrize("power", [0, 0.5, 1, 1.5, 2, 3])
def test_slope_is_finite_at_zero(power):
    slope = jax.grad(lambda d: vb.PolynomialSpring((2.0,), (power,)).force(vb.Local(d, 0.0)) + 0.0 * d)(0.0)
    assert np.isfinite(slope)


@LAWS
def test_each_coefficient_needs_a_power(law):
    with pytest.raises(InvalidInput, match=rf"{law.__name__}.powers: expected one power per coefficient \(2\)"):
        law((1.0, 2.0), (1,))


@LAWS
@pytest.mark.parametrize("power", [-1, -0.5, float("nan"), float("inf")])
def test_powers_that_are_negative_or_not_finite_are_refused(law, power):
    with pytest.raises(InvalidInput, match=f"powers ≥ 0, got {power}"):
        law((1.0, 2.0), (1, power))


# ---- powers that go on smoothly beyond the event at zero ------------------------------------------------------------


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("known", [True, False])
def test_a_whole_power_goes_on_as_itself_below_zero(exponent, known):
    base = np.array([-0.7, -1e-3, 0.0, 1e-3, 0.7])
    given = Settled(exponent) if known else jnp.asarray(exponent)
    np.testing.assert_allclose(positive_power(jnp.asarray(base), given), base**exponent, rtol=1e-14)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_a_power_has_finite_derivatives_at_zero(exponent):
    by_base, by_exponent = jax.grad(positive_power, argnums=(0, 1))(0.0, jnp.asarray(exponent))
    assert np.isfinite(by_base) and by_exponent == 0.0
