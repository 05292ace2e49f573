"""Dry friction with sticking: Coulomb's law, and Bingham's with a dashpot beside it."""

import itertools

import jax
import numpy as np
import pytest

import vibayes as vb
from vibayes.errors import InvalidInput

BACK, STUCK, ON = 0, 1, 2
COULOMB = vb.CoulombFriction(limit=3.0, offset=0.5)
BINGHAM = vb.Bingham(limit=3.0, viscosity=2.0, offset=0.5)
BOTH = pytest.mark.parametrize("law", [COULOMB, BINGHAM], ids=["Coulomb", "Bingham"])


def loaded(law, load: float, velocity: float):
    """Motion of a unit mass on the law, under a force."""
    system = vb.Structure.single_dof(1.0, [law]).bind().compile()
    state = system.start((0.0,), (velocity,))
    return system.motion(state, system.modes_at(state), (load,))


def test_coulomb_slides_at_its_limit_whatever_the_speed():
    np.testing.assert_array_equal(vb.static_force(COULOMB, velocity=[-9.0, -1.0, 1.0, 9.0]), [-2.5, -2.5, 3.5, 3.5])


def test_bingham_adds_a_dashpot_to_coulomb():
    v = np.array([-9.0, -1.0, 1.0, 9.0])
    expected = vb.static_force(COULOMB, velocity=v) + vb.static_force(vb.Damper(2.0), velocity=v)
    np.testing.assert_allclose(vb.static_force(BINGHAM, velocity=v), expected, rtol=1e-15)


def test_bingham_without_viscosity_is_coulomb():
    without = vb.Bingham(3.0, 0.0, 0.5)
    for mode, v, force in itertools.product((BACK, STUCK, ON), (-1.0, 0.0, 2.0), (-4.0, 1.0)):
        local = vb.Local(0.3, v, (), mode, force)
        assert without.force(local) == COULOMB.force(local)
        assert without.guards(local) == COULOMB.guards(local)
        assert without.hysteretic_power(local) == COULOMB.hysteretic_power(local)


@BOTH
@pytest.mark.parametrize("reaction", [-2.51, -2.49, 0.0, 3.49, 3.51])
def test_it_sticks_while_the_reaction_is_within_the_limits(law, reaction):
    within = all(guard > 0 for guard in law.guards(vb.Local(0.0, 0.0, (), STUCK, reaction)))
    assert within == (-2.5 < reaction < 3.5)


@BOTH
@pytest.mark.parametrize("mode", [BACK, ON])
def test_it_slides_while_the_velocity_keeps_its_sign(law, mode):
    sign = mode - STUCK
    assert min(law.guards(vb.Local(0.0, 0.1 * sign, (), mode))) > 0
    assert min(law.guards(vb.Local(0.0, -0.1 * sign, (), mode))) < 0


@BOTH
@pytest.mark.parametrize("mode", [BACK, ON])
def test_standstill_sticks(law, mode):
    assert law.switch(vb.Local(0.0, 0.0, (), mode), (True, False))[0] == STUCK


@BOTH
def test_it_breaks_away_to_the_side_of_the_limit_that_was_passed(law):
    local = vb.Local(0.0, 0.0, (), STUCK, 9.0)
    assert law.switch(local, (True, False))[0] == ON
    assert law.switch(local, (False, True))[0] == BACK


@BOTH
def test_the_mode_at_rest_is_stuck(law):
    assert [int(law.mode_at(vb.Local(0.0, v))) for v in (-1e-9, 0.0, 1e-9)] == [BACK, STUCK, ON]


@BOTH
@pytest.mark.parametrize("load", [-2.4, 0.0, 3.4])
def test_a_mass_at_rest_is_held_by_a_reaction_equal_to_the_load(law, load):
    motion = loaded(law, load, velocity=0.0)
    assert motion.acceleration[0] == pytest.approx(0.0, abs=1e-15)
    assert motion.locals[0].force == pytest.approx(load, abs=1e-15)


@BOTH
def test_a_sliding_mass_feels_load_minus_friction(law):
    expected = 10.0 - float(vb.static_force(law, velocity=1.5))
    assert float(loaded(law, 10.0, velocity=1.5).acceleration[0]) == pytest.approx(expected)


@BOTH
@pytest.mark.parametrize("v", [-2.0, 2.0])
def test_hysteretic_power_is_that_of_the_friction_alone(law, v):
    local = vb.Local(0.0, v, (), law.mode_at(vb.Local(0.0, v)))
    assert float(law.hysteretic_power(local)) == pytest.approx((0.5 + 3.0 * np.sign(v)) * v)


@BOTH
@pytest.mark.parametrize("mode", [BACK, STUCK, ON])
def test_force_power_and_guards_are_affine_within_a_mode(law, mode):
    def everything(v, force):
        local = vb.Local(0.0, v, (), mode, force)
        return np.array([law.force(local), law.hysteretic_power(local), *law.guards(local)], float)

    a, b = np.array([1.3, -0.4]), np.array([-2.1, 3.0])
    np.testing.assert_allclose(everything(*(a + b) / 2), (everything(*a) + everything(*b)) / 2, atol=1e-14)


@pytest.mark.parametrize("v", [-2.0, 2.0])
def test_gradient_with_respect_to_parameters_is_direction_velocity_and_one(v):
    local = vb.Local(0.0, v, (), BINGHAM.mode_at(vb.Local(0.0, v)))
    gradient = jax.grad(lambda e: e.force(local))(BINGHAM)
    assert (gradient.limit, gradient.viscosity, gradient.offset) == (np.sign(v), v, 1.0)


@pytest.mark.parametrize("law", [vb.CoulombFriction("f_c"), vb.Bingham("f_c", 1.0)])
def test_a_negative_limit_is_refused(law):
    with pytest.raises(InvalidInput, match="limit: expected a friction limit ≥ 0"):
        vb.Structure.single_dof(1.0, [law]).bind({"f_c": [1.0, -1.0]})


def test_two_frictions_side_by_side_are_refused():
    with pytest.raises(InvalidInput, match="sticking forces are determined"):
        vb.Structure.single_dof(1.0, [COULOMB, BINGHAM])
