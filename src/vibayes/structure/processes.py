"""Excitations that nobody measured: random processes, as linear filters of white noise.

    dξ = A ξ dt + B dβ,        u(t) = I(t) C ξ,

with β a Brownian motion of unit intensity and I(t) an envelope. White noise itself has no ξ; there u(t) = I(t) D dβ/dt.
The *density* S₀ is the two-sided spectral density of the white noise that goes in, per radian per second, in units of
the input squared; its intensity, the factor of the delta function in its correlation, is 2π S₀.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.structure.element import Check, Parameter
from vibayes.structure.envelopes import Envelope, Steady


class LinearFilter(NamedTuple):
    """Matrices of a process: A (m, m), B (m,), C (m,) and the direct part D."""

    A: Any
    B: Any
    C: Any
    D: Any


class Process(eqx.Module):
    """Base of every random excitation."""

    envelope: Envelope = eqx.field(default=Steady(), kw_only=True)

    def filter(self) -> LinearFilter:
        """The process as a linear filter of white noise of unit intensity."""
        raise NotImplementedError

    @property
    def order(self) -> int:
        """Number of states."""
        raise NotImplementedError

    def spectrum(self, omega: Any) -> Any:
        """Two-sided spectral density of u(t) where the envelope is one, at circular frequencies in rad/s."""
        A, B, C, D = self.filter()
        omega = jnp.asarray(omega, float)
        system = 1j * omega[..., None, None] * jnp.eye(self.order) - A
        states = jnp.linalg.solve(system, jnp.broadcast_to(B + 0j, (*omega.shape, self.order))[..., None])[..., 0]
        return jnp.abs(states @ (C + 0j) + D) ** 2 / (2.0 * jnp.pi)

    def checks(self) -> Iterator[Check]:
        """Requirements on the parameter values."""
        yield from ()


class WhiteNoise(Process):
    """White noise: a force or base acceleration without memory.

    Args:
        density: S₀, two-sided, per rad/s.
        envelope: I(t).

    Examples:
        >>> import vibayes as vb
        >>> float(vb.WhiteNoise(0.3).spectrum(7.0))
        0.3
    """

    density: Parameter

    @property
    def order(self) -> int:
        """None."""
        return 0

    def filter(self) -> LinearFilter:
        """Nothing but the noise."""
        return LinearFilter(jnp.zeros((0, 0)), jnp.zeros(0), jnp.zeros(0), _root(self.density))

    def spectrum(self, omega: Any) -> Any:
        """S₀ everywhere."""
        return self.density * jnp.ones_like(jnp.asarray(omega, float))

    def checks(self) -> Iterator[Check]:
        """A density."""
        yield _density(self)


class KanaiTajimi(Process):
    """Ground acceleration after Kanai and Tajimi: white noise through one layer of soil.

    ü + 2 ζ ω u̇ + ω² u = w gives the acceleration I(t) (ω² u + 2 ζ ω u̇).

    Args:
        frequency: ω of the ground, rad/s.
        damping: ratio ζ of the ground.
        density: S₀ of the white noise, two-sided, per rad/s.
        envelope: I(t).

    Examples:
        >>> import vibayes as vb
        >>> ground = vb.KanaiTajimi(frequency=10.0, damping=0.35, density=2.0)
        >>> round(float(ground.spectrum(0.0)), 12)
        2.0
    """

    frequency: Parameter
    damping: Parameter
    density: Parameter

    @property
    def order(self) -> int:
        """Displacement and velocity of the ground."""
        return 2

    def filter(self) -> LinearFilter:
        """An oscillator, and the force its spring and damper pass on."""
        A, C = _oscillator(self.frequency, self.damping)
        return LinearFilter(A, jnp.stack([jnp.zeros(()), _root(self.density)]), C, 0.0)

    def checks(self) -> Iterator[Check]:
        """Positive values."""
        yield Check(~(np.asarray(self.frequency) > 0), "frequency", "a positive ω in rad/s", "check units")
        yield Check(~(np.asarray(self.damping) > 0), "damping", "a positive ratio", "check the sign")
        yield _density(self)


class CloughPenzien(Process):
    """Kanai–Tajimi with a second filter that takes away its drift: the spectrum falls to zero at ω = 0.

    Args:
        frequency: ω of the ground, rad/s.
        damping: ratio ζ of the ground.
        low_frequency: ω of the second filter, rad/s, well below the first.
        low_damping: its ratio.
        density: S₀ of the white noise, two-sided, per rad/s.
        envelope: I(t).

    Examples:
        >>> import vibayes as vb
        >>> ground = vb.CloughPenzien(15.0, 0.6, 1.5, 0.6, density=1.0)
        >>> bool(ground.spectrum(0.01) < 1e-8), bool(ground.spectrum(15.0) > 0.5)
        (True, True)
    """

    frequency: Parameter
    damping: Parameter
    low_frequency: Parameter
    low_damping: Parameter
    density: Parameter

    @property
    def order(self) -> int:
        """Two oscillators."""
        return 4

    def filter(self) -> LinearFilter:
        """The acceleration of the second oscillator, whose base the first one shakes."""
        first, passed = _oscillator(self.frequency, self.damping)
        second, held = _oscillator(self.low_frequency, self.low_damping)
        zero = jnp.zeros((2, 2))
        A = jnp.block([[first, zero], [jnp.stack([jnp.zeros(2), passed]), second]])
        B = jnp.zeros(4).at[1].set(_root(self.density))
        return LinearFilter(A, B, jnp.concatenate([passed, -held]), 0.0)

    def checks(self) -> Iterator[Check]:
        """Positive values."""
        for name in ("frequency", "damping", "low_frequency", "low_damping"):
            yield Check(~(np.asarray(getattr(self, name)) > 0), name, "a positive number", "check sign and units")
        yield _density(self)


class RationalFilter(Process):
    """White noise through any stable rational filter (b₁ s^(m−1) + … + b_m) / (s^m + a₁ s^(m−1) + … + a_m).

    Args:
        numerator: b₁ … b_m, highest power first; shorter ones are filled with zeros in front.
        denominator: a₁ … a_m, highest power first; the leading one is left out.
        density: S₀ of the white noise, two-sided, per rad/s.
        envelope: I(t).

    Examples:
        >>> import vibayes as vb
        >>> wind = vb.RationalFilter(numerator=(1.0,), denominator=(0.5,), density=1.0)  # 1 / (s + 0.5)
        >>> round(float(wind.spectrum(0.0)), 12)
        4.0
    """

    numerator: tuple[Parameter, ...]
    denominator: tuple[Parameter, ...]
    density: Parameter

    def __check_init__(self) -> None:
        if not 0 < len(self.numerator) <= len(self.denominator):
            expected = "as many coefficients as the denominator, at most, and one at least"
            sizes = f"{len(self.numerator)} and {len(self.denominator)}"
            raise InvalidInput("RationalFilter.numerator", expected, sizes, "the filter must fall off with frequency")

    @property
    def order(self) -> int:
        """Of the denominator."""
        return len(self.denominator)

    def filter(self) -> LinearFilter:
        """In companion form: ξ_i is the i-th derivative."""
        m = self.order
        A = jnp.eye(m, k=1).at[-1].set(-_vector(self.denominator)[::-1])
        B = jnp.zeros(m).at[-1].set(_root(self.density))
        C = jnp.zeros(m).at[: len(self.numerator)].set(_vector(self.numerator)[::-1])
        return LinearFilter(A, B, C, 0.0)

    def checks(self) -> Iterator[Check]:
        """Poles that are stable."""
        poles = [np.atleast_1d(np.asarray(a, float)) for a in self.denominator]
        sets = np.stack(np.broadcast_arrays(*poles), axis=-1)
        unstable = np.array([np.max(np.roots([1.0, *row]).real) >= 0 for row in sets])
        unstable = unstable if any(np.ndim(a) for a in self.denominator) else unstable[0]
        yield Check(unstable, "denominator", "roots in the left half plane", "the filter would grow", self.denominator)
        yield _density(self)


def _oscillator(frequency: Any, damping: Any) -> tuple[Any, Any]:
    """Matrix of ü + 2 ζ ω u̇ + ω² u = …, and the row (ω², 2 ζ ω)."""
    held = jnp.stack([jnp.asarray(frequency, float) ** 2, 2.0 * jnp.asarray(damping, float) * frequency])
    return jnp.stack([jnp.array([0.0, 1.0]), -held]), held


def _root(density: Any) -> Any:
    """√(2π S₀)."""
    return jnp.sqrt(2.0 * jnp.pi * jnp.asarray(density, float))


def _vector(values: tuple[Any, ...]) -> Any:
    return jnp.stack([jnp.asarray(value, float) for value in values])


def _density(process: Any) -> Check:
    return Check(~(np.asarray(process.density) > 0), "density", "a positive spectral density", "check sign and units")


STARTS = "stationary", "rest"
"""How a structure under random inputs begins."""


def starts_stationary(processes: tuple[Process | None, ...], start: str | None) -> bool:
    """Whether a structure is in its stationary state at the first sample, rather than at rest."""
    if start is not None:
        return start == "stationary"
    return any(process is not None and isinstance(process.envelope, Steady) for process in processes)
