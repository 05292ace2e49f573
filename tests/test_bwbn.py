"""Bouc–Wen–Baber–Noori hysteresis: the law itself, and the law driven by a prescribed deformation."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.structure.element import initial_stiffness

# Parameters of the example in the literature, with pinching and degradation.
PAPER: dict[str, Any] = {
    "alpha": 0.1, "k": 1.0, "beta": 1.5, "gamma": -0.5, "n": 1.0, "delta_eta": 0.05, "delta_nu": 0.005,
    "q": 0.1, "zeta10": 0.97, "p": 1.0, "psi0": 0.2, "delta_psi": 0.002, "lam": 0.1,
}  # fmt: skip
PINCHING = vb.BoucWenBaberNoori(**PAPER)
SHARP = vb.BoucWenBaberNoori(0.2, 30.0, 0.7, 0.4, 2.5, 0.3, 0.2, 0.25, 0.8, 1.3, 0.3, 0.1, 0.2)
PLAIN = vb.BoucWenBaberNoori(alpha=0.1, k=10.0, beta=0.6, gamma=0.3, n=1.5)
POINTS = np.random.default_rng(1).uniform([-1, -2, -0.9, 0.0], [1, 2, 0.9, 5.0], (40, 4))


def at(element, x, v, z, energy):
    local = vb.Local(x, v, (z, energy))
    return local._replace(mode=element.mode_at(local))


def transcription(m, v, z, energy):
    """Right-hand sides of z and ε, equation by equation."""
    eta = 1 + m.delta_eta * energy
    nu = 1 + m.delta_nu * energy
    z_u = (1 / (nu * (m.beta + m.gamma))) ** (1 / m.n)
    zeta1 = m.zeta10 * (1 - np.exp(-m.p * energy))
    zeta2 = (m.psi0 + m.delta_psi * energy) * (m.lam + zeta1)
    h = 1 - zeta1 * np.exp(-((z * np.sign(v) - m.q * z_u) ** 2) / zeta2**2)
    bracket = m.beta * abs(v) * abs(z) ** (m.n - 1) * z + m.gamma * v * abs(z) ** m.n
    return h * ((v - nu * bracket) / eta), (1 - m.alpha) * m.k * z * v


def glide(element, x, v, states, mode, distance, **settings):
    """Integrate at constant velocity, as far as the next zero of z where that is an event."""

    @jax.jit
    def flow(t, y):
        return jnp.stack(element.rates(vb.Local(x + v * t, v, tuple(y), mode)))

    def zero(t, y):
        return float(element.signs(vb.Local(x, v, tuple(y), mode))[1] * y[0])

    zero.terminal, zero.direction = True, -1  # type: ignore[attr-defined]
    events = zero if element.force_events else None
    return solve_ivp(flow, (0, distance), states, "DOP853", events=events, rtol=1e-9, atol=1e-11, **settings)


def drive(element, turns, **settings):
    """Rows (x, z, energy) under a deformation that goes from turn to turn; restarted at every event."""
    x, states, rows = turns[0], element.start(), []
    for target in turns[1:]:
        v = float(np.sign(target - x))
        mode = element.mode_at(vb.Local(x, v, states))
        while abs(target - x) > 1e-12:
            leg = glide(element, x, v, states, mode, abs(target - x), **settings)
            rows.append(np.column_stack([x + v * leg.t, leg.y.T]))
            x, states = float(rows[-1][-1, 0]), tuple(leg.y[:, -1])
            if leg.status == 1:
                mode, states = element.switch(vb.Local(x, v, states, mode), (False, True))
    return np.concatenate(rows)


@pytest.mark.parametrize("element", [PINCHING, SHARP])
def test_rates_are_those_of_the_equations(element):
    rates = jax.jit(element.rates)
    for x, v, z, energy in POINTS:
        expected = transcription(element, v, z, energy)
        np.testing.assert_allclose(rates(at(element, x, v, z, energy)), expected, rtol=1e-12, atol=1e-14)


def test_force_is_an_elastic_and_a_hysteretic_part():
    assert float(SHARP.force(vb.Local(0.5, 9.0, (-0.2, 3.0)))) == pytest.approx(0.2 * 30 * 0.5 - 0.8 * 30 * 0.2)


def test_without_degradation_and_pinching_it_is_bouc_wen_with_beta_and_gamma_exchanged():
    wen = vb.BoucWen(A=1.0, beta=PLAIN.gamma, gamma=PLAIN.beta, n=PLAIN.n)
    for x, v, z, energy in POINTS:
        local = at(PLAIN, x, v, z, energy)
        assert PLAIN.rates(local)[0] == wen.rates(local._replace(states=(z,)))[0]


@pytest.mark.parametrize("zeta10", [0.0, np.float64(0.0)])
def test_without_severity_there_is_no_pinching_whatever_its_shape(zeta10):
    shaped = replace(PINCHING, zeta10=zeta10)
    assert all(shaped._pinching(z * np.sign(v), energy, 1.1) == 1.0 for _, v, z, energy in POINTS)


def test_pinching_of_no_width_is_no_pinching():
    assert float(replace(PINCHING, psi0=0.0, delta_psi=0.0)._pinching(0.4, 2.0, 1.0)) == 1.0


def test_pinching_uses_the_sign_of_the_mode():
    slope = jax.grad(lambda v, mode: SHARP.rates(vb.Local(0.0, v, (0.3, 2.0), mode))[0])
    slopes = [slope(0.0, mode) for mode in (0, 2)]
    expected = [transcription(SHARP, v, 0.3, 2.0)[0] / v for v in (1e-9, -1e-9)]
    np.testing.assert_allclose(slopes, expected, rtol=1e-12)


def test_unlocated_signs_come_from_the_state():
    free = replace(SHARP, velocity_events=False, force_events=False)
    assert free.guard_names() == ()
    for x, v, z, energy in POINTS:
        local = at(SHARP, x, v, z, energy)
        assert free.rates(local._replace(mode=0)) == SHARP.rates(local)


def test_stiffness_at_rest_is_k():
    assert float(initial_stiffness(SHARP)) == pytest.approx(30.0)


@pytest.mark.slow
@pytest.mark.parametrize("element", [PLAIN, SHARP, PINCHING])
def test_z_stays_within_its_initial_limit(element):
    path = drive(element, [0.0, 8.0, -8.0, 8.0])
    assert np.abs(path[:, 1]).max() <= (element.beta + element.gamma) ** (-1 / element.n) * (1 + 1e-9)


def test_z_tends_to_its_limit():
    assert drive(PLAIN, [0.0, 40.0])[-1, 1] == pytest.approx(0.9 ** (-1 / 1.5), rel=1e-8)


@pytest.mark.slow
def test_locating_events_does_not_change_the_path():
    turns = [0.0, 1.5, -1.2, 2.0, 0.0]
    unlocated = replace(PINCHING, velocity_events=False, force_events=False)
    located = drive(PINCHING, turns)[-1]
    np.testing.assert_allclose(drive(unlocated, turns)[-1], located, rtol=1e-6)


@pytest.mark.slow
def test_the_energy_state_is_the_area_under_the_hysteretic_force():
    x, z, energy = drive(SHARP, [0.0, 1.5, -1.2, 2.0], max_step=0.01).T
    assert energy[-1] == pytest.approx(0.8 * 30.0 * np.trapezoid(z, x), rel=1e-4)


def test_degradation_softens():
    healthy, damaged = (float(SHARP.rates(at(SHARP, 0.0, 1.0, 0.8, energy))[0]) for energy in (0.0, 4.0))
    assert damaged < healthy


@pytest.mark.slow
@pytest.mark.parametrize("element", [PLAIN, SHARP, PINCHING])
def test_gradients_with_respect_to_parameters_are_finite_differences(element):
    leaves, shape = jax.tree.flatten(element)

    @jax.jit
    def outputs(leaves, local):
        return jnp.stack([*shape.unflatten(leaves).rates(local), shape.unflatten(leaves).force(local)])

    slopes, step = jax.jit(jax.jacobian(outputs)), 1e-6
    for point in POINTS[:5]:
        local = at(element, *point)
        for i, slope in enumerate(slopes(leaves, local)):
            up, down = (outputs([*leaves[:i], leaves[i] + s, *leaves[i + 1 :]], local) for s in (step, -step))
            np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-6, atol=1e-7)


slopes_of_rates = jax.jit(
    jax.jacobian(lambda element, states, local: element.rates(local._replace(states=states)), (0, 1))
)


@pytest.mark.parametrize("changes", [{}, {"lam": 0.0}, {"zeta10": 0.0}, {"psi0": 0.0, "delta_psi": 0.0}, {"n": 2.5}])
@pytest.mark.parametrize("point", [(0.0, 0.0, 0.0, 0.0), (0.1, 1.0, 0.0, 0.0), (0.0, 1.0, 0.1, 1e-200)])
def test_derivatives_are_finite_where_things_vanish(changes, point):
    element = replace(PINCHING, **changes)
    slopes = slopes_of_rates(element, point[2:], at(element, *point))
    assert all(np.isfinite(leaf) for leaf in jax.tree.leaves(slopes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 0.9}, "n: expected an exponent ≥ 1"),
        ({"alpha": 1.1}, "alpha: expected a ratio of stiffnesses from 0 to 1"),
        ({"alpha": -0.1}, "alpha: expected a ratio"),
        ({"k": 0.0}, "k: expected a positive stiffness"),
        ({"delta_eta": -0.1}, "delta_eta: expected a value ≥ 0"),
        ({"psi0": -0.1}, "psi0: expected a value ≥ 0"),
        ({"zeta10": 1.0}, "zeta10: expected a severity of pinching below 1"),
        ({"gamma": -1.5}, "beta: expected β . γ > 0 where there is pinching"),
        ({"p": 0.0}, "p: expected p > 0 where there is pinching"),
        ({"psi0": 0.0, "delta_psi": 0.0}, "psi0: expected ψ₀ > 0 or δ_ψ > 0 where there is pinching"),
    ],
)
def test_parameters_out_of_range_are_refused(changes, message):
    with pytest.raises(InvalidInput, match=message):
        vb.Structure.single_dof(1.0, [replace(PINCHING, **changes)]).bind()


def test_the_parameters_of_the_literature_are_accepted():
    vb.Structure.single_dof(1.0, [PINCHING]).bind()
