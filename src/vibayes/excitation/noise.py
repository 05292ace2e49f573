"""Gaussian noise confined to a band, made by emptying the other bins of a Fourier transform.

White Gaussian samples are transformed, every bin outside the band (and the mean, always) is set to zero, and
the rest is transformed back and scaled. What remains is Gaussian with a spectrum flat in the band and exactly
zero outside at the frequencies ``k * rate / samples``. The signal is one period of a periodic one: its end
leads into its start.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from vibayes.errors import InvalidInput
from vibayes.excitation.concrete import as_key, require_count, require_not_negative, require_positive
from vibayes.excitation.hold import Hold, StraightLines
from vibayes.excitation.sampled import Sampled


def band_limited_noise(
    key: jax.Array | int,
    rate: float,
    samples: int,
    standard_deviation: ArrayLike,
    low_hz: float = 0.0,
    high_hz: float | None = None,
    hold: Hold = StraightLines(),  # noqa: B008 (frozen, so it can be shared)
) -> Sampled:
    """Gaussian noise, flat in a band and zero outside it.

    Every draw has mean zero and exactly the standard deviation asked for (over its own samples, divided by
    their number), rather than only on average, so that records of one nominal level are of one level.

    Args:
        key: a key of ``jax.random`` or a whole number as seed. ``jax.vmap`` over keys for a batch.
        rate: samples per second.
        samples: how many.
        standard_deviation: of the samples, in the unit of the signal.
        low_hz: lower edge of the band, included; the mean is left out in any case.
        high_hz: upper edge of the band, included; the Nyquist frequency if not given.
        hold: what the signal does between samples.

    Returns:
        One channel of noise.

    Examples:
        >>> import jax
        >>> from vibayes.excitation import band_limited_noise
        >>> force = band_limited_noise(jax.random.key(0), 100.0, 1000, standard_deviation=3.0, high_hz=20.0)
        >>> force.values.shape, round(float(force.values.std()), 12)
        ((1000, 1), 3.0)
    """
    require_positive("band_limited_noise.rate", rate, "give samples per second")
    require_count("band_limited_noise.samples", samples, 2, "give more samples")
    require_not_negative("band_limited_noise.standard_deviation", standard_deviation, "give a level, zero or above")
    require_not_negative("band_limited_noise.low_hz", low_hz, "give hertz")
    nyquist = rate / 2.0
    top = nyquist if high_hz is None else high_hz
    if not low_hz <= top <= nyquist:
        raise InvalidInput(
            "band_limited_noise.high_hz",
            f"a frequency from low_hz = {low_hz:g} Hz to the Nyquist frequency {nyquist:g} Hz",
            f"{top:g} Hz",
            "move the edges of the band or raise the rate",
        )

    frequencies = np.fft.rfftfreq(samples, 1.0 / rate)
    slack = 1e-9 * rate / samples  # An edge meant to lie on a bin belongs to the band.
    inside = (frequencies > 0.0) & (frequencies >= low_hz - slack) & (frequencies <= top + slack)
    if not inside.any():
        raise InvalidInput(
            "band_limited_noise",
            f"at least one multiple of rate / samples = {rate / samples:g} Hz in the band",
            f"none from {low_hz:g} to {top:g} Hz",
            "widen the band or take more samples",
        )
    white = jax.random.normal(as_key("band_limited_noise.key", key), (samples,), float)
    noise = jnp.fft.irfft(jnp.where(inside, jnp.fft.rfft(white), 0.0), n=samples)
    values = standard_deviation * noise / jnp.std(noise)
    return Sampled(values[:, None], rate, hold)
