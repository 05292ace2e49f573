"""Many parameter sets at once: each as if alone, whatever becomes of the others, and every failure with its name."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb

OSCILLATOR = vb.Structure.single_dof("m", [vb.Damper("c"), vb.BilinearHysteresis("k", "y", "alpha")])
FORCE = vb.band_limited_noise(jax.random.key(4), 50.0, 200, 6.0, high_hz=8.0)
SETS = 7
RNG = np.random.default_rng(8)
RANGES = {"m": (0.5, 2.0), "c": (0.1, 1.0), "k": (50.0, 400.0), "y": (0.01, 0.05), "alpha": (0.0, 0.5)}
PARAMETERS = {name: RNG.uniform(*ends, SETS) for name, ends in RANGES.items()}
METHODS = {
    "exact": vb.Exact(),
    "event-located": vb.EventLocated(1e-7),
    "fixed steps with events": vb.FixedStep(4, events=True),
    "fixed steps": vb.FixedStep(4),
}


def one(parameters: dict[str, np.ndarray], i: int) -> dict[str, float]:
    return {name: float(values[i]) for name, values in parameters.items()}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
def test_a_batch_is_its_single_simulations(method):
    together = vb.simulate(OSCILLATOR, FORCE, PARAMETERS, method=method)
    for i in range(SETS):
        alone = vb.simulate(OSCILLATOR, FORCE, one(PARAMETERS, i), method=method)
        scale = np.abs(np.asarray(alone.outputs)).max(axis=0)
        assert np.max(np.abs(together.outputs[i] - alone.outputs) / scale) < 1e-12


def test_a_set_gets_the_same_numbers_in_whatever_place_of_the_batch_it_stands():
    backwards = {name: values[::-1] for name, values in PARAMETERS.items()}
    one_way, other = (vb.simulate(OSCILLATOR, FORCE, p, method=vb.Exact()) for p in (PARAMETERS, backwards))
    np.testing.assert_array_equal(one_way.outputs, other.outputs[::-1])


@pytest.mark.slow
def test_a_batch_has_the_events_of_its_single_simulations():
    together = vb.simulate(OSCILLATOR, FORCE, PARAMETERS, method=vb.Exact(), events=True).events
    assert together is not None
    for i in range(SETS):
        alone = vb.simulate(OSCILLATOR, FORCE, one(PARAMETERS, i), method=vb.Exact()).events
        assert alone is not None
        np.testing.assert_allclose(together.time[together.parameter_set == i], alone.time, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_a_batch_of_inputs_is_the_single_simulations_of_each():
    keys = jax.random.split(jax.random.key(1), 3)
    forces = [vb.band_limited_noise(key, 50.0, 200, 6.0, high_hz=8.0) for key in keys]
    stacked = vb.Sampled(jnp.stack([force.values for force in forces]), 50.0, vb.StraightLines())
    together = vb.simulate(OSCILLATOR, stacked, one(PARAMETERS, 0), method=vb.Exact())
    for i, force in enumerate(forces):
        alone = np.asarray(vb.simulate(OSCILLATOR, force, one(PARAMETERS, 0), method=vb.Exact()).outputs)
        assert np.max(np.abs(together.outputs[i] - alone) / np.abs(alone).max(axis=0)) < 1e-12


@pytest.mark.slow
def test_a_batch_of_initial_states_is_the_single_simulations_of_each():
    starts, silence = np.array([[0.02], [-0.03]]), vb.Sampled(np.zeros(60), 50.0, vb.ZeroOrderHold())
    together = vb.simulate(OSCILLATOR, silence, one(PARAMETERS, 0), method=vb.Exact(), displacement=starts)
    for i in range(2):
        alone = vb.simulate(OSCILLATOR, silence, one(PARAMETERS, 0), method=vb.Exact(), displacement=starts[i])
        np.testing.assert_allclose(together.outputs[i], alone.outputs, rtol=0, atol=1e-12)


def test_lengths_that_differ_are_refused():
    with pytest.raises(vb.InvalidInput, match="arrays of equal length"):
        vb.simulate(OSCILLATOR, FORCE, {**PARAMETERS, "m": np.ones(SETS + 1)})


# ---- failures -------------------------------------------------------------------------------------------------------

UNSTABLE = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.gap(10.0, "g")])
PUSH = vb.Sampled(np.sin(np.arange(400.0)), 0.5, vb.StraightLines())
WILD = {"k": np.array([3.0, -9.0, 5.0]), "g": np.array([0.5, 1e300, 0.4])}
TAME = {**WILD, "k": np.array([3.0, 9.0, 5.0])}
"""In the middle a negative stiffness that nothing stops for 800 s, or a positive one."""
UNSTABLE_METHODS = {"exact": vb.Exact(), "event-located": vb.EventLocated(1e-6)}


@pytest.mark.slow
@pytest.mark.parametrize("method", UNSTABLE_METHODS.values(), ids=UNSTABLE_METHODS.keys())
def test_a_diverging_set_is_marked_and_ends_in_nan(method):
    solution = vb.simulate(UNSTABLE, PUSH, WILD, method=method)
    assert list(solution.status) == [vb.Status.SUCCESS, vb.Status.DIVERGED, vb.Status.SUCCESS]
    lost = np.isnan(solution["displacement of mass"][1])
    first = int(np.argmax(lost))
    assert 10 < first < 400 and lost[first:].all() and not lost[:first].any()


@pytest.mark.parametrize("method", UNSTABLE_METHODS.values(), ids=UNSTABLE_METHODS.keys())
def test_the_neighbours_of_a_diverging_set_are_what_they_are_without_it(method):
    with_it, without = (np.asarray(vb.simulate(UNSTABLE, PUSH, p, method=method).outputs) for p in (WILD, TAME))
    np.testing.assert_array_equal(with_it[[0, 2]], without[[0, 2]])
    assert np.isfinite(with_it[[0, 2]]).all()


def test_fixed_steps_mark_a_diverging_set_too():
    spring = vb.Structure.single_dof(1.0, [vb.Spring("k")])
    solution = vb.simulate(spring, PUSH, {"k": np.array([0.2, -9.0, 0.3])}, method=vb.FixedStep(8))
    assert list(solution.status) == [vb.Status.SUCCESS, vb.Status.DIVERGED, vb.Status.SUCCESS]


def test_the_summary_counts_the_failures():
    summary = vb.simulate(UNSTABLE, PUSH, WILD, method=vb.Exact()).summary()
    assert "2 × SUCCESS" in summary and "1 × DIVERGED" in summary


@pytest.mark.slow
@pytest.mark.parametrize("method", UNSTABLE_METHODS.values(), ids=UNSTABLE_METHODS.keys())
def test_the_limit_of_steps_stops_only_the_sets_that_reach_it(method):
    # The stiffer oscillator needs the more steps.
    stiffness = {"k": np.array([0.01, 100.0]), "g": np.full(2, 1e3)}
    free = vb.simulate(UNSTABLE, PUSH, stiffness, method=method)
    assert free.work is not None
    few, many = free.work.steps + free.work.rejected
    assert 2 * few < many
    cut = vb.simulate(UNSTABLE, PUSH, stiffness, method=method, max_steps=int(few + many) // 2)
    assert list(cut.status) == [vb.Status.SUCCESS, vb.Status.TOO_MANY_STEPS]
    np.testing.assert_array_equal(cut.outputs[0], free.outputs[0])
    assert np.isnan(cut["displacement of mass"][1][-1])


class Relay(vb.Element):
    """Pulls with a constant force towards zero deformation from either side, and has nothing to stay there with."""

    strength: float | str
    affine: ClassVar[bool] = True

    @property
    def modes(self):
        return ("left", "right")

    def force(self, local):
        return jnp.where(local.mode == 1, 1.0, -1.0) * self.strength + 0.0 * local.deformation

    def guards(self, local):
        side = jnp.where(local.mode == 1, 1.0, -1.0)
        return (side * (local.deformation + local.velocity),)

    def guard_names(self):
        return ("switch",)

    def switch(self, local, fired):
        return jnp.where(fired[0], 1 - local.mode, local.mode), local.states

    def mode_at(self, local):
        return jnp.where(local.deformation + local.velocity >= 0, 1, 0)


RELAY = vb.Structure.single_dof(1.0, [Relay("strength")])


@pytest.mark.slow
@pytest.mark.parametrize("method", UNSTABLE_METHODS.values(), ids=UNSTABLE_METHODS.keys())
def test_a_model_without_a_solution_is_reported_as_chattering(method):
    # Sliding along d + v = 0 takes infinitely many switches in no time; without strength there is nothing to switch.
    silence = vb.Sampled(np.zeros(100), 20.0, vb.ZeroOrderHold())
    solution = vb.simulate(RELAY, silence, {"strength": np.array([0.0, 2.0])}, method=method, displacement=0.5)
    assert list(solution.status) == [vb.Status.SUCCESS, vb.Status.CHATTERING]


def test_every_status_says_what_to_do():
    assert all(len(status.message) > 10 for status in vb.Status)
