"""What a record cannot tell is said in words, and nothing is said where it can."""

import warnings
from itertools import pairwise

import numpy as np
import pytest

import vibayes as vb
from vibayes.identifiability import doubts, unfelt
from vibayes.targets import ProblemTarget

GROUND = vb.KanaiTajimi(12.0, 0.4, 0.5)
SHAKEN = [vb.BaseAcceleration()]
TOP = [vb.AbsoluteAcceleration("m1")]
STIFF, LIGHT = vb.LogUniform(20.0, 200.0), vb.Uniform(0.0, 2.0)


def record(samples=200, outputs=1, rate=40.0):
    return vb.Record.from_arrays(rate=rate, output=np.random.default_rng(0).normal(size=(samples, outputs)))


def storey(k="k", c="c"):
    return vb.Structure.chain([1.0], [[vb.Spring(k), vb.Damper(c)]], sensors=TOP).driven_by(GROUND)


def tower(storeys, sensors):
    elements = [[vb.Spring(f"k{i}"), vb.Damper(1.0)] for i in range(1, storeys + 1)]
    return vb.Structure.chain([1.0] * storeys, elements, sensors=sensors).driven_by(GROUND)


def side_by_side():
    elements = [
        part.between("ground", mass)
        for mass in ("m1", "m2")
        for part in (vb.Spring(f"k_{mass}"), vb.Damper(1.0 if mass == "m1" else 2.0))
    ]
    return vb.Structure({"m1": 1.0, "m2": 1.0}, elements, SHAKEN, TOP).driven_by(GROUND)


def three(sensor):
    """Three masses in a row between two walls, the same from the left and from the right; a force on the first."""
    ends = ("ground", "m1", "m2", "m3", "ground")
    links = [vb.Spring("k").between(a, b) for a, b in pairwise(ends)]
    dampers = [vb.Damper(1.0).between("ground", m) for m in ("m1", "m2", "m3")]
    masses = {"m1": 1.0, "m2": 1.0, "m3": 1.0}
    wind = vb.RationalFilter((1.0,), (0.5,), 1.0)
    return vb.Structure(masses, [*links, *dampers], [vb.Force("m1")], [sensor]).driven_by(wind)


def column(high):
    law = vb.BilinearHysteresis("k", "y", 0.1)
    structure = vb.Structure.chain([1.0], [[law, vb.Damper(1.0)]], sensors=TOP).driven_by(GROUND)
    return structure, {"k": STIFF, "y": vb.Uniform(0.0, high) if high < 1 else vb.Uniform(0.5 * high, high)}


def at_rest(structure, priors, measured=None):
    return " / ".join(doubts(ProblemTarget(vb.Problem(structure, measured or record(), priors, noise=0.1))))


def said(structure, priors):
    return " / ".join(unfelt(ProblemTarget(vb.Problem(structure, record(), priors, noise=0.1))))


# Outputs.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("structure", "unseen"),
    [
        (side_by_side(), "'m2'"),
        (three(vb.Displacement("m2")), "'m1', 'm3'"),
        (three(vb.Displacement("m1")), ""),
        (tower(2, TOP), ""),
        (tower(2, [vb.AbsoluteAcceleration("m2")]), ""),
        (tower(5, [vb.AbsoluteAcceleration("m5")]), ""),
        (tower(5, TOP), ""),
        (tower(7, [vb.AbsoluteAcceleration("m7")]), ""),
        (tower(7, [vb.Displacement("m4")]), ""),
        (tower(12, [vb.AbsoluteAcceleration("m12")]), ""),
    ],
)
def test_masses_that_no_output_shows_are_named_and_no_others(structure, unseen):
    words = at_rest(structure, dict.fromkeys(structure.parameters, STIFF), record(400))
    if unseen:
        assert f"do not show the whole motion of {unseen}: it cannot be estimated" in words
    else:
        assert words == ""


@pytest.mark.slow
def test_a_parameter_that_no_output_depends_on_is_named():
    assert "no output depends on 'k_m2':" in said(side_by_side(), {"k_m1": STIFF, "k_m2": STIFF})


@pytest.mark.slow
def test_a_limit_that_is_never_reached_is_named_and_one_that_is_reached_is_not():
    assert "no output depends on 'y':" in said(*column(1000.0))
    assert said(*column(0.1)) == ""


@pytest.mark.slow
def test_all_is_told_by_warnings_and_kept_in_the_notes():
    problem = vb.Problem(side_by_side(), record(), {"k_m1": STIFF, "k_m2": STIFF}, noise=0.1)
    with pytest.warns(vb.IdentifiabilityWarning) as told:
        posterior = vb.infer(0, problem, vb.Metropolis(draws=10, chains=2))
    for words in ("no output depends on 'k_m2'", "the whole motion of 'm2'"):
        assert any(words in str(each.message) for each in told)
    assert any("the whole motion of 'm2'" in note for note in posterior.notes)


@pytest.mark.slow
def test_no_warning_without_cause():
    problem = vb.Problem(storey(), record(), {"k": STIFF, "c": LIGHT, "sigma": vb.LogUniform(0.01, 1.0)}, noise="sigma")
    with warnings.catch_warnings():
        warnings.simplefilter("error", vb.IdentifiabilityWarning)
        vb.infer(0, problem, vb.Metropolis(draws=10, chains=2))


# Length.


