"""The number of regions that a record visits, as a probability, is told wherever a model is named."""

import numpy as np
import pytest
from tests.reported import believed, posterior_of

import vibayes as vb
from vibayes.cli.compare import table
from vibayes.cli.results import results_of
from vibayes.errors import InvalidInput
from vibayes.findings import diagnose, regions
from vibayes.report.verdict import models, verdict
from vibayes.visits import Visits, over_models, visits

RATE, SAMPLES, SETS = 50.0, 150, 12
FORCE = np.random.default_rng(4).normal(size=SAMPLES)
RNG = np.random.default_rng(0)


def record_of(input=FORCE, output=None):
    return vb.Record.from_arrays(
        rate=RATE, input={"force": input}, output={"x": np.sin(np.arange(SAMPLES)) if output is None else output}
    )


def problem_of(members, names, record=None, **settings):
    structure = vb.Structure.single_dof(1.0, members, sensors=[vb.Displacement("mass")])
    priors = {name: vb.Uniform(-100.0, 100.0) for name in names}
    return vb.Problem(structure, record or record_of(), priors, **settings)


@pytest.fixture(scope="module")
def linear():
    """Deformation and velocity of the linear oscillator that all laws below are, looked at finely."""
    times = np.arange((SAMPLES - 1) * 64 + 1) / 64
    fine = vb.Sampled(np.interp(times, np.arange(SAMPLES), FORCE), 64 * RATE, vb.StraightLines())
    structure = vb.Structure.single_dof(1.0, [vb.Spring(100.0), vb.Damper(1.0)])
    solution = vb.simulate(structure, fine)
    return np.asarray(solution["x of mass"]), np.asarray(solution["v of mass"])


@pytest.fixture(scope="module")
def found(linear):
    """Three laws whose regions all have one slope: the motion is that of the linear oscillator wherever they break."""
    spring = vb.PiecewiseLinearSpring((50.0,) * 4, ("a", "b", "c")).between("ground", "mass", name="spring")
    centred = vb.PiecewiseLinearSpring.around_zero(50.0, (50.0,), ("d",)).between("ground", "mass", name="centred")
    damper = vb.PiecewiseLinearDamper((1.0,) * 3, ("e", "f")).between("ground", "mass", name="damper")
    stop = vb.gap(0.0, "g").between("ground", "mass", name="stop")
    x, v = linear
    values = dict(zip("abc", np.sort(RNG.uniform(-1.3, 1.3, (3, SETS)), axis=0) * np.abs(x).max(), strict=True))
    values |= dict(zip("ef", np.sort(RNG.uniform(-1.3, 1.3, (2, SETS)), axis=0) * np.abs(v).max(), strict=True))
    values |= {name: RNG.uniform(0.3, 1.4, SETS) * x.max() for name in "dg"}
    # The middle region of the last set is passed in less than a sample.
    values["b"][-1], values["c"][-1] = 0.0, 1e-7
    values["a"][-1] = 2.0 * x.min()
    return values, visits(problem_of([spring, centred, damper, stop], values), values)


def test_a_region_is_visited_where_the_motion_crosses_its_borders(found, linear):
    values, seen = found
    for name, breaks, motion in (("spring", "abc", 0), ("centred", "d", 0), ("damper", "ef", 1), ("stop", "g", 0)):
        edges = np.stack([np.full(SETS, -np.inf), *(values[b] for b in breaks), np.full(SETS, np.inf)])
        low, high = linear[motion].min(), linear[motion].max()
        known = (edges[:-1] < high) & (edges[1:] > low)
        np.testing.assert_array_equal(seen.visited[name], known.T)
        counts = seen.numbers()[name]
        assert counts == {n: np.mean(known.sum(axis=0) == n) for n in counts} and sum(counts.values()) == 1.0
    assert seen.regions["spring"] == ("region 1", "region 2", "region 3", "region 4")
    assert seen.visited["spring"][-1].tolist() == [False, True, True, True]


def test_other_laws_say_whether_they_yield_slip_or_have_no_regions():
    yields = vb.BilinearHysteresis(100.0, "y", 0.1).between("ground", "mass", name="yielding")
    slips = vb.CoulombFriction("limit").between("ground", "mass", name="slider")
    smooth = vb.BoucWen(10.0, 0.5, 0.5).between("ground", "mass", name="smooth")
    values = {"y": np.array([1e-3, 10.0]), "limit": np.array([1e-3, 1e-3])}
    seen = visits(problem_of([yields, slips, smooth, vb.Damper(0.5)], values), values)
    assert set(seen.visited) == {"yielding", "slider"}
    assert seen.regions["yielding"] == ("elastic", "yielding on", "yielding back")
    assert seen.visited["yielding"].tolist() == [[True, True, True], [True, False, False]]
    assert seen.probabilities()["slider"]["sliding on"] == 1.0


