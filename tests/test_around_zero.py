"""Piecewise-linear laws named by the slope of the region that contains zero."""

import numpy as np
import pytest

import vibayes as vb

DEFORMATION = np.linspace(-4.0, 4.0, 33)


@pytest.mark.parametrize(
    ("breaks", "slopes"),
    [
        ((1.0, 2.0, 3.0), (1.0, 20.0, 30.0, 40.0)),
        ((-1.0, 2.0, 3.0), (20.0, 1.0, 30.0, 40.0)),
        ((-2.0, -1.0, 3.0), (20.0, 30.0, 1.0, 40.0)),
        ((-3.0, -2.0, -1.0), (20.0, 30.0, 40.0, 1.0)),
    ],
)
def test_the_central_slope_is_that_at_zero_wherever_the_breaks_lie(breaks, slopes):
    plain = vb.PiecewiseLinearSpring(slopes, breaks, offset=0.5)
    centred = vb.PiecewiseLinearSpring.around_zero(1.0, (20.0, 30.0, 40.0), breaks, offset=0.5)
    expected = vb.static_force(plain, deformation=DEFORMATION)
    np.testing.assert_allclose(vb.static_force(centred, deformation=DEFORMATION), expected, rtol=1e-14)


@pytest.mark.slow
def test_one_batch_holds_sets_with_breaks_on_either_side():
    force = vb.band_limited_noise(0, 50.0, 400, 5.0, high_hz=10.0)
    damper, sensors = vb.Damper(0.4), [vb.Displacement("mass")]
    spring = vb.PiecewiseLinearSpring.around_zero("k0", ("k1",), ("b",))
    structure = vb.Structure.single_dof(1.0, [spring, damper], sensors=sensors)
    values = {"k0": np.array([30.0, 40.0]), "k1": np.array([90.0, 80.0]), "b": np.array([-0.02, 0.02])}
    together = vb.simulate(structure, force, values).outputs
    for i, slopes in enumerate([(90.0, 30.0), (40.0, 80.0)]):
        plain = vb.PiecewiseLinearSpring(slopes, (values["b"][i],))
        alone = vb.simulate(vb.Structure.single_dof(1.0, [plain, damper], sensors=sensors), force)
        assert alone.events is not None and len(alone.events) > 5
        np.testing.assert_allclose(together[i], alone.outputs, rtol=0, atol=1e-12 * np.abs(alone.outputs).max())


def test_the_damper_has_it_too():
    damper = vb.PiecewiseLinearDamper.around_zero(5.0, (1.0,), (-0.5,), offset=2.0)
    assert vb.static_force(damper, velocity=[-1.5, 0.0, 1.0]).tolist() == [-1.5, 2.0, 7.0]
