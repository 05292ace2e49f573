"""No wrong answer in silence: what a method cannot do right ends in a status or is refused in words."""

import jax
import numpy as np
import pytest

import vibayes as vb
from vibayes.simulation import verb

NOISE = vb.Sampled(np.random.default_rng(0).standard_normal((101, 1)), 50.0, vb.StraightLines())
SILENCE = vb.Sampled(np.zeros(11), 1.0, vb.ZeroOrderHold())


def single(*elements: vb.Element) -> vb.Structure:
    return vb.Structure.single_dof(1.0, elements)


# ---- boundaries -----------------------------------------------------------------------------------------------------

CLOSED = vb.Structure(
    {"a": "m", "b": 1.66},
    [
        vb.Spring(566.0).between("ground", "a"),
        vb.Spring(16.0).between("a", "b"),
        vb.gap("stop", 0.0).between("a", "b"),
    ],
    inputs=[vb.Force("b")],
)
"""A gap between two masses that is closed at rest."""
SETS = {"m": np.array([0.43, 1.4, 0.43, 2.0, 0.7]), "stop": np.array([2.3e5, 2e3, 1e3, 4e4, 7e5])}


def ramp_of_noise() -> vb.Sampled:
    u = np.random.default_rng(3).standard_normal((41, 1))
    u[:2, 0] = 0.0, 1.0
    return vb.Sampled(u, 50.0, vb.StraightLines())


@pytest.fixture(scope="module")
def exact() -> vb.Solution:
    return vb.simulate(CLOSED, ramp_of_noise(), SETS, method=vb.Exact(), events=True)


@pytest.mark.parametrize(
    "method, error",
    [
        (vb.EventLocated(), 1e-4),
        (vb.EventLocated(1e-10, 1e-14), 1e-6),
        (vb.EventLocated(1e-12, 1e-15), 1e-8),
        (vb.FixedStep(400, events=True), 1e-4),
    ],
)
def test_a_gap_that_is_closed_at_rest_opens_and_closes_as_often_as_it_should(exact, method, error):
    other = vb.simulate(CLOSED, ramp_of_noise(), SETS, method=method, events=True)
    assert list(other.status) == [vb.Status.SUCCESS] * 5
    assert other.work is not None and other.events is not None and exact.work is not None and exact.events is not None
    np.testing.assert_array_equal(other.work.events, exact.work.events)
    np.testing.assert_allclose(other.events.time, exact.events.time, rtol=0, atol=error)
    assert np.abs(other["displacement of b"] - exact["displacement of b"]).max() < error


def test_masses_that_stick_together_do_not_chatter_at_a_closed_gap():
    joints = [vb.CoulombFriction(9.0).between("a", "b"), vb.gap(3e4, 0.0).between("a", "b")]
    springs = [vb.Spring(138.0).between("ground", "a"), vb.Spring(32.0).between("a", "b")]
    chain = vb.Structure({"a": 0.42, "b": 0.32}, [*springs, *joints], inputs=[vb.BaseAcceleration()])
    for method in (vb.Exact(), vb.EventLocated()):
        solution = vb.simulate(chain, NOISE, method=method)
        assert solution.status == vb.Status.SUCCESS
        assert solution.events is not None and len(solution.events) == 0
        np.testing.assert_allclose(solution["displacement of a"], solution["displacement of b"], rtol=0, atol=1e-15)


LINKS = [vb.Spring(50.0).between("ground", "a"), vb.Spring(70.0).between("a", "b")]
TOUCHING = vb.Structure(
    {"a": 1.0, "b": 0.7},
    [*LINKS, *(vb.gap(k, 0.01).between("a", "b") for k in (1e3, 2e3))],
    inputs=[vb.Force("b")],
)
"""Two stops at one place, which the start below is at but for rounding."""


