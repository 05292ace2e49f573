"""Signals known for all time, and signals drawn or built: noise and blows."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vibayes.errors import InvalidInput
from vibayes.excitation import (
    Analytic,
    BandLimited,
    Chirp,
    ModulatedSine,
    Multisine,
    Sampled,
    Sine,
    StraightLines,
    ZeroOrderHold,
    band_limited_noise,
    impulse,
    random_phase_multisine,
)

HOLDS = [ZeroOrderHold(), StraightLines(), BandLimited()]
EPSILON = float(np.finfo(float).eps)

amplitudes = st.floats(-10.0, 10.0)
frequencies = st.floats(0.1, 5.0)
phases = st.floats(-7.0, 7.0)

signals = st.one_of(
    st.builds(Sine, amplitudes, frequencies, phases, amplitudes),
    st.builds(ModulatedSine, amplitudes, frequencies, frequencies, st.floats(0.0, 2.0), phases),
    st.builds(Chirp, amplitudes, frequencies, frequencies, st.floats(1.0, 10.0), phases),
    st.builds(
        lambda lines: Multisine(*map(list, zip(*lines, strict=True))),
        st.lists(st.tuples(amplitudes, frequencies, phases), min_size=1, max_size=5),
    ),
)

EXAMPLES = [
    Sine(2.0, 1.5, 0.3, -1.0),
    ModulatedSine(2.0, 1.5, 0.2, 0.7, 0.3),
    Chirp(2.0, 0.5, 2.5, 4.0, 0.3),
    Multisine([1.0, 2.0], [0.5, 1.5], [0.1, -0.4]),
]


def size(signal: Analytic) -> float:
    """The largest value the signal could have, to measure rounding against."""
    match signal:
        case Sine():
            return float(abs(signal.amplitude) + abs(signal.offset))
        case Multisine():
            return float(jnp.sum(jnp.abs(signal.amplitudes)))
        case ModulatedSine() | Chirp():
            return float(abs(signal.amplitude))
    raise NotImplementedError(type(signal))


@eqx.filter_jit
def gauss_integral(signal: Sampled) -> jax.Array:
    """Integral by three-point Gauss quadrature, exact for the quintics, through ``value`` alone."""
    nodes, weights = np.polynomial.legendre.leggauss(3)
    count = (signal.samples - 1) * signal.refinement
    length = 1.0 / (signal.rate * signal.refinement)
    times = (np.arange(count)[:, None] + (nodes + 1.0) / 2.0) * length
    values = jax.vmap(signal.value)(jnp.asarray(times.ravel()))[:, 0].reshape(times.shape)
    return jnp.sum(values * weights) * length / 2.0


# Smooth signals


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(signal=signals, t=st.floats(-3.0, 3.0), step=st.floats(-0.05, 0.05))
def test_taylor_series_summed_a_step_away_equals_the_value_there(signal, t, step):
    # At 25 Hz, the fastest a chirp gets here, a step of 0.05 s is 8 radians: 45 terms reach rounding.
    coefficients = jnp.stack(signal.taylor(t, 45))
    summed = jnp.sum(coefficients * step ** jnp.arange(46))
    largest_term = float(jnp.max(jnp.abs(coefficients * step ** jnp.arange(46))))
    # The phase itself, up to about 500 radians, is rounded differently on the two routes.
    tolerance = EPSILON * (46 * largest_term + 1000 * size(signal))
    assert abs(float(summed - signal.value(t + step))) <= tolerance


@pytest.mark.parametrize("signal", EXAMPLES, ids=lambda signal: type(signal).__name__)
def test_first_taylor_coefficient_is_the_derivative_by_automatic_differentiation(signal):
    np.testing.assert_allclose(signal.taylor(0.7, 1)[1], jax.grad(signal.value)(0.7), rtol=1e-13)


@pytest.mark.parametrize("signal", EXAMPLES, ids=lambda signal: type(signal).__name__)
def test_taylor_of_order_zero_is_the_value_alone(signal):
    (value,) = signal.taylor(0.7, 0)
    np.testing.assert_allclose(value, signal.value(0.7), rtol=1e-14)


@pytest.mark.parametrize("signal", EXAMPLES, ids=lambda signal: type(signal).__name__)
def test_taylor_under_jit_and_vmap_equals_taylor_one_time_at_a_time(signal):
    times = jnp.array([0.0, 0.4, 1.9])
    together = jax.jit(jax.vmap(lambda t: jnp.stack(signal.taylor(t, 6))))(times)
    alone = jnp.stack([jnp.stack(signal.taylor(t, 6)) for t in times])
    np.testing.assert_allclose(together, alone, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("signal", EXAMPLES, ids=lambda signal: type(signal).__name__)
def test_a_batch_of_signals_gives_each_its_own_values(signal):
    batch = jax.tree.map(lambda a, b: jnp.stack([a, b]), signal, jax.tree.map(lambda a: 1.1 * a, signal))
    values = jax.vmap(lambda one: one.value(0.3))(batch)
    assert values.shape == (2,) and values[0] == pytest.approx(float(signal.value(0.3)), rel=1e-13)


def test_constructing_on_traced_numbers_does_not_fail():
    slope = jax.jit(jax.grad(lambda frequency: Sine(2.0, frequency).value(0.1)))(3.0)
    assert slope == pytest.approx(2.0 * 0.2 * np.pi * np.cos(0.6 * np.pi))


def test_sine_equals_its_definition():
    assert Sine(2.0, 1.5, 0.3, -1.0).value(0.7) == pytest.approx(2 * np.sin(3 * np.pi * 0.7 + 0.3) - 1)


def test_modulated_sine_equals_its_definition():
    t = 0.77
    expected = 2.0 * (1 - 0.7 * np.cos(0.4 * np.pi * t)) / 1.7 * np.sin(3 * np.pi * t + 0.3)
    assert ModulatedSine(2.0, 1.5, 0.2, 0.7, 0.3).value(t) == pytest.approx(expected)


@pytest.mark.parametrize(("t", "frequency"), [(0.0, 0.5), (1.0, 1.0), (4.0, 2.5)])
def test_instantaneous_frequency_of_a_chirp_moves_linearly_from_start_to_stop(t, frequency):
    sine, cosine = (Chirp(1.0, 0.5, 2.5, 4.0, phase) for phase in (0.0, np.pi / 2))
    # The angle of (cosine, sine) is the phase; its rate is x y' - y x' on the unit circle.
    (y, y_slope), (x, x_slope) = sine.taylor(t, 1), cosine.taylor(t, 1)
    assert (x * y_slope - y * x_slope) / (2 * np.pi) == pytest.approx(frequency)


def test_rms_of_a_random_phase_multisine_over_a_period_is_the_one_asked_for():
    signal = random_phase_multisine(jax.random.key(1), 0.7, 2.0, 9.0, 5.0)
    values = signal.sampled(200.0, 1000, StraightLines()).values
    assert jnp.sqrt(jnp.mean(values**2)) == pytest.approx(0.7, rel=1e-12)


def test_full_multisine_has_every_line_of_the_band_and_both_its_edges():
    signal = random_phase_multisine(jax.random.key(1), 1.0, 0.3, 0.7, 10.0)
    np.testing.assert_allclose(signal.frequencies_hz, [0.3, 0.4, 0.5, 0.6, 0.7], rtol=1e-15)


def test_odd_multisine_has_odd_lines_only():
    signal = random_phase_multisine(jax.random.key(1), 1.0, 0.0, 20.0, 4.0, odd=True)
    spectrum = np.abs(np.fft.rfft(signal.sampled(100.0, 400, StraightLines()).values[:, 0])) / 200
    lines = np.flatnonzero(spectrum > 1e-12)
    np.testing.assert_array_equal(lines, np.arange(1, 80, 2))


def test_random_phases_differ_between_keys():
    one, other = (random_phase_multisine(jax.random.key(k), 1.0, 1.0, 9.0, 1.0) for k in (0, 1))
    assert not np.allclose(one.phases, other.phases)


# Noise


def noise_spectrum(samples: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    noise = band_limited_noise(jax.random.key(3), 100.0, samples, 2.5, low_hz=5.0, high_hz=20.0)
    return np.fft.rfftfreq(samples, 0.01), np.abs(np.fft.rfft(noise.values[:, 0]))


def test_noise_has_no_energy_outside_its_band():
    frequencies_hz, spectrum = noise_spectrum()
    outside = (frequencies_hz < 4.999) | (frequencies_hz > 20.001)
    assert spectrum[outside].max() < 1e-12 * spectrum.max()


def test_noise_has_energy_in_every_bin_of_its_band():
    frequencies_hz, spectrum = noise_spectrum()
    assert spectrum[(frequencies_hz > 4.999) & (frequencies_hz < 20.001)].min() > 1e-6 * spectrum.max()


def test_noise_has_exactly_the_standard_deviation_asked_for():
    noise = band_limited_noise(jax.random.key(3), 100.0, 999, 2.5, high_hz=20.0)
    assert jnp.std(noise.values) == pytest.approx(2.5, rel=1e-13)


def test_noise_spectrum_is_flat_within_its_band():
    keys = jax.random.split(jax.random.key(7), 2000)
    draw = jax.vmap(lambda key: band_limited_noise(key, 64.0, 64, 1.0, 4.0, 19.0).values[:, 0])
    power = jnp.mean(jnp.abs(jnp.fft.rfft(draw(keys))) ** 2, axis=0)[4:20]
    # Each bin's power is exponential, so its mean over n draws is off by 1 / sqrt(n): allow five of those.
    assert float(jnp.max(jnp.abs(power / power.mean() - 1.0))) < 5.0 / np.sqrt(2000)


def test_noise_samples_are_gaussian():
    values = band_limited_noise(jax.random.key(11), 100.0, 20000, 1.0).values
    kurtosis = jnp.mean(values**4)
    assert abs(float(kurtosis) - 3.0) < 5.0 * np.sqrt(24.0 / 20000)


def test_noise_drawn_over_a_batch_of_keys_is_a_batch_of_signals():
    batch = jax.vmap(lambda key: band_limited_noise(key, 10.0, 50, 1.0))(jax.random.split(jax.random.key(0), 3))
    assert batch.values.shape == (3, 50, 1) and batch.pieces().shape == (3, 49, 1, 2)


# Blows


@pytest.mark.slow
@pytest.mark.parametrize("hold", HOLDS, ids=lambda hold: type(hold).__name__)
@pytest.mark.parametrize("duration", [None, 0.05, 0.0337])
@pytest.mark.parametrize("at", [0.0, 0.2, 0.2041])
def test_impulse_integrates_under_its_hold_to_its_magnitude(hold, duration, at):
    blow = impulse(100.0, 60, at, 1.7, duration, hold)
    assert gauss_integral(blow) == pytest.approx(1.7, rel=1e-12)


def test_impulse_without_duration_is_a_rectangle_of_one_interval_under_zero_order_hold():
    blow = impulse(100.0, 10, 0.03, 2.0, hold=ZeroOrderHold())
    np.testing.assert_allclose(blow.values[:, 0], 200.0 * (np.arange(10) == 3))


def test_impulse_of_given_duration_has_the_shape_of_a_half_sine():
    blow = impulse(1000.0, 200, 0.05, 1.0, duration=0.1)
    t = np.arange(200) / 1000.0 - 0.05
    half_sine = np.where((t > 0) & (t < 0.1), np.sin(np.pi * t / 0.1), 0.0)
    np.testing.assert_allclose(blow.values[:, 0] / blow.values.max(), half_sine, atol=1e-12)


def test_impulse_is_linear_in_a_traced_magnitude():
    build = jax.jit(lambda magnitude: impulse(100.0, 60, 0.1, magnitude, 0.05).values)
    np.testing.assert_allclose(build(3.0), 3.0 * impulse(100.0, 60, 0.1, 1.0, 0.05).values)


# What is refused


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Sine(1.0, 0.0), r"Sine\.frequency_hz: expected positive, finite numbers, got 0\.0"),
        (lambda: Sine(float("nan"), 1.0), r"Sine\.amplitude: expected finite numbers, got nan"),
        (lambda: Sine(1.0, [1.0, -2.0]), r"Sine\.frequency_hz\[1\]: .* got -2\.0"),
        (lambda: ModulatedSine(1.0, 1.0, 0.0), r"ModulatedSine\.modulation_hz: .* use a plain Sine"),
        (lambda: ModulatedSine(1.0, 1.0, 1.0, depth=-0.1), r"ModulatedSine\.depth: .* got -0\.1"),
        (lambda: Chirp(1.0, -1.0, 2.0, 1.0), r"Chirp\.start_hz: .* got -1\.0"),
        (lambda: Chirp(1.0, 1.0, 2.0, 0.0), r"Chirp\.duration: expected positive"),
        (
            lambda: Multisine([1.0, 2.0], [1.0], [0.0]),
            r"Multisine: expected .* shapes \(2,\), \(1,\) and \(1,\)",
        ),
        (lambda: Multisine([], [], []), r"Multisine: expected .* at least one line"),
        (
            lambda: Sine(1.0, 1.0).taylor(0.0, -1),
            r"taylor\.order: expected a whole number, 0 or more, got -1",
        ),
        (lambda: Sine(1.0, 1.0).sampled(10.0, 1, StraightLines()), r"sampled\.samples: .* 2 or more, got 1"),
        (lambda: Sine(1.0, 1.0).sampled(0.0, 9, StraightLines()), r"sampled\.rate: expected positive"),
    ],
)
def test_smooth_signals_refuse_what_they_cannot_be(build, message):
    with pytest.raises(InvalidInput, match=message):
        build()


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        (
            {"low_hz": 1.01, "high_hz": 1.09},
            r"multiple of 1/period = 0\.1 Hz in the band, got none .*; widen",
        ),
        ({"low_hz": 0.2, "high_hz": 0.2, "odd": True}, r"at least one odd multiple"),
        ({"low_hz": 1.0, "high_hz": 2.0, "rms": 0.0}, r"random_phase_multisine\.rms: expected positive"),
    ],
)
def test_random_phase_multisine_refuses_a_band_without_lines_and_a_level_of_nothing(settings_, message):
    arguments = {"rms": 1.0, "period": 10.0, **settings_}
    with pytest.raises(InvalidInput, match=message):
        random_phase_multisine(jax.random.key(0), **arguments)


@pytest.mark.parametrize(
    ("band", "message"),
    [
        ({"high_hz": 51.0}, r"band_limited_noise\.high_hz: .* Nyquist frequency 50 Hz, got 51 Hz"),
        ({"low_hz": 30.0, "high_hz": 20.0}, r"band_limited_noise\.high_hz: .* low_hz = 30 Hz"),
        ({"low_hz": 1.1, "high_hz": 1.9}, r"multiple of rate / samples = 1 Hz in the band, got none"),
        ({"standard_deviation": -1.0}, r"band_limited_noise\.standard_deviation: .* got -1\.0"),
    ],
)
def test_noise_refuses_a_band_it_cannot_fill(band, message):
    arguments = {"standard_deviation": 1.0, **band}
    with pytest.raises(InvalidInput, match=message):
        band_limited_noise(jax.random.key(0), 100.0, 100, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"at": 0.5, "duration": 0.015},
            r"impulse\.duration: expected at least two sampling intervals, 0\.02 s",
        ),
        (
            {"at": 0.95, "duration": 0.1},
            r"impulse\.at: expected a pulse that ends by the last sample, at 0\.99 s",
        ),
        ({"at": 0.99, "hold": ZeroOrderHold()}, r"impulse\.at: .* zero-order hold never uses"),
        ({"at": -0.1}, r"impulse\.at: .* got -0\.1"),
    ],
)
def test_impulse_refuses_a_pulse_that_is_too_short_or_leaves_the_record(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        impulse(100.0, 100, magnitude=1.0, **arguments)


def test_signals_are_frozen():
    with pytest.raises(AttributeError):
        Sine(1.0, 1.0).amplitude = jnp.asarray(2.0)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.slow
def test_every_field_of_a_smooth_signal_is_a_leaf():
    assert [len(jax.tree.leaves(eqx.filter(signal, eqx.is_array))) for signal in EXAMPLES] == [4, 5, 5, 3]
