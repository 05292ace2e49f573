"""Normal forms against the published equations and against harmonic balance of free vibration."""

import itertools

import numpy as np
import pytest
from tests.balance import balanced

import vibayes as vb

VALUES = {"a1": 0.5, "a2": 0.05, "a3": 0.4}


def paper(coupling=0.105):
    """The published structure; both of its parameter sets differ in the coupling alone."""
    elements = [
        vb.Duffing(1.0, "a1").between("ground", "m1"),
        vb.Duffing(coupling, "a2").between("m1", "m2"),
        vb.Duffing(1.0, "a3").between("ground", "m2"),
    ]
    return vb.Structure({"m1": 1.0, "m2": 1.0}, elements)


def test_modes_of_the_published_structure_are_those_published():
    modes = vb.linear_modes(paper(coupling=1.0))
    np.testing.assert_allclose(modes.shapes, [[1.0, 1.0], [1.0, -1.0]], atol=1e-14)
    np.testing.assert_allclose(modes.frequencies**2, [1.0, 3.0], rtol=1e-14)


def test_equations_11_follow_from_the_structure():
    rng = np.random.default_rng(0)
    frequency, signed = rng.uniform(0.9, 1.4, 50), rng.normal(size=(50, 2))
    found = vb.normal_form(paper()).residuals(frequency, signed, VALUES)
    a1, a2, a3 = VALUES.values()
    one, two = signed.T  # U1 and p U2
    first = (1.0 - frequency**2) * one + 3 / 8 * (a1 * (one + two) ** 3 + a3 * (one - two) ** 3)
    second = (1.21 - frequency**2) * two + 3 / 8 * (a1 * (one + two) ** 3 - a3 * (one - two) ** 3 + 16 * a2 * two**3)
    np.testing.assert_allclose(found, np.stack([first, second], axis=1), rtol=1e-14, atol=1e-14)


def test_equations_10_follow_from_the_structure():
    table = vb.monomials(vb.normal_form(paper()), VALUES)
    assert len(table.plus) == 20
    a1, a2, a3 = VALUES.values()
    mean, half = (a1 + a3) / 2, (a1 - a3) / 2
    rng = np.random.default_rng(1)
    (u1p, u2p), (u1m, u2m) = rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2))
    u1, u2 = u1p + u1m, u2p + u2m
    even = (u1p * u1m + 2 * u2p * u2m) * u1 + u1p * u2m**2 + u1m * u2p**2
    odd = (2 * u1p * u1m + u2p * u2m) * u2 + u1p**2 * u2m + u1m**2 * u2p
    expected = 3 * np.array([mean * even + half * odd, half * even + mean * odd + 8 * a2 * u2p * u2m * u2])
    found = table.resonant @ table.values([u1p, u2p], [u1m, u2m])
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_monomials_and_sampling_give_the_same_resonant_terms():
    structure = vb.Structure.chain([1.0, 2.0], [vb.PolynomialSpring((1.0, 0.3, 0.5), (1, 2, 3)), vb.Duffing(1.3, 0.2)])
    form = vb.normal_form(structure, ratios=(1, 2), clearance=0.0)
    table = vb.monomials(form)
    amplitude = np.array([0.3 - 0.1j, 0.2 + 0.4j])
    found = form.expansions([0.8], amplitude[None]).resonant[0][0]
    at_ratio = np.where(table.multiples[None] == table.ratios[:, None], table.coefficients, 0.0)
    expected = 2.0 * at_ratio @ table.values(amplitude / 2, amplitude.conj() / 2)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_residuals_are_linear_in_the_coefficients_at_first_order_only():
    frequency, signed = np.array([1.1]), np.array([[0.7, -0.3]])
    doubled = {name: 2.0 * value for name, value in VALUES.items()}
    nothing = dict.fromkeys(VALUES, 0.0)
    for order, linear in ((1, True), (2, False)):
        form = vb.normal_form(paper(), order=order)
        zero, once, twice = (form.residuals(frequency, signed, v) for v in (nothing, VALUES, doubled))
        assert np.allclose(twice - once, once - zero, rtol=1e-12) is linear


def orders_of_error(structure, order, oracle, sizes, **subset):
    """Measured order of the frequency's error in the amplitude, between successive sizes."""
    form = vb.normal_form(structure, order=order, **subset)
    curve = vb.backbone_curve(form, sizes)
    assert curve.converged.all()
    errors = np.abs(curve.frequency - [oracle(size) for size in sizes])
    return np.diff(np.log(errors)) / np.diff(np.log(sizes))


def three_masses():
    springs = [vb.Duffing(1.0, 0.6), vb.Duffing(1.2, -0.2), vb.Duffing(0.9, 0.4)]
    structure = vb.Structure.chain([1.0, 1.4, 0.8], springs)
    linear, cubic = np.array([1.0, 1.2, 0.9]), np.array([0.6, -0.2, 0.4])
    into = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    return (
        structure,
        np.array([1.0, 1.4, 0.8]),
        into.T @ np.diag(linear) @ into,
        lambda x: ((x @ into.T) ** 3 * cubic) @ into,
    )


