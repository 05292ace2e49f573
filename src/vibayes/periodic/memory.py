"""Internal states of elements with memory along a prescribed periodic motion.

The states s obey ds/dτ = g(x(τ), ẋ(τ), s)/Ω, and one period maps those at its beginning, s₀, to Φ(s₀). The loop is
the fixed point of Φ. It is found from a slow first loading by Newton's method,

    s₀ ← s₀ + (I − Φ'(s₀))⁻¹ (Φ(s₀) − s₀),

since marching alone forgets the beginning slowly where loops are thin. Where nothing is forgotten (a slider that does
not slide), Φ(s₀) = s₀ for any s₀, and the first loading stands.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from vibayes.periodic.oscillation import Drive, Oscillation

Array = Any
_ROUNDS = 3
_FORGETS = 1e-7
"""Share of a state that a period must forget for its loop to be sought."""


def steady_loop(which: Oscillation, drive: Drive, displacement: Array, velocity: Array, frequency: Array) -> Array:
    """Internal states at every second instant of the motion, (instants / 2, states).

    Args:
        which: the structure.
        drive: what is done to it.
        displacement: of all masses at an even number of instants of a period, (instants, masses).
        velocity: likewise.
        frequency: Ω.
    """
    motion = displacement, velocity, frequency
    first = which.loaded(displacement[0])
    fixed = jax.lax.stop_gradient((which, drive, motion, first))

    def improve(_, start):
        return _improved(*fixed[:3], start)

    # The loop is found without derivatives; one more round carries them.
    found = jax.lax.fori_loop(0, _ROUNDS, improve, fixed[3])
    start = _improved(which, drive, motion, first + jax.lax.stop_gradient(found - fixed[3]))
    return _march(which, drive, motion, start)[1]


def _improved(which: Oscillation, drive: Drive, motion: tuple[Array, Array, Array], start: Array) -> Array:
    """One round of Newton's method."""
    after = _march(which, drive, motion, start)[0]
    slope = jax.jacfwd(lambda s: _march(*jax.lax.stop_gradient((which, drive, motion)), s)[0])
    kept = jnp.eye(len(start)) - slope(jax.lax.stop_gradient(start))
    # Damped least squares: nothing moves along what is not forgotten.
    normal = kept.T @ kept + _FORGETS**2 * jnp.eye(len(start))
    return start + jnp.linalg.solve(normal, kept.T @ (after - start))


def _march(which: Oscillation, drive: Drive, motion: tuple[Array, Array, Array], start: Array) -> tuple[Array, Array]:
    """States after a period, and at every second instant, by Runge–Kutta over pairs of intervals."""
    displacement, velocity, frequency = motion
    instants, masses = displacement.shape
    step = 4.0 * jnp.pi / (instants * frequency)
    idle = jnp.zeros(masses)

    def rates(x, v, s):
        return which.rates(jnp.concatenate([x, v, s]), idle, drive, jnp.zeros(()))[2 * masses :]

    def advance(s, through):
        (x0, x1, x2), (v0, v1, v2) = through
        k1 = rates(x0, v0, s)
        k2 = rates(x1, v1, s + 0.5 * step * k1)
        k3 = rates(x1, v1, s + 0.5 * step * k2)
        k4 = rates(x2, v2, s + step * k3)
        moved = s + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        bounded = which.bounded(jnp.concatenate([x2, v2, moved]))[2 * masses :]
        return bounded, s

    def triples(values):
        ahead = jnp.roll(values, -2, axis=0)
        return jnp.stack([values[::2], values[1::2], ahead[::2]], axis=1)

    return jax.lax.scan(advance, start, (triples(displacement), triples(velocity)))
