"""Following a record with many sets: the error is that of a plain simulation, and early rejection loses nothing."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb
from vibayes.simulation.drive import table_drive
from vibayes.simulation.lanes import Clock
from vibayes.simulation.tracking import Target, track
from vibayes.structure.element import as_arrays

pytestmark = pytest.mark.slow

STRUCTURE = vb.Structure.single_dof(
    1.0, [vb.Damper("c"), vb.PiecewiseLinearSpring((3e3, "k"), (0.5e-3,))], sensors=[vb.RelativeAcceleration("mass")]
)
FORCE = vb.band_limited_noise(0, 100.0, 200, 2.0, high_hz=20.0, hold=vb.StraightLines())
SETS, LANES = 300, 32


@cache
def case():
    rng = np.random.default_rng(1)
    values = {"c": rng.uniform(1.0, 3.0, SETS), "k": rng.uniform(3e3, 9e3, SETS)}
    measured = np.array(vb.simulate(STRUCTURE, FORCE, {"c": 2.0, "k": 7e3}).outputs)
    measured += 0.05 * measured.std() * rng.standard_normal(measured.shape)
    weights = np.full(measured.shape, 100.0 / (measured.size * measured.var()))
    weights[40:60] = 0.0  # a gap in the record
    outputs = np.asarray(vb.simulate(STRUCTURE, FORCE, values, states=False).outputs)
    sums = np.cumsum((weights * (outputs - measured) ** 2).sum(axis=-1), axis=1)
    return values, Target(jnp.asarray(measured), jnp.asarray(weights)), sums


def followed(limit: float, until: int = FORCE.samples, structure: vb.Structure = STRUCTURE):
    values, target, _ = case()
    drive = table_drive(FORCE.pieces(), FORCE.values[-1])
    bound = as_arrays(structure.bind(values))
    clock = Clock(FORCE.samples - 1, 1.0 / FORCE.rate, 10_000)
    limits = jnp.asarray(limit), jnp.asarray(until)
    result = track(vb.Exact(), bound, drive, SETS, jnp.ones(LANES), target, *limits, clock, 1)
    return tuple(np.asarray(each) for each in result)


def test_without_a_limit_the_error_is_that_of_the_simulation():
    total, samples, _ = followed(np.inf)
    np.testing.assert_allclose(total, case()[2][:, -1], rtol=1e-9)
    assert (samples == FORCE.samples).all()


@pytest.mark.parametrize("limit", [100.0, 10.0, 1.0])
def test_a_set_is_dropped_at_the_sample_where_it_passes_the_limit_and_never_before(limit):
    total, samples, _ = followed(limit)
    sums = case()[2]
    passes = sums > limit
    where = np.where(passes.any(axis=1), passes.argmax(axis=1) + 1, FORCE.samples)
    assert 0 < passes.any(axis=1).sum() and len(np.unique(where)) > 3
    np.testing.assert_array_equal(samples, where)
    np.testing.assert_allclose(total, sums[np.arange(SETS), where - 1], rtol=1e-9)


@pytest.mark.parametrize("until", [1, 47, FORCE.samples])
def test_errors_are_those_of_the_simulation_as_far_as_was_asked(until):
    total, samples, errors = followed(np.inf, until)
    values, target, sums = case()
    outputs = np.asarray(vb.simulate(STRUCTURE, FORCE, values, states=False).outputs)
    expected = np.sqrt(target.weights) * (outputs - target.values)
    np.testing.assert_allclose(errors[:, :until], expected[:, :until], rtol=1e-7, atol=1e-9)
    assert (samples == until).all() and not errors[:, until:].any()
    np.testing.assert_allclose(total, sums[:, until - 1], rtol=1e-9)


def test_a_set_that_fails_counts_as_infinitely_far_and_spoils_no_other():
    values, target, sums = case()
    explosive = vb.Structure.single_dof(
        1.0, [vb.Damper("c"), vb.PiecewiseLinearSpring((3e3, "k"), (0.5e-3,))],
        sensors=[vb.RelativeAcceleration("mass")],
    )  # fmt: skip
    drive = table_drive(FORCE.pieces(), FORCE.values[-1])
    broken = {**values, "c": np.where(np.arange(SETS) == 7, -1e4, values["c"])}
    clock = Clock(FORCE.samples - 1, 1.0 / FORCE.rate, 10_000)
    bound = as_arrays(explosive.bind(broken))
    limits = jnp.asarray(np.inf), jnp.asarray(FORCE.samples)
    total = np.asarray(track(vb.Exact(), bound, drive, SETS, jnp.ones(LANES), target, *limits, clock, 1)[0])
    assert total[7] == np.inf
    others = np.arange(SETS) != 7
    np.testing.assert_allclose(total[others], sums[others, -1], rtol=1e-9)
