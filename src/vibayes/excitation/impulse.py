r"""A blow: a short pulse with a given momentum.

What a structure feels of a short blow is its impulse, :math:`\int u\,dt`. A pulse cut into samples no longer
has the integral of its formula, and what it has depends on the hold, so the samples here are scaled until the
pieces the simulation will see integrate to what was asked.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from vibayes.errors import InvalidInput
from vibayes.excitation.concrete import require_count, require_finite, require_not_negative, require_positive
from vibayes.excitation.hold import Hold, StraightLines
from vibayes.excitation.sampled import Sampled


def impulse(
    rate: float,
    samples: int,
    at: float,
    magnitude: ArrayLike,
    duration: float | None = None,
    hold: Hold = StraightLines(),  # noqa: B008 (frozen, so it can be shared)
) -> Sampled:
    """A pulse whose integral, under its hold, is exactly ``magnitude``.

    Args:
        rate: samples per second.
        samples: how many.
        at: time at which the pulse begins, seconds.
        magnitude: integral of the pulse over time; newton seconds for a force.
        duration: length of a half-sine pulse, seconds, at least two sampling intervals. If not given, only
            the sample nearest ``at`` differs from zero: a rectangle of one sampling interval under a
            zero-order hold, a triangle of two under straight lines.
        hold: what the signal does between samples.

    Returns:
        One channel, zero but for the pulse.

    Examples:
        >>> from vibayes.excitation import ZeroOrderHold, impulse
        >>> blow = impulse(rate=100.0, samples=6, at=0.02, magnitude=0.5, hold=ZeroOrderHold())
        >>> blow.values[:, 0]  # 50 N for 0.01 s
        Array([ 0.,  0., 50.,  0.,  0.,  0.], dtype=float64)
    """
    require_positive("impulse.rate", rate, "give samples per second")
    require_count("impulse.samples", samples, 2, "give more samples")
    require_not_negative("impulse.at", at, "give seconds from the first sample")
    require_finite("impulse.magnitude", magnitude)
    if duration is not None and not duration * rate >= 2.0 - 1e-9:
        raise InvalidInput(
            "impulse.duration",
            f"at least two sampling intervals, {2.0 / rate:g} s",
            f"{duration:g} s",
            "lengthen the pulse, raise the rate, or give None for a pulse of one sample",
        )
    end, last = at + (duration or 0.0), (samples - 1) / rate
    if end > last * (1.0 + 1e-12):
        raise InvalidInput(
            "impulse.at",
            f"a pulse that ends by the last sample, at {last:g} s",
            f"an end at {end:g} s",
            "begin earlier or take more samples",
        )

    # The magnitude may be traced; the shape never is, and its integral must be a number to be looked at.
    with jax.ensure_compile_time_eval():
        shape = jnp.asarray(_shape(rate, samples, at, duration))
        integral = float(_integral(Sampled(shape, rate, hold)))
    if integral == 0.0:
        raise InvalidInput(
            "impulse.at",
            "a pulse that the hold lets into the record",
            f"only the last sample, at {last:g} s, which a zero-order hold never uses",
            "begin earlier or take more samples",
        )
    return Sampled(magnitude * shape / integral, rate, hold)


def _shape(rate: float, samples: int, at: float, duration: float | None) -> np.ndarray:
    """Samples of the pulse before it is scaled."""
    if duration is None:
        return (np.arange(samples) == round(at * rate)).astype(float)
    progress = (np.arange(samples) / rate - at) / duration
    return np.where((progress > 0.0) & (progress < 1.0), np.sin(np.pi * progress), 0.0)


def _integral(signal: Sampled) -> jax.Array:
    """Integral over the record of a signal of one channel, exact for its pieces."""
    pieces = signal.pieces()
    powers = np.arange(1, pieces.shape[-1] + 1)
    length = 1.0 / (signal.rate * signal.refinement)
    return jnp.sum(pieces * length**powers / powers)
