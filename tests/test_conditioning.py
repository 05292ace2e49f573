"""Steps do to a record what they declare, to inputs and outputs alike, and are kept with it."""

import json

import numpy as np
import pytest
from scipy.signal import lfilter

import vibayes as vb
from vibayes.conditioning.step import Step
from vibayes.errors import InvalidInput

RATE = 200.0
TIME = np.arange(8000) / RATE
INSIDE = slice(1500, -1500)


def sine(frequency: float, times: np.ndarray = TIME, phase: float = 0.3) -> np.ndarray:
    return np.sin(2 * np.pi * frequency * times + phase)


def a_record(output=None, **more) -> vb.Record:
    return vb.Record.from_arrays(
        rate=RATE, input={"force": sine(3.0)}, output={"acc": sine(5.0) if output is None else output}, **more
    )


def kept(band: vb.BandPass, frequency: float) -> float:
    """The part of its amplitude that a Butterworth filter, run forth and back, leaves to a sine: the closed form."""
    w, low, high = (np.tan(np.pi * (edge or 0.0) / RATE) for edge in (frequency, band.low, band.high))
    if band.low is None:
        ratio = w / high
    elif band.high is None:
        ratio = low / w
    else:
        ratio = abs((w**2 - low * high) / (w * (high - low)))
    return 1.0 / (1.0 + ratio ** (2 * band.order))


# Filters


@pytest.mark.parametrize(
    "band", [vb.BandPass(2.0, 20.0), vb.BandPass(high=20.0, order=2), vb.BandPass(low=2.0, order=3)]
)
@pytest.mark.parametrize("frequency", [1.0, 2.0, 6.0, 20.0, 45.0])
def test_a_sine_keeps_its_phase_and_the_declared_part_of_its_amplitude(band, frequency):
    found = band.apply(a_record(sine(frequency))).channel("acc")
    np.testing.assert_allclose(found[INSIDE], kept(band, frequency) * sine(frequency)[INSIDE], atol=2e-6)


def test_a_sine_within_the_band_survives():
    found = vb.BandPass(1.0, 40.0).apply(a_record(sine(6.0))).channel("acc")
    np.testing.assert_allclose(found[INSIDE], sine(6.0)[INSIDE], atol=1e-5)


def test_inputs_are_filtered_like_outputs():
    record = vb.BandPass(high=10.0).apply(vb.Record.from_arrays(rate=RATE, input=sine(9.0), output=sine(9.0)))
    np.testing.assert_array_equal(record.input, record.output)


def test_a_filter_on_both_sides_leaves_a_linear_relation_as_it_was():
    rng = np.random.default_rng(0)
    force = rng.standard_normal(TIME.size)
    # An oscillator of 10 Hz with 2 % damping, as a recursion between samples.
    pole = np.exp((-0.02 + 1j) * 2 * np.pi * 10.0 / RATE)
    recursion = [1.0, -2 * pole.real, abs(pole) ** 2]
    answer = lfilter([0.0, 1.0], recursion, force)
    record = vb.Record.from_arrays(rate=RATE, input={"u": force}, output={"acc": answer})
    filtered = vb.BandPass(2.0, 50.0).apply(record)
    u, y = filtered.channel("u"), filtered.channel("acc")
    right = y[2:] + recursion[1] * y[1:-1] + recursion[2] * y[:-2] - u[1:-1]
    wrong = y[2:] + recursion[1] * y[1:-1] + recursion[2] * y[:-2] - force[1:-1]
    assert np.abs(right[INSIDE]).max() < 1e-9 * np.abs(u).max()
    assert np.abs(wrong[INSIDE]).max() > 0.1  # what filtering the output alone would leave to explain


@pytest.mark.parametrize("band", [{}, {"low": 5.0, "high": 2.0}, {"high": 100.0}, {"low": 0.0}])
def test_a_band_outside_the_record_is_refused(band):
    with pytest.raises(InvalidInput, match="0 < low < high < 100 Hz"):
        vb.BandPass(**band).apply(a_record())


