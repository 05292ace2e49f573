"""Many parameter sets side by side have the likelihoods that each has alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb
from vibayes.filters.verb import log_likelihoods

ELEMENTS = {
    "linear": [vb.Spring("k")],
    "bilinear": [vb.BilinearHysteresis("k", 0.3, 0.1)],
    "bouc-wen": [vb.BoucWen("k", 1.0, 2.0, 1.0)],
    "piecewise": [vb.PiecewiseLinearSpring(("k", 9.0), (0.1,))],
    "polynomial": [vb.Duffing("k", 3.0)],
    "maxwell": [vb.Spring("k"), vb.maxwell(4.0, 2.0)],
}


def oscillator(elements, process=None, start="rest"):
    sensors = [vb.Displacement("mass"), vb.Velocity("mass")]
    structure = vb.Structure.single_dof(1.0, [vb.Damper(0.3), *elements], sensors=sensors)
    return structure.driven_by(vb.WhiteNoise(0.2) if process is None else process, start=start)


def compared(structure, values, outputs=2, noise: float | str = 0.1, method=None):
    output = np.cumsum(0.2 * np.random.default_rng(0).normal(size=(40, outputs)), axis=0)
    output[3, 0] = output[7] = np.nan
    record = vb.Record.from_arrays(rate=10.0, output=output)
    prepared = vb.filtering(structure, record, noise, method)
    together = log_likelihoods(prepared, {name: jnp.asarray(value) for name, value in values.items()})
    one = jax.jit(prepared.log_likelihood)
    alone = [float(one({name: value[i] for name, value in values.items()})) for i in range(len(together))]
    np.testing.assert_allclose(together, alone, rtol=1e-9)
    assert len(set(alone)) == len(alone)


@pytest.mark.slow
@pytest.mark.parametrize("name", ELEMENTS)
def test_of_every_law(name):
    compared(oscillator(ELEMENTS[name]), {"k": np.array([5.0, 6.0, 8.0])})


@pytest.mark.slow
def test_of_structures_in_stationary_vibration():
    compared(oscillator(ELEMENTS["maxwell"], start="stationary"), {"k": np.array([5.0, 6.0])})


@pytest.mark.slow
def test_of_processes_and_noise_that_are_unknown():
    ground = vb.KanaiTajimi("w", 0.4, "S", envelope=vb.JenningsHousnerTsai("t", 3.0, 0.5))
    values = {"w": [9.0, 12.0], "S": [0.1, 0.2], "t": [1.0, 2.0], "s": [0.1, 0.2], "k": [5.0, 6.0]}
    values = {name: np.array(value) for name, value in values.items()}
    compared(oscillator(ELEMENTS["polynomial"], ground), values, noise="s")


@pytest.mark.slow
def test_of_readings_that_are_not_states():
    structure = oscillator(ELEMENTS["polynomial"], vb.KanaiTajimi(9.0, 0.4, 0.1))
    compared(structure.measuring(vb.AbsoluteAcceleration("mass")), {"k": np.array([5.0, 6.0])}, outputs=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [vb.UnscentedFilter(steps=2), vb.UnscentedFilter(spread=3.0), vb.ExtendedFilter()], ids=str
)
def test_of_other_filters(method):
    compared(oscillator(ELEMENTS["bilinear"]), {"k": np.array([5.0, 6.0])}, method=method)
