"""A record is checked once, says what is wrong with it, and keeps what it was given."""

import dataclasses

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vibayes.errors import InvalidInput
from vibayes.record import Record

RATE = 250.0
TIME = np.arange(500) / RATE
FORCE = np.sin(TIME)
MOTION = np.stack([np.cos(TIME), TIME**2], axis=1)

quick = settings(deadline=None, max_examples=60, derandomize=True)
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


def a_record(**changes) -> Record:
    given = {
        "time": TIME,
        "input": FORCE,
        "output": MOTION,
        "input_names": ["force"],
        "output_names": ["acceleration", "displacement"],
        "units": {"force": "kN", "acceleration": "m/s^2", "displacement": "mm"},
        "metadata": {"specimen": "A7"},
    }
    return Record.from_arrays(**(given | changes))


# What a record knows


def test_a_record_keeps_its_numbers():
    np.testing.assert_array_equal(a_record().output, MOTION)


def test_a_vector_is_one_channel():
    assert a_record().input.shape == (500, 1)


def test_a_mapping_names_its_channels():
    record = Record.from_arrays(rate=RATE, output={"left": FORCE, "right": -FORCE})
    np.testing.assert_array_equal(record.channel("right"), -FORCE)


def test_unnamed_channels_are_numbered():
    assert Record.from_arrays(rate=RATE, input=FORCE, output=MOTION).names == (
        "input",
        "output_1",
        "output_2",
    )


def test_the_input_may_be_unknown():
    assert Record.from_arrays(rate=RATE, output=MOTION).input.shape == (500, 0)


def test_the_output_may_be_unknown():
    assert Record.from_arrays(rate=RATE, input=FORCE).samples == 500


def test_the_rate_follows_from_the_time():
    assert a_record(time=1.0 + np.arange(500) * 0.01).rate == 100.0


@pytest.mark.parametrize("step", [0.01, 1 / 300, 1 / 610.35, 1e-7, 3.0])
def test_times_come_back_as_they_were_given(step):
    time = 12.5 + step * np.arange(500)
    np.testing.assert_allclose(a_record(time=time).times, time, rtol=1e-12)


def test_a_clock_that_began_long_ago_is_still_uniform():
    assert a_record(time=1.7e9 + TIME).rate == pytest.approx(RATE, rel=1e-6)


def test_the_duration_ends_at_the_last_sample():
    record = a_record()
    assert record.duration == pytest.approx(record.times[-1] - record.times[0])


def test_dt_is_the_inverse_of_the_rate():
    assert a_record().dt == 1 / RATE


def test_missing_marks_the_gaps_of_the_outputs():
    output = MOTION.copy()
    output[7, 1] = np.nan
    assert np.argwhere(a_record(output=output).missing).tolist() == [[7, 1]]


def test_masked_values_are_missing():
    masked = np.ma.masked_greater(FORCE, 0.9)
    np.testing.assert_array_equal(
        a_record(output={"a": masked}, output_names=None, units={}).missing[:, 0], FORCE > 0.9
    )


def test_units_not_stated_are_empty():
    assert a_record(units={"force": "kN"}).units == {"force": "kN", "acceleration": "", "displacement": ""}


@pytest.mark.parametrize(("written", "kept"), [("m/s2", "m/s^2"), ("m s-2", "m s^-2"), ("-", "dimensionless")])
def test_units_may_be_written_the_way_engineers_do(written, kept):
    assert a_record(units={"acceleration": written}).units["acceleration"] == kept


def test_metadata_may_hold_numpy_numbers():
    assert a_record(metadata={"gains": np.array([1.0, 2.0])}).metadata == {"gains": [1.0, 2.0]}


def test_the_text_of_a_record_is_short_and_says_what_it_is():
    output = MOTION.copy()
    output[3] = np.nan
    assert repr(a_record(output=output)) == (
        "Record(500 samples at 250 Hz, 1.996 s; input: force [kN]"
        "; output: acceleration [m/s^2], displacement [mm]; 2 missing)"
    )


# A record is frozen


def test_a_field_cannot_be_set():
    with pytest.raises(dataclasses.FrozenInstanceError):
        a_record().rate = 1.0  # pyright: ignore[reportAttributeAccessIssue]


def test_its_arrays_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        a_record().output[0, 0] = 1.0


def test_its_metadata_cannot_be_changed():
    with pytest.raises(TypeError):
        a_record().metadata["specimen"] = "B"  # pyright: ignore[reportIndexIssue]


def test_it_does_not_follow_changes_of_the_arrays_it_was_made_from():
    output = MOTION.copy()
    record = a_record(output=output)
    output[:] = 0.0
    np.testing.assert_array_equal(record.output, MOTION)


def test_its_leaves_are_its_two_arrays():
    assert [leaf.shape for leaf in jax.tree.leaves(a_record())] == [(500, 1), (500, 2)]


