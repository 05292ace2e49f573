r"""Normal form of modal equations, order by order.

The modes of a chosen subset respond at multiples r_n Ω of one frequency, u_n = Re(a_n e^{j r_n Ω t}), and everything
else is a harmonic of small size: q = u + ε h₁ + ε² h₂ + …. Then

    q̈ + Λ q + ε N(q, q̇) = 0,        N_i: the coefficient of ε^i in ε N(u + ε h₁ + …),

gives at every order

    resonant part (at r_n Ω):  (ω_n² − r_n² Ω²) a_n + N₁ + N₂ + … = 0,
    the rest (at k Ω ≠ r_n Ω): h_i = N_i / β,      β = k² Ω² − ω_n².

So a fundamental of q_n at r_n Ω is u_n itself, to every order: harmonics have nothing there. The published β has
(r_n Ω)² in place of ω_n². For a mode near its resonance that is the same to this order, and at first order β matters
only in being zero or not; but a mode of the subset may be far from its own frequency, as the second one on the first
backbone of the published structure, and there only ω_n² gives harmonics, and so the second order, right.

N is a polynomial: sampled at more instants of a period than it has harmonics its Fourier coefficients are exact, and
that is what is done here instead of sorting monomials. (`vibayes.backbone.terms` sorts them.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.backbone.modes import LinearModes
from vibayes.backbone.polynomials import damping_of, terms_of
from vibayes.structure.structure import Structure

Array = Any


class ModalEquations(eqx.Module):
    """q̈ + Λ q + N(q, q̇) = p cos Ωt, in numbers: N = C q̇ + Σ_e c_e (g_eᵀ q)^p_e g_e / m."""

    squares: Array
    """Diagonal of Λ."""
    masses: Array
    coefficients: Array
    directions: Array
    """g = Φᵀ b of each nonlinear term, (terms, modes)."""
    damping: Array | None
    """Φᵀ C Φ divided by modal masses, or None where rates play no part."""
    push: Array | None
    """Modal force divided by modal masses, or None."""
    powers: tuple[int, ...] = eqx.field(static=True)
    of_rate: tuple[bool, ...] = eqx.field(static=True)

    @property
    def degree(self) -> int:
        """Highest power."""
        return max(self.powers, default=1)


def modal_equations(bound: Structure, modes: LinearModes, damped: bool, force: Any = None) -> ModalEquations:
    """Of a bound structure in its linear modes; without damping, all that depends on rates is left out."""
    terms = [term for term in terms_of(bound) if term.power > 1 and (damped or not term.of_rate)]
    size, shapes = len(bound.masses), jnp.asarray(modes.shapes)
    signs = np.array([term.signs for term in terms]).reshape(len(terms), size)
    return ModalEquations(
        squares=modes.frequencies**2,
        masses=modes.masses,
        coefficients=jnp.stack([jnp.asarray(t.coefficient, float) for t in terms]) if terms else jnp.zeros(0),
        directions=jnp.asarray(signs) @ shapes,
        damping=shapes.T @ damping_of(bound) @ shapes / modes.masses[:, None] if damped else None,
        push=None if force is None else shapes.T @ jnp.asarray(force, float) / modes.masses,
        powers=tuple(term.power for term in terms),
        of_rate=tuple(term.of_rate for term in terms),
    )


class Subset(NamedTuple):
    """Modes that respond at multiples of one frequency; here, as in all arrays, the lowest is 0."""

    modes: tuple[int, ...]
    ratios: tuple[int, ...]


class Expansion(NamedTuple):
    """What a normal form says of one response."""

    detuning: Array
    """(ω_n² − r_n² Ω²) a_n of the modes of the subset."""
    resonant: tuple[Array, ...]
    """N₁, N₂, … of these."""
    harmonics: tuple[Array, ...]
    """h₁, h₂, … of all modes, (modes, 0Ω … HΩ); one fewer than the resonant terms unless all were wanted."""


def highest(degree: int, subset: Subset, order: int) -> int:
    """The highest harmonic that this order has."""
    return max(subset.ratios) * (1 + order * (max(degree, 1) - 1))


def expand(
    equations: ModalEquations, subset: Subset, order: int, frequency: Array, amplitudes: Array, last: bool = False
) -> Expansion:
    """Of responses with frequencies (…) and amplitudes (…, modes); with harmonics of the last order too where wanted.

    Amplitudes that are real, without damping or force, stay real: every motion is then a sum of cosines. Arrays of
    NumPy are computed with by NumPy, all others by JAX.
    """
    numbers = jnp if any(isinstance(each, jax.Array) for each in (equations.squares, frequency, amplitudes)) else np
    standing = equations.damping is None and equations.push is None and not jnp.iscomplexobj(amplitudes)
    modes, ratios = list(subset.modes), np.array(subset.ratios)
    size, top = equations.squares.shape[0], highest(equations.degree, subset, order)
    harmonics, phases = np.arange(top + 1), 2.0 * np.pi * np.arange(2 * top + 1) / (2 * top + 1)
    angles = np.outer(harmonics, phases)
    waves = np.cos(angles) if standing else np.exp(1j * angles)
    back = waves.conj().T * (2.0 - (harmonics == 0)) / len(phases)
    place = np.zeros((len(modes), size, top + 1))
    place[range(len(modes)), modes, ratios] = 1.0
    own = place.any(axis=0)
    turns = frequency[..., None, None] * harmonics
    beta = numbers.where(own, 1.0, turns**2 - equations.squares[:, None])
    spectra, resonant = [numbers.einsum("...n,nsk->...sk", amplitudes, place)], []
    for number in range(order):
        values = _forces(equations, spectra, turns, waves, numbers)
        if equations.push is not None and number == 0:
            values = values - np.cos(phases) * equations.push[:, None]
        spectrum = values @ back
        resonant.append(numbers.einsum("...sk,nsk->...n", spectrum, place))
        if number + 1 < order or last:
            spectra.append(numbers.where(own, 0.0, spectrum / beta))
    detuning = (equations.squares[np.array(modes)] - (ratios * frequency[..., None]) ** 2) * amplitudes
    return Expansion(detuning, tuple(resonant), tuple(spectra[1:]))


def _forces(equations: ModalEquations, spectra: list[Array], turns: Array, waves: np.ndarray, numbers: Any) -> Array:
    """The last coefficient of N along q = u + ε h₁ + …, as many as there are spectra: (…, modes, instants)."""
    positions = [(spectrum @ waves).real for spectrum in spectra]
    still = not any(equations.of_rate) and equations.damping is None
    rates = [] if still else [((1j * turns * spectrum) @ waves).real for spectrum in spectra]
    total = numbers.zeros_like(positions[0]) if equations.damping is None else equations.damping @ rates[-1]
    scaled = equations.directions / equations.masses
    for i, (power, of_rate) in enumerate(zip(equations.powers, equations.of_rate, strict=True)):
        moved = rates if of_rate else positions
        arguments = [numbers.einsum("s,...sm->...m", equations.directions[i], each) for each in moved]
        last = _power(arguments, power)[-1]
        total = total + equations.coefficients[i] * last[..., None, :] * scaled[i][:, None]
    return total


def _power(series: list[Array], power: int) -> list[Array]:
    """Coefficients of (Σ z_i ε^i)^p, as many as are given."""
    result = series
    for _ in range(power - 1):
        result = [sum(series[j] * result[i - j] for j in range(i + 1)) for i in range(len(series))]
    return result