def test_a_record_too_short_for_the_filter_is_refused():
    with pytest.raises(InvalidInput, match="at least 15 samples"):
        vb.BandPass(high=10.0).apply(vb.Record.from_arrays(rate=RATE, output=sine(3.0)[:10]))


# Trends


def test_a_line_is_taken_out_and_what_oscillates_stays():
    whole = slice(0, 8000)  # 200 periods of 5 Hz, which have no mean and hardly a slope
    found = vb.Detrend("linear").apply(a_record(sine(5.0) + 3.0 - 2.0 * TIME)).channel("acc")
    np.testing.assert_allclose(found[whole], sine(5.0), atol=0.02)


def test_missing_values_do_not_count_in_a_trend():
    values = np.where(TIME < 1.0, np.nan, 4.0 + TIME)
    found = vb.Detrend("linear").apply(a_record(values)).channel("acc")
    assert np.isnan(found[TIME < 1.0]).all()
    np.testing.assert_allclose(found[TIME >= 1.0], 0.0, atol=1e-11)


def test_a_trend_can_be_taken_out_of_chosen_channels():
    record = vb.Record.from_arrays(rate=1.0, input={"f": [1.0, 2.0]}, output={"y": [1.0, 3.0]})
    assert vb.Detrend(channels="y").apply(record).channel("f").tolist() == [1.0, 2.0]
    with pytest.raises(InvalidInput, match="did you mean 'y'"):
        vb.Detrend(channels=("Y",)).apply(record)


def test_another_kind_of_trend_is_refused():
    with pytest.raises(InvalidInput, match="'constant' or 'linear', got 'lineer'; did you mean 'linear'"):
        vb.Detrend("lineer").apply(a_record())


# Rates


@pytest.mark.parametrize("rate", [50.0, 80.0, 150.0, 200.0, 330.0, 1000.0])
def test_a_resampled_sine_is_the_sampled_sine(rate):
    record = vb.Resample(rate).apply(a_record(sine(11.0)))
    assert record.rate == rate
    assert record.times[-1] <= TIME[-1] < record.times[-1] + 1.5 / min(rate, RATE)
    middle = (record.times > 4.0) & (record.times < 36.0)
    # 80 decibels are a ten-thousandth.
    np.testing.assert_allclose(record.channel("acc")[middle], sine(11.0, record.times)[middle], atol=2e-4)
    np.testing.assert_allclose(record.channel("force")[middle], sine(3.0, record.times)[middle], atol=2e-4)


@pytest.mark.parametrize(("attenuation", "left"), [(60.0, 2e-3), (120.0, 2e-6)])
def test_what_would_come_back_as_something_slower_is_down_by_the_declared_amount(attenuation, left):
    record = vb.Resample(50.0, attenuation=attenuation).apply(a_record(sine(31.0)))  # would come back as 19 Hz
    assert np.abs(record.channel("acc")[100:-100]).max() < left


def test_gaps_are_refused_by_steps_that_look_at_neighbours():
    record = a_record(np.where(np.arange(8000) == 4000, np.nan, sine(5.0)))
    for step in (vb.Resample(100.0), vb.BandPass(high=20.0)):
        with pytest.raises(InvalidInput, match="1 missing in 'acc'; choose a part without gaps by Segment, or say"):
            step.apply(record)


@pytest.mark.parametrize("step", [vb.Resample(100.0, across_gaps=True), vb.BandPass(high=40.0, across_gaps=True)])
def test_bridged_gaps_are_missing_again(step):
    record = step.apply(a_record(np.where((TIME >= 20.0) & (TIME < 21.0), np.nan, sine(5.0))))
    gone = (record.times >= 20.0) & (record.times < 21.0)
    np.testing.assert_array_equal(record.missing[:, 0], gone)
    away = (np.abs(record.times - 20.5) > 3.0) & (record.times > 5.0) & (record.times < 35.0)
    np.testing.assert_allclose(record.channel("acc")[away], sine(5.0, record.times)[away], atol=1e-3)