@pytest.mark.parametrize("away", [-1.0, 1.0])
@pytest.mark.parametrize("lead", [1e-3, 3e-3, 7e-3])
@pytest.mark.parametrize("method", [vb.Exact(), vb.EventLocated(1e-10, 1e-13), vb.FixedStep(40, events=True)])
def test_a_start_on_a_boundary_to_rounding_is_put_right_without_an_event(method, lead, away):
    displacement, velocity = [lead, lead + 0.01], [0.0, 0.1 * away]
    solution = vb.simulate(TOUCHING, NOISE, method=method, events=True, displacement=displacement, velocity=velocity)
    assert solution.events is not None and solution.events.time[0] > 5e-3


def test_friction_that_is_loaded_to_its_limit_for_an_instant_does_not_move_with_fixed_steps():
    push = np.array([0.0, 0.0, -17.92, 13.83, 1.9, 7.0])
    structure = single(vb.Spring(52.7), vb.Damper(1.0), vb.Bingham(17.92, 0.96))
    solution = vb.simulate(
        structure, vb.Sampled(push, 50.0, vb.StraightLines()), method=vb.FixedStep(8, events=True), events=True
    )
    assert solution.status == vb.Status.SUCCESS
    assert np.abs(np.asarray(solution.outputs)).max() < 1e-10


# ---- friction without events ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", [vb.CoulombFriction(0.5), vb.Bingham(0.5, 0.1)], ids=["Coulomb", "Bingham"])
@pytest.mark.parametrize("method", [vb.FixedStep(8), vb.EventLocated(events=False)], ids=["fixed", "adaptive"])
def test_friction_is_refused_where_events_are_not_located(friction, method):
    with pytest.raises(vb.InvalidInput, match=r"can do without located events, got .*; set events=True"):
        vb.simulate(single(vb.Spring(100.0), friction), NOISE, method=method)


# ---- steps that are too long ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("events", [False, True])
def test_fixed_steps_too_long_for_a_stop_end_in_a_status(events):
    oscillator = single(vb.Spring(100.0), vb.Damper(0.5), vb.gap("stop", 0.002))
    stiffness = {"stop": np.array([1e3, 1e5, 1e6, 1e9])}
    solution = vb.simulate(oscillator, NOISE, stiffness, method=vb.FixedStep(8, events=events))
    assert list(solution.status) == [vb.Status.SUCCESS] + [vb.Status.STEP_TOO_LONG] * 3
    assert np.isnan(solution.outputs[1:, 1:]).all() and np.isfinite(solution.outputs[0]).all()
    right = vb.simulate(oscillator, NOISE, {"stop": 1e3}, method=vb.Exact())["velocity of mass"]
    assert np.abs(solution["velocity of mass"][0] - right).max() < 2e-3 * np.abs(right).max()
    if events:
        assert solution.work is not None and solution.work.steps[3] < 500


def test_a_fixed_step_is_judged_by_the_cycles_of_the_motion():
    # Free vibration at one frequency: so many steps in a cycle as there are.
    cycle = vb.Sampled(np.zeros(30), 1.0, vb.ZeroOrderHold())
    per_cycle = np.array([10.0, 11.5, 12.5, 20.0])
    stiffness = {"k": (2 * np.pi / per_cycle) ** 2}
    run = lambda **settings: vb.simulate(  # noqa: E731
        single(vb.Spring("k")), cycle, stiffness, method=vb.FixedStep(1, **settings), velocity=1.0
    )
    too_long, fine = vb.Status.STEP_TOO_LONG, vb.Status.SUCCESS
    assert list(run().status) == [too_long, too_long, fine, fine]
    assert list(run(per_cycle=0).status) == [fine] * 4


# ---- memory under fixed steps ---------------------------------------------------------------------------------------