def test_it_passes_through_a_compiled_function():
    total = jax.jit(lambda record: (record.missing.sum(), record.samples))(a_record())
    assert tuple(map(int, total)) == (0, 500)


# Parts and conversions


def test_a_segment_of_samples_keeps_the_clock():
    np.testing.assert_allclose(a_record().segment(100, 200).times, TIME[100:200])


def test_a_segment_of_seconds_leaves_out_its_end():
    assert a_record().segment(0.4, 0.8).samples == 100


def test_a_segment_without_bounds_is_everything():
    assert a_record().segment().samples == 500


@quick
@given(cut=st.integers(1, 499), rate=st.floats(0.1, 1e5), start=st.floats(-1e3, 1e3))
def test_cutting_by_samples_and_by_seconds_agree(cut, rate, start):
    record = Record.from_arrays(rate=rate, start=start, output=FORCE)
    by_seconds = record.segment(None, float(record.times[cut]))
    assert by_seconds.samples == record.segment(None, cut).samples


@quick
@given(values=st.lists(numbers, min_size=2, max_size=5), unit=st.sampled_from(["m", "mm", "inch", "km", "nm"]))
def test_converting_there_and_back_changes_nothing_beyond_rounding(values, unit):
    record = Record.from_arrays(rate=1.0, output={"gap": values}, units={"gap": "ft"})
    back = record.convert("gap", unit).convert("gap", "ft")
    np.testing.assert_allclose(back.output, record.output, rtol=1e-14, atol=1e-300)


@quick
@given(values=st.lists(numbers, min_size=2, max_size=5), factor=numbers)
def test_converting_commutes_with_scaling(values, factor):
    values = np.array(values)
    one = Record.from_arrays(rate=1.0, output={"v": values}, units={"v": "km/h"}).convert("v", "m/s")
    other = Record.from_arrays(rate=1.0, output={"v": factor * values}, units={"v": "km/h"}).convert("v", "m/s")
    # Products too small for a normal number have lost digits before any conversion.
    np.testing.assert_allclose(other.output, factor * one.output, rtol=1e-14, atol=1e-300)


def test_converting_leaves_the_other_channels_alone():
    np.testing.assert_array_equal(a_record().convert("displacement", "m").channel("acceleration"), MOTION[:, 0])


def test_converting_changes_the_unit():
    assert a_record().convert("force", "N").units["force"] == "N"


def test_temperatures_are_converted_with_their_offset():
    record = Record.from_arrays(rate=1.0, output={"oil": [0.0, 100.0]}, units={"oil": "degC"})
    np.testing.assert_allclose(record.convert("oil", "degF").channel("oil"), [32.0, 212.0])


# What is refused, and what to do about it


def refused(message: str, **changes) -> None:
    with pytest.raises(InvalidInput, match=message):
        a_record(**changes)


def test_a_transposed_output_is_refused():
    refused(
        r"Record.output: expected shape \(samples, channels\) = \(500, 2\), got \(2, 500\); transpose it",
        output=MOTION.T,
    )


def test_a_transposed_output_without_names_is_refused():
    with pytest.raises(InvalidInput, match="more samples than channels, got \\(2, 500\\); transpose it"):
        Record.from_arrays(rate=RATE, output=MOTION.T)


def test_arrays_of_different_length_are_refused():
    refused(r"Record.input: expected shape .* = \(500, 1\), got \(499, 1\); give every channel", input=FORCE[1:])


def test_channels_of_different_length_are_refused():
    with pytest.raises(InvalidInput, match="1-D arrays of one length, got 'a': \\(500,\\), 'b': \\(499,\\)"):
        Record.from_arrays(rate=RATE, output={"a": FORCE, "b": FORCE[1:]})


def test_too_few_names_are_refused():
    refused("give one name for each channel", output_names=["acceleration"], units={})


def test_three_dimensions_are_refused():
    refused("a 1-D or 2-D array, got 3 dimensions", output=np.zeros((5, 5, 5)))


def test_text_is_refused():
    refused("Record.input: expected real numbers", input=["a"] * 500)


def test_complex_numbers_are_refused():
    refused("Record.input: expected real numbers", input=FORCE * 1j)


def test_a_record_of_nothing_is_refused():
    with pytest.raises(InvalidInput, match="at least one channel"):
        Record.from_arrays(rate=RATE)


def test_a_record_without_samples_is_refused():
    with pytest.raises(InvalidInput, match=r"got \(0, 1\)"):
        Record.from_arrays(rate=RATE, output=[])


def test_an_infinite_output_is_refused():
    output = MOTION.copy()
    output[42, 1] = np.inf
    refused(r"Record.output\['displacement'\]: expected finite values, got infinity at samples 42", output=output)


def test_a_gap_in_the_input_is_refused_with_its_places():
    force = FORCE.copy()
    force[[3, 5, 7, 9]] = np.nan
    refused(r"Record.input\['force'\].*NaN at samples 3, 5, 7 and 1 more; interpolate", input=force)


