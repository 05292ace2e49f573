r"""Harmonic driving, steady or swelling.

.. math::
    u(t) = a \sin(2\pi f t + \varphi) + b, \qquad
    u(t) = a\,\frac{1 - d\cos(2\pi f_m t)}{1 + d}\,\sin(2\pi f t + \varphi).
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from vibayes.excitation.analytic import Analytic, number
from vibayes.excitation.concrete import require_finite, require_not_negative, require_positive
from vibayes.excitation.series import Series, product, sine_and_cosine


class Sine(Analytic):
    """A sine wave, u(t) = a sin(2πft + φ) + b.

    Args:
        amplitude: a, in the unit of the signal.
        frequency_hz: f.
        phase: φ, radians.
        offset: b, in the unit of the signal.

    Examples:
        >>> from vibayes.excitation import Sine
        >>> force = Sine(amplitude=2.0, frequency_hz=0.5, offset=1.0)
        >>> round(float(force.value(0.5)), 12)
        3.0
        >>> [round(float(coefficient), 3) for coefficient in force.taylor(0.0, order=2)]
        [1.0, 6.283, 0.0]
    """

    amplitude: jax.Array = eqx.field(converter=number)
    frequency_hz: jax.Array = eqx.field(converter=number)
    phase: jax.Array = eqx.field(converter=number, default=0.0)
    offset: jax.Array = eqx.field(converter=number, default=0.0)

    def __check_init__(self) -> None:
        require_finite("Sine.amplitude", self.amplitude)
        require_positive("Sine.frequency_hz", self.frequency_hz, "give hertz")
        require_finite("Sine.phase", self.phase)
        require_finite("Sine.offset", self.offset)

    def value(self, t: ArrayLike) -> jax.Array:
        """The signal at the time ``t`` (a scalar, seconds)."""
        return self.amplitude * jnp.sin(2.0 * jnp.pi * self.frequency_hz * t + self.phase) + self.offset

    def taylor(self, t: ArrayLike, order: int) -> Series:
        """The Taylor coefficients at the time ``t``, from the value up to the power ``order``."""
        angular = 2.0 * jnp.pi * self.frequency_hz
        sine, _ = sine_and_cosine((angular * t + self.phase, angular), order)
        return (self.amplitude * sine[0] + self.offset, *(self.amplitude * term for term in sine[1:]))


class ModulatedSine(Analytic):
    """A sine wave that swells and fades, starting from its quietest.

        u(t) = a (1 − d cos 2πf_m t) / (1 + d) · sin(2πft + φ)

    The division by 1 + d keeps the loudest amplitude at a whatever the depth. At full depth
    the wave begins at zero amplitude, so a structure at rest is taken up gently through a range of
    amplitudes.

    Args:
        amplitude: a, the largest amplitude, in the unit of the signal.
        frequency_hz: f, of the carrier.
        modulation_hz: f_m, of the swelling.
        depth: d; 0 for none, 1 for fading to nothing, above 1 for passing through nothing.
        phase: φ, of the carrier, radians.

    Examples:
        >>> from vibayes.excitation import ModulatedSine
        >>> force = ModulatedSine(amplitude=2.0, frequency_hz=10.25, modulation_hz=0.5)
        >>> float(force.value(0.0)), round(float(force.value(1.0)), 12)
        (0.0, 2.0)
    """

    amplitude: jax.Array = eqx.field(converter=number)
    frequency_hz: jax.Array = eqx.field(converter=number)
    modulation_hz: jax.Array = eqx.field(converter=number)
    depth: jax.Array = eqx.field(converter=number, default=1.0)
    phase: jax.Array = eqx.field(converter=number, default=0.0)

    def __check_init__(self) -> None:
        require_finite("ModulatedSine.amplitude", self.amplitude)
        require_positive("ModulatedSine.frequency_hz", self.frequency_hz, "give hertz")
        require_positive("ModulatedSine.modulation_hz", self.modulation_hz, "give hertz, or use a plain Sine")
        require_not_negative("ModulatedSine.depth", self.depth, "give 0 for no modulation, 1 for full")
        require_finite("ModulatedSine.phase", self.phase)

    def value(self, t: ArrayLike) -> jax.Array:
        """The signal at the time ``t`` (a scalar, seconds)."""
        envelope = (1.0 - self.depth * jnp.cos(2.0 * jnp.pi * self.modulation_hz * t)) / (1.0 + self.depth)
        return self.amplitude * envelope * jnp.sin(2.0 * jnp.pi * self.frequency_hz * t + self.phase)

    def taylor(self, t: ArrayLike, order: int) -> Series:
        """The Taylor coefficients at the time ``t``, from the value up to the power ``order``."""
        carrier_angular = 2.0 * jnp.pi * self.frequency_hz
        swelling_angular = 2.0 * jnp.pi * self.modulation_hz
        carrier, _ = sine_and_cosine((carrier_angular * t + self.phase, carrier_angular), order)
        _, swelling = sine_and_cosine((swelling_angular * t, swelling_angular), order)
        scale = self.amplitude / (1.0 + self.depth)
        faded = (scale * self.depth * -term for term in swelling[1:])
        return product((scale * (1.0 - self.depth * swelling[0]), *faded), carrier)
