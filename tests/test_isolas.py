"""Isolated backbones and isolas of two masses with three cubic springs, the published system 3NL."""

from functools import cache

import numpy as np
import pytest

import vibayes as vb

COMPUTES = True

pytestmark = pytest.mark.slow

STRUCTURE = vb.Structure(
    {"m1": 1.0, "m2": 1.0},
    [
        *(vb.Spring(1.0).between("ground", mass) for mass in ("m1", "m2")),
        *(vb.Damper(0.002).between("ground", mass) for mass in ("m1", "m2")),
        vb.Spring(0.105).between("m1", "m2"),
        vb.Damper(0.001).between("m1", "m2"),
        vb.PolynomialSpring(("a1",), (3,)).between("ground", "m1"),
        vb.PolynomialSpring(("a2",), (3,)).between("m1", "m2"),
        vb.PolynomialSpring(("a3",), (3,)).between("ground", "m2"),
    ],
    inputs=[vb.Force("m1"), vb.Force("m2")],
    sensors=[vb.Displacement("m2")],
)
TRUE = {"a1": 0.5, "a2": 0.05, "a3": 0.4}
RANGE = (0.8, 1.8)


def opposed(size: float) -> dict[str, float]:
    return {"m1": size, "m2": -size}


@cache
def responses(size: float, starts: int = 0) -> vb.ForcedResponses:
    return vb.isolas(STRUCTURE, TRUE, opposed(size), RANGE, amplitude=2.5, starts=starts)


@cache
def levels() -> vb.IsolaLevels:
    (found,) = vb.isola_levels(STRUCTURE, TRUE, opposed(0.01), RANGE, amplitude=2.5, level_range=(0.3, 2.0))
    return found


def first_order_residual(branch: vb.Branch) -> np.ndarray:
    """Of the published backbone equations (11), relative to the stiffness, from the fundamentals of the masses."""
    x = np.stack([np.real(branch.harmonic(name)) for name in ("m1", "m2")])
    u1, u2 = 0.5 * (x[0] + x[1]), 0.5 * (x[0] - x[1])
    w = branch.frequencies
    first = (1.0 - w**2) * u1 + 0.375 * (0.5 * (u1 + u2) ** 3 + 0.4 * (u1 - u2) ** 3)
    second = (1.21 - w**2) * u2 + 0.375 * (0.5 * (u1 + u2) ** 3 - 0.4 * (u1 - u2) ** 3 + 0.8 * u2**3)
    return np.hypot(first, second) / np.hypot(u1, u2)


def test_two_backbones_and_an_isolated_one_are_found():
    found = responses(0.01).backbones
    assert found is not None
    assert len(found.modes) == 2
    assert len(found.isolated) == 1
    assert all(branch.complete for branch in found.all)


def test_backbones_satisfy_the_published_equations_to_first_order():
    found = responses(0.01).backbones
    assert found is not None
    for branch in found.all:
        # What first order leaves out is the work of the third harmonic, about 3 α² a⁴ / 128, α up to 0.85.
        assert np.all(first_order_residual(branch) < 0.02 * branch.amplitudes.max(axis=1) ** 4 + 1e-9)


def test_the_isolated_backbone_folds_and_moves_the_second_mass_most():
    found = responses(0.01).backbones
    assert found is not None
    (isolated,) = found.isolated
    assert [special.kind for special in isolated.specials] == ["fold"]
    assert np.all(isolated.amplitude("m2") > isolated.amplitude("m1"))


def test_the_published_forcing_has_one_isola_and_it_is_closed():
    (isola,) = responses(0.01).isolas
    assert isola.closed
    gap = np.abs(isola.coefficients[-1] - isola.coefficients[0]).max()
    assert gap < 0.3 * np.abs(isola.coefficients).max()
    # Nothing of it is on the main branch: there the second mass stays small where the isola is.
    main = responses(0.01).main
    inside = (main.frequencies > isola.frequency_range[0]) & (main.frequencies < isola.frequency_range[1])
    assert main.amplitude("m2")[inside].max() < 0.6 < 1.0 < isola.amplitude("m2").max()


def test_where_the_isola_loses_stability_beside_its_folds_a_pair_of_multipliers_is_on_the_unit_circle():
    (isola,) = responses(0.01).isolas
    special = next(special for special in isola.specials if special.kind == "Neimark–Sacker")
    pair = special.multipliers[:2]
    assert np.abs(np.abs(pair) - 1.0).max() < 1e-4
    assert np.abs(np.imag(pair)).min() > 1e-3


def test_starts_all_over_find_no_other_isola():
    assert len(responses(0.01, 192).isolas) == 1


def test_there_is_no_isola_at_a_weaker_forcing_wherever_one_starts():
    found = responses(0.0058, 192)
    assert found.isolas == ()
    assert found.others == ()


def test_a_motion_begun_on_the_isola_stays_there_and_leaves_where_the_forcing_is_too_weak():
    (isola,) = responses(0.01).isolas
    middle = np.abs(isola.frequencies - np.median(isola.frequencies[isola.stable]))
    chosen = int(np.argmin(np.where(isola.stable, middle, np.inf)))
    frequency, coefficients = isola.frequencies[chosen], isola.coefficients[chosen]
    displacement = coefficients[0] + coefficients[1::2].sum(axis=0)
    velocity = frequency * (np.arange(1, 8) @ coefficients[2::2])
    draw = np.random.default_rng(0)
    scatter = 1.0 + 0.005 * draw.normal(size=(24, 2))

    def last_amplitude(size: float) -> np.ndarray:
        period, periods, steps = 2.0 * np.pi / frequency, 800, 32
        push = [vb.Sine(s * size, frequency / (2.0 * np.pi), np.pi / 2.0) for s in (1.0, -1.0)]
        found = vb.simulate(
            STRUCTURE, push, {name: np.full(24, value) for name, value in TRUE.items()}, method=vb.FixedStep(1),
            rate=steps / period, samples=periods * steps + 1, displacement=displacement * scatter,
            velocity=velocity * scatter, states=False,
        )  # fmt: skip
        return np.abs(np.asarray(found.outputs)[:, -4 * steps :, 0]).max(axis=1)

    on = isola.amplitude("m2")[chosen]
    assert np.abs(last_amplitude(0.01) / on - 1.0).min() < 0.01
    assert np.abs(last_amplitude(0.0058) / on - 1.0).min() > 0.3