def test_a_gap_in_time_is_refused_with_its_place_and_steps():
    time = TIME.copy()
    time[42:] += 0.004
    refused("equal steps of 0.004 s, got a step of 0.008 s from sample 41 to 42 .* resample", time=time)


@quick
@given(jitter=st.floats(1e-5, 0.4), at=st.integers(1, 498))
def test_one_sample_off_the_clock_is_refused(jitter, at):
    time = TIME.copy()
    time[at] += jitter / RATE
    refused(f"from sample {at - 1} to {at}", time=time)


@quick
@given(jitter=st.floats(0.0, 4e-7), seed=st.integers(0, 99))
def test_jitter_below_a_millionth_of_the_step_is_accepted(jitter, seed):
    noise = np.random.default_rng(seed).uniform(-jitter, jitter, 500) / RATE
    assert a_record(time=TIME + noise).rate == pytest.approx(RATE, rel=1e-6)


def test_time_that_runs_backwards_is_refused():
    refused("increasing times", time=TIME[::-1])


def test_a_missing_time_is_refused():
    refused("finite times, got none at samples 0", time=np.where(TIME == 0, np.nan, TIME))


def test_a_single_time_is_refused():
    refused("at least two times", time=[0.0])


def test_time_and_rate_together_are_refused():
    refused("either time or rate, got both", rate=RATE)


def test_neither_time_nor_rate_is_refused():
    refused("either time or rate, got neither", time=None)


@pytest.mark.parametrize("rate", [0.0, -3.0, np.inf, np.nan, "fast"])
def test_a_rate_that_is_not_positive_is_refused(rate):
    refused("Record.rate: expected a positive number", time=None, rate=rate)


def test_a_start_that_is_not_finite_is_refused():
    refused("Record.start", time=None, rate=RATE, start=np.nan)


def test_two_channels_of_one_name_are_refused():
    refused("names that differ, got 'force' more than once", output_names=["force", "b"], units={})


@pytest.mark.parametrize("name", ["", " force", "two\nlines", 3])
def test_a_name_that_cannot_be_printed_on_a_line_is_refused(name):
    refused("printable names", input_names=[name], units={})


def test_names_beside_a_mapping_are_refused():
    refused("Record.input_names: expected none, for input is a mapping", input={"force": FORCE})


def test_names_without_data_are_refused():
    refused("no names without input", input=None, units={})


def test_an_unknown_unit_is_refused_with_the_nearest():
    refused(r"Record.units\['force'\]: .* got 'Newton'; did you mean 'newton'", units={"force": "Newton"})


@pytest.mark.parametrize("unit", ["5 N", "m/", "((", "m + s", "blorps"])
def test_text_that_is_no_unit_is_refused(unit):
    refused("a unit known to pint", units={"force": unit})


def test_a_unit_that_is_not_text_is_refused():
    refused("a unit as text", units={"force": 5})


def test_a_unit_for_an_unknown_channel_is_refused_with_the_nearest():
    refused("Record.units: .* got 'forse'; did you mean 'force'", units={"forse": "N"})


def test_metadata_that_json_cannot_hold_are_refused():
    refused("Record.metadata: expected what JSON can hold", metadata={"sensor": object()})


def test_metadata_with_keys_that_are_not_text_are_refused():
    refused("Record.metadata: expected keys that are text", metadata={7: "A"})


def test_an_unknown_channel_is_refused_with_the_nearest():
    with pytest.raises(InvalidInput, match="got 'acceleraton'; did you mean 'acceleration'"):
        a_record().channel("acceleraton")


def test_converting_to_another_dimension_is_refused():
    with pytest.raises(InvalidInput, match=r"Record.convert\('force'\): .* same dimension as 'kN', got 'm'"):
        a_record().convert("force", "m")


def test_converting_gram_to_acceleration_explains_the_g():
    with pytest.raises(InvalidInput, match="write 'g_0'"):
        a_record(units={"acceleration": "g"}).convert("acceleration", "m/s^2")


def test_converting_from_an_unstated_unit_is_refused():
    with pytest.raises(InvalidInput, match="state the unit"):
        a_record(units={}).convert("force", "N")


@pytest.mark.parametrize("bounds", [(10, 10), (10, 501), (-1, 10), (1.5, 1.0), (5.0, 6.0)])
def test_a_segment_outside_the_record_is_refused(bounds):
    with pytest.raises(InvalidInput, match="choose bounds inside the record"):
        a_record().segment(*bounds)


def test_a_segment_from_a_sample_to_a_second_is_refused():
    with pytest.raises(InvalidInput, match="write both alike"):
        a_record().segment(10, 1.5)


def test_a_segment_to_infinity_is_refused():
    with pytest.raises(InvalidInput, match="finite bounds"):
        a_record().segment(0.0, np.inf)
