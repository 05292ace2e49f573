"""Shooting: the state after a period is the state before it.

    Y(2π; y₀) − y₀ = 0,      dY/dτ = rates / Ω,      Y(0) = y₀

by a Runge–Kutta method of order five with fixed steps. The derivative of Y(2π) by y₀ is the monodromy matrix.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.periodic.fourier import analysis, angles, synthesis
from vibayes.periodic.memory import steady_loop
from vibayes.periodic.method import PeriodicMethod, is_smooth, largest, require_counts
from vibayes.periodic.oscillation import Drive, Oscillation
from vibayes.structure.structure import Structure

Array = Any

_NODES = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0])
_STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
_WEIGHTS = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
"""The solution of order five of Dormand and Prince."""
_PULL = 1e-8
"""Share by which internal states that nothing determines are drawn to those of a first loading."""


class Shooting(PeriodicMethod):
    """Periodic solutions by shooting over one period.

    Kinks of laws are stepped over: the error is of the fifth order in the step for smooth laws, and of the second
    for laws with kinks.

    Args:
        steps: of a period; by default 256 for smooth laws, 2048 for others.
        harmonics: H, of the Fourier series in which results are given.

    Examples:
        >>> import vibayes as vb
        >>> vb.Shooting(steps=500).steps
        500
    """

    steps: int | None = eqx.field(static=True, default=None)
    harmonics: int = eqx.field(static=True, default=15)

    def __check_init__(self):
        require_counts("Shooting", {"harmonics": 1, "steps": 16}, self)

    def settled(self, structure: Structure) -> Shooting:
        """With a number of steps that suits the laws of a structure."""
        return replace(self, steps=self.steps or (256 if is_smooth(structure) else 2048))

    def size(self, which: Oscillation) -> int:
        """Number of states."""
        return which.system.size

    def residual(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """By how much a period changes the state."""
        change = self._period(which, drive, body, frequency, level)[0] - body
        if not which.memory:
            return change
        # A slider that does not slide keeps any state: of all of them the one after a slow first loading is taken.
        count = which.system.masses
        pull = which.loaded(body[:count]) - body[2 * count :]
        return change.at[2 * count :].add(_PULL * pull)

    def turning(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Rates over the frequency."""
        return which.rates(body, drive.force[0] + jnp.sum(drive.force[1::2], axis=0), drive, level) / frequency

    def sizes(self, body: Array, frequency: Array, masses: int) -> Array:
        """Of displacements, of velocities and of internal states."""
        x, v, s = body[:masses], body[masses : 2 * masses], body[2 * masses :]
        length = jnp.sqrt(jnp.sum(x**2) + jnp.sum(v**2) / frequency**2)
        internal = jnp.full(s.shape, largest(s)) if len(s) else s
        return jnp.concatenate([jnp.full(masses, length), jnp.full(masses, length * frequency), internal])

    def extent(self, body: Array, frequency: Array, masses: int) -> Array:
        """By displacements and velocities at τ = 0."""
        x, v = body[:masses], body[masses : 2 * masses]
        return jnp.sqrt(jnp.max(x**2 + (v / frequency) ** 2))

    def body(self, which: Oscillation, drive: Drive, coefficients: Array, frequency: Array) -> Array:
        """State at τ = 0, internal states on their steady loop."""
        harmonics, instants = coefficients.shape[0] // 2, angles(512)
        x = synthesis(harmonics, instants) @ coefficients
        v = frequency * (synthesis(harmonics, instants, 1) @ coefficients)
        parts = [x[0], v[0]]
        if which.memory:
            parts.append(steady_loop(which, drive, x, v, frequency)[0])
        return jnp.concatenate(parts)

    def coefficients(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Of the displacements along the period."""
        assert self.steps is not None
        path = self._period(which, drive, body, frequency, level)[1]
        return analysis(self.harmonics, self.steps) @ path[:, : which.system.masses]

    def monodromy(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Derivative of the state after a period by that before it."""
        return jax.jacfwd(lambda y: self._period(which, drive, y, frequency, level)[0])(body)

    def _period(self, which: Oscillation, drive: Drive, body, frequency, level) -> tuple[Array, Array]:
        """State after a period, and at the beginning of every step."""
        assert self.steps is not None
        turn = 2.0 * np.pi / self.steps
        instants = angles(self.steps)[:, None] + turn * _NODES
        matrix = synthesis(drive.force.shape[0] // 2, instants.reshape(-1))
        forces = (matrix @ drive.force).reshape(self.steps, len(_NODES), -1)
        h = turn / frequency

        def step(state, force):
            slopes: list[Array] = []
            for row, pushed in zip(_STAGES, force, strict=True):
                inner = state + h * sum((a * k for a, k in zip(row, slopes, strict=True)), jnp.zeros_like(state))
                slopes.append(which.rates(inner, pushed, drive, level))
            moved = state + h * sum((b * k for b, k in zip(_WEIGHTS, slopes, strict=True)), jnp.zeros_like(state))
            return which.bounded(moved), state

        return jax.lax.scan(step, body, forces)
