"""Where on a backbone forces can make up for damping.

Over a period of a free oscillation x(τ) with complex amplitudes z_k, damping would take D and forces P_k would give

    W(θ) = −π Σ_k k Im(e^{−ikθ} z_k · P̄_k)

if the oscillation began later by θ. Near a backbone a lightly damped structure responds where W(θ) = D: never if D is
above the largest W, and with the forces at quadrature where it is equal. D over that largest W is the level of the
forces which the oscillation takes.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import compiled_soon
from vibayes.periodic.fourier import harmonic, shifted
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.oscillation import Drive, oscillation_of
from vibayes.structure.structure import Structure

Array = Any


def dissipation(method: HarmonicBalance, bound: Structure, drive: Drive, points: Array) -> Array:
    """Work of damping over a period of free oscillations, given as unknowns of harmonic balance."""
    return np.asarray(_dissipation(method, bound, drive, jnp.asarray(points)))


@compiled_soon
def _dissipation(method: HarmonicBalance, bound: Structure, drive: Drive, points: Array) -> Array:
    which = oscillation_of(bound)

    def one(z):
        body, frequency = z[:-2], z[-2]
        left = method.residual(which, drive, body, frequency, jnp.zeros(()))
        turning = method.turning(which, drive, body, frequency, jnp.zeros(()))
        return jnp.pi * jnp.sum(left * turning)

    return jax.vmap(one)(points)


def required_level(coefficients: Array, force: Array, lost: Array) -> Array:
    """Factor of the forces that makes up for damping at quadrature, at every point; infinite where they do no work."""
    given = np.pi * np.abs(_work(coefficients, force))
    return np.where(given > 0.0, lost / np.maximum(given, 1e-300), np.inf)


def balanced_starts(points: Array, force: Array, lost: Array) -> Array:
    """Oscillations moved in time to where work and damping balance: two per point, at most a quarter from resonance.

    Points that take a little more than there is begin at quadrature.
    """
    masses = force.shape[1]
    coefficients = points[:, :-2].reshape(len(points), -1, masses)
    level = required_level(coefficients, force, lost)
    near = level < 1.1
    coefficients, frequency, level = coefficients[near], points[near, -2], np.minimum(level[near], 1.0)
    work = _work(coefficients, force)
    starts = []
    for lag in (np.arcsin(level), np.pi - np.arcsin(level)):
        moved = shifted(coefficients, np.angle(work) + lag)
        flat = moved.reshape(len(moved), points.shape[1] - 2)
        starts.append(np.concatenate([flat, frequency[:, None], np.ones((len(flat), 1))], axis=1))
    return np.concatenate(starts)


def _work(coefficients: Array, force: Array) -> Array:
    """z · P̄ of the fundamental."""
    return np.sum(harmonic(coefficients) * np.conj(harmonic(force)), axis=-1)
