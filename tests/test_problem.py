"""Problems, constraints, distances and candidates: what they compute, and what they refuse."""

import numpy as np
import pytest

import vibayes as vb
from vibayes.candidates import ProblemCandidate
from vibayes.constraints import slopes_from_left
from vibayes.priors import Prior

TIME = np.arange(30) / 10.0
RECORD = vb.Record.from_arrays(rate=10.0, output={"x": np.exp(-0.7 * TIME)})
RATE = {"rate": vb.Uniform(0.1, 2.0)}
SMALL = vb.FollowAndWeigh(particles=60, draws=200, rounds=2)


def decay(rate):
    return np.exp(-rate * TIME)


# Distances.


def test_nmse_of_the_mean_is_a_hundred():
    record = vb.Record.from_arrays(rate=1.0, output={"a": np.random.default_rng(0).normal(size=50)})
    assert vb.NMSE().between(record, np.full((50, 1), record.output.mean())) == pytest.approx(100.0)


def test_nmse_of_several_outputs_is_their_weighted_mean():
    rng = np.random.default_rng(1)
    one, other, guess = rng.normal(size=(3, 40))
    both = vb.Record.from_arrays(rate=1.0, output={"a": one, "b": 100.0 * other})
    alone = [
        vb.NMSE().between(vb.Record.from_arrays(rate=1.0, output={"y": y}), z[:, None])
        for y, z in ((one, guess), (100.0 * other, 50.0 * guess))
    ]
    found = vb.NMSE({"a": 1.0, "b": 3.0}).between(both, np.column_stack([guess, 50.0 * guess]))
    assert found == pytest.approx(0.25 * alone[0] + 0.75 * alone[1])


def test_nmse_leaves_gaps_out():
    values = np.sin(np.arange(40.0))
    gaps = values.copy()
    gaps[[3, 17]] = np.nan
    record = vb.Record.from_arrays(rate=1.0, output={"a": gaps})
    known = np.isfinite(gaps)
    expected = 100.0 * np.mean((values[known] - 0.5) ** 2) / values[known].var()
    assert vb.NMSE().between(record, np.full((40, 1), 0.5)) == pytest.approx(expected)


# Constraints.


@pytest.mark.parametrize("breaks", [(-1.0, 2.0), (1.0, 2.0), (-2.0, -1.0)])
def test_slopes_from_the_left_are_those_of_the_element(breaks):
    spring = vb.PiecewiseLinearSpring.around_zero("k0", ("k1", "k2"), ("d1", "d2"))
    values = {"k0": 10.0, "k1": 20.0, "k2": 30.0, "d1": breaks[0], "d2": breaks[1]}
    known = vb.PiecewiseLinearSpring.around_zero(10.0, (20.0, 30.0), breaks)
    x = np.array([breaks[0] - 1.0, np.mean(breaks), breaks[1] + 1.0])
    steps = [vb.static_force(known, deformation=x + h) for h in (1e-6, -1e-6)]
    found = slopes_from_left(spring, {name: np.array([value]) for name, value in values.items()})[:, 0]
    np.testing.assert_allclose(found, (steps[0] - steps[1]) / 2e-6, rtol=1e-6)


def test_break_points_are_in_order_without_being_told():
    spring = vb.PiecewiseLinearSpring.around_zero("k0", ("k1", "k2"), ("d1", "d2"))
    structure = vb.Structure.single_dof(1.0, [spring], sensors=[vb.Displacement("mass")])
    record = vb.Record.from_arrays(rate=10.0, input=np.ones(30), output=np.sin(TIME))
    priors: dict[str, Prior] = dict.fromkeys(("k0", "k1", "k2"), vb.LogUniform(1.0, 9.0))
    priors |= dict.fromkeys(("d1", "d2"), vb.Uniform(-1.0, 1.0))
    candidate = ProblemCandidate(vb.Problem(structure, record, priors))
    points = np.random.default_rng(0).random((500, 5))
    values = candidate.values(points)
    assert candidate.allowed(points).all() and np.all(values["d1"] < values["d2"])


def test_a_constraint_that_is_no_mask_is_refused():
    problem = vb.Problem(decay, RECORD, RATE, constraints=[lambda v: v["rate"]])
    with pytest.raises(vb.InvalidInput, match=r"constraints\[0\]: expected true or false for each"):
        vb.infer(0, problem)


def test_a_constraint_that_raises_is_named():
    problem = vb.Problem(decay, RECORD, RATE, constraints=[lambda v: v["speed"] > 0])
    with pytest.raises(vb.InvalidInput, match=r"constraints\[0\].*KeyError.*speed"):
        vb.infer(0, problem)


# Lending.