@pytest.mark.parametrize(("samples", "short"), [(20, True), (60, False)])
def test_a_record_shorter_than_a_period_is_told_of(samples, short):
    # The median of the stiffness is 20 √10: a period of 2π / 7.95 = 0.790 s, and 0.475 or 1.475 s of record.
    words = at_rest(storey(), {"k": STIFF, "c": LIGHT}, record(samples))
    assert ("the record lasts 0.475 s, and a period 0.79" in words) == short
    assert bool(words) == short


# Priors.


@pytest.mark.parametrize(
    ("priors", "named"),
    [
        ({"k": vb.Uniform(-10.0, 100.0), "c": LIGHT}, "the prior of k, Uniform(low=-10.0, high=100.0), allows -9.89"),
        ({"k": STIFF, "c": vb.Normal(1.0, 1.0)}, "the prior of c, Normal("),
        ({"k": STIFF, "c": LIGHT}, ""),
        ({"k": vb.Uniform(0.0, 100.0), "c": vb.Normal(1.0, 0.2)}, ""),
    ],
)
def test_priors_that_let_a_linear_structure_run_away_are_told_of(priors, named):
    words = at_rest(storey(), priors)
    assert named in words if named else words == ""


BELOW = vb.Normal(1.0, 1.0)
YIELDING = vb.Structure.single_dof(
    "m",
    [vb.BilinearHysteresis("k", "y", "a"), vb.Damper(1.0)],
    damping=vb.ModalDamping("z"),
    sensors=[vb.Velocity("mass")],
).driven_by(vb.WhiteNoise("S0"))
FINE: dict = {
    "m": vb.LogNormal(1.0, 1.2), "k": STIFF, "y": vb.Uniform(0.0, 0.1), "a": vb.Uniform(0.0, 1.0),
    "z": vb.Uniform(0.0, 0.1), "S0": vb.LogUniform(0.1, 1.0), "sigma": vb.Uniform(0.0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m", r"a positive number \(mass of 'mass'\)"),
        ("k", r"a positive stiffness \(bilinear_hysteresis_1.stiffness\)"),
        ("y", r"a positive value \(bilinear_hysteresis_1.yield_displacement\)"),
        ("a", r"α < 1 .* \(bilinear_hysteresis_1.ratio\)"),
        ("z", r"damping ratios ≥ 0 \(ModalDamping.ratio\)"),
        ("S0", r"a positive spectral density \(WhiteNoise.density\)"),
        ("sigma", "a positive standard deviation"),
    ],
)
def test_a_prior_outside_the_physical_range_is_refused_by_name(name, expected):
    with pytest.raises(
        vb.InvalidInput, match=rf"Problem.priors\['{name}'\]: expected {expected}, got .* within Normal"
    ):
        vb.Problem(YIELDING, record(), FINE | {name: BELOW}, noise="sigma")


def test_priors_that_touch_the_edge_or_pass_it_beyond_doubt_are_allowed():
    vb.Problem(YIELDING, record(), FINE, noise="sigma")
    vb.Problem(YIELDING, record(), FINE | {"k": vb.Normal(40.0, 5.0), "sigma": vb.Normal(1.0, 0.2)}, noise="sigma")


def test_what_only_some_values_of_others_forbid_is_left_to_constraints():
    spring = vb.PiecewiseLinearSpring((50.0, 20.0, 50.0), ("b1", "b2"))
    structure = vb.Structure.chain([1.0], [[spring, vb.Damper(1.0)]], sensors=TOP).driven_by(GROUND)
    overlapping = {"b1": vb.Uniform(-0.1, 0.1), "b2": vb.Uniform(-0.1, 0.1)}
    vb.Problem(structure, record(), overlapping, noise=0.1)
    with pytest.raises(vb.InvalidInput, match=r"priors\['b1'\]: expected break points in increasing order"):
        vb.Problem(structure, record(), overlapping | {"b1": vb.Uniform(0.2, 0.3)}, noise=0.1)


# Records.

EMPTY = vb.Record.from_arrays(rate=40.0, output=np.full(9, np.nan))


@pytest.mark.parametrize("gaps", [False, True])
def test_a_channel_that_never_changes_is_refused(gaps):
    values = np.random.default_rng(0).normal(size=(100, 2))
    values[:, 1] = 0.3
    if gaps:
        values[::3, 1] = np.nan
    measured = vb.Record.from_arrays(rate=40.0, output=values, output_names=["roof", "dead"])
    structure = tower(2, [vb.AbsoluteAcceleration("m1"), vb.AbsoluteAcceleration("m2")])
    with pytest.raises(vb.InvalidInput, match="outputs that vary, got a constant in 'dead'; look after the sensor"):
        vb.Problem(structure, measured, {"k1": STIFF, "k2": STIFF}, noise=0.1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: vb.Problem(storey(), EMPTY, {"k": STIFF, "c": LIGHT}, noise=1.0),
            "outputs with samples, got none in 'output'",
        ),
        (
            lambda: vb.Record.from_arrays(rate=40.0, output={"a": np.zeros(10), "b": np.zeros(9)}),
            r"1-D arrays of one length, got 'a': \(10,\), 'b': \(9,\); give each channel every sample",
        ),
        (
            lambda: vb.Problem(storey(), record(outputs=2), {"k": STIFF, "c": LIGHT}, noise=1.0),
            "1 outputs, one for each of the structure's sensors, got 2",
        ),
        (
            lambda: vb.Problem(storey(), record(), {"k": STIFF, "c": LIGHT}, noise=0.0),
            "positive standard deviations or names, got 0.0; give the sensor's standard deviation",
        ),
    ],
)  # fmt: skip
def test_bad_records_and_noise_are_refused_in_words(make, words):
    with pytest.raises(vb.InvalidInput, match=words):
        make()
