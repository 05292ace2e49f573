"""Derivatives of responses with respect to parameters, forwards and backwards, across events, for every element.

Each element sits beside a spring on its own mass above one shaken base, so that a few compiled programs serve all
of them.
"""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb

pytestmark = pytest.mark.slow

SHAKING = vb.Sine(amplitude=3.0, frequency_hz=0.8, phase=0.3).sampled(20.0, 61, hold=vb.StraightLines())
Law = tuple[vb.Element, dict[str, float]]
AFFINE: dict[str, Law] = {
    "spring": (vb.Spring("spring k"), {"k": 30.0}),
    "damper": (vb.Damper("damper c"), {"c": 0.8}),
    "trilinear": (
        vb.PiecewiseLinearSpring(
            ("trilinear kL", "trilinear k0", "trilinear kR"), ("trilinear bL", "trilinear bR"), "trilinear o"
        ),
        {"kL": 60.0, "k0": 20.0, "kR": 90.0, "bL": -0.06, "bR": 0.04, "o": 0.1},
    ),
    "shock absorber": (
        vb.PiecewiseLinearDamper(
            ("shock absorber cL", "shock absorber c0", "shock absorber cR"),
            ("shock absorber bL", "shock absorber bR"),
            "shock absorber o",
        ),
        {"cL": 2.0, "c0": 0.5, "cR": 3.0, "bL": -0.1, "bR": 0.15, "o": 0.2},
    ),
    "gap": (vb.gap("gap k", "gap g"), {"k": 200.0, "g": 0.05}),
    "bilinear": (
        vb.BilinearHysteresis("bilinear k", "bilinear y", "bilinear alpha"), {"k": 40.0, "y": 0.05, "alpha": 0.2}
    ),
    "flow": (vb.BilinearHysteresisFlow("flow k", "flow y", "flow alpha"), {"k": 40.0, "y": 0.05, "alpha": 0.2}),
    "coulomb": (vb.CoulombFriction("coulomb f", "coulomb o"), {"f": 0.9, "o": 0.1}),
    "bingham": (vb.Bingham("bingham f", "bingham c", "bingham o"), {"f": 0.7, "c": 0.4, "o": -0.1}),
    "solid": (vb.standard_solid_2("solid k1", "solid k2", "solid c2"), {"k1": 20.0, "k2": 30.0, "c2": 2.0}),
}  # fmt: skip
CURVED: dict[str, Law] = {
    "duffing": (vb.Duffing("duffing k", "duffing k3"), {"k": 30.0, "k3": 900.0}),
    "polynomial spring": (
        vb.PolynomialSpring(("polynomial spring a", "polynomial spring b"), (1, 2.5)), {"a": 30.0, "b": 100.0}
    ),
    "polynomial damper": (
        vb.PolynomialDamper(("polynomial damper a", "polynomial damper b"), (1, 3)), {"a": 0.3, "b": 2.0}
    ),
    "wen": (
        vb.BoucWen("wen A", "wen beta", "wen gamma", "wen n"), {"A": 40.0, "beta": 3.0, "gamma": 8.0, "n": 1.5}
    ),
    "benchmark": (
        vb.BoucWenBenchmark("benchmark a", "benchmark b", "benchmark c", "benchmark d", "benchmark n"),
        {"a": 40.0, "b": 5.0, "c": 1.2, "d": -0.4, "n": 1.2},
    ),
    "noori": (
        vb.BoucWenBaberNoori(
            "noori alpha", "noori k", "noori beta", "noori gamma", "noori n", "noori d_eta", "noori d_nu",
            "noori q", "noori zeta10", "noori p", "noori psi0", "noori d_psi", "noori lam",
        ),
        {
            "alpha": 0.2, "k": 40.0, "beta": 12.0, "gamma": 6.0, "n": 1.3, "d_eta": 0.3, "d_nu": 0.2,
            "q": 0.1, "zeta10": 0.7, "p": 1.0, "psi0": 0.1, "d_psi": 0.05, "lam": 0.2,
        },
    ),
    "osgood": (
        vb.RambergOsgood("osgood k", "osgood r", "osgood n", "osgood a"), {"k": 40.0, "r": 2.0, "n": 3.3, "a": 0.8}
    ),
}  # fmt: skip
GROUPS = {"affine": AFFINE, "curved": CURVED}
SMOOTHEST: dict[str, vb.Method] = {"affine": vb.Exact(), "curved": vb.FixedStep(8, events=True)}
"""Methods whose error depends smoothly on the parameters, so that differences of theirs are derivatives."""


def side_by_side(group: str) -> tuple[vb.Structure, dict[str, float]]:
    laws = GROUPS[group]
    links = [law.between("ground", name, name=name) for name, (law, _) in laws.items()]
    links += [vb.Spring(15.0).between("ground", name) for name in laws]
    sensors = [kind(name) for kind in (vb.Displacement, vb.Velocity) for name in laws]
    structure = vb.Structure(dict.fromkeys(laws, 1.0), links, inputs=[vb.BaseAcceleration()], sensors=sensors)
    return structure, {
        f"{name} {field}": value for name, (_, values) in laws.items() for field, value in values.items()
    }


def response(structure: vb.Structure, values: Any, method: vb.Method) -> Any:
    return vb.simulate(structure, SHAKING, values, method=method).outputs[..., ::6, :]