FREQUENCIES, PHASES = np.linspace(0.3, 3.0, 40), np.random.default_rng(0).uniform(0.0, 6.28, 40)
SWAY = np.sin(2 * np.pi * np.outer(np.arange(500) / 50.0, FREQUENCIES) + PHASES).sum(axis=1) / np.sqrt(20.0)
SWAYING = vb.Sampled(SWAY, 50.0, vb.StraightLines())
YIELDING = vb.Structure.single_dof(
    1.0,
    [
        vb.Damper(0.3).between("ground", "mass"),
        vb.BilinearHysteresis("k", "y", "a").between("ground", "mass", "slider"),
    ],
    sensors=[vb.Displacement("mass"), vb.HystereticEnergy("slider")],
)
LOOPS = {"k": np.array([40.0, 80.0]), "y": np.array([0.02, 0.002]), "a": np.array([0.2, 0.5])}


@pytest.mark.slow
def test_fixed_steps_over_yielding_keep_the_memory_of_the_slider():
    run = lambda method: np.asarray(vb.simulate(YIELDING, SWAYING, LOOPS, method=method).outputs)  # noqa: E731
    right, coarse, fine = run(vb.Exact()), run(vb.FixedStep(1)), run(vb.FixedStep(4))
    errors = [np.std(each - right, axis=1) / np.std(right, axis=1) for each in (coarse, fine)]
    # Displacement and absorbed energy, of two sets: of second and of first order in steps over a corner.
    assert (errors[0] < [0.002, 0.02]).all() and (errors[1] < errors[0] / [8.0, 2.0]).all()


@pytest.mark.slow
def test_fixed_steps_unstable_in_a_memory_alone_end_in_a_status():
    # At its limit the state decays at (β + γ)|v|, a thousand per second, and its force is a small part of the input.
    stiff = single(vb.Damper(0.3), vb.Spring(8.0), vb.BoucWen(40.0, 500.0, 500.0))
    run = lambda method: vb.simulate(stiff, SWAYING, method=method)  # noqa: E731
    assert run(vb.FixedStep(2)).status == run(vb.FixedStep(4)).status == vb.Status.STEP_TOO_LONG
    right, fine = run(vb.EventLocated(1e-9))["displacement of mass"], run(vb.FixedStep(16))
    assert fine.status == vb.Status.SUCCESS
    assert np.abs(fine["displacement of mass"] - right).max() < 1e-4 * np.abs(right).max()


# ---- tables of events -----------------------------------------------------------------------------------------------


def test_a_run_with_more_events_than_the_table_holds_is_not_repeated(monkeypatch):
    spring, count = vb.PiecewiseLinearSpring((1.0, 1.0), (0.0,)), 4196
    reached = []
    inner = verb._run

    def counted(*args, **kwargs):
        raw = inner(*args, **kwargs)
        assert raw.lanes is not None
        reached.append(int(raw.lanes.events[0]))
        return raw

    monkeypatch.setattr(verb, "_run", counted)
    half = vb.Sampled(np.zeros(round(np.pi * (count + 0.5)) + 1), 1.0, vb.ZeroOrderHold())
    solution = vb.simulate(single(spring), half, method=vb.Exact(), velocity=1.0, states=False)
    assert solution.status == vb.Status.SUCCESS and solution.events is not None
    assert reached == [4096, count]
    np.testing.assert_allclose(solution.events.time, np.pi * np.arange(1, count + 1), rtol=1e-12)


def test_tables_of_a_batch_go_on_where_one_of_them_is_full(monkeypatch):
    spring = vb.PiecewiseLinearSpring(("k", "k"), (0.0,))
    run = lambda: vb.simulate(  # noqa: E731
        single(spring), SILENCE, {"k": np.array([1.0, 4.0, 36.0])}, method=vb.Exact(), velocity=1.0, events=True
    )
    whole = run()
    monkeypatch.setattr(verb, "_ROOM", {True: 4, False: 4})
    jax.clear_caches()
    parts = run()
    assert whole.events is not None and parts.events is not None and len(whole.events) == 3 + 6 + 19
    assert parts.events.rows() == whole.events.rows()
    np.testing.assert_array_equal(parts.outputs, whole.outputs)


# ---- problems -------------------------------------------------------------------------------------------------------

TIME = np.arange(60) / 50.0
RECORD = vb.Record.from_arrays(rate=50.0, input={"f": np.sin(9.0 * TIME)}, output={"x": 0.02 * np.sin(9.0 * TIME)})


