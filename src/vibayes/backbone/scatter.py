"""How far residuals of measured points may be from zero: the same everywhere, more where amplitudes are large, or what
the points' own standard errors say.

    constant      σ_n
    amplitude     σ_n (|V| / max |V|)^γ
    measured      (σ_n² + Σ (∂ε_n/∂y_i s_i)²)^½,      y = (Ω, V) with standard errors s
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from vibayes.errors import InvalidInput

Array = Any


class Measured(NamedTuple):
    """Points as arrays."""

    frequency: Array
    amplitudes: Array
    frequency_errors: Array
    amplitude_errors: Array


@runtime_checkable
class Scatter(Protocol):
    """A method: settings, and standard deviations of residuals."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of its unknowns."""
        ...

    def deviations(
        self, levels: Array, points: Measured, values: Mapping[str, Any], spread: Callable[[], Array]
    ) -> Array:
        """Of every point and equation, (points, equations), given σ of every equation and a function that gives the
        variances that standard errors of the points bring about.
        """
        ...


@dataclass(frozen=True)
class ConstantScatter:
    """The same for all points, as published.

    Examples:
        >>> import vibayes as vb
        >>> vb.ConstantScatter().names
        ()
    """

    @property
    def names(self) -> tuple[str, ...]:
        """It has no unknowns."""
        return ()

    def deviations(self, levels: Array, points: Measured, values: Any, spread: Any) -> Array:
        """σ of every equation."""
        return jnp.broadcast_to(levels, points.amplitudes.shape)


@dataclass(frozen=True)
class AmplitudeScatter:
    """Proportional to a power of the amplitude: σ is that of the largest point.

    Args:
        power: γ, a number or the name of an unknown.

    Examples:
        >>> import vibayes as vb
        >>> vb.AmplitudeScatter("gamma").names
        ('gamma',)
    """

    power: float | str = 1.0

    @property
    def names(self) -> tuple[str, ...]:
        """The power, where it is unknown."""
        return (self.power,) if isinstance(self.power, str) else ()

    def deviations(self, levels: Array, points: Measured, values: Any, spread: Any) -> Array:
        """σ of every equation, times a power of the amplitude."""
        sizes = jnp.sqrt(jnp.sum(points.amplitudes**2, axis=1))
        power = values[self.power] if isinstance(self.power, str) else self.power
        return levels * ((sizes / sizes.max()) ** power)[:, None]


@dataclass(frozen=True)
class MeasuredScatter:
    """What the standard errors of frequencies and amplitudes say, carried through the equations, and σ besides.

    Examples:
        >>> import vibayes as vb
        >>> vb.MeasuredScatter().names
        ()
    """

    @property
    def names(self) -> tuple[str, ...]:
        """It has no unknowns."""
        return ()

    def deviations(self, levels: Array, points: Measured, values: Any, spread: Any) -> Array:
        """Root of the sum of squares."""
        return jnp.sqrt(levels**2 + spread())


def carried(residuals: Callable[[Array, Array], Array], points: Measured) -> Array:
    """Variances of residuals that standard errors of the points bring about, by derivatives."""
    frequency, amplitudes = points.frequency, points.amplitudes
    parts = [(points.frequency_errors, jnp.zeros_like(amplitudes))]
    for n in range(amplitudes.shape[1]):
        one = jnp.zeros_like(amplitudes).at[:, n].set(points.amplitude_errors[:, n])
        parts.append((jnp.zeros_like(frequency), one))
    return sum(jax.jvp(residuals, (frequency, amplitudes), step)[1] ** 2 for step in parts)


def require_scatter(where: str, scatter: Any) -> Scatter:
    """One of them."""
    if not isinstance(scatter, Scatter) or isinstance(scatter, type):
        expected = "ConstantScatter(), AmplitudeScatter() or MeasuredScatter()"
        raise InvalidInput(where, expected, repr(scatter), "give one")
    return scatter
