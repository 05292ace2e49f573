"""What laws bend is found from their programs, and the filters' step loses nothing by computing only that."""

import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb
from vibayes.filters.bending import Bending, bending
from vibayes.filters.discrete import discretise
from vibayes.structure.element import as_arrays

LAWS = {
    "bilinear": (vb.BilinearHysteresis(9.0, 0.3, 0.2), Bending((6, 7, 8), (3, 4, 5))),
    "Bouc-Wen": (vb.BoucWen(9.0, 0.3, 0.2), Bending((3, 4, 5, 6, 7, 8), (6, 7, 8))),
    "Duffing": (vb.Duffing(9.0, 3.0), Bending((0, 1, 2), (3, 4, 5))),
    "piecewise linear": (vb.PiecewiseLinearSpring((9.0, 4.0), (0.3,)), Bending((0, 1, 2), (3, 4, 5))),
    "damper of higher power": (vb.PolynomialDamper((1.0, 0.5), (1, 3)), Bending((3, 4, 5), (3, 4, 5))),
    "linear": (vb.Spring(9.0), Bending((), ())),
}


def model_of(law, steps=1, interval=0.02):
    structure = vb.Structure.chain([1.0, 2.0, 1.5], [law] * 3, sensors=[vb.Displacement("m3")])
    return discretise(as_arrays(structure.driven_by(vb.KanaiTajimi(5.0, 0.3, 1.0))), interval, steps)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_laws_bend_what_their_equations_say(name):
    law, expected = LAWS[name]
    assert model_of(law).bending == expected


@pytest.mark.parametrize("name", LAWS)
def test_what_is_left_out_of_the_laws_is_linear(name):
    """The whole flow is its slope at rest times the state and what is computed of a few states, in a few others."""
    model = model_of(LAWS[name][0])
    points = np.random.default_rng(1).normal(size=(model.system.size, 40))
    state = model.system.bounded(tuple(points))
    flow = model.system.flow(state, model.system.free_modes(state), (0.0,))
    expected = np.stack([np.broadcast_to(rate, 40) for rate in flow]) - np.asarray(model.slope) @ points
    found = np.zeros_like(points)
    for i, row in zip(model.bending.changed, model._beyond(*points[list(model.bending.seen)]), strict=True):
        found[i] = row
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y: (2.0 * x - y / 3.0,), Bending((), ())),
        (lambda x, y: (x * y,), Bending((0, 1), (0,))),
        (lambda x, y: (1.0 / x + y,), Bending((0,), (0,))),
        (lambda x, y: (x + 1.0, 0.0 * x + y), Bending((), (0,))),
        (lambda x, y: (jnp.where(x > 0.0, y, 2.0 * y),), Bending((0, 1), (0,))),
        (lambda x, y: (jnp.where(True, y, 0.0), jnp.sin(x) - x), Bending((0,), (1,))),
        (lambda x, y: (jnp.float64(jnp.int32(x)) + y,), Bending((0,), (0,))),
        (lambda x, y: (jnp.stack([x, y]).sum(),), Bending((0, 1), (0,))),  # not known, so taken for bent
    ],
)
def test_programs_are_read_as_they_are(function, expected):
    assert bending(function, 0.5, 0.5) == expected


@pytest.mark.parametrize(
    "law", [vb.Duffing(9.0, 3.0), vb.PolynomialDamper((1.0, 0.5), (1, 3))], ids=["force", "damper"]
)
def test_steps_are_of_fourth_order(law):
    """Whether what is changed is seen at once or only later: a wrong stage would lower the order."""
    points = 0.5 * np.random.default_rng(2).normal(size=(8, 20))

    def ahead(steps):
        return np.asarray(model_of(law, steps, 0.1).advance(jnp.asarray(points), 0, jnp.zeros((2, 0))))

    exact = ahead(64)
    errors = [np.abs(ahead(steps) - exact).max() for steps in (2, 4, 8)]
    assert np.all(np.log2(np.divide(errors[:-1], errors[1:])) > 3.6), errors