def balance_of(structure, masses, stiffness, forces, mode=0, ratio=1):
    """An oracle for the frequency of a backbone, given the fundamental of a modal coordinate."""
    modes = vb.linear_modes(structure)
    inverse = np.linalg.inv(np.asarray(modes.shapes))

    def lead(spectrum):
        return inverse[mode] @ spectrum[ratio]

    def frequency(size):
        start = np.zeros((10, len(masses)))
        start[ratio] = size * np.asarray(modes.shapes)[:, mode]
        guess = float(modes.frequencies[mode]) / ratio
        return balanced(masses, stiffness, forces, lead, size, (guess, start))[0]

    return frequency


@pytest.mark.slow
@pytest.mark.parametrize(("order", "expected"), [(1, 4), (2, 6)])
def test_a_backbone_of_three_masses_has_the_error_of_its_order(order, expected):
    parts = three_masses()
    measured = orders_of_error(parts[0], order, balance_of(*parts), np.array([0.15, 0.3]))
    np.testing.assert_allclose(measured, expected, atol=0.35)


def quadratic_and_cubic():
    structure = vb.Structure.single_dof(1.0, [vb.PolynomialSpring((1.0, 0.4, 0.5), (1, 2, 3))])
    return structure, np.ones(1), np.eye(1), lambda x: 0.4 * x**2 + 0.5 * x**3


@pytest.mark.parametrize(("order", "expected"), [(1, 2), (2, 4)])
def test_quadratic_and_cubic_springs_have_the_error_of_the_order(order, expected):
    # At first order the quadratic spring is not felt at all: its part is as large as that of the cubic one.
    parts = quadratic_and_cubic()
    measured = orders_of_error(parts[0], order, balance_of(*parts), np.array([0.05, 0.1]))
    np.testing.assert_allclose(measured, expected, atol=0.3)


def test_one_of_three_modes_carries_the_others_from_second_order_on():
    # A single mode's backbone: at first order the others are left out, at second they follow as harmonics. Mode 0
    # must not be met by the harmonics of another, nor the others by its own.
    structure, masses, stiffness, forces = three_masses()
    oracle = balance_of(structure, masses, stiffness, forces)
    (first,) = orders_of_error(structure, 1, oracle, np.array([0.1, 0.2]), modes=(1,))
    (second,) = orders_of_error(structure, 2, oracle, np.array([0.1, 0.2]), modes=(1,))
    assert abs(first - 4.0) < 0.3 and abs(second - 6.0) < 0.4


def internal_resonance(ratio, power):
    """Two masses whose second mode is at a multiple of the first, joined by a nonlinear spring."""
    c = (ratio**2 - 1.0) / 2.0
    law = vb.PolynomialSpring((c, 0.3), (1, power))
    elements = [
        vb.PolynomialSpring((1.0, 0.5), (1, power)).between("ground", "m1"),
        law.between("m1", "m2"),
        vb.Spring(1.0).between("ground", "m2"),
    ]
    structure = vb.Structure({"m1": 1.0, "m2": 1.0}, elements)
    stiffness = np.array([[1.0 + c, -c], [-c, 1.0 + c]])

    def forces(x):
        first, joint = 0.5 * x[:, 0] ** power, 0.3 * (x[:, 1] - x[:, 0]) ** power
        return np.stack([first - joint, joint], axis=1)

    return structure, stiffness, forces


@pytest.mark.slow
@pytest.mark.parametrize(("ratio", "power", "orders"), [(3, 3, (4, 6)), (2, 2, (2, 3))])
def test_internal_resonances_have_the_error_of_the_order(ratio, power, orders):
    structure, stiffness, forces = internal_resonance(ratio, power)
    sizes, errors = np.array([0.02, 0.04]) if power == 2 else np.array([0.15, 0.3]), {}
    for order in (1, 2):
        form = vb.normal_form(structure, ratios=(1, ratio), order=order)
        share = {3: 0.045, 2: 0.7}[ratio]
        curve = vb.backbone_curve(form, sizes, start=(1.0, sizes[0] * np.array([1.0, share])))
        assert curve.converged.all()
        shapes = np.asarray(vb.linear_modes(structure).shapes)
        exact = []
        for size, frequency, signed in zip(sizes, curve.frequency, curve.amplitudes, strict=True):
            start = np.zeros((10, 2))
            start[1], start[ratio] = signed[0] * shapes[:, 0], signed[1] * shapes[:, 1]
            exact.append(balanced(np.ones(2), stiffness, forces, lambda s: s[1].sum() / 2, size, (frequency, start))[0])
        errors[order] = np.abs(curve.frequency - exact)
    for order, expected in zip((1, 2), orders, strict=True):
        slope = np.log2(errors[order][1] / errors[order][0])
        assert abs(slope - expected) < 0.4, (order, slope)