def test_where_inputs_are_random_the_estimated_motion_counts():
    spring = vb.PiecewiseLinearSpring((100.0, 100.0), ("d",)).between("ground", "mass", name="spring")
    structure = vb.Structure.single_dof(1.0, [spring, vb.Damper(1.0)], sensors=[vb.Displacement("mass")])
    structure = structure.driven_by(vb.WhiteNoise(0.5))
    shown = 0.2 * np.sin(10.0 * np.arange(60) / RATE)
    record = vb.Record.from_arrays(rate=RATE, output={"x": shown})
    problem = vb.Problem(structure, record, {"d": vb.Uniform(-1.0, 1.0)}, noise=1e-3)
    seen = visits(problem, {"d": np.array([0.1, 0.9, -0.9])})
    assert seen.visited["spring"].tolist() == [[True, True], [True, False], [False, True]]


class Map:
    """A simulator of one's own that knows its regions."""

    def __call__(self, d):
        return d[:, None] * np.ones(SAMPLES)

    def regions_visited(self, values):
        return {"map": np.stack([values["d"] < 5.0, values["d"] > -5.0], axis=1)}


def test_a_simulator_of_ones_own_may_tell_its_regions_and_need_not():
    record = record_of()
    posed = vb.Problem(Map(), record, {"d": vb.Uniform(-10.0, 10.0)}, "map", vectorised=True)
    seen = visits(posed, {"d": np.array([-6.0, 0.0, 6.0])})
    assert seen.numbers()["map"] == pytest.approx({1: 2 / 3, 2: 1 / 3})
    plain = vb.Problem(lambda d: d, record, {"d": vb.Uniform(-10.0, 10.0)})
    assert not visits(plain, {"d": np.zeros(3)})
    wrong = vb.Problem(lambda d: d, record, {"d": vb.Uniform(-10.0, 10.0)})
    object.__setattr__(wrong, "model", type("Wrong", (Map,), {"regions_visited": lambda self, v: {"map": v["d"]}})())
    with pytest.raises(InvalidInput, match="each of 3 sets and each region"):
        visits(wrong, {"d": np.zeros(3)})


def test_models_are_weighed_and_one_without_regions_has_one():
    seen = np.array([[True, True, False]] * 25 + [[True, True, True]] * 75)
    three = Visits({"s": seen}, {"s": ("1", "2", "3")}, 100.0)
    numbers = over_models([(0.8, 0.1, three), (0.2, 0.1, Visits())])
    assert numbers.probabilities["s"] == pytest.approx({1: 0.2, 2: 0.2, 3: 0.6})
    # Variance of Σ p_m q_m: from the draws, and from the probabilities of the models.
    draws, weighing = 0.8**2 * 0.75 * 0.25 / 100.0, 0.1**2 * ((0.75 - 0.6) ** 2 + 0.6**2)
    assert numbers.errors["s"][3] == pytest.approx(np.sqrt(draws + weighing))
    assert not over_models([(float("nan"), 0.0, three)]).probabilities


@pytest.fixture(scope="module")
def posterior():
    """A linear and a bilinear model of a spring; half of the draws of the latter never reach its break point."""
    spring = vb.PiecewiseLinearSpring.around_zero("k", ("k1",), ("d",)).between("ground", "mass", name="spring")
    one = vb.PiecewiseLinearSpring.around_zero("k", (), ()).between("ground", "mass", name="spring")
    record = record_of()
    posed = [
        problem_of([each, vb.Damper(1.0)], names, record, name=name)
        for name, each, names in (("linear", one, ("k",)), ("bilinear", spring, ("k", "k1", "d")))
    ]
    chosen = [believed(posed[0], {"k": 50.0}, 0.001, 0.25, 12), believed(
        posed[1], {"k": 50.0, "k1": 60.0, "d": 90.0}, 0.001, 0.75, 12)]  # fmt: skip
    chosen[1].draws["d"][::2] = 1e-3
    return posterior_of(*chosen, threshold=1.0)


def test_results_tell_the_number_beside_the_name_of_the_model(posterior):
    share = posterior["bilinear"].regions_visited.probabilities["spring"][2]
    assert 0.3 < share < 0.7
    assert posterior.regions_visited.probabilities["spring"] == pytest.approx({1: 1.0 - 0.75 * share, 2: 0.75 * share})
    summary = posterior.summary()
    assert "bilinear   0.750" in summary and "regions visited: 1 (" in summary and "whichever model" in summary
    told = results_of(posterior)
    assert told["models"][0]["regions_visited"]["spring"]["probabilities"] == {"1": 1.0}
    assert told["regions_visited"]["spring"]["probabilities"]["2"] == pytest.approx(0.75 * share)
    assert "regions visited" in table({"run": posterior}, None)[0]
    assert '<th scope="col">regions visited</th>' in models(posterior)
    assert "Regions that the record visits" in verdict(posterior, [])


def test_a_break_point_where_the_motion_never_goes_is_said_in_words(posterior):
    model = posterior["bilinear"]
    (said,) = regions.of_visits(model)
    assert said.rank > 0 and "lies where the motion never goes" in said.sentence and "d," in said.sentence
    assert said in diagnose(posterior)
    known = believed(model.problem, {"k": 50.0, "k1": 60.0, "d": 1e-3}, 0.001, 1.0, 12)
    (said,) = regions.of_visits(known)
    assert said.severity == "good" and "all 2 regions of spring" in said.sentence
    assert regions.of_visits(posterior["linear"]) == []