def test_a_rate_in_no_simple_ratio_is_refused_with_one_near_by():
    with pytest.raises(InvalidInput, match=r"whole numbers up to 1000 .* got 123.4567891; take one near by"):
        vb.Resample(123.4567891).apply(a_record())


def test_an_output_without_any_value_is_refused():
    with pytest.raises(InvalidInput, match="none in 'acc'; take 'acc' out with Drop"):
        vb.Resample(100.0, across_gaps=True).apply(a_record(np.full(8000, np.nan)))


# Channels


def test_channels_are_chosen_dropped_renamed_scaled_and_converted():
    record = vb.Record.from_arrays(
        rate=2.0, output={"u": [1.0, 2.0], "y": [3.0, 4.0], "z": [5.0, 6.0]}, units={"u": "V", "y": "cm", "z": "N"}
    )
    steps = [
        vb.Choose(input=["u"], output=["z", "y"]),
        vb.Drop("z"),
        vb.Scale("u", 10.0, offset=1.0, unit="kN"),
        vb.Convert("u", "N"),
        vb.Rename("u", "shaker"),
    ]
    found = vb.condition(record, steps)
    assert (found.input_names, found.output_names, found.units) == (("shaker",), ("y",), {"shaker": "N", "y": "cm"})
    assert found.channel("shaker").tolist() == [11000.0, 21000.0]


@pytest.mark.parametrize(
    "step", [vb.Choose(output="ac"), vb.Drop("ac"), vb.Rename("ac", "b"), vb.Scale("ac", 2.0), vb.Convert("ac", "N")]
)
def test_a_channel_that_is_not_there_is_refused_with_the_nearest(step):
    with pytest.raises(InvalidInput, match="got 'ac'; did you mean 'acc'"):
        vb.condition(a_record(), step)


def test_two_channels_of_one_name_are_refused():
    with pytest.raises(InvalidInput, match="more than once"):
        vb.Rename("force", "acc").apply(a_record())


# The verb


STEPS = [
    vb.Segment(100, 7000),
    vb.Segment(1.0, 30.0),
    vb.Detrend("linear"),
    vb.BandPass(1.0, 40.0, 3),
    vb.Resample(100.0),
    vb.Convert("acc", "mm/s^2"),
]


def test_what_was_done_is_kept_with_the_record_and_can_be_done_again():
    record = a_record(units={"acc": "m/s^2"}, metadata={"specimen": 7})
    ready = vb.condition(record, STEPS)
    done = ready.metadata["conditioning"]
    assert done[0] == {"step": "Segment", "start": 100, "stop": 7000}
    assert done[3] == {"step": "BandPass", "low": 1.0, "high": 40.0, "order": 3, "across_gaps": False}
    assert json.loads(json.dumps(done)) == done
    assert ready.metadata["specimen"] == 7
    again = vb.condition(
        record, [getattr(vb, each["step"])(**{k: v for k, v in each.items() if k != "step"}) for each in done]
    )
    np.testing.assert_array_equal(again.output, ready.output)
    assert again.metadata == ready.metadata


def test_later_steps_are_added_to_earlier_ones():
    once, twice = vb.condition(a_record(), STEPS[:2]), vb.condition(a_record(), STEPS[:1])
    assert vb.condition(twice, STEPS[1]).metadata == once.metadata


def test_no_steps_change_nothing():
    record = a_record()
    assert vb.condition(record, []) is record


def test_something_else_than_a_step_is_refused():
    with pytest.raises(InvalidInput, match=r"steps such as Segment.*, got str as number 2"):
        vb.condition(a_record(), [STEPS[0], "detrend"])  # type: ignore[list-item]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_a_record_after_a_step_is_as_sound_as_before(step):
    record = step.apply(a_record(units={"acc": "m/s^2"}))
    assert isinstance(step, Step)
    assert not (record.input.flags.writeable or record.output.flags.writeable)
    assert record.input.shape[0] == record.output.shape[0] == record.times.size
