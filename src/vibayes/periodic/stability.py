"""How disturbances of a periodic solution grow over a period: the monodromy matrix.

    dδ/dτ = A(τ) δ / Ω,      A = ∂(rates)/∂(state) along the solution,      δ(2π) = Φ δ(0)

The eigenvalues of Φ are the Floquet multipliers. Without memory A is a known function of τ, and every interval
contributes exp(Ω₄), the exponential of Magnus' series to fourth order, taken as its (3, 3) Padé approximant: exact
for a linear structure to rounding, stable however stiff. With memory the bounds of internal states act too, and every
interval contributes the derivative of a Runge–Kutta step that ends with them.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.periodic.fourier import angles, synthesis
from vibayes.periodic.memory import steady_loop
from vibayes.periodic.oscillation import Drive, Oscillation

Array = Any


def monodromy_along(
    which: Oscillation, drive: Drive, coefficients: Array, frequency: Array, level: Array, steps: int
) -> Array:
    """Monodromy matrix along a motion that is given as a Fourier series."""
    if which.memory:
        return _by_steps(which, drive, coefficients, frequency, level, steps)
    offset = np.sqrt(3.0) / 6.0
    step = 2.0 * np.pi / steps
    first, second = (
        _linearised(which, drive, coefficients, frequency, level, angles(steps) + step * node)
        for node in (0.5 - offset, 0.5 + offset)
    )
    h = step / frequency
    exponent = 0.5 * h * (first + second) + np.sqrt(3.0) / 12.0 * h**2 * (second @ first - first @ second)
    return _product(jax.vmap(_exponential)(exponent))


def _linearised(which: Oscillation, drive: Drive, coefficients, frequency, level, instants: np.ndarray) -> Array:
    """A at instants of a motion without memory."""
    harmonics = coefficients.shape[0] // 2
    x = synthesis(harmonics, instants) @ coefficients
    v = frequency * (synthesis(harmonics, instants, 1) @ coefficients)
    idle = jnp.zeros(coefficients.shape[1])
    slope = jax.jacfwd(lambda state: which.rates(state, idle, drive, level))
    return jax.vmap(slope)(jnp.concatenate([x, v], axis=1))


def _exponential(matrix: Array) -> Array:
    """Of a small matrix: the (3, 3) Padé approximant."""
    unit = jnp.eye(matrix.shape[0])
    square = matrix @ matrix
    even, odd = unit + square / 10.0, matrix @ (0.5 * unit + square / 120.0)
    return jnp.linalg.solve(even - odd, even + odd)


def _product(matrices: Array) -> Array:
    """Of all matrices, the first one to the right, by halves."""
    while matrices.shape[0] > 1:
        if matrices.shape[0] % 2:
            matrices = jnp.concatenate([matrices, jnp.eye(matrices.shape[1])[None]])
        matrices = matrices[1::2] @ matrices[::2]
    return matrices[0]


def _by_steps(which: Oscillation, drive: Drive, coefficients, frequency, level, steps: int) -> Array:
    """Product of the derivatives of steps that start on the motion."""
    harmonics, instants = coefficients.shape[0] // 2, angles(2 * steps)
    x = synthesis(harmonics, instants) @ coefficients
    v = frequency * (synthesis(harmonics, instants, 1) @ coefficients)
    internal = steady_loop(which, drive, x, v, frequency)
    states = jnp.concatenate([x[::2], v[::2], internal], axis=1)
    force = synthesis(drive.force.shape[0] // 2, instants) @ drive.force
    forces = jnp.stack([force[::2], force[1::2], jnp.roll(force, -2, axis=0)[::2]], axis=1)
    h = 2.0 * jnp.pi / (steps * frequency)

    def step(state, force):
        return classical_step(which, drive, level, state, force, h)

    return _product(jax.vmap(jax.jacfwd(step))(states, forces))


def classical_step(which: Oscillation, drive: Drive, level: Array, state: Array, forces: Array, h: Array) -> Array:
    """The classical Runge–Kutta step, forces at its beginning, middle and end given; internal states end in bounds."""
    k1 = which.rates(state, forces[0], drive, level)
    k2 = which.rates(state + 0.5 * h * k1, forces[1], drive, level)
    k3 = which.rates(state + 0.5 * h * k2, forces[1], drive, level)
    k4 = which.rates(state + h * k3, forces[2], drive, level)
    return which.bounded(state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
