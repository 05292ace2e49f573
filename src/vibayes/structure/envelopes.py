"""How strong a random excitation is over time: an envelope I(t) that its amplitude is multiplied by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from vibayes.errors import InvalidInput
from vibayes.structure.element import Check, Parameter, Scalar


class Envelope(eqx.Module):
    """Base of every envelope."""

    def value(self, time: Scalar) -> Scalar:
        """I(t), with t in seconds from the first sample."""
        raise NotImplementedError

    def checks(self) -> Iterator[Check]:
        """Requirements on the parameter values."""
        yield from ()


class Steady(Envelope):
    """Always as strong: I(t) = 1."""

    def value(self, time: Scalar) -> Scalar:
        """One."""
        return jnp.ones_like(jnp.asarray(time, float))


class Trapezoid(Envelope):
    """Grows in a straight line, stays, and falls in a straight line to zero.

    Args:
        strong_from: time when it is full.
        strong_until: time until it is full.
        end: time when it is over.

    Examples:
        >>> import vibayes as vb
        >>> float(vb.Trapezoid(2.0, 10.0, 20.0).value(15.0))
        0.5
    """

    strong_from: Parameter
    strong_until: Parameter
    end: Parameter

    def value(self, time: Scalar) -> Scalar:
        """One in the middle."""
        rise, fall = time / self.strong_from, (self.end - time) / (self.end - self.strong_until)
        return jnp.clip(jnp.minimum(rise, fall), 0.0, 1.0)

    def checks(self) -> Iterator[Check]:
        """Times in order."""
        first, second, last = (np.asarray(t) for t in (self.strong_from, self.strong_until, self.end))
        yield Check(~(first > 0), "strong_from", "a positive time", "give seconds from the first sample")
        yield Check(~((second >= first) & (last > second)), "end", "strong_from ≤ strong_until < end", "put in order")


class JenningsHousnerTsai(Envelope):
    """Grows like t², stays, and dies away: (t/t₁)², 1, exp(−c (t − t₂)).

    Examples:
        >>> import vibayes as vb
        >>> float(vb.JenningsHousnerTsai(4.0, 15.0, 0.1).value(2.0))
        0.25
    """

    strong_from: Parameter
    strong_until: Parameter
    decay: Parameter

    def value(self, time: Scalar) -> Scalar:
        """One in the middle."""
        rise = jnp.clip(time / self.strong_from, 0.0, 1.0) ** 2
        return rise * jnp.exp(-self.decay * jnp.maximum(time - self.strong_until, 0.0))

    def checks(self) -> Iterator[Check]:
        """Times in order, no growth at the end."""
        yield Check(~(np.asarray(self.strong_from) > 0), "strong_from", "a positive time", "give seconds")
        late = np.asarray(self.strong_until) >= np.asarray(self.strong_from)
        yield Check(~late, "strong_until", "a time after strong_from", "put them in order")
        yield Check(np.asarray(self.decay) < 0, "decay", "a rate ≥ 0", "check the sign")


class ShinozukaSato(Envelope):
    """Two exponentials, exp(−a t) − exp(−b t) with b > a, scaled to a peak of one.

    Examples:
        >>> import vibayes as vb
        >>> round(float(vb.ShinozukaSato(0.5, 1.0).value(1.3862943611)), 9)
        1.0
    """

    slow: Parameter
    fast: Parameter

    def value(self, time: Scalar) -> Scalar:
        """One at its peak."""

        def shape(t):
            return jnp.exp(-self.slow * t) - jnp.exp(-self.fast * t)

        peak = jnp.log(self.fast / self.slow) / (self.fast - self.slow)
        return shape(jnp.maximum(time, 0.0)) / shape(peak)

    def checks(self) -> Iterator[Check]:
        """Two different rates."""
        yield Check(~(np.asarray(self.slow) > 0), "slow", "a positive rate", "check the sign")
        yield Check(~(np.asarray(self.fast) > np.asarray(self.slow)), "fast", "a rate above slow", "swap them")


class GammaEnvelope(Envelope):
    """(t/t_p)^p exp(p (1 − t/t_p)): a peak of one at t_p, the sharper the larger p (Saragoni and Hart).

    Examples:
        >>> import vibayes as vb
        >>> float(vb.GammaEnvelope(peak_time=5.0, sharpness=2.0).value(5.0))
        1.0
    """

    peak_time: Parameter
    sharpness: Parameter = 1.0

    def value(self, time: Scalar) -> Scalar:
        """One at its peak."""
        share = jnp.maximum(time, 0.0) / self.peak_time
        return share**self.sharpness * jnp.exp(self.sharpness * (1.0 - share))

    def checks(self) -> Iterator[Check]:
        """Positive values."""
        yield Check(~(np.asarray(self.peak_time) > 0), "peak_time", "a positive time", "give seconds")
        yield Check(~(np.asarray(self.sharpness) > 0), "sharpness", "a positive number", "try 1")


class SampledEnvelope(Envelope):
    """An envelope known at evenly spaced times, straight between them, and as at its ends beyond.

    Examples:
        >>> import vibayes as vb
        >>> float(vb.SampledEnvelope([0.0, 1.0, 0.5], rate=1.0).value(1.5))
        0.75
    """

    values: tuple[float, ...] = eqx.field(static=True)
    rate: float = eqx.field(static=True)

    def __init__(self, values: npt.ArrayLike, rate: float):
        array = np.asarray(values, float)
        if array.ndim != 1 or array.size < 2 or not np.isfinite(array).all() or (array < 0).any():
            expected = "at least two finite values, none negative, in one row"
            raise InvalidInput("SampledEnvelope.values", expected, f"shape {array.shape}", "check the samples")
        if not (np.isfinite(rate) and rate > 0):
            raise InvalidInput("SampledEnvelope.rate", "a positive number", repr(rate), "give samples per second")
        self.values, self.rate = tuple(array.tolist()), float(rate)

    def value(self, time: Scalar) -> Any:
        """By straight lines."""
        return jnp.interp(time * self.rate, jnp.arange(len(self.values)), jnp.asarray(self.values))
