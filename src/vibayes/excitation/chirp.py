r"""A sine whose frequency moves steadily from one value to another.

.. math::
    u(t) = a \sin\phi(t), \qquad
    \phi(t) = \varphi + 2\pi\left(f_0 t + \frac{f_1 - f_0}{2T} t^2\right),

whose instantaneous frequency :math:`\phi'/2\pi` is :math:`f_0` at the start and :math:`f_1` at :math:`t = T`.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from vibayes.excitation.analytic import Analytic, number
from vibayes.excitation.concrete import require_finite, require_not_negative, require_positive
from vibayes.excitation.series import Series, sine_and_cosine


class Chirp(Analytic):
    """A linear chirp. Outside its duration it goes on sweeping at the same rate, so that it stays smooth.

    Args:
        amplitude: in the unit of the signal.
        start_hz: frequency at time zero.
        stop_hz: frequency at the end of the duration; below ``start_hz`` for a downward sweep.
        duration: seconds from one to the other.
        phase: at time zero, radians.

    Examples:
        >>> from vibayes.excitation import Chirp
        >>> sweep = Chirp(amplitude=1.0, start_hz=0.0, stop_hz=2.0, duration=1.0)
        >>> round(float(sweep.value(0.5)), 12)  # a quarter of a cycle has gone by
        1.0
        >>> round(float(sweep.value(1.0)), 12) + 0.0
        0.0
    """

    amplitude: jax.Array = eqx.field(converter=number)
    start_hz: jax.Array = eqx.field(converter=number)
    stop_hz: jax.Array = eqx.field(converter=number)
    duration: jax.Array = eqx.field(converter=number)
    phase: jax.Array = eqx.field(converter=number, default=0.0)

    def __check_init__(self) -> None:
        require_finite("Chirp.amplitude", self.amplitude)
        require_not_negative("Chirp.start_hz", self.start_hz, "give hertz")
        require_not_negative("Chirp.stop_hz", self.stop_hz, "give hertz")
        require_positive("Chirp.duration", self.duration, "give seconds")
        require_finite("Chirp.phase", self.phase)

    def value(self, t: ArrayLike) -> jax.Array:
        """The signal at the time ``t`` (a scalar, seconds)."""
        return self.amplitude * jnp.sin(self._phase_series(t)[0])

    def taylor(self, t: ArrayLike, order: int) -> Series:
        """The Taylor coefficients at the time ``t``, from the value up to the power ``order``."""
        sine, _ = sine_and_cosine(self._phase_series(t), order)
        return tuple(self.amplitude * term for term in sine)

    def _phase_series(self, t: ArrayLike) -> Series:
        """The quadratic phase written about the time ``t``."""
        sweep = (self.stop_hz - self.start_hz) / self.duration
        cycles = (self.start_hz + 0.5 * sweep * t) * t
        return (
            2.0 * jnp.pi * cycles + self.phase,
            2.0 * jnp.pi * (self.start_hz + sweep * t),
            jnp.pi * sweep,
        )
