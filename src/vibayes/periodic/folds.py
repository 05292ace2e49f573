"""Folds as solutions of their own, so that they can be followed over the level of the forces.

At a fold the equations R(body, Ω, λ) = 0 of a periodic solution have a null vector:

    R = 0,      (∂R/∂body) v = 0,      v_before · (v − v_before) = 0.

Body and null vector together are the body of another method, whose solutions are curves in (Ω, λ).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.compilation import compiled_soon
from vibayes.periodic.method import PeriodicMethod
from vibayes.periodic.oscillation import Drive, Oscillation, oscillation_of
from vibayes.structure.structure import Structure

Array = Any


class Folds(PeriodicMethod):
    """Folds of the solutions of another method."""

    of: PeriodicMethod
    harmonics: int = eqx.field(static=True)

    def settled(self, structure: Structure) -> Folds:
        """With the settings of the method chosen."""
        return Folds(of=self.of.settled(structure), harmonics=self.harmonics)

    def size(self, which: Oscillation) -> int:
        """Body and null vector."""
        return 2 * self.of.size(which)

    def residual(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Of the solution, and of its null vector."""
        own, null = _halves(body)
        parts = jax.jvp(lambda q: self.of.residual(which, drive, q, frequency, level), (own,), (null,))
        return jnp.concatenate(parts)

    def turning(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """The null vector: what keeps its length, as the phase of free oscillations keeps their beginning."""
        own, null = _halves(body)
        return jnp.concatenate([jnp.zeros_like(own), null])

    def sizes(self, body: Array, frequency: Array, masses: int) -> Array:
        """Those of the method, and the length of the null vector."""
        own, null = _halves(body)
        length = jnp.full(null.shape, jnp.sqrt(jnp.sum(null**2)))
        return jnp.concatenate([self.of.sizes(own, frequency, masses), length])

    def extent(self, body: Array, frequency: Array, masses: int) -> Array:
        """Of the solution."""
        return self.of.extent(_halves(body)[0], frequency, masses)

    def body(self, which: Oscillation, drive: Drive, coefficients: Array, frequency: Array) -> Array:
        """Not needed: folds begin with a null vector, see `fold_near`."""
        raise NotImplementedError

    def coefficients(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Of the solution."""
        return self.of.coefficients(which, drive, _halves(body)[0], frequency, level)

    def monodromy(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Of the solution."""
        return self.of.monodromy(which, drive, _halves(body)[0], frequency, level)


def _halves(body: Array) -> tuple[Array, Array]:
    half = body.shape[0] // 2
    return body[:half], body[half:]


def fold_near(method: PeriodicMethod, bound: Structure, drive: Drive, point: Array) -> Array:
    """A guess of a fold from a solution close to one: its unknowns with the vector that changes the equations least."""
    slope = np.asarray(_slope(method, bound, drive, jnp.asarray(point)))
    null = np.linalg.svd(slope)[2][-1]
    return np.concatenate([point[:-2], null, point[-2:]])


@compiled_soon
def _slope(method: PeriodicMethod, bound: Structure, drive: Drive, point: Array) -> Array:
    which = oscillation_of(bound)
    return jax.jacfwd(lambda body: method.residual(which, drive, body, point[-2], point[-1]))(point[:-2])
