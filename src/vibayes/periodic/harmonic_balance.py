"""Harmonic balance with alternating frequency and time.

The motion is a Fourier series with coefficients Q. Forces of elements are found in time, by their laws, and taken back
to coefficients:

    R(Q) = F [ M Ω² X'' − M a(X, Ω X') ] = 0,      X = E Q,

with E from coefficients to instants and F back. Internal states follow their steady loop along the motion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from vibayes.errors import InvalidInput
from vibayes.periodic.fourier import analysis, angles, differentiation, synthesis
from vibayes.periodic.memory import steady_loop
from vibayes.periodic.method import PeriodicMethod, is_smooth, require_counts
from vibayes.periodic.oscillation import Drive, Oscillation
from vibayes.periodic.stability import monodromy_along
from vibayes.structure.structure import Structure

Array = Any


class HarmonicBalance(PeriodicMethod):
    """Periodic solutions as truncated Fourier series.

    Errors fall like those of the Fourier series: faster than any power of ``harmonics`` for smooth laws, like a power
    for laws with kinks. `Branch.tail` says how large the last harmonics are.

    Args:
        harmonics: H, highest multiple of the fundamental frequency.
        samples: of a period, at which laws are evaluated; by default 8H or more if they are smooth, 512 if not.
        steps: of a period, in computing Floquet multipliers; by default 128 for smooth laws, 1024 for others.

    Examples:
        >>> import vibayes as vb
        >>> vb.HarmonicBalance(harmonics=9).harmonics
        9
    """

    harmonics: int = eqx.field(static=True, default=7)
    samples: int | None = eqx.field(static=True, default=None)
    steps: int | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        require_counts("HarmonicBalance", {"harmonics": 1, "samples": 4, "steps": 16}, self)
        if self.samples is not None and (self.samples < 4 * self.harmonics or self.samples % 2):
            expected = f"an even number ≥ 4 × harmonics = {4 * self.harmonics}"
            raise InvalidInput("HarmonicBalance.samples", expected, f"{self.samples}", "raise it, or leave it open")

    def settled(self, structure: Structure) -> HarmonicBalance:
        """With numbers of samples and steps that suit the laws of a structure."""
        smooth = is_smooth(structure)
        samples = 1 << (8 * self.harmonics - 1).bit_length()
        samples = max(samples, 64) if smooth else max(samples, 512)
        steps = 128 if smooth else 1024
        return replace(self, samples=self.samples or samples, steps=self.steps or steps)

    def size(self, which: Oscillation) -> int:
        """Coefficients of all masses."""
        return (2 * self.harmonics + 1) * which.system.masses

    def residual(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Coefficients of the forces that are left over."""
        assert self.samples is not None
        count, H = which.system.masses, self.harmonics
        Q = body.reshape(-1, count)
        fine = 2 * self.samples if which.memory else self.samples
        instants = angles(fine)
        x, v = synthesis(H, instants) @ Q, frequency * (synthesis(H, instants, 1) @ Q)
        states = [x, v]
        if which.memory:
            internal = steady_loop(which, drive, x, v, frequency)
            states = [x[::2], v[::2], internal]
        instants = angles(self.samples)
        force = synthesis(drive.force.shape[0] // 2, instants) @ drive.force

        def acceleration(state, force):
            return which.rates(state, force, drive, level)[count : 2 * count]

        moved = jax.vmap(acceleration)(jnp.concatenate(states, axis=1), force)
        wanted = frequency**2 * (synthesis(H, instants, 2) @ Q)
        return (analysis(H, self.samples) @ (which.masses * (wanted - moved))).reshape(-1)

    def turning(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Coefficients of the derivative by τ."""
        return (differentiation(self.harmonics) @ body.reshape(-1, which.system.masses)).reshape(-1)

    def sizes(self, body: Array, frequency: Array, masses: int) -> Array:
        """One for all coefficients: their norm."""
        return jnp.full(body.shape, jnp.sqrt(jnp.sum(body**2)))

    def extent(self, body: Array, frequency: Array, masses: int) -> Array:
        """Largest norm of the coefficients of a mass."""
        return jnp.sqrt(jnp.max(jnp.sum(body.reshape(-1, masses) ** 2, axis=0)))

    def body(self, which: Oscillation, drive: Drive, coefficients: Array, frequency: Array) -> Array:
        """The coefficients themselves."""
        return coefficients.reshape(-1)

    def coefficients(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """The body itself."""
        return body.reshape(-1, which.system.masses)

    def monodromy(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Of the variational equation along the series."""
        assert self.steps is not None
        return monodromy_along(which, drive, body.reshape(-1, which.system.masses), frequency, level, self.steps)
