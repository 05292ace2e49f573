r"""A sum of cosines: the periodic broadband signal of frequency-response testing.

.. math::
    u(t) = \sum_l a_l \cos(2\pi f_l t + \varphi_l).

With lines at multiples of one over the period and random phases it looks like noise, yet repeats exactly, so
a steady response can be averaged without leakage. With odd multiples only, whatever the structure answers at
even multiples is the work of an even nonlinearity.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy.typing as npt
from jax.typing import ArrayLike

from vibayes.errors import InvalidInput
from vibayes.excitation.analytic import Analytic, number
from vibayes.excitation.concrete import as_key, require_finite, require_not_negative, require_positive
from vibayes.excitation.series import Series, sine_and_cosine


def _lines(value: npt.ArrayLike) -> jax.Array:
    return jnp.atleast_1d(number(value))


class Multisine(Analytic):
    """A sum of cosines, one line for each entry of its three arrays.

    Args:
        amplitudes: of each line, in the unit of the signal.
        frequencies_hz: of each line.
        phases: of each line at time zero, radians.

    Examples:
        >>> from vibayes.excitation import Multisine
        >>> force = Multisine(amplitudes=[1.0, 0.5], frequencies_hz=[1.0, 3.0], phases=[0.0, 0.0])
        >>> float(force.value(0.0)), round(float(force.value(0.5)), 12)
        (1.5, -1.5)
    """

    amplitudes: jax.Array = eqx.field(converter=_lines)
    frequencies_hz: jax.Array = eqx.field(converter=_lines)
    phases: jax.Array = eqx.field(converter=_lines)

    def __check_init__(self) -> None:
        shapes = self.amplitudes.shape, self.frequencies_hz.shape, self.phases.shape
        if len(set(shapes)) > 1 or 0 in shapes[0]:
            raise InvalidInput(
                "Multisine",
                "amplitudes, frequencies_hz and phases of one shape, with at least one line",
                f"shapes {shapes[0]}, {shapes[1]} and {shapes[2]}",
                "give one amplitude, one frequency and one phase for each line",
            )
        require_finite("Multisine.amplitudes", self.amplitudes)
        require_not_negative("Multisine.frequencies_hz", self.frequencies_hz, "give hertz")
        require_finite("Multisine.phases", self.phases)

    def value(self, t: ArrayLike) -> jax.Array:
        """The signal at the time ``t`` (a scalar, seconds)."""
        cosines = jnp.cos(2.0 * jnp.pi * self.frequencies_hz * t + self.phases)
        return jnp.sum(self.amplitudes * cosines, axis=-1)

    def taylor(self, t: ArrayLike, order: int) -> Series:
        """The Taylor coefficients at the time ``t``, from the value up to the power ``order``."""
        angular = 2.0 * jnp.pi * self.frequencies_hz
        _, cosines = sine_and_cosine((angular * t + self.phases, angular), order)
        return tuple(jnp.sum(self.amplitudes * term, axis=-1) for term in cosines)


def random_phase_multisine(
    key: jax.Array | int, rms: ArrayLike, low_hz: float, high_hz: float, period: float, odd: bool = False
) -> Multisine:
    """A multisine of flat spectrum and random phases.

    Its lines are the multiples of ``1 / period`` from ``low_hz`` to ``high_hz`` (both included, zero
    excluded), all of amplitude rms·√(2/L) for L lines, so that the root mean
    square over a period is exactly ``rms`` whatever the phases.

    Args:
        key: a key of ``jax.random`` or a whole number as seed, for the phases.
        rms: root mean square over a period, in the unit of the signal.
        low_hz: lower edge of the band.
        high_hz: upper edge of the band.
        period: seconds after which the signal repeats.
        odd: whether to keep only the odd multiples of ``1 / period``.

    Returns:
        The multisine, its phases uniform on a full turn.

    Examples:
        >>> import jax
        >>> from vibayes.excitation import random_phase_multisine
        >>> key = jax.random.key(0)
        >>> force = random_phase_multisine(key, rms=1.0, low_hz=1.0, high_hz=4.0, period=2.0, odd=True)
        >>> force.frequencies_hz
        Array([1.5, 2.5, 3.5], dtype=float64)
    """
    require_positive("random_phase_multisine.rms", rms, "give the root mean square wanted")
    require_positive("random_phase_multisine.period", period, "give seconds")
    require_not_negative("random_phase_multisine.low_hz", low_hz, "give hertz")
    require_positive("random_phase_multisine.high_hz", high_hz, "give hertz")
    # An edge that lies on a line belongs to the band even when low_hz * period rounds to its wrong side.
    slack = 1e-9
    first, last = math.ceil(low_hz * period - slack), math.floor(high_hz * period + slack)
    multiples = [k for k in range(max(first, 1), last + 1) if k % 2 == 1 or not odd]
    if not multiples:
        raise InvalidInput(
            "random_phase_multisine",
            f"at least one {'odd ' if odd else ''}multiple of 1/period = {1.0 / period:g} Hz in the band",
            f"none from {low_hz:g} to {high_hz:g} Hz",
            "widen the band or lengthen the period",
        )
    phases = jax.random.uniform(as_key("random_phase_multisine.key", key), (len(multiples),), float, 0.0, 2.0 * jnp.pi)
    amplitudes = jnp.full(len(multiples), rms * jnp.sqrt(2.0 / len(multiples)))
    return Multisine(amplitudes, jnp.asarray(multiples) / period, phases)
