"""ODE filters whose steps end at events keep their order across corners, jumps of the rate, and standstill."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb

COMPUTES = True

SECONDS, FINE, START = 6.0, 1280, 0.7
MEMBERS = {
    "stops": [vb.Damper(0.3), vb.Spring(20.0), vb.PiecewiseLinearSpring((40.0, 0.0, 60.0), (-0.2, 0.15))],
    "friction": [vb.Damper(0.1), vb.Spring(20.0), vb.CoulombFriction(0.8)],
}


def structure(kind):
    return vb.Structure.single_dof("m", MEMBERS[kind], sensors=[vb.Displacement("mass")])


def force(times):
    return 0.3 + 0.4 * times


@pytest.fixture(scope="module")
def exact():
    signal = vb.Sampled(force(np.arange(round(SECONDS * FINE) + 1) / FINE), FINE, vb.StraightLines())
    runs = {kind: vb.simulate(structure(kind), signal, {"m": 1.0}, displacement=START) for kind in MEMBERS}
    return {kind: np.asarray(run.outputs)[:, 0] for kind, run in runs.items()}


def posed(kind, rate, **settings):
    times = np.arange(round(SECONDS * rate) + 1) / rate
    record = vb.Record.from_arrays(rate=float(rate), input=force(times), output=np.sin(3.0 * times))
    return vb.solving(structure(kind), record, 0.1, vb.ODEFilter(3, corrected=False, displacement=START, **settings))


def error(exact, kind, rate, events):
    found = vb.solve(posed(kind, rate, events=events), {"m": 1.0}).means[0, :, 0]
    return float(np.sqrt(np.mean((found - exact[kind][:: FINE // rate]) ** 2)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stops", "friction"])
def test_the_order_holds_across_events_where_steps_end_at_them(kind, exact):
    coarse, fine = (error(exact, kind, rate, 3) for rate in (20, 80))
    assert np.log(coarse / fine) / np.log(4.0) > 2.9
    # Steps that go across lose it: the negative control.
    across = error(exact, kind, 80, 0)
    assert across > 30.0 * fine


@pytest.mark.slow
def test_sets_with_and_without_events_do_not_disturb_each_other():
    prepared = posed("stops", 20, events=3)
    masses = np.array([1.0, 1.3, 40.0])
    together = vb.solve(prepared, {"m": masses}).means
    alone = np.concatenate([vb.solve(prepared, {"m": mass}).means for mass in masses])
    assert np.allclose(together, alone, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_gradients_go_through_events():
    prepared = posed("stops", 20, events=2)

    @eqx.filter_jit
    def value(m):
        return prepared.log_likelihood({"m": m})

    slope = float(jax.jvp(value, (jnp.asarray(1.1),), (jnp.ones(()),))[1])
    difference = float(value(jnp.asarray(1.1 + 1e-6)) - value(jnp.asarray(1.1 - 1e-6))) / 2e-6
    assert abs(slope / difference - 1.0) < 1e-3


@pytest.mark.slow
def test_a_solution_that_samples_correct_stays_beside_them_across_corners(exact):
    """With noise that is small beside the motion, corrections carry the state across guards too."""
    rate, kind = 20, "stops"
    clean = exact[kind][:: FINE // rate]
    noisy = clean + 0.01 * np.random.default_rng(0).standard_normal(len(clean))
    times = np.arange(len(clean)) / rate
    record = vb.Record.from_arrays(rate=float(rate), input=force(times), output=noisy)
    solver = vb.ODEFilter(3, linearised=True, corrected=True, displacement=START, events=2)
    found = vb.solve(vb.solving(structure(kind), record, 0.01, solver), {"m": 1.0})
    off = np.sqrt(np.mean((found.means[0, :, 0] - clean) ** 2))
    assert off < 0.5 * np.sqrt(np.mean((noisy - clean) ** 2))


def test_events_are_refused_where_all_sets_share_their_covariances():
    with pytest.raises(vb.InvalidInput, match="set linearised or corrected"):
        vb.ODEFilter(events=2, linearised=False, corrected=False)