def springs(count: int) -> ProblemCandidate:
    slopes, breaks = ([f"{letter}{i}" for i in range(1, count + 1)] for letter in "kd")
    priors = {"k0": vb.LogUniform(1.0, 10.0)} | dict.fromkeys(slopes, vb.LogUniform(1.0, 10.0))
    priors |= dict.fromkeys(breaks, vb.Uniform(-1.0, 1.0))
    order = [vb.Increasing(breaks, slopes)] if count > 1 else []

    def model(**_):
        return decay(1.0)

    return ProblemCandidate(vb.Problem(model, RECORD, priors, f"{count}", order))


def pairs_of(candidate, point):
    """Break points and the slopes beyond them."""
    values = {name: round(float(value[0]), 9) for name, value in candidate.values(point[None]).items()}
    return {(values[f"k{i}"], values[f"d{i}"]) for i in range(1, 4) if f"d{i}" in values}


def test_a_richer_model_keeps_what_it_borrows_and_puts_it_in_order():
    few, many, rng = springs(2), springs(3), np.random.default_rng(0)
    points = rng.random((200, 5))
    points = points[few.allowed(points)]
    lent = many.adopt(rng, few, points)
    assert many.allowed(lent).all()
    assert pairs_of(few, points[7]) < pairs_of(many, lent[7]) and lent[7][0] == points[7][0]


def test_a_simpler_model_drops_any_of_the_pairs():
    few, many, rng = springs(1), springs(2), np.random.default_rng(0)
    points = np.tile([0.5, 0.1, 0.2, 0.3, 0.4], (100, 1))
    lent = few.adopt(rng, many, points)
    assert set.union(*(pairs_of(few, row) for row in lent)) == pairs_of(many, points[0])


def test_parameters_with_other_priors_are_not_borrowed():
    one = ProblemCandidate(vb.Problem(decay, RECORD, RATE, "a"))
    other = ProblemCandidate(vb.Problem(decay, RECORD, {"rate": vb.Uniform(0.1, 3.0)}, "b"))
    lent = other.adopt(np.random.default_rng(0), one, np.full((50, 1), 0.5))
    assert len(np.unique(lent)) == 50


# Simulators.


@pytest.mark.parametrize("samples", [1, 12, 30])
def test_squares_of_the_errors_sum_up_to_the_distance_so_far(samples):
    candidate = ProblemCandidate(vb.Problem(decay, RECORD, RATE))
    errors = candidate.errors(np.array([[0.3], [0.9]]), samples)
    simulated = np.array([decay(rate) for rate in candidate.values(np.array([[0.3], [0.9]]))["rate"]])[..., None]
    running = vb.NMSE().running(RECORD, simulated)
    np.testing.assert_allclose((errors**2).sum(axis=(1, 2)), running[:, samples - 1])
    np.testing.assert_allclose(candidate.judge(np.array([[0.3], [0.9]]), np.inf), running[:, -1])


def test_the_beginning_of_a_record_holds_some_of_the_signal():
    late = vb.Record.from_arrays(rate=10.0, output={"x": np.where(np.arange(200) < 100, 0.0, np.sin(np.arange(200)))})
    candidate = ProblemCandidate(vb.Problem(lambda rate: np.full(200, rate), late, RATE, "late"))
    assert 100 < candidate.beginning < 120
    assert ProblemCandidate(vb.Problem(decay, RECORD, RATE, sequential=False)).beginning == 30


@pytest.mark.slow
def test_a_structure_is_judged_like_its_simulation():
    structure = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.5)], sensors=[vb.Displacement("mass")])
    force = vb.band_limited_noise(0, 10.0, 30, 1.0, high_hz=3.0, hold=vb.StraightLines())
    outputs = np.asarray(vb.simulate(structure, force, {"k": np.array([4.0, 7.0])}).outputs)
    record = vb.Record.from_arrays(rate=10.0, input=np.asarray(force.values), output=outputs[0] + 0.01)
    problem = vb.Problem(structure, record, {"k": vb.Uniform(1.0, 10.0)})
    judged = ProblemCandidate(problem).judge((np.array([[4.0], [7.0]]) - 1.0) / 9.0, np.inf)
    expected = [vb.NMSE().between(record, each) for each in outputs]
    np.testing.assert_allclose(judged, expected, rtol=1e-9)


@pytest.mark.slow
def test_a_structure_with_a_distance_of_the_users_is_judged_by_it_whatever_the_number_of_sets():
    structure = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.5)], sensors=[vb.Displacement("mass")])
    force = vb.band_limited_noise(0, 10.0, 30, 1.0, high_hz=3.0, hold=vb.StraightLines())
    stiffness = np.array([2.0, 4.0, 7.0])
    outputs = np.asarray(vb.simulate(structure, force, {"k": stiffness}).outputs)
    record = vb.Record.from_arrays(rate=10.0, input=np.asarray(force.values), output=outputs[0])

    def largest(measured, simulated):
        return np.max(np.abs(measured - simulated))

    candidate = ProblemCandidate(vb.Problem(structure, record, {"k": vb.Uniform(1.0, 10.0)}, distance=largest))
    for count in (1, 3):
        judged = candidate.judge((stiffness[:count, None] - 1.0) / 9.0, 1.0)
        np.testing.assert_allclose(judged, np.abs(outputs - outputs[0]).max(axis=(1, 2))[:count], atol=1e-12)


