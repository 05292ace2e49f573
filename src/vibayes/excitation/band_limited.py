r"""Between samples, the one smooth signal that has no frequencies above Nyquist.

Behind an anti-aliasing filter the samples determine the signal everywhere, by Shannon's series
:math:`u(t) = \sum_n u_n \operatorname{sinc}(t f_s - n)`. Its slow tails are cut by a Kaiser window
(:mod:`.kaiser`), it is evaluated with its first two derivatives at the samples and at evenly spaced knots
between, and consecutive knots are joined by the quintic that matches all three at both ends (Hermite
interpolation).
"""

from typing import Any, ClassVar

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
    band-limited   1.4e-8  6.3e-9  8.9e-8  3.9e-7  6.4e-7  6e-3   0.19
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

    @property
    def lookahead(self) -> int:
        """Half the width of the kernel."""
        return self.half_width

    def pieces(self, values: jax.Array, rate: float) -> jax.Array:
        """Polynomial pieces through samples; see :meth:`Hold.pieces`.

        Of a NumPy array they are computed by NumPy, whose arithmetic does not depend on how many samples there are: as
        far as `lookahead` allows, those of the beginning of a record are those of the whole, bit for bit.
        """
        return self._pieces(np, values, rate) if isinstance(values, np.ndarray) else self._compiled(values, rate)

    @eqx.filter_jit  # The loop over offsets would otherwise be compiled anew at every call.
    def _compiled(self, values: jax.Array, rate: float) -> jax.Array:
        return self._pieces(jnp, values, rate)

    def _pieces(self, xp: Any, values: Any, rate: float) -> Any:
        count = (values.shape[-2] - 1) * self.refinement + 1
        knots = self._knots(xp, values)[..., :count, :, :] * np.array([1.0, rate, rate**2])
        return _quintics(xp, knots[..., :-1, :, :], knots[..., 1:, :, :], 1.0 / (rate * self.refinement))

    def _knots(self, xp: Any, values: Any) -> Any:
        """Value and two derivatives per sample at all knots, ``(..., samples * refinement, channels, 3)``; none
        depends on a sample further than ``half_width`` away.
        """
        *batch, samples, channels = values.shape
        offsets = np.arange(-self.half_width, self.half_width + 1)
        phases = np.arange(self.refinement) / self.refinement
        weights = self._weights(offsets, phases)
        extended = _reflected(values, self.half_width)

        def near(offset: Any) -> Any:
            """The sample so many after each."""
            start = offset + self.half_width
            if xp is np:
                return extended[..., start : start + samples, :][..., None, :, None]
            return jax.lax.dynamic_slice_in_dim(extended, start, samples, axis=-2)[..., None, :, None]

        knots = xp.zeros((*batch, samples, self.refinement, channels, 3))
        # One offset at a time: a table of all windows at once would be 2 half_width records in size.
        if xp is np:
            for offset, weight in zip(offsets, weights, strict=True):
                knots += near(offset) * weight[:, None, :]
        else:
            add = lambda total, this: (total + near(this[0]) * this[1][:, None, :], None)  # noqa: E731
            knots, _ = jax.lax.scan(add, knots, (jnp.asarray(offsets), jnp.asarray(weights)))
        return knots.reshape(*batch, samples * self.refinement, channels, 3)

    def _weights(self, offsets: np.ndarray, phases: np.ndarray) -> np.ndarray:
        """Of every sample in value, slope and second derivative at every phase, (offsets, phases, 3).

        The windowed sinc of a constant and of a ramp is only nearly right. What it leaves over is made up for with the
        mean and the slope of the samples under a Hann window, which hardly see anything but slow trends.
        """
        shape = kaiser_shape(self.half_width, self.band)
        weights = kernel(phases[None, :] - offsets[:, None], self.half_width, shape)
        still, ramp = np.zeros((2, len(phases), 3))
        still[:, 0], ramp[:, 0], ramp[:, 1] = 1.0, phases, 1.0
        hann = np.hanning(len(offsets) + 2)[1:-1]
        mean, slope = hann / hann.sum(), offsets * hann / np.sum(offsets**2 * hann)
        still, ramp = still - weights.sum(axis=0), ramp - np.einsum("o,opd->pd", offsets.astype(float), weights)
        return weights + mean[:, None, None] * still + slope[:, None, None] * ramp


def _reflected(values: Any, margin: int) -> Any:
    """Samples continued past their ends by odd reflection about the first and the last, repeated if need be."""
    last = values.shape[-2] - 1
    rounds, place = np.divmod(np.arange(-margin, last + margin + 1), 2 * last)
    mirrored = place > last
    index, sign = np.where(mirrored, 2 * last - place, place), np.where(mirrored, -1.0, 1.0)
    first, end = values[..., :1, :], values[..., -1:, :]
    # Written so that rounding does not mix the ends: samples of the record stay as they are, and those before the first
    # know nothing of the last.
    outside = (2.0 * (rounds + mirrored))[:, None] * end - (2.0 * rounds)[:, None] * first
    return values[..., index, :] * sign[:, None] + outside


def _quintics(xp: Any, start: Any, end: Any, length: float) -> Any:
    """Coefficients of the quintics with given value, slope and second derivative (last axis) at both ends."""
    value, slope, bend = start[..., 0], start[..., 1], start[..., 2]
    # What the parabola from the start leaves unexplained at the end, all in the unit of the value.
    value_gap = end[..., 0] - (value + slope * length + bend * length**2 / 2.0)
    slope_gap = (end[..., 1] - (slope + bend * length)) * length
    bend_gap = (end[..., 2] - bend) * length**2
    return xp.stack(
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
