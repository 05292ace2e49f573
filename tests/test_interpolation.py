"""What a sampled signal does between its samples."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vibayes.errors import InvalidInput
from vibayes.excitation import (
    BandLimited,
    ModulatedSine,
    Sampled,
    StraightLines,
    ZeroOrderHold,
    random_phase_multisine,
)
from vibayes.excitation.kaiser import kernel

HOLDS = [ZeroOrderHold(), StraightLines(), BandLimited(), BandLimited(half_width=8, refinement=3, band=0.5)]
CONTINUOUS = HOLDS[1:]


def names(hold) -> str:
    return type(hold).__name__


def random_samples(*shape: int) -> jax.Array:
    return jnp.asarray(np.random.default_rng(5).normal(size=shape))


def at_piece_ends(signal: Sampled, derivative: int) -> jax.Array:
    """The polynomial of each piece, or a derivative of it, at the end of that piece."""
    local = 1.0 / (signal.rate * signal.refinement)
    ends = np.apply_along_axis(
        lambda p: np.polynomial.polynomial.polyval(local, np.polynomial.polynomial.polyder(p, derivative)),
        -1,
        np.asarray(signal.pieces()),
    )
    return jnp.asarray(ends)


def worst_interior_error(fraction: float, hold, margin: int = 32) -> float:
    """Largest error between samples for a sine at a fraction of the Nyquist frequency, away from the ends."""
    rate, samples = 50.0, 301
    angular = np.pi * rate * fraction
    signal = Sampled(np.sin(angular * np.arange(samples) / rate + 0.3), rate, hold)
    times = jnp.linspace(margin / rate, (samples - 1 - margin) / rate, 7001)
    return float(jnp.max(jnp.abs(jax.vmap(signal.value)(times)[:, 0] - jnp.sin(angular * times + 0.3))))


# Every hold


@pytest.mark.parametrize("hold", HOLDS, ids=names)
def test_pieces_have_the_shape_of_intervals_channels_and_powers(hold):
    signal = Sampled(random_samples(4, 20, 3), 10.0, hold)
    assert signal.pieces().shape == (4, 19 * signal.refinement, 3, hold.degree + 1)


@pytest.mark.parametrize("hold", HOLDS, ids=names)
def test_pieces_pass_through_the_samples(hold):
    samples = random_samples(50, 2)
    starts = Sampled(samples, 7.0, hold).pieces()[:: hold.refinement, :, 0]
    np.testing.assert_allclose(starts, samples[:-1], rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("hold", CONTINUOUS, ids=names)
def test_pieces_meet_where_they_join_and_at_the_last_sample(hold):
    signal = Sampled(random_samples(50, 2), 7.0, hold)
    expected = jnp.concatenate([signal.pieces()[1:, :, 0], signal.values[-1:]])
    np.testing.assert_allclose(at_piece_ends(signal, 0), expected, rtol=0.0, atol=1e-13)


def test_zero_order_hold_does_jump():
    signal = Sampled(random_samples(50, 2), 7.0, ZeroOrderHold())
    assert not np.allclose(at_piece_ends(signal, 0)[:-1], signal.pieces()[1:, :, 0], atol=1e-3)


@pytest.mark.parametrize("derivative", [1, 2])
def test_band_limited_pieces_have_continuous_slope_and_curvature(derivative):
    signal = Sampled(random_samples(50, 2), 7.0, BandLimited())
    next_start = derivative * signal.pieces()[1:, :, derivative]
    tolerance = 1e-12 * float(jnp.max(jnp.abs(next_start)))
    np.testing.assert_allclose(at_piece_ends(signal, derivative)[:-1], next_start, rtol=0.0, atol=tolerance)


@pytest.mark.parametrize("hold", HOLDS, ids=names)
def test_pieces_of_a_batch_are_the_pieces_of_each(hold):
    samples = random_samples(3, 20, 2)
    together = Sampled(samples, 10.0, hold).pieces()
    alone = jnp.stack([Sampled(one, 10.0, hold).pieces() for one in samples])
    np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("hold", HOLDS, ids=names)
@settings(max_examples=10, deadline=None, derandomize=True)
@given(samples=st.sampled_from([2, 7, 60]), scale=st.floats(-5.0, 5.0))
def test_pieces_are_linear_in_the_samples(hold, samples, scale):
    one, other = random_samples(2, samples, 1)
    combined = Sampled(one + scale * other, 1.0, hold).pieces()
    separate = Sampled(one, 1.0, hold).pieces() + scale * Sampled(other, 1.0, hold).pieces()
    np.testing.assert_allclose(combined, separate, rtol=0.0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("hold", CONTINUOUS, ids=names)
@settings(max_examples=10, deadline=None, derandomize=True)
@given(samples=st.sampled_from([2, 7, 80]), t=st.floats(0.0, 1.0))
def test_a_ramp_stays_a_ramp_up_to_both_ends(hold, samples, t):
    signal = Sampled(3.0 - 2.0 * np.arange(samples) / 10.0, 10.0, hold)
    time = t * signal.duration
    assert signal.value(time)[0] == pytest.approx(3.0 - 2.0 * time, abs=1e-11)


# Looking at a signal


@pytest.mark.slow
@pytest.mark.parametrize("hold", HOLDS, ids=names)
def test_value_at_each_sample_time_is_that_sample(hold):
    # 1 / 49 and other times here fall just short of a whole number when multiplied by the rate again.
    samples = random_samples(200, 1)
    signal = Sampled(samples, 49.0, hold)
    values = jax.vmap(signal.value)(jnp.arange(199) / 49.0)
    np.testing.assert_allclose(values, samples[:-1], rtol=0.0, atol=1e-12)


def test_value_halfway_along_a_straight_line_is_the_mean_of_its_ends():
    assert Sampled([1.0, 4.0, 0.0], 2.0, StraightLines()).value(0.75)[0] == 2.0


@pytest.mark.slow
@pytest.mark.parametrize("hold", CONTINUOUS, ids=names)
def test_value_beyond_the_record_stays_as_at_its_end(hold):
    signal = Sampled(random_samples(40, 1), 4.0, hold)
    values = jax.vmap(signal.value)(jnp.array([-1.0, 100.0]))
    np.testing.assert_allclose(values, signal.values[jnp.array([0, -1])], atol=1e-12)


def test_one_dimensional_samples_become_one_channel():
    assert Sampled(np.arange(5), 1.0, ZeroOrderHold()).values.shape == (5, 1)


@pytest.mark.slow
def test_pieces_can_be_traced_and_differentiated_in_the_samples():
    def energy(samples):
        return jnp.sum(Sampled(samples, 1.0, BandLimited()).pieces()[..., 0] ** 2)

    samples = random_samples(12, 1)
    numerical = (energy(samples.at[4].add(1e-5)) - energy(samples.at[4].add(-1e-5))) / 2e-5
    assert jax.jit(jax.grad(energy))(samples)[4, 0] == pytest.approx(float(numerical[()]), rel=1e-7)


# How well the band-limited hold does


@pytest.mark.parametrize("fraction", [0.05, 0.2, 0.4, 0.6, 0.8])
def test_band_limited_error_on_a_sine_up_to_0_8_of_nyquist_is_below_1e_6_in_the_interior(fraction):
    assert worst_interior_error(fraction, BandLimited()) < 1e-6


@pytest.mark.parametrize("fraction", [0.05, 0.2, 0.4, 0.6, 0.8])
def test_straight_lines_on_the_same_sines_are_at_least_a_thousand_times_worse(fraction):
    assert worst_interior_error(fraction, StraightLines()) > 1e-3


@pytest.mark.slow
def test_band_limited_error_on_a_multisine_below_0_8_of_nyquist_is_below_1e_6():
    smooth = random_phase_multisine(jax.random.key(1), 1.0, 0.0, 20.0, 7.3)
    signal = smooth.sampled(50.0, 401, BandLimited())
    times = jnp.linspace(32 / 50.0, (400 - 32) / 50.0, 7001)
    exact = jax.vmap(smooth.value)(times)
    error = jnp.max(jnp.abs(jax.vmap(signal.value)(times)[:, 0] - exact))
    assert float(error / jnp.max(jnp.abs(exact))) < 1e-6


def test_band_limited_accuracy_is_lost_near_nyquist_as_documented():
    assert worst_interior_error(0.95, BandLimited()) > 1e-2


def test_error_of_the_quintics_falls_with_the_sixth_power_of_the_refinement():
    # A band of 0.7 leaves the window at 1e-12 for a sine at 0.5, so that only the quintics' error is seen.
    errors = [worst_interior_error(0.5, BandLimited(refinement=count, band=0.7)) for count in (2, 4)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(6.0, abs=0.2)


def test_band_limited_near_the_ends_is_better_than_straight_lines():
    assert worst_interior_error(0.4, BandLimited(), margin=0) < 0.2 * worst_interior_error(0.4, StraightLines())


@pytest.mark.slow
def test_band_limited_keeps_a_record_that_begins_and_ends_gently_up_to_its_ends():
    smooth = ModulatedSine(1.0, 0.4, 1.0 / 400.0, phase=0.3)
    signal = smooth.sampled(1.0, 401, BandLimited())
    times = jnp.linspace(0.0, 400.0, 8001)
    assert float(jnp.max(jnp.abs(jax.vmap(signal.value)(times)[:, 0] - jax.vmap(smooth.value)(times)))) < 5e-5


@pytest.mark.parametrize("order", [1, 2])
def test_kernel_derivatives_are_those_of_finite_differences(order):
    x, step = np.array([0.3, 1.7, -5.2, 31.4]), 1e-5
    lower, upper = (kernel(x + sign * step, 32, 15.0)[:, order - 1] for sign in (-1.0, 1.0))
    np.testing.assert_allclose(kernel(x, 32, 15.0)[:, order], (upper - lower) / (2 * step), rtol=1e-6, atol=1e-9)


# What is refused


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.0, 1.0, float("nan"), 2.0], r"Sampled\.values\[2, 0\]: expected finite numbers, got nan"),
        (np.full((2, 3, 1), np.inf), r"Sampled\.values\[0, 0, 0\]: expected finite numbers, got inf"),
        ([1.0], r"Sampled\.values: expected at least 2 samples .* got shape \(1, 1\)"),
        (np.zeros((1, 500)), r"got shape \(1, 500\); give more samples, or transpose it"),
        (np.zeros((2, 2, 2, 2)), r"expected shape \(samples, channels\) or .*, got \(2, 2, 2, 2\)"),
        (3.0, r"expected shape \(samples, channels\) or .*, got \(\)"),
        (np.zeros((5, 0)), r"got \(5, 0\); reshape it"),
        (np.zeros(5, dtype=complex), r"expected real numbers, got an array of complex128"),
        (["a", "b"], r"expected real numbers, got an array of <U1"),
    ],
)
def test_sampled_refuses_values_that_are_no_signal(values, message):
    with pytest.raises(InvalidInput, match=message):
        Sampled(values, 10.0, StraightLines())


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_sampled_refuses_a_rate_that_is_not_positive_and_finite(rate):
    with pytest.raises(InvalidInput, match=r"Sampled\.rate: expected positive, finite numbers"):
        Sampled([0.0, 1.0], rate, StraightLines())


def test_sampled_refuses_a_traced_rate():
    with pytest.raises(InvalidInput, match=r"Sampled\.rate: .* it is static"):
        jax.jit(lambda rate: Sampled([0.0, 1.0], rate, StraightLines()).values)(1.0)


def test_sampled_refuses_the_name_of_a_hold():
    with pytest.raises(InvalidInput, match=r"Sampled\.hold: .* got 'zoh'; give ZeroOrderHold\(\)"):
        Sampled([0.0, 1.0], 1.0, "zoh")  # pyright: ignore[reportArgumentType]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"half_width": 1}, r"BandLimited\.half_width: expected a whole number, 2 or more, got 1"),
        ({"refinement": 0}, r"BandLimited\.refinement: expected a whole number, 1 or more, got 0"),
        ({"refinement": 2.5}, r"BandLimited\.refinement: .* got 2\.5"),
        ({"band": 1.0}, r"BandLimited\.band: expected a fraction between 0 and 1, got 1\.0"),
    ],
)
def test_band_limited_refuses_settings_that_make_no_kernel(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        BandLimited(**arguments)
