"""Viscoelastic networks: what follows from the tree is what the rules of series and parallel joints say."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.structure.element import bind, initial_stiffness
from vibayes.structure.elements.viscoelastic_network import Parallel, Series

SPRING, DAMPER = vb.Spring(3.0), vb.Damper(0.7)
MAXWELLS = vb.generalised_maxwell([(2.0, 0.3), (5.0, 1.1)])

NETWORKS = {
    "spring": vb.series(SPRING),
    "damper": vb.parallel(DAMPER),
    "kelvin": vb.kelvin(2.0, 0.3),
    "maxwell": vb.maxwell(2.0, 0.3),
    "standard_solid_1": vb.standard_solid_1(4.0, 2.0, 0.3),
    "standard_solid_2": vb.standard_solid_2(4.0, 2.0, 0.3),
    "standard_fluid_1": vb.standard_fluid_1(0.9, 2.0, 0.3),
    "standard_fluid_2": vb.standard_fluid_2(0.9, 2.0, 0.3),
    "generalised_maxwell": vb.generalised_maxwell([(2.0, 0.3), (5.0, 1.1), (1.0, 4.0)], stiffness=1.5),
    "generalised_kelvin": vb.generalised_kelvin([(2.0, 0.3), (5.0, 1.1), (1.0, 4.0)], stiffness=1.5),
    "kelvin_beside_maxwell": vb.generalised_maxwell([(2.0, 0.3)], stiffness=4.0, damping=0.9),
    "burgers": vb.generalised_kelvin([(2.0, 0.3)], stiffness=4.0, damping=0.9),
    "two_maxwells": MAXWELLS,
    "two_kelvins": vb.generalised_kelvin([(2.0, 0.3), (5.0, 1.1)]),
    "two_springs_in_series": vb.series(SPRING, vb.Spring(2.0)),
    "two_dampers_in_series": vb.series(DAMPER, vb.Damper(2.0)),
    "two_springs_and_a_damper": vb.series(SPRING, DAMPER, vb.Spring(2.0)),
    "solid_2_behind_spring": vb.series(SPRING, vb.standard_solid_2(4.0, 2.0, 0.3)),
    "solid_2_behind_spring_and_damper": vb.series(SPRING, DAMPER, vb.standard_solid_2(4.0, 2.0, 0.3)),
    "two_maxwells_behind_spring": vb.series(SPRING, MAXWELLS),
    "pairs_of_maxwells_in_series": vb.series(MAXWELLS, vb.generalised_maxwell([(1.0, 0.5), (4.0, 3.0)])),
    "pairs_of_maxwells_spring_and_kelvin": vb.series(
        MAXWELLS, SPRING, vb.generalised_maxwell([(1.0, 0.5), (4.0, 3.0)]), vb.kelvin(1.0, 2.0)
    ),
    "fluid_2_behind_damper": vb.series(DAMPER, vb.standard_fluid_2(0.9, 2.0, 0.3)),
}
STATES = dict.fromkeys(NETWORKS, 1) | {
    "spring": 0,
    "damper": 0,
    "kelvin": 0,
    "generalised_maxwell": 3,
    "generalised_kelvin": 3,
    "burgers": 2,
    "two_maxwells": 2,
    "two_springs_in_series": 0,
    "two_dampers_in_series": 0,
    "solid_2_behind_spring_and_damper": 2,
    "two_maxwells_behind_spring": 2,
    "pairs_of_maxwells_in_series": 3,
    "pairs_of_maxwells_spring_and_kelvin": 4,
}
every_network = pytest.mark.parametrize("name", NETWORKS)


def stiffness_by_rule(network: Any, s: complex) -> Any:
    """Force over deformation at the complex frequency s: stiffnesses add, or compliances do."""
    if isinstance(network, vb.Spring):
        return network.stiffness
    if isinstance(network, vb.Damper):
        return network.coefficient * s  # type: ignore[operator]
    parts = [stiffness_by_rule(part, s) for part in network.parts]
    return sum(parts) if isinstance(network, Parallel) else 1.0 / sum(1.0 / part for part in parts)


def matrices(element):
    """A, a, b of dq/dt = A q + a d + b v and κ, c, γ of f = κ d + c v + γ q, read off its methods."""
    size = len(element.states)
    ready = element.prepare()
    columns, forces = [], []
    for unit in np.eye(2 + size):
        local = vb.Local(unit[0], unit[1], tuple(unit[2:]))
        columns.append(ready.rates(local))
        forces.append(float(ready.force(local)))
    table = np.array(columns, dtype=float).reshape(2 + size, size).T
    return table[:, 2:], table[:, 0], table[:, 1], forces[0], forces[1], np.array(forces[2:])


def stiffness_by_states(element, s):
    A, a, b, kappa, c, gamma = matrices(element)
    states = np.linalg.solve(s * np.eye(len(A)) - A, a + b * s) if len(A) else np.zeros(0)
    return kappa + c * s + gamma @ states


def force_after_a_step(element, times):
    """Force at the times after the deformation has jumped from 0 to 1."""
    A, a, b, kappa, _, gamma = matrices(element)
    generator = np.zeros((len(A) + 1,) * 2)
    generator[:-1, :-1], generator[:-1, -1] = A, a
    start = np.append(b, 1.0)
    return np.array([np.append(gamma, kappa) @ expm(generator * t) @ start for t in times])


@every_network
@pytest.mark.parametrize("frequency", [1e-3, 0.3, 2.0, 40.0, 1e4])
def test_complex_stiffness_is_that_of_the_series_and_parallel_rules(name, frequency):
    element = NETWORKS[name]
    expected = stiffness_by_rule(element.network, 1j * frequency)
    assert stiffness_by_states(element, 1j * frequency) == pytest.approx(expected, rel=1e-11)


positive = st.floats(0.05, 20.0)
leaf = st.builds(vb.Spring, positive) | st.builds(vb.Damper, positive)


def joined(parts):
    several = st.lists(parts, min_size=2, max_size=3)
    return several.map(lambda p: vb.series(*p)) | several.map(lambda p: vb.parallel(*p))


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.recursive(leaf, joined, max_leaves=9), st.floats(0.1, 10.0))
def test_complex_stiffness_of_any_tree_is_that_of_the_rules(tree, frequency):
    element = vb.series(tree)
    expected = stiffness_by_rule(element.network, 1j * frequency)
    assert stiffness_by_states(element, 1j * frequency) == pytest.approx(expected, rel=1e-8)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.recursive(leaf, joined, max_leaves=9))
def test_held_at_rest_every_network_comes_to_rest(tree):
    A, *_ = matrices(vb.series(tree))
    assert len(A) == 0 or np.linalg.eigvals(A).real.max() < 0


@every_network
def test_number_of_states_is_the_least_possible(name):
    element = NETWORKS[name]
    assert len(element.states) == STATES[name]
    A, a, b, *_, gamma = matrices(element)
    drive = A @ b + a  # states driven by the deformation alone: q − b d
    size = len(A)
    reached = np.array([np.linalg.matrix_power(A, i) @ drive for i in range(size)])
    seen = np.array([gamma @ np.linalg.matrix_power(A, i) for i in range(size)])
    assert size == 0 or (np.linalg.matrix_rank(reached), np.linalg.matrix_rank(seen)) == (size, size)


def test_states_are_named_after_the_parts_that_deform():
    two_kelvins = vb.generalised_kelvin([("k1", "c1"), ("k2", "c2")])
    assert two_kelvins.states == ("e(k1|c1)",)
    assert vb.standard_solid_1(1.0, 1.0, 1.0).states == ("e(k2|c1)",)
    assert vb.parallel(vb.maxwell("k", "c"), vb.maxwell("k", "c")).states == ("e(k)", "e(k_1)")


def test_state_names_survive_binding():
    element = vb.standard_solid_1("k1", "k2", "c2")
    assert bind(element, {"k1": 1.0, "k2": 2.0, "c2": 3.0}).states == element.states


def test_nested_joints_of_one_kind_are_one_joint():
    nested = vb.series(vb.series(vb.Spring(1.0), vb.Damper(2.0)), vb.series(vb.Spring(3.0)))
    assert isinstance(nested.network, Series)
    assert nested.notation == "k1+c1+k2"
    assert nested.states == ("e(k1+k2)",)


def test_maxwell_force_relaxes_exponentially():
    k, c, times = 2.0, 0.3, np.array([0.0, 0.1, 0.5])
    np.testing.assert_allclose(force_after_a_step(vb.maxwell(k, c), times), k * np.exp(-times * k / c), rtol=1e-12)


def test_generalised_maxwell_relaxes_as_a_prony_series():
    branches, times = [(2.0, 0.3), (5.0, 1.1), (1.0, 4.0)], np.array([0.0, 0.1, 1.0, 20.0])
    expected = 1.5 + sum(k * np.exp(-times * k / c) for k, c in branches)
    force = force_after_a_step(vb.generalised_maxwell(branches, stiffness=1.5), times)
    np.testing.assert_allclose(force, expected, rtol=1e-12)


def test_standard_solid_1_relaxes_from_its_spring_to_the_two_springs_in_series():
    k1, k2 = 4.0, 2.0
    first, last = force_after_a_step(vb.standard_solid_1(k1, k2, 0.3), np.array([0.0, 50.0]))
    assert first == pytest.approx(k1, rel=1e-12)
    assert last == pytest.approx(k1 * k2 / (k1 + k2), rel=1e-12)


def test_standard_solids_1_and_2_are_the_same_material():
    k1, k2, c2 = 4.0, 2.0, 0.3
    total = k1 + k2
    other = vb.standard_solid_2(k1 * k2 / total, k1**2 / total, c2 * (k1 / total) ** 2)
    times = np.linspace(0.0, 1.0, 7)
    np.testing.assert_allclose(
        force_after_a_step(other, times),
        force_after_a_step(vb.standard_solid_1(k1, k2, c2), times),
        rtol=1e-12,
    )


def test_kelvin_chain_creeps_as_the_sum_of_its_units():
    """Under a constant force F each unit goes to F/k as 1 − exp(−t k/c); the spring gives way at once."""
    k0, units, force = 1.5, [(2.0, 0.3), (5.0, 1.1)], 3.0
    element = vb.generalised_kelvin(units, stiffness=k0)
    A, a, _, kappa, _, gamma = matrices(element)
    rate = A - np.outer(a, gamma) / kappa  # with d = (F − γ q)/κ
    drive = a * force / kappa
    for t in (0.05, 0.4, 3.0):
        states = np.linalg.solve(rate, (expm(rate * t) - np.eye(2)) @ drive)
        expected = force / k0 + sum(force / k * (1 - np.exp(-t * k / c)) for k, c in units)
        assert (force - gamma @ states) / kappa == pytest.approx(expected, rel=1e-11)


@every_network
def test_start_for_a_held_deformation_is_an_equilibrium_with_the_static_force(name):
    element = NETWORKS[name].prepare()
    local = vb.Local(0.8, 0.0, element.start(0.8))
    assert np.allclose(element.rates(local), 0.0, atol=1e-12)
    expected = (stiffness_by_rule(element.network, 1e-12) * 0.8).real
    assert float(element.force(local)) == pytest.approx(expected, abs=1e-9)


def test_stiffness_at_rest_of_a_compliant_network_is_the_instantaneous_one():
    assert float(initial_stiffness(vb.standard_solid_1(4.0, 2.0, 0.3).prepare())) == pytest.approx(4.0)
    assert float(initial_stiffness(vb.standard_solid_2(4.0, 2.0, 0.3).prepare())) == pytest.approx(6.0)


@pytest.mark.slow
def test_between_two_masses_a_network_has_its_complex_stiffness():
    link = vb.series(vb.Spring(30.0), vb.kelvin(20.0, 1.5))
    structure = vb.Structure.chain([2.0, 1.0], [vb.Spring(100.0), link], base_acceleration=False)
    system = structure.bind().compile()
    zero, still = tuple(np.zeros(system.size)), (0,) * len(system.elements)
    A = np.array(jax.jacobian(lambda s: jax.numpy.stack(system.flow(tuple(s), still, (0.0,))))(np.zeros(system.size)))
    b = np.array(system.flow(zero, still, (1.0,)))
    s = 4.0j
    coupling = stiffness_by_rule(link.network, s)
    dynamic = np.array([[2.0 * s**2 + 100.0 + coupling, -coupling], [-coupling, s**2 + coupling]])
    response = np.linalg.solve(s * np.eye(len(A)) - A, b)[:2]
    np.testing.assert_allclose(response, np.linalg.solve(dynamic, [1.0, 0.0]), rtol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["burgers", "two_kelvins", "pairs_of_maxwells_spring_and_kelvin"])
def test_gradient_by_the_parameters_agrees_with_finite_differences(name):
    values, treedef = jax.tree.flatten(NETWORKS[name])
    states = tuple(np.linspace(0.3, -0.4, len(NETWORKS[name].states)))

    def outcome(values):
        element = jax.tree.unflatten(treedef, list(values)).prepare()
        local = vb.Local(0.7, -1.3, states)
        return element.force(local) + sum(np.cos(i) * r for i, r in enumerate(element.rates(local)))

    values = np.array(values)
    gradient = np.array(jax.grad(outcome)(jax.numpy.asarray(values)))
    step = 1e-6
    expected = [(outcome(values + step * e) - outcome(values - step * e)) / (2 * step) for e in np.eye(len(values))]
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)


def test_a_batch_of_parameter_sets_gives_what_each_set_gives():
    element, local = vb.standard_fluid_1("c1", 2.0, "c2"), vb.Local(0.7, -1.3, (0.2,))

    def outcome(c1, c2):
        ready = bind(element, {"c1": c1, "c2": c2}).prepare()
        return ready.force(local), ready.rates(local)[0]

    c1, c2 = np.array([0.5, 1.0, 4.0]), np.array([3.0, 0.1, 2.0])
    one_by_one = np.array([outcome(*pair) for pair in zip(c1, c2, strict=True)]).T
    np.testing.assert_allclose(jax.vmap(outcome)(c1, c2), one_by_one, rtol=1e-14)


def test_preparing_changes_no_value():
    element = NETWORKS["burgers"]
    local = vb.Local(0.7, -1.3, (0.2, -0.1))
    assert element.prepare().force(local) == pytest.approx(element.force(local), rel=1e-14)
    assert element.prepare().rates(local) == pytest.approx(element.rates(local), rel=1e-14)


def test_a_nonlinear_part_is_refused():
    with pytest.raises(InvalidInput, match=r"series: expected springs, dampers.* got CoulombFriction"):
        vb.series(vb.Spring(1.0), vb.CoulombFriction(1.0))  # type: ignore[arg-type]


def test_a_joint_of_nothing_is_refused():
    with pytest.raises(InvalidInput, match="parallel: expected at least one part, got none"):
        vb.parallel()


def test_a_chain_refuses_a_stiffness_of_zero():
    structure = vb.Structure.single_dof(1.0, [vb.maxwell("k", 1.0)])
    with pytest.raises(InvalidInput, match=r"viscoelastic_1\.k: expected a positive value"):
        structure.bind({"k": 0.0})


def test_outside_chains_zero_is_allowed_and_negative_is_not():
    structure = vb.Structure.single_dof(1.0, [vb.kelvin(1.0, "c")])
    structure.bind({"c": 0.0})
    with pytest.raises(InvalidInput, match=r"viscoelastic_1\.c: expected a value ≥ 0"):
        structure.bind({"c": -1.0})
