"""Ramberg–Osgood hysteresis driven by a prescribed deformation, against its closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.structure.element import initial_stiffness

K, R_Y, N, A = 10.0, 2.0, 5.0, 0.8
LAW = vb.RambergOsgood(stiffness=K, yield_force=R_Y, exponent=N, factor=A)
SKELETON_ON, SKELETON_BACK, BRANCH_ON, BRANCH_BACK = range(4)


def skeleton(r, n=N):
    """Deformation on the skeleton."""
    return r / K * (1 + A * np.abs(r / R_Y) ** (n - 1))


def branch(r, x0, r0, n=N):
    """Deformation on the branch from a reversal."""
    return x0 + 2 * skeleton((r - r0) / 2, n)


def glide(law, x, v, states, mode, work, distance):
    """Integrate at constant velocity, as far as the next event."""

    def seen(t, y):
        return vb.Local(x + v * t, v, tuple(y[:3]), mode)

    @jax.jit
    def flow(t, y):
        return jnp.stack([*law.rates(seen(t, y)), law.hysteretic_power(seen(t, y))])

    @jax.jit
    def end(t, y):
        return law.guards(seen(t, y))[1]

    def rejoin(t, y):
        return float(end(t, y))

    rejoin.terminal, rejoin.direction = True, -1  # type: ignore[attr-defined]
    return solve_ivp(flow, (0, distance), (*states, work), "DOP853", events=rejoin, rtol=1e-11, atol=1e-12)


def drive(turns, law=LAW):
    """For each turn the rows (x, r, work) on the way there, from the virgin state."""
    x, states, work, mode, legs = 0.0, law.start(), 0.0, None, []
    for target in turns:
        v, rows = float(np.sign(target - x)), []
        if mode is None:
            mode = law.mode_at(vb.Local(x, v, states))
        else:
            mode, states = law.switch(vb.Local(x, v, states, mode), (True, False))
        while abs(target - x) > 1e-13:
            leg = glide(law, x, v, states, mode, work, abs(target - x))
            rows.append(np.column_stack([x + v * leg.t, leg.y[0], leg.y[3]]))
            x, states, work = float(rows[-1][-1, 0]), tuple(leg.y[:3, -1]), leg.y[3, -1]
            if leg.status == 1:
                mode, states = law.switch(vb.Local(x, v, states, mode), (False, True))
        legs.append(np.concatenate(rows))
    return legs


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("n", [1.0, 1.5, 3.0, 7.3])
def test_first_loading_traces_the_skeleton(direction, n):
    (leg,) = drive([direction * 1.0], vb.RambergOsgood(K, R_Y, n, A))
    np.testing.assert_allclose(leg[:, 0], skeleton(leg[:, 1], n), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("n", [1.5, 5.0])
def test_unloading_traces_a_masing_branch(direction, n):
    loading, unloading = drive([direction * 1.0, -direction * 0.9], vb.RambergOsgood(K, R_Y, n, A))
    x0, r0, _ = loading[-1]
    np.testing.assert_allclose(unloading[:, 0], branch(unloading[:, 1], x0, r0, n), atol=1e-9)


def test_a_symmetric_cycle_closes_its_loop():
    first, _, last = drive([1.0, -1.0, 1.0])
    assert last[-1, 1] == pytest.approx(first[-1, 1], rel=1e-9)


def test_reloading_in_a_symmetric_cycle_traces_the_branch_from_the_lower_turn():
    _, down, up = drive([1.0, -1.0, 1.0])
    np.testing.assert_allclose(up[:, 0], branch(up[:, 1], *down[-1, :2]), atol=1e-8)


def test_a_branch_that_reaches_the_largest_force_goes_on_along_the_skeleton():
    loading, beyond = drive([0.7, -2.0])
    rejoined = beyond[:, 1] < -loading[-1, 1]
    assert rejoined.sum() > 3
    np.testing.assert_allclose(beyond[rejoined, 0], skeleton(beyond[rejoined, 1]), atol=1e-9)


def test_an_inner_loop_returns_to_the_skeleton_where_it_left_it():
    loading, _, beyond = drive([1.0, 0.6, 2.0])
    rejoined = beyond[:, 1] >= loading[-1, 1]
    assert beyond[rejoined, 0][0] == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(beyond[rejoined, 0], skeleton(beyond[rejoined, 1]), atol=1e-9)


def test_every_reversal_starts_a_new_branch():
    *_, before, after = drive([1.0, -0.2, 0.3, -0.1])
    np.testing.assert_allclose(after[:, 0], branch(after[:, 1], *before[-1, :2]), atol=1e-9)


def test_a_cycle_absorbs_the_energy_of_its_loop():
    first, _, last = drive([1.0, -1.0, 1.0])
    r = first[-1, 1]
    plastic = skeleton(r) - r / K
    assert last[-1, 2] - first[-1, 2] == pytest.approx(4 * r * plastic * (N - 1) / (N + 1), rel=1e-8)


def test_a_large_exponent_is_elastic_perfectly_plastic():
    (leg,) = drive([1.0], vb.RambergOsgood(K, R_Y, 200.0, A))
    assert leg[-1, 1] == pytest.approx(R_Y, rel=0.02)
    assert leg[leg[:, 0] < 0.15, 1] == pytest.approx(K * leg[leg[:, 0] < 0.15, 0], rel=1e-9)


def test_stiffness_at_rest_is_the_initial_one():
    assert float(initial_stiffness(LAW)) == K


def test_memory_does_not_flow():
    assert LAW.rates(vb.Local(0.1, 1.0, (1.0, -0.5, 1.5), BRANCH_ON))[1:] == (0.0, 0.0)


@pytest.mark.parametrize(
    ("mode", "r", "after", "memory"),
    [
        (SKELETON_ON, 1.7, BRANCH_BACK, (1.7, 1.7, 1.7)),
        (SKELETON_BACK, -1.7, BRANCH_ON, (-1.7, -1.7, 1.7)),
        (BRANCH_ON, 0.4, BRANCH_BACK, (0.4, 0.4, 1.5)),
        (BRANCH_BACK, 0.4, BRANCH_ON, (0.4, 0.4, 1.5)),
    ],
)
def test_turning_remembers_the_force_and_starts_a_branch(mode, r, after, memory):
    assert LAW.switch(vb.Local(0.0, 0.0, (r, -0.9, 1.5), mode), (True, False)) == (after, memory)


@pytest.mark.parametrize(("mode", "after", "sign"), [(BRANCH_ON, SKELETON_ON, 1), (BRANCH_BACK, SKELETON_BACK, -1)])
def test_the_end_of_a_branch_is_exactly_on_the_skeleton(mode, after, sign):
    nearly = vb.Local(0.0, sign * 1.0, (sign * 1.4999999, -0.9, 1.5), mode)
    assert LAW.switch(nearly, (False, True)) == (after, (sign * 1.5, -0.9, 1.5))


@pytest.mark.parametrize(("mode", "after"), [(SKELETON_ON, SKELETON_BACK), (SKELETON_BACK, SKELETON_ON)])
def test_turning_before_any_load_stays_on_the_skeleton(mode, after):
    assert LAW.switch(vb.Local(0.0, 0.0, (0.0, 0.0, 0.0), mode), (True, False))[0] == after


@pytest.mark.parametrize("mode", range(4))
def test_a_switch_leads_to_the_mode_that_fits_its_result(mode):
    direction = 1.0 if mode in (SKELETON_ON, BRANCH_ON) else -1.0
    force = direction * (1.8 if mode in (SKELETON_ON, SKELETON_BACK) else 0.3)
    after, states = LAW.switch(vb.Local(0.0, 0.0, (force, -0.9, 1.5), mode), (True, False))
    assert LAW.mode_at(vb.Local(0.0, -direction, states)) == after


@pytest.mark.parametrize("mode", range(4))
def test_guards_are_affine_within_a_mode(mode):
    def at(q):
        return np.array(LAW.guards(vb.Local(q[0], q[1], tuple(q[2:5]), mode, q[5])))

    a, b = np.random.default_rng(2).normal(size=(2, 6))
    np.testing.assert_allclose(at((a + b) / 2), (at(a) + at(b)) / 2, atol=1e-14)


def test_guards_are_positive_on_a_branch_below_the_largest_force_only():
    inside, outside = (LAW.guards(vb.Local(0.0, -1.0, (r, 1.0, 1.5), BRANCH_BACK)) for r in (-1.4, -1.6))
    assert min(inside) > 0 and outside[0] > 0 > outside[1]


@pytest.mark.parametrize("exponent", [1.0, 1.5, 5.0])
@pytest.mark.parametrize("mode", [SKELETON_ON, BRANCH_ON])
def test_gradients_with_respect_to_parameters_are_finite_differences(mode, exponent):
    local, step = vb.Local(0.1, 1.3, (1.2, -0.5, 1.6), mode), 1e-6
    leaves = [K, R_Y, exponent, A]
    rate = jax.jit(lambda leaves: vb.RambergOsgood(*leaves).rates(local)[0])
    for i, slope in enumerate(jax.grad(rate)(leaves)):
        up, down = (rate([*leaves[:i], leaves[i] + s, *leaves[i + 1 :]]) for s in (step, -step))
        assert float(slope) == pytest.approx(float(up - down) / (2 * step), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0, 5.5])
def test_derivatives_are_finite_at_a_reversal(exponent):
    law = vb.RambergOsgood(K, R_Y, exponent, A)

    def rate(law, states):
        return law.rates(vb.Local(0.0, -1.0, states, BRANCH_BACK))[0]

    slopes = jax.grad(rate, (0, 1))(law, (1.5, 1.5, 1.5))
    assert all(jnp.isfinite(leaf) for leaf in jax.tree.leaves(slopes))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "message"),
    [
        (vb.RambergOsgood(K, R_Y, 0.5), "exponent: expected an exponent ≥ 1"),
        (vb.RambergOsgood(0.0, R_Y, N), "stiffness: expected a positive stiffness"),
        (vb.RambergOsgood(K, -1.0, N), "yield_force: expected a positive force"),
        (vb.RambergOsgood(K, R_Y, N, -0.1), "factor: expected a factor a ≥ 0"),
    ],
)
def test_parameters_out_of_range_are_refused(law, message):
    with pytest.raises(InvalidInput, match=message):
        vb.Structure.single_dof(1.0, [law]).bind()