def posed(*elements: vb.Element, method: vb.Method) -> vb.Problem:
    structure = vb.Structure.single_dof("m", elements, sensors=[vb.Displacement("mass")])
    return vb.Problem(structure, RECORD, {"m": vb.Uniform(0.5, 2.0)}, method=method)


@pytest.mark.parametrize("method", [vb.FixedStep(4), vb.FixedStep(4, events=True), vb.EventLocated(1e-6), vb.Exact()])
def test_every_method_of_simulation_works_in_a_problem_with_an_unknown_mass(method):
    problem = posed(vb.Spring(100.0), vb.Damper(1.0), method=method)
    posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=20, draws=20))
    assert posterior.selected.failures == 0 and 0.5 < posterior.selected.mean()["m"] < 2.0


@pytest.mark.parametrize(
    "elements, method, words",
    [
        ([vb.Spring(1e8)], vb.FixedStep(4), r"FixedStep.substeps: expected at least \d+ .*, got 4; raise it"),
        ([vb.Duffing(1.0, 2.0)], vb.Exact(), "Exact: expected piecewise-linear elements only"),
        ([vb.Spring(1.0), vb.CoulombFriction(1.0)], vb.FixedStep(4), "can do without located events"),
        ([vb.Spring(1.0)], "exact", "expected a method object, got 'exact'"),
    ],
)
def test_a_method_that_cannot_work_is_refused_when_the_problem_is_posed(elements, method, words):
    with pytest.raises(vb.InvalidInput, match=words):
        posed(*elements, method=method)


# ---- precision ------------------------------------------------------------------------------------------------------


@pytest.fixture
def single_precision():
    jax.config.update("jax_enable_x64", False)
    yield
    jax.config.update("jax_enable_x64", True)


OSCILLATOR = vb.Structure.single_dof("m", [vb.Spring(100.0), vb.Damper(1.0)], sensors=[vb.Displacement("mass")])
KNOWN = {"m": 1.0}
RANDOM = OSCILLATOR.driven_by(vb.WhiteNoise(1.0))
PRIOR = {"m": vb.Uniform(0.5, 2.0)}
PROBLEM = vb.Problem(OSCILLATOR, RECORD, PRIOR)
SOLVED = vb.Problem(OSCILLATOR, RECORD, PRIOR, noise=0.01)
FILTERED = vb.Problem(RANDOM, vb.Record.from_arrays(rate=50.0, output=RECORD.output), PRIOR, noise=0.01)
VERBS = {
    "simulate": lambda: vb.simulate(OSCILLATOR, NOISE, KNOWN),
    "simulate, smooth": lambda: vb.simulate(OSCILLATOR, vb.Sine(1.0, 1.0), KNOWN, rate=50.0, samples=9),
    "excitation": lambda: vb.Sampled(np.ones(3), 1.0, vb.StraightLines()),
    "realise": lambda: vb.realise(0, RANDOM, KNOWN, rate=50.0, samples=9),
    "infer by distances": lambda: vb.infer(0, PROBLEM),
    "infer by a solver": lambda: vb.infer(0, SOLVED),
    "infer by a filter": lambda: vb.infer(0, FILTERED),
    "likelihood of a solver": lambda: SOLVED.filtering().log_likelihood(KNOWN),
    "likelihood of a filter": lambda: FILTERED.filtering().log_likelihood(KNOWN),
    "forced response": lambda: vb.forced_response(OSCILLATOR, KNOWN, {"mass": 1.0}, (1.0, 2.0)),
    "backbones": lambda: vb.linear_modes(OSCILLATOR, KNOWN),
    "static force": lambda: vb.static_force(vb.Spring(1.0), [1.0]),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS.keys())
def test_single_precision_is_refused_in_words(single_precision, verb):
    with pytest.raises(vb.InvalidInput, match=r"expected JAX in double precision, .*; call jax.config.update"):
        verb()