@pytest.mark.slow
def test_the_fundamental_of_the_motion_is_u_and_harmonics_have_the_error_of_the_order():
    parts = quadratic_and_cubic()
    sizes, errors = np.array([0.05, 0.1]), {1: [], 2: []}
    for order, size in itertools.product((1, 2), sizes):
        form = vb.normal_form(parts[0], order=order)
        frequency = vb.backbone_curve(form, [size]).frequency
        spectrum = np.asarray(form.harmonics(frequency, [[size]])[0, 0].real)
        assert abs(spectrum[1] / size - 1.0) < 1e-15  # what is measured at the fundamental is u, to every order
        start = np.zeros((10, 1))
        start[1] = size
        _, exact = balanced(*parts[1:], lambda s, size=size: s[1, 0], size, (1.0, start))
        errors[order].append(abs(spectrum[3] - exact[3, 0]))
    slopes = [np.log2(each[1] / each[0]) for each in errors.values()]
    np.testing.assert_allclose(slopes, [3.0, 5.0], atol=0.3)  # at first order the quadratic spring's part is missing


def test_the_damped_forced_equations_hold_for_a_linear_oscillator():
    structure = vb.Structure.chain([1.0, 1.5], [[vb.Spring(2.0), vb.Damper(0.1)], [vb.Spring(1.0), vb.Damper(0.04)]])
    form = vb.normal_form(structure, damped=True)
    frequency, force = 0.8, np.array([0.3, -0.2])
    M, K, C = np.diag([1.0, 1.5]), np.array([[3.0, -1.0], [-1.0, 1.0]]), np.array([[0.14, -0.04], [-0.04, 0.04]])
    motion = np.linalg.solve(K - frequency**2 * M + 1j * frequency * C, force)
    modal = np.linalg.solve(np.asarray(form.modes().shapes), motion)
    np.testing.assert_allclose(form.residuals([frequency], modal[None], force=force), 0.0, atol=1e-14)
    np.testing.assert_array_less(1e-3, np.abs(form.residuals([frequency], modal[None], force=1.1 * force)))


def test_unknown_masses_and_stiffnesses_stay_unknown():
    free = vb.Structure.single_dof("m", [vb.Duffing("k", "a")])
    known = vb.Structure.single_dof(2.0, [vb.Duffing(3.0, 0.5)])
    found = vb.normal_form(free, order=2).residuals([1.2], [[0.4]], {"m": 2.0, "k": 3.0, "a": 0.5})
    np.testing.assert_allclose(found, vb.normal_form(known, order=2).residuals([1.2], [[0.4]]), rtol=1e-13)


@pytest.mark.slow
def test_backbones_of_many_sets_are_those_of_each():
    form = vb.normal_form(paper(), order=2)
    sets = {"a1": np.array([0.5, 0.6]), "a2": np.array([0.05, 0.0]), "a3": np.array([0.4, 0.3])}
    both = vb.backbone_curve(form, [0.1, 0.3], sets)
    one = vb.backbone_curve(form, [0.1, 0.3], {name: value[1] for name, value in sets.items()})
    assert both.frequency.shape == (2, 2)
    np.testing.assert_allclose(both.frequency[1], one.frequency, rtol=1e-13)


def test_a_branch_that_ends_is_marked_and_not_invented():
    softening = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, -1.0)])
    curve = vb.backbone_curve(vb.normal_form(softening), [0.5, 2.0])  # Ω² = 1 − 3/4 U²
    assert curve.converged.tolist() == [True, False] and np.isnan(curve.frequency[1])


def test_elements_that_are_no_polynomials_are_refused():
    structure = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis(1.0, 0.1, 0.1)])
    with pytest.raises(vb.InvalidInput, match="whose law is a polynomial, got BilinearHysteresis"):
        vb.normal_form(structure)
    broken = vb.Structure.single_dof(1.0, [vb.Spring(1.0), vb.PolynomialSpring((1.0,), (1.5,))])
    with pytest.raises(vb.InvalidInput, match=r"whole powers from 1 on, got the power 1\.5"):
        vb.normal_form(broken)


def test_modes_that_resonate_at_an_undeclared_ratio_are_refused():
    structure, _, _ = internal_resonance(3, 3)
    for modes in (None, (1,)):
        with pytest.raises(vb.InvalidInput, match="mode 2 at 3 rad/s, which 3 times Ω = 1 rad/s meets"):
            vb.normal_form(structure, modes)
    assert vb.normal_form(structure, ratios=(1, 3)).subset.ratios == (1, 3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"modes": (1, 3)}, "different modes from 1 to 2"),
        ({"ratios": (1,)}, "whole number for each of 2 modes"),
        ({"ratios": (2, 4)}, "lowest terms"),
        ({"order": 4}, "1, 2 or 3"),
    ],
)
def test_what_makes_no_normal_form_is_refused(wrong, message):
    with pytest.raises(vb.InvalidInput, match=message):
        vb.normal_form(paper(), **wrong)


def test_too_few_values_are_named():
    with pytest.raises(vb.InvalidInput, match="none of 'a2', 'a3'"):
        vb.normal_form(paper()).residuals([1.0], [[0.1, 0.1]], {"a1": 1.0})