def test_an_isola_is_born_at_the_level_that_its_folds_say():
    birth = 0.01 * levels().birth
    below, above = (vb.isolas(STRUCTURE, TRUE, opposed(birth * f), RANGE, 2.5).isolas for f in (0.999, 1.001))
    assert below == ()
    (isola,) = above
    assert isola.frequency_range[0] < levels().birth_frequency < isola.frequency_range[1]
    assert isola.frequency_range[1] - isola.frequency_range[0] < 5e-3


def test_folds_of_the_isola_lie_on_the_curve_of_folds():
    (isola,) = responses(0.01).isolas
    found = levels()
    crossing = np.flatnonzero((found.fold_levels[:-1] < 1.0) != (found.fold_levels[1:] < 1.0))
    share = (1.0 - found.fold_levels[crossing]) / np.diff(found.fold_levels)[crossing]
    ends = np.sort(found.fold_frequencies[crossing] + share * np.diff(found.fold_frequencies)[crossing])
    assert abs(ends[0] - isola.frequency_range[0]) < 1e-3
    assert abs(ends[-1] - isola.frequency_range[1]) < 1e-2


def test_an_isola_merges_at_the_level_that_its_folds_say():
    push, span = {"m1": 0.01}, (0.8, 2.2)
    (found,) = vb.isola_levels(STRUCTURE, TRUE, push, span, amplitude=2.5, level_range=(0.5, 4.0))
    apart, joined = (
        vb.isolas(STRUCTURE, TRUE, {"m1": 0.01 * found.merging * factor}, span, amplitude=3.0)
        for factor in (0.99, 1.01)
    )
    (isola,) = apart.isolas
    assert isola.frequency_range[0] - found.merging_frequency < 0.02
    assert joined.isolas == ()
    before, own, after = (len(branch.amplitudes_at(1.5, "m2")) for branch in (apart.main, isola, joined.main))
    assert after == before + own


def test_equal_masses_branch_where_the_single_harmonic_equations_say():
    """With one harmonic the second mode loses its symmetry at U² = 2 k₂ / (3α/2 − 6α₂)."""
    equal = {"a1": 0.45, "a2": 0.05, "a3": 0.45}
    found = vb.backbones(STRUCTURE, equal, 1.5, RANGE, vb.HarmonicBalance(1))
    assert found.isolated == ()
    (crossing,) = found.crossing
    special = next(special for special in found.modes[1].specials if special.kind == "branch point")
    assert np.allclose(special.amplitudes, np.sqrt(0.21 / (1.5 * 0.45 - 6.0 * 0.05)), rtol=1e-6)
    other = next(special for special in crossing.specials if special.kind == "branch point")
    # The crossing branch turns there, and its point is located less sharply.
    assert abs(other.frequency - special.frequency) < 2e-4


def draws(count: int, spread: float) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(3)
    return {name: value * (1.0 + spread * draw.normal(size=count)) for name, value in TRUE.items()}


@cache
def sure() -> vb.IsolaProbability:
    return vb.isola_probability(STRUCTURE, draws(24, 0.01), opposed(0.01), RANGE, 2.5)


def test_the_probability_of_an_isola_is_one_well_above_its_birth_and_nil_well_below():
    none = vb.isola_probability(STRUCTURE, draws(24, 0.01), opposed(0.004), RANGE, 2.5)
    assert sure().probability == 1.0
    assert none.probability == 0.0
    assert not sure().undecided.any()
    assert not none.undecided.any()


def test_isolas_of_draws_are_those_of_each_draw_alone():
    some, found = draws(24, 0.01), sure()
    for number in (0, 11):
        alone = vb.isolas(STRUCTURE, {k: v[number] for k, v in some.items()}, opposed(0.01), RANGE, 2.5)
        (isola,) = alone.isolas
        assert np.allclose(found.ranges[number], isola.frequency_range, atol=1e-4)
        assert np.allclose(found.peaks[number], isola.amplitudes.max(axis=0), rtol=5e-3)


def test_near_a_birth_draws_are_told_apart_by_their_levels():
    found = vb.isola_probability(STRUCTURE, draws(24, 0.02), opposed(0.01 * levels().birth), RANGE, 2.5)
    assert 0.1 < found.probability < 0.9
    assert np.all(found.least_levels[found.exists] < 1.002)
    assert np.all(found.least_levels[~found.exists & ~found.undecided] > 1.0)
    assert found.undecided.mean() < 0.25


def test_bands_hold_the_branches_of_single_draws():
    some = draws(24, 0.01)
    response = vb.response_draws(STRUCTURE, some, opposed(0.01), RANGE)
    low, middle, high = response.amplitude_band(np.array([1.3]), "m1", prob=1.0)
    alone = vb.forced_response(STRUCTURE, {k: v[5] for k, v in some.items()}, opposed(0.01), RANGE)
    assert low[0] <= alone.amplitudes_at(1.3, "m1").max() * 1.001
    assert alone.amplitudes_at(1.3, "m1").max() <= high[0] * 1.001
    assert low[0] < middle[0] < high[0]
