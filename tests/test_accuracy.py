"""The accuracy study: what it measures, and how it counts events."""

import jax
import numpy as np
import pytest

import vibayes as vb
from vibayes.accuracy import AccuracyRun, AccuracyStudy, accuracy
from vibayes.accuracy.matching import match_events
from vibayes.errors import InvalidInput

pytestmark = pytest.mark.slow

TOLERANCES = tuple(np.logspace(-3, -10, 15))
FORCE = vb.Sine(amplitude=0.8, frequency_hz=0.1)
DURATION = 20.0


def oscillator(element):
    return vb.Structure.single_dof(1.0, [element])


def table(*events):
    """An event table from (time, kind)."""
    kinds = tuple(kind for _, kind in events)
    n = len(events)
    return vb.EventTable(np.array([t for t, _ in events]), np.zeros(n, int), ("e",) * n, kinds, ("a",) * n, ("b",) * n)


def synthetic(errors, work, tolerances=None):
    """A study with given errors and work, and no events."""
    tolerances = np.asarray(errors) if tolerances is None else tolerances
    runs = [
        AccuracyRun(float(t), float(e), float(e), int(w), 0, 1.0, None, vb.Status.SUCCESS)
        for t, e, w in zip(tolerances, errors, work, strict=True)
    ]
    truth = vb.simulate(oscillator(vb.Spring(1.0)), FORCE, rate=1.0, samples=2)
    return AccuracyStudy(tuple(runs), truth)


@pytest.fixture(scope="module")
def bilinear():
    return oscillator(vb.BilinearHysteresis(1.0, 0.75, 0.3))


@pytest.fixture(scope="module")
def located(bilinear):
    return accuracy(bilinear, FORCE, duration=DURATION, tolerances=TOLERANCES, repeats=1)


@pytest.fixture(scope="module")
def ignored(bilinear, located):
    return accuracy(
        bilinear, FORCE, duration=DURATION, tolerances=TOLERANCES, repeats=1, reference=located.reference,
        method=vb.EventLocated(events=False),
    )  # fmt: skip


def test_error_is_proportional_to_tolerance(located):
    assert 0.9 < located.tp_slope < 1.1


def test_events_do_not_depend_on_the_tolerance(located):
    assert located.event_count_constant
    assert located.lost_events == 0
    assert (located.event_counts == len(located.reference.events)).all()


def test_event_times_converge_with_the_tolerance(located):
    worst = located.event_time_errors.max(axis=1)
    slope = np.polyfit(np.log(located.tolerances), np.log(worst), 1)[0]
    assert 0.8 < slope < 1.2


def test_default_reference_agrees_with_the_exact_method(bilinear, located):
    exact = vb.simulate(bilinear, FORCE, method=vb.Exact(), rate=1 / DURATION, samples=2)
    assert exact.states is not None and exact.events is not None
    assert np.allclose(located.reference.states[-1], exact.states[-1], rtol=0, atol=1e-11)
    assert np.allclose(located.reference.events.time, exact.events.time, rtol=0, atol=1e-11)


def test_a_method_can_be_the_reference(bilinear, located):
    study = accuracy(
        bilinear, FORCE, duration=DURATION, tolerances=[1e-5], reference=vb.Exact(), repeats=1
    )  # fmt: skip
    expected = accuracy(bilinear, FORCE, duration=DURATION, tolerances=[1e-5], reference=located.reference, repeats=1)
    assert study.displacement_errors[0] == pytest.approx(expected.displacement_errors[0], rel=1e-4)


def test_ignoring_events_costs_work_for_the_same_error(located, ignored):
    assert located.work_ratio(ignored) > 1.5
    assert ignored.work_ratio(located) == pytest.approx(1 / located.work_ratio(ignored))


def test_without_events_there_is_nothing_to_count(ignored):
    assert not ignored.locates_events
    assert not ignored.event_count_constant
    assert ignored.event_time_errors.shape[0] == 0


def test_all_tolerances_share_one_compiled_simulation():
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, duration_secs, **kwargs: compiled.append(event) if "backend_compile" in event else None
    )
    structure, force = oscillator(vb.PiecewiseLinearSpring((0.3, 1.0), (0.4,))), vb.Sine(0.5, 0.11)

    def count(tolerances):
        compiled.clear()
        accuracy(structure, force, duration=9.0, tolerances=tolerances, repeats=1)
        return len(compiled)

    assert count([1e-4]) > 0
    assert count([1e-3, 1e-5, 1e-6, 1e-8]) == 0


def test_a_sampled_signal_brings_its_own_duration(bilinear):
    signal = FORCE.sampled(rate=5.0, samples=101, hold=vb.StraightLines())
    study = accuracy(bilinear, signal, tolerances=[1e-4, 1e-6, 1e-8], reference=vb.Exact(), repeats=1)
    assert study.lost_events == 0
    assert study.displacement_errors[-1] < 1e-6


