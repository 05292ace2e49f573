"""Figures of decays and of fitted backbones."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import vibayes as vb
from vibayes import report


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def structure(cubic):
    return vb.Structure.single_dof(1.0, [vb.Duffing(1.0, cubic), vb.Damper(0.01)])


@pytest.mark.slow
def test_a_decay_is_shown_with_its_points():
    known = structure(0.5)
    sweep = vb.Chirp(0.008, 0.155, 0.19, 800.0)
    test = vb.released_decay(0, known, sweep, [1.0], seconds=300.0, rate=5.0, noise=1e-3)
    modes = vb.linear_modes(known)
    points = vb.decay_points(test.decay, modes)
    *_, below = report.figure_of_decay(test, modes, points).axes
    (shown,) = [line.get_xdata() for line in below.lines[:1]]
    np.testing.assert_array_equal(shown, points.frequency)


def test_a_fit_has_a_panel_per_backbone_and_a_band_through_its_points():
    sizes = np.linspace(0.1, 0.8, 20)
    clean = vb.backbone_curve(vb.normal_form(structure("a"), order=2), sizes, {"a": 0.5}).frequency
    points = vb.BackbonePoints(clean, sizes, backbone=("S1",) * 20)
    problem = vb.Problem(structure("a"), points, {"a": vb.Uniform(0.0, 2.0)}, noise=1e-3)
    model = vb.infer(0, problem, vb.Laplace()).selected
    (axes,) = report.figure_of_backbone_fit(model, draws=20).axes
    curve = axes.lines[0]
    at = np.interp(sizes, curve.get_ydata(), curve.get_xdata())
    np.testing.assert_allclose(at, clean, rtol=2e-3)


@pytest.mark.slow
def test_a_fit_of_motions_is_refused():
    record = vb.Record.from_arrays(rate=10.0, input=np.ones(40), output=np.sin(np.arange(40.0)))
    oscillator = vb.Structure.single_dof(1.0, [vb.Spring("k")], sensors=[vb.Displacement("mass")])
    problem = vb.Problem(oscillator, record, {"k": vb.Uniform(1.0, 2.0)}, noise=0.1)
    model = vb.infer(0, problem, vb.Laplace()).selected
    with pytest.raises(vb.InvalidInput, match="one of points of backbones"):
        report.figure_of_backbone_fit(model)
