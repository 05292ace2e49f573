"""The structure at rest, made linear: where branches begin."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import eigh

from vibayes.compilation import compiled_soon
from vibayes.periodic.oscillation import free_drive, oscillation_of
from vibayes.structure.structure import Structure

Array = Any


class Linear(NamedTuple):
    """Masses, damping and stiffness at rest; the matrices of M ẍ + C ẋ + K x = p."""

    masses: Array
    damping: Array
    stiffness: Array

    def modes(self) -> tuple[Array, Array]:
        """Natural frequencies (rad/s), lowest first, and shapes as columns, largest entry one."""
        squares, shapes = eigh(self.stiffness, np.diag(self.masses))
        shapes = shapes / np.take_along_axis(shapes, np.abs(shapes).argmax(axis=0)[None], axis=0)
        return np.sqrt(np.maximum(squares, 0.0)), shapes

    def response(self, force: Array, frequency: float, harmonics: int) -> Array:
        """Fourier coefficients of the response to forces, (2H + 1, masses)."""
        result = np.zeros((2 * harmonics + 1, len(self.masses)))
        mean = np.linalg.lstsq(self.stiffness, force[0], rcond=None)[0]
        result[0] = mean
        for k in range(1, min(harmonics, force.shape[0] // 2) + 1):
            turn = k * frequency
            dynamic = self.stiffness - turn**2 * np.diag(self.masses) + 1j * turn * self.damping
            answer = np.linalg.solve(dynamic, force[2 * k - 1] - 1j * force[2 * k])
            result[2 * k - 1], result[2 * k] = answer.real, -answer.imag
        return result


def linear_of(structure: Structure) -> Linear:
    """Of a bound structure with one value per parameter."""
    return Linear(*(np.asarray(each) for each in _linear(structure)))


@compiled_soon
def _linear(structure: Structure) -> Linear:
    which = oscillation_of(structure)
    count = which.system.masses
    drive = free_drive(1, (3, count))._replace(damped=jnp.ones(()), unfolding=jnp.zeros(()))
    rest = jnp.concatenate([jnp.zeros(2 * count), which.loaded(jnp.zeros(count))])

    def acceleration(velocity):
        state = rest.at[count : 2 * count].set(velocity)
        return which.rates(state, jnp.zeros(count), drive, jnp.zeros(()))[count : 2 * count]

    damping = -which.masses[:, None] * jax.jacfwd(acceleration)(jnp.zeros(count))
    return Linear(which.masses, damping, structure.initial_stiffness())
