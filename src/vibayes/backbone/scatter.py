"""How far residuals of measured points may be from zero: the same everywhere, more where amplitudes are large, or what
the points' own standard errors say.

    constant      variances σ_n²
    amplitude     variances σ_n² (|V| / max |V|)^2γ
    measured      covariances diag(σ²) + J diag(s²) Jᵀ,      J = ∂ε/∂(Ω, V), s the standard errors of Ω and V

An error of a frequency or of an amplitude is in all equations of its point at once; only the last knows that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

    def variances(
        self, levels: Array, points: Measured, values: Mapping[str, Any], spread: Callable[[], Array]
    ) -> Array:
        """Variances of every point and equation, (points, equations), or covariances of each point's equations (points,
        equations, equations), given σ of every equation and what gives the covariances that standard errors of the
        points bring about.
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

    def variances(self, levels: Array, points: Measured, values: Any, spread: Any) -> Array:
        """σ² of every equation."""
        return jnp.broadcast_to(levels**2, points.amplitudes.shape)


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

    def variances(self, levels: Array, points: Measured, values: Any, spread: Any) -> Array:
        """σ² of every equation, times a power of the amplitude."""
        sizes = jnp.sqrt(jnp.sum(points.amplitudes**2, axis=1))
        power = values[self.power] if isinstance(self.power, str) else self.power
        return levels**2 * ((sizes / sizes.max()) ** (2.0 * power))[:, None]


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

    def variances(self, levels: Array, points: Measured, values: Any, spread: Any) -> Array:
        """Both together."""
        return jnp.diag(levels**2) + spread()


def carried(residuals: Callable[[Array, Array], Array], points: Measured) -> Array:
    """Covariances of residuals that standard errors of the points bring about, by derivatives."""
    frequency, amplitudes = points.frequency, points.amplitudes
    parts = [(points.frequency_errors, jnp.zeros_like(amplitudes))]
    for n in range(amplitudes.shape[1]):
        one = jnp.zeros_like(amplitudes).at[:, n].set(points.amplitude_errors[:, n])
        parts.append((jnp.zeros_like(frequency), one))
    moved = [jax.jvp(residuals, (frequency, amplitudes), step)[1] for step in parts]
    return sum(each[:, :, None] * each[:, None, :] for each in moved)


def whitened(vectors: Sequence[Array], variances: Array) -> tuple[list[Array], Array]:
    """Vectors (points, equations) divided by the triangular root L of the covariances, and log det L of every point."""
    if variances.ndim == 2:
        return [each / jnp.sqrt(variances) for each in vectors], 0.5 * jnp.sum(jnp.log(variances), axis=1)
    size, root = variances.shape[1], {}
    for i in range(size):
        for j in range(i + 1):
            rest = variances[:, i, j] - sum(root[i, k] * root[j, k] for k in range(j))
            root[i, j] = jnp.sqrt(rest) if i == j else rest / root[j, j]
    results = []
    for vector in vectors:
        solved: list[Array] = []
        for i in range(size):
            solved.append((vector[:, i] - sum(root[i, k] * solved[k] for k in range(i))) / root[i, i])
        results.append(jnp.stack(solved, axis=1))
    return results, sum(jnp.log(root[i, i]) for i in range(size))


def require_scatter(where: str, scatter: Any) -> Scatter:
    """One of them."""
    if not isinstance(scatter, Scatter) or isinstance(scatter, type):
        expected = "ConstantScatter(), AmplitudeScatter() or MeasuredScatter()"
        raise InvalidInput(where, expected, repr(scatter), "give one")
    return scatter
