r"""Between samples, the one smooth signal that has no frequencies above Nyquist.

Behind an anti-aliasing filter the samples determine the signal everywhere, by Shannon's series
:math:`u(t) = \sum_n u_n \operatorname{sinc}(t f_s - n)`. Its slow tails are cut by a Kaiser window
(:mod:`.kaiser`), it is evaluated with its first two derivatives at the samples and at evenly spaced knots
between, and consecutive knots are joined by the quintic that matches all three at both ends (Hermite
interpolation).
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.excitation.concrete import require_count
from vibayes.excitation.hold import Hold
from vibayes.excitation.kaiser import kaiser_shape, kernel


class BandLimited(Hold):
    """Windowed-sinc interpolation, as quintic pieces with continuous second derivative.

    Measured with the defaults, the largest error between samples relative to the amplitude of a sine at a
    fraction of the Nyquist frequency, ``half_width`` samples or more from either end, beside that of straight
    lines:

    ============== ======= ======= ======= ======= ======= ====== =====
    fraction        0.2     0.4     0.6     0.8     0.85    0.9    0.95
    ============== ======= ======= ======= ======= ======= ====== =====
    band-limited   1.6e-8  8.0e-9  8.9e-8  3.9e-7  6.4e-7  6e-3   0.19
    straight lines  0.05    0.19    0.39    0.69    0.76   0.84   0.92
    ============== ======= ======= ======= ======= ======= ====== =====

    So a signal below 0.8 of Nyquist is kept to better than 1e-6; above 0.85 it soon is not, and no finite
    record can tell the frequencies next to Nyquist from their images. What remains up to ``band`` is mostly
    the quintics' (omega h)^6 / 46080 for knots h apart, which a larger ``refinement`` takes away.

    Near the ends the missing samples are made up by odd reflection about the first and the last. That
    continues the value and the slope but not the curvature, and costs accuracy: at 0.2 of Nyquist the error
    is 5e-3 in the first interval, 7e-4 two samples in and 1e-5 sixteen samples in; at 0.8 it is 0.14, 4e-2
    and 1e-3. Records that begin and end gently suffer little: a sine at 0.8 of Nyquist that swells from
    nothing and fades back to it over 400 samples is kept to 3e-5 throughout.

    Args:
        half_width: samples used on either side. More of them carry the accuracy closer to Nyquist.
        refinement: quintic pieces in each interval between samples.
        band: fraction of the Nyquist frequency up to which the window is to be accurate. The window gets the
            shape that just does so: a smaller band makes the frequencies in it more accurate.

    Examples:
        >>> import jax.numpy as jnp
        >>> from vibayes.excitation import BandLimited
        >>> samples = jnp.sin(0.6 * jnp.pi * jnp.arange(201.0))[:, None]  # 0.6 of the Nyquist frequency
        >>> middle = BandLimited().pieces(samples, rate=1.0)[100 * 5 + 2, 0]  # from t = 100.4 s
        >>> bool(abs(middle[0] - jnp.sin(0.6 * jnp.pi * 100.4)) < 1e-6)
        True
    """

    half_width: int = eqx.field(static=True, default=32)
    refinement: int = eqx.field(static=True, default=5)
    band: float = eqx.field(static=True, default=0.85)
    degree: ClassVar[int] = 5

    def __check_init__(self) -> None:
        require_count("BandLimited.half_width", self.half_width, 2, "give how many samples to use on either side")
        require_count("BandLimited.refinement", self.refinement, 1, "give how many pieces to put between samples")
        if not 0.0 < self.band < 1.0:
            raise InvalidInput(
                "BandLimited.band",
                "a fraction between 0 and 1",
                repr(self.band),
                "give a fraction of Nyquist",
            )

    @eqx.filter_jit  # The loop over offsets would otherwise be compiled anew at every call.
    def pieces(self, values: jax.Array, rate: float) -> jax.Array:
        """Polynomial pieces through samples; see :meth:`Hold.pieces`."""
        samples = values.shape[-2]
        # The line through the ends is taken out first and put back after: constants and ramps, whose windowed
        # sinc is only nearly right, come out exact, and what is left can be reflected about its zero ends.
        fraction = jnp.linspace(0.0, 1.0, samples)[:, None]
        first, last = values[..., :1, :], values[..., -1:, :]
        knots = self._knots(values - (first + (last - first) * fraction))

        count = (samples - 1) * self.refinement + 1
        knots = knots[..., :count, :, :] * jnp.array([1.0, rate, rate**2])
        fine_fraction = jnp.linspace(0.0, 1.0, count)[:, None]
        knots = knots.at[..., 0].add(first + (last - first) * fine_fraction)
        knots = knots.at[..., 1].add((last - first) * rate / (samples - 1))
        return _quintics(knots[..., :-1, :, :], knots[..., 1:, :, :], 1.0 / (rate * self.refinement))

    def _knots(self, remainder: jax.Array) -> jax.Array:
        """Value and two derivatives per sample at all knots, ``(..., samples * refinement, channels, 3)``."""
        *batch, samples, channels = remainder.shape
        offsets = np.arange(-self.half_width, self.half_width + 1)
        phases = np.arange(self.refinement) / self.refinement
        shape = kaiser_shape(self.half_width, self.band)
        weights = kernel(phases[None, :] - offsets[:, None], self.half_width, shape)  # (offsets, phases, 3)
        extended = _reflected(remainder, self.half_width)

        def add_one_offset(total: jax.Array, this: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
            start, weight = this
            shifted = jax.lax.dynamic_slice_in_dim(extended, start, samples, axis=-2)
            return total + shifted[..., None, :, None] * weight[:, None, :], None

        # One offset at a time: a table of all windows at once would be 2 half_width records in size.
        zero = jnp.zeros((*batch, samples, self.refinement, channels, 3), remainder.dtype)
        knots, _ = jax.lax.scan(add_one_offset, zero, (jnp.arange(len(offsets)), jnp.asarray(weights)))
        return knots.reshape(*batch, samples * self.refinement, channels, 3)


def _reflected(values: jax.Array, margin: int) -> jax.Array:
    """Samples that are zero at both ends, continued past them by odd reflection, repeated if need be."""
    last = values.shape[-2] - 1
    place = np.arange(-margin, last + margin + 1) % (2 * last)
    mirrored = place > last
    index, sign = np.where(mirrored, 2 * last - place, place), np.where(mirrored, -1.0, 1.0)
    return values[..., index, :] * sign[:, None]


def _quintics(start: jax.Array, end: jax.Array, length: float) -> jax.Array:
    """Coefficients of the quintics with given value, slope and second derivative (last axis) at both ends."""
    value, slope, bend = start[..., 0], start[..., 1], start[..., 2]
    # What the parabola from the start leaves unexplained at the end, all in the unit of the value.
    value_gap = end[..., 0] - (value + slope * length + bend * length**2 / 2.0)
    slope_gap = (end[..., 1] - (slope + bend * length)) * length
    bend_gap = (end[..., 2] - bend) * length**2
    return jnp.stack(
        [
            value,
            slope,
            bend / 2.0,
            (10.0 * value_gap - 4.0 * slope_gap + 0.5 * bend_gap) / length**3,
            (-15.0 * value_gap + 7.0 * slope_gap - bend_gap) / length**4,
            (6.0 * value_gap - 3.0 * slope_gap + 0.5 * bend_gap) / length**5,
        ],
        axis=-1,
    )