@pytest.mark.slow
def test_a_simulator_that_raises_or_gives_nan_is_counted_and_the_rest_is_found():
    def moody(rate):
        if rate > 1.5:
            raise ArithmeticError("too fast")
        return decay(rate) if rate > 0.3 else np.full(30, np.nan)

    found = vb.infer(0, vb.Problem(moody, RECORD, RATE), SMALL)
    assert 0.7 == pytest.approx(found.selected.mean()["rate"], abs=0.01)
    assert 0 < found.selected.failures < found.selected.simulations
    assert any("failed" in note for note in found.notes)


@pytest.mark.slow
def test_a_simulator_that_always_fails_is_a_verdict():
    def broken(rate):
        raise RuntimeError("no licence")

    found = vb.infer(0, vb.Problem(broken, RECORD, RATE), SMALL)
    assert any("every simulation of 'broken' failed; the first: RuntimeError: no licence" in n for n in found.notes)
    with pytest.raises(vb.InvalidInput, match="a model within the threshold"):
        found.selected  # noqa: B018


def test_a_simulator_of_the_wrong_length_is_refused():
    with pytest.raises(vb.InvalidInput, match=r"outputs of shape \(30, 1\)"):
        vb.infer(0, vb.Problem(lambda rate: np.ones(7), RECORD, RATE, "short"), SMALL)


def test_a_vectorised_simulator_gives_the_same_judgement():
    points = np.linspace(0.1, 0.9, 7)[:, None]
    one = ProblemCandidate(vb.Problem(decay, RECORD, RATE))
    many = ProblemCandidate(
        vb.Problem(lambda rate: np.exp(-rate[:, None] * TIME), RECORD, RATE, "all", vectorised=True)
    )
    np.testing.assert_allclose(one.judge(points, 50.0), many.judge(points, 50.0))


# What is refused.


def test_priors_that_never_meet_a_constraint_are_refused():
    problem = vb.Problem(decay, RECORD, RATE, constraints=[lambda v: v["rate"] > 5.0])
    with pytest.raises(vb.InvalidInput, match="priors that meet the constraints now and then"):
        vb.infer(0, problem)


def test_an_empty_set_of_models_is_refused():
    with pytest.raises(vb.InvalidInput, match="at least one Problem"):
        vb.infer(0, [])


def test_a_record_that_never_changes_is_refused():
    flat = vb.Record.from_arrays(rate=10.0, output={"x": np.ones(30)})
    with pytest.raises(vb.InvalidInput, match="an output 'x' that varies"):
        vb.Problem(decay, flat, RATE)


def test_two_models_of_one_name_are_refused():
    with pytest.raises(vb.InvalidInput, match="'decay' twice"):
        vb.infer(0, [vb.Problem(decay, RECORD, RATE)] * 2)


def test_models_of_different_records_are_refused():
    other = vb.Record.from_arrays(rate=10.0, output={"x": np.sin(TIME)})
    with pytest.raises(vb.InvalidInput, match="the outputs of the first"):
        vb.infer(0, [vb.Problem(decay, RECORD, RATE), vb.Problem(decay, other, RATE, "b")])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": 3}, "a structure or a simulator"),
        ({"priors": {}}, "priors by name"),
        ({"priors": {"rate": 3.0}}, "a distribution with icdf"),
        ({"record": np.ones(3)}, "a Record"),
        ({"distance": 3}, "a distance"),
        ({"constraints": [3]}, "a function"),
        ({"prior_probability": 0.0}, "a positive number"),
    ],
)
def test_what_makes_no_problem_is_refused(changes, message):
    with pytest.raises(vb.InvalidInput, match=message):
        vb.Problem(**{"model": decay, "record": RECORD, "priors": RATE, **changes})


def test_a_structure_and_a_record_with_other_channels_are_refused():
    structure = vb.Structure.single_dof(1.0, [vb.Spring("k")], sensors=[vb.Displacement("mass"), vb.Velocity("mass")])
    record = vb.Record.from_arrays(rate=10.0, input=np.ones(30), output=np.sin(TIME))
    with pytest.raises(vb.InvalidInput, match="one output of the record per sensor"):
        vb.Problem(structure, record, {"k": vb.Uniform(1.0, 2.0)})


def test_a_negative_distance_is_refused():
    problem = vb.Problem(decay, RECORD, RATE, distance=lambda a, b: -1.0)
    with pytest.raises(vb.InvalidInput, match="0 or more"):
        vb.infer(0, problem, SMALL)


def test_a_run_ends_after_its_seconds():
    found = vb.infer(0, vb.Problem(decay, RECORD, RATE), SMALL, max_seconds=1e-6)
    assert any("max_seconds" in note for note in found.notes)