def test_error_counts_the_worst_mass_and_the_worst_state():
    chain = vb.Structure.chain([1.0, 2.0], [vb.BoucWen(1.0, 0.3, 0.4), vb.Spring(1.5)], base_acceleration=True)
    study = accuracy(chain, FORCE, duration=10.0, tolerances=[1e-4], repeats=1)
    rough = vb.simulate(chain, FORCE, method=vb.EventLocated(rtol=1e-4), rate=0.1, samples=2)
    assert rough.states is not None and study.reference.states is not None
    errors = np.abs(rough.states[-1] - study.reference.states[-1])
    assert study.displacement_errors[0] == pytest.approx(errors[:2].max(), rel=1e-6)
    assert study.state_errors[0] == pytest.approx(errors.max(), rel=1e-6)


def test_slope_of_a_power_law_is_its_exponent():
    tolerances = np.logspace(-3, -9, 7)
    assert synthetic(3.0 * tolerances**0.8, np.ones(7), tolerances).tp_slope == pytest.approx(0.8)


def test_exact_zeros_and_failures_are_left_out_of_the_slope():
    tolerances = np.logspace(-3, -9, 7)
    errors = 2.0 * tolerances
    errors[2], errors[4] = 0.0, np.nan
    assert synthetic(errors, np.ones(7), tolerances).tp_slope == pytest.approx(1.0)
    assert np.isnan(synthetic([0.0, np.nan], [1, 1], [1e-3, 1e-4]).tp_slope)


def test_work_ratio_compares_at_equal_error_whatever_the_order_of_runs():
    errors = np.logspace(-2, -8, 13)
    once = synthetic(errors, np.round(1e6 * errors**-0.2))
    thrice = synthetic(errors[::-1] * 30, np.round(3e6 * (errors[::-1] * 30) ** -0.2))
    assert once.work_ratio(thrice) == pytest.approx(3.0, rel=1e-4)


def test_work_ratio_needs_errors_in_common():
    assert np.isnan(synthetic([1e-2, 1e-3], [10, 20]).work_ratio(synthetic([1e-6, 1e-7], [10, 20])))


def test_a_lost_pair_counts_twice_and_the_others_keep_their_partners():
    reference = table((1.0, "up"), (2.0, "up"), (2.1, "down"), (3.0, "down"))
    matching = match_events(reference, table((1.01, "up"), (3.02, "down")))
    assert (matching.lost, matching.spurious) == (2, 0)
    assert matching.pairs == ((0, 0), (3, 1))


def test_a_spurious_event_is_no_compensation_for_a_lost_one():
    matching = match_events(table((1.0, "up"), (2.0, "down")), table((1.0, "up"), (1.5, "up")))
    assert (matching.lost, matching.spurious) == (1, 1)


def test_the_table_can_be_printed_and_written(located, ignored, tmp_path):
    text = str(located)
    assert "0 lost or spurious" in text and len(text.splitlines()) == len(TOLERANCES) + 2
    located.to_csv(tmp_path / "study.csv")
    located.events_to_csv(tmp_path / "events.csv")
    ignored.to_csv(tmp_path / "ignored.csv")
    rows = (tmp_path / "study.csv").read_text().splitlines()
    assert len(rows) == len(TOLERANCES) + 1
    first = dict(zip(rows[0].split(","), rows[1].split(","), strict=True))
    assert float(first["displacement_error"]) == located.displacement_errors[0]
    assert len((tmp_path / "events.csv").read_text().splitlines()) == 1 + located.event_counts.sum()
    assert {len(row.split(",")) for row in (tmp_path / "ignored.csv").read_text().splitlines()} == {len(first)}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"accuracy\.duration: expected a positive number of seconds"),
        ({"duration": -1.0}, r"accuracy\.duration"),
        ({"duration": 1.0, "tolerances": []}, r"accuracy\.tolerances"),
        ({"duration": 1.0, "tolerances": [1e-3, 0.0]}, r"accuracy\.tolerances: .* got \[0\.0\]"),
        ({"duration": 1.0, "method": vb.Exact()}, r"accuracy\.method: expected a method with a tolerance, got Exact"),
        ({"duration": 1.0, "repeats": 0}, r"accuracy\.repeats"),
        ({"duration": 1.0, "parameters": {"k": [1.0, 2.0]}}, r"accuracy\.parameters: .* arrays for \['k'\]"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=message):
        accuracy(oscillator(vb.Spring("k")), FORCE, **({"parameters": {"k": 1.0}} | settings))


def test_a_reference_that_failed_is_refused():
    with pytest.raises(InvalidInput, match=r"accuracy\.reference: expected a simulation that reaches the end"):
        accuracy(oscillator(vb.Spring(-400.0)), FORCE, duration=60.0, tolerances=[1e-3], repeats=1)


def test_event_times_of_a_method_without_events_cannot_be_written(ignored, tmp_path):
    with pytest.raises(InvalidInput, match="events_to_csv"):
        ignored.events_to_csv(tmp_path / "events.csv")