def differences(structure: vb.Structure, values: dict[str, float], method: vb.Method) -> dict[str, np.ndarray]:
    """Central differences with respect to every parameter, extrapolated from two steps, in one batch."""
    steps = 1e-4 * np.array([1.0, -1.0, 2.0, -2.0])
    batch = {name: np.full((len(values), 4), value) for name, value in values.items()}
    for i, name in enumerate(values):
        batch[name][i] *= 1 + steps
    solution = vb.simulate(structure, SHAKING, {name: b.ravel() for name, b in batch.items()}, method=method)
    assert solution.work is not None and solution.work.events.min() > 8
    rows = np.asarray(solution.outputs[..., ::6, :])
    rows = rows.reshape(len(values), 4, *rows.shape[1:])
    slopes = (8 * (rows[:, 0] - rows[:, 1]) - (rows[:, 2] - rows[:, 3])) / 12e-4
    return {name: slopes[i] / value for i, (name, value) in enumerate(values.items())}


@cache
def expected(group: str) -> dict[str, np.ndarray]:
    return differences(*side_by_side(group), SMOOTHEST[group])


def wrong(found: dict[str, np.ndarray], true: dict[str, np.ndarray], tolerance: float) -> dict[str, float]:
    """Parameters for which a derivative is off by more than the tolerance times the largest, and by how much."""
    misses = {name: float(np.abs(found[name] - true[name]).max() / np.abs(true[name]).max()) for name in true}
    return {name: miss for name, miss in misses.items() if not miss < tolerance}


CASES = [
    pytest.param("affine", vb.Exact(), 1e-6, id="exact"),
    pytest.param("curved", vb.EventLocated(1e-9), 1e-3, id="event-located"),
    pytest.param("curved", vb.FixedStep(8, events=True), 1e-5, id="fixed steps"),
]


@pytest.mark.parametrize("group, method, tolerance", CASES)
def test_derivatives_by_every_parameter_of_every_element_are_those_of_differences(group, method, tolerance):
    structure, values = side_by_side(group)

    def outputs(p):
        return response(structure, p, method)

    value, push = jax.linearize(outputs, values)
    forwards = {name: np.asarray(push({n: float(n == name) for n in values})) for name in values}
    pull = jax.linear_transpose(push, values)  # what reverse mode does, without compiling anew
    basis = jnp.eye(value.size).reshape(value.size, *value.shape)
    backwards = {name: np.asarray(g).reshape(value.shape) for name, g in jax.vmap(pull)(basis)[0].items()}
    assert not wrong(forwards, expected(group), tolerance)
    assert not wrong(backwards, expected(group), tolerance)


# ---- one oscillator, every way to ask for its derivatives -----------------------------------------------------------

YIELDING = vb.Structure.single_dof(
    "m", [vb.Damper("c"), vb.BilinearHysteresis("k", "y", "alpha")], sensors=[vb.Displacement("mass")]
)
VALUES = {"m": 1.0, "c": 0.3, "k": 40.0, "y": 0.05, "alpha": 0.2}
METHODS = {
    "exact": (vb.Exact(), 1e-7),
    "event-located": (vb.EventLocated(1e-10, 1e-13), 1e-5),
    "fixed steps": (vb.FixedStep(4, events=True), 1e-7),
}
EACH_METHOD = pytest.mark.parametrize("name", METHODS)


def of_yielding(values, name: str = "exact"):
    return response(YIELDING, values, METHODS[name][0])


@cache
def yielding_differences(name: str) -> dict[str, np.ndarray]:
    return differences(YIELDING, VALUES, METHODS[name][0])


@EACH_METHOD
def test_forward_derivatives_are_those_of_differences(name):
    for parameter, true in yielding_differences(name).items():
        direction = {p: float(p == parameter) for p in VALUES}
        _, slope = jax.jvp(lambda p: of_yielding(p, name), (VALUES,), (direction,))
        assert np.abs(np.asarray(slope) - true).max() < METHODS[name][1] * np.abs(true).max(), parameter


@EACH_METHOD
def test_reverse_derivatives_are_those_of_differences(name):
    weights = np.random.default_rng(2).normal(size=(11, 1))
    gradient = jax.grad(lambda p: jnp.sum(weights * of_yielding(p, name)))(VALUES)
    for parameter, true in yielding_differences(name).items():
        scale = np.abs(weights * true).sum()
        assert abs(float(gradient[parameter]) - (weights * true).sum()) < METHODS[name][1] * scale, parameter


def test_the_derivative_of_a_batch_is_that_of_each_set():
    sets = {name: value * np.array([0.9, 1.0, 1.15]) for name, value in VALUES.items()}
    batched = jax.grad(lambda p: jnp.sum(of_yielding(p) ** 2))(sets)
    alone = jax.grad(lambda p: jnp.sum(of_yielding(p) ** 2))({name: v[2] for name, v in sets.items()})
    for name in VALUES:
        assert float(batched[name][2]) == pytest.approx(float(alone[name]), rel=1e-9)


def test_a_compiled_gradient_is_the_gradient():
    def loss(p):
        return jnp.sum(of_yielding(p) ** 2)

    plain, compiled = jax.grad(loss)(VALUES), jax.jit(jax.grad(loss))(VALUES)
    for name in VALUES:
        assert float(compiled[name]) == pytest.approx(float(plain[name]), rel=1e-9)
