"""A signal known at evenly spaced samples, together with what it does between them.

A measured force, or a synthetic one that has no formula. The samples are the k-th at time ``k / rate``; the
hold turns them into polynomial pieces, and the pieces are what a simulation sees.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax.typing import ArrayLike

from vibayes.errors import InvalidInput
from vibayes.excitation.concrete import known, require_finite, require_positive
from vibayes.excitation.hold import Hold
from vibayes.precision import require_double_precision


def _as_channels(values: npt.ArrayLike) -> jax.Array:
    """Samples as real numbers with an axis for the channels."""
    require_double_precision("Sampled")
    try:
        kind = values.dtype if isinstance(values, jax.Array) else np.asarray(values).dtype
    except ValueError:
        raise InvalidInput("Sampled.values", "rows of one length", "rows of several", "make them equal") from None
    if not (jnp.issubdtype(kind, jnp.floating) or jnp.issubdtype(kind, jnp.integer)):
        raise InvalidInput("Sampled.values", "real numbers", f"an array of {kind}", "convert it to floating point")
    array = jnp.asarray(values, dtype=float)
    return array[:, None] if array.ndim == 1 else array


def _as_rate(rate: float) -> float:
    if not known(rate):
        raise InvalidInput(
            "Sampled.rate",
            "a Python number",
            "a traced value",
            "keep the rate out of jit and vmap: it is static",
        )
    try:
        return float(rate)
    except (TypeError, ValueError):
        raise InvalidInput("Sampled.rate", "a number", repr(rate), "give samples per second") from None


class Sampled(eqx.Module):
    """A signal known at evenly spaced samples, the first at time zero.

    Args:
        values: shape ``(samples, channels)`` or ``(batch, samples, channels)``; a one-dimensional array is
            one channel.
        rate: samples per second.
        hold: what the signal does between samples.

    Examples:
        >>> from vibayes.excitation import Sampled, StraightLines
        >>> force = Sampled([0.0, 1.0, 4.0], rate=10.0, hold=StraightLines())
        >>> force.values.shape, force.duration
        ((3, 1), 0.2)
        >>> force.value(0.15)
        Array([2.5], dtype=float64)
    """

    values: jax.Array = eqx.field(converter=_as_channels)
    rate: float = eqx.field(static=True, converter=_as_rate)
    hold: Hold

    def __check_init__(self) -> None:
        require_positive("Sampled.rate", self.rate, "give samples per second")
        if not isinstance(self.hold, Hold):
            raise InvalidInput(
                "Sampled.hold",
                "an object that says what happens between samples",
                repr(self.hold),
                "give ZeroOrderHold(), StraightLines() or BandLimited()",
            )
        if self.values.ndim not in (2, 3) or self.values.shape[-1] == 0:
            raise InvalidInput(
                "Sampled.values",
                "shape (samples, channels) or (batch, samples, channels)",
                str(self.values.shape),
                "reshape it",
            )
        if self.values.shape[-2] < 2:
            raise InvalidInput(
                "Sampled.values",
                "at least 2 samples along the axis before the last",
                f"shape {self.values.shape}",
                "give more samples, or transpose it",
            )
        require_finite("Sampled.values", self.values)

    @property
    def samples(self) -> int:
        """How many samples."""
        return self.values.shape[-2]

    @property
    def channels(self) -> int:
        """How many channels."""
        return self.values.shape[-1]

    @property
    def duration(self) -> float:
        """Seconds from the first sample to the last."""
        return (self.samples - 1) / self.rate

    @property
    def refinement(self) -> int:
        """Polynomial pieces in each interval between samples."""
        return self.hold.refinement

    def pieces(self) -> jax.Array:
        """The signal as polynomials, each in seconds from the start of its own piece.

        Returns:
            Coefficients in ascending powers, shape ``(..., (samples - 1) * refinement, channels, degree +
            1)``. Piece i begins at ``i / (rate * refinement)`` seconds.

        Examples:
            >>> from vibayes.excitation import BandLimited, Sampled
            >>> Sampled([0.0, 1.0, 4.0], rate=10.0, hold=BandLimited(refinement=4)).pieces().shape
            (8, 1, 6)
        """
        return self.hold.pieces(self.values, self.rate)

    def value(self, t: ArrayLike) -> jax.Array:
        """The signal at one time, from the piece that holds there; before and after the record, as at its
        ends.

        A convenience for looking at a signal: it makes all the pieces to evaluate one. For many times,
        ``jax.vmap`` it.

        Args:
            t: seconds, a scalar.

        Returns:
            Shape ``(channels,)`` or ``(batch, channels)``.

        Examples:
            >>> import jax, jax.numpy as jnp
            >>> from vibayes.excitation import Sampled, ZeroOrderHold
            >>> steps = Sampled([1.0, 5.0, 2.0], rate=1.0, hold=ZeroOrderHold())
            >>> jax.vmap(steps.value)(jnp.array([-3.0, 0.5, 1.0, 9.0]))[:, 0]
            Array([1., 1., 5., 5.], dtype=float64)
        """
        pieces = self.pieces()
        piece_rate = self.rate * self.refinement
        position = jnp.clip(t, 0.0, self.duration) * piece_rate
        # A knot's own time, i / rate, may round to just before the knot; it belongs to the piece that starts
        # there.
        nearest = jnp.round(position)
        on_knot = jnp.abs(position - nearest) <= 8.0 * jnp.finfo(position.dtype).eps * jnp.maximum(nearest, 1.0)
        position = jnp.where(on_knot, nearest, position)
        index = jnp.clip(jnp.floor(position), 0, pieces.shape[-3] - 1)
        local = (position - index) / piece_rate
        coefficients = jnp.take(pieces, index.astype(int), axis=-3)
        powers = local ** jnp.arange(pieces.shape[-1])
        return jnp.sum(coefficients * powers, axis=-1)
