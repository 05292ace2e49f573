"""The integrated Wiener process: what is believed of a function before its differential equation is looked at.

A function and its first q derivatives X⁽⁰⁾ … X⁽q⁾ are followed, of which the last is Brownian motion of diffusion γ:

    A_ij(h) = h^(j−i) / (j−i)!,        Q_ij(h) = γ h^(2q+1−i−j) / ((2q+1−i−j) (q−i)! (q−j)!).

In units √h h^(q−i) / (q−i)! of X⁽ⁱ⁾ neither depends on the step: A_ij = C(q−i, q−j) and Q_ij = γ / (2q+1−i−j). So
nothing is lost however small the step is. Over a part ρ of the step, A_ij gets a factor ρ^(j−i), and row i of a root
of Q a factor ρ^(q−i+1/2).

A differential equation of order o (1, or 2 for the displacement of a mass) tells X⁽ᵒ⁾. Where its dependence on the
state is left out of the covariances (EKF0), these and the gains are the same for all functions and all parameters,
and computed once.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, factorial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

Array = Any


class Wiener(NamedTuple):
    """Transition and root of the noise over a step, in units of derivatives, and those units."""

    transition: Array
    root: Array
    scales: np.ndarray

    def over(self, part: Array) -> Wiener:
        """The same over a part of the step, one for each set: matrices get a last axis of sets."""
        many = len(self.scales)
        powers = [jnp.ones_like(part)]
        for _ in range(many - 1):
            powers.append(powers[-1] * part)
        zero, root = jnp.zeros_like(part), jnp.sqrt(part)
        transition = [
            [self.transition[i, j] * powers[j - i] if j >= i else zero for j in range(many)] for i in range(many)
        ]
        rows = [[self.root[i, j] * powers[many - 1 - i] * root for j in range(many)] for i in range(many)]
        matrix, spread = (jnp.stack([jnp.stack(row) for row in each]) for each in (transition, rows))
        return Wiener(matrix, spread, self.scales)


def wiener(q: int, step: float) -> Wiener:
    """The process with q derivatives over steps of one length.

    Examples:
        >>> wiener(1, 0.5).transition
        array([[1., 1.],
               [0., 1.]])
    """
    number = np.arange(q + 1)
    transition = np.array([[comb(q - i, q - j) if j >= i else 0 for j in number] for i in number], float)
    noise = 1.0 / (2 * q + 1 - number[:, None] - number[None, :])
    scales = np.array([np.sqrt(step) * step ** (q - i) / factorial(q - i) for i in number])
    return Wiener(transition, np.linalg.cholesky(noise), scales)


class Gains(NamedTuple):
    """Of EKF0 step after step, with diffusion one: gains (steps, q + 1), variances of the innovation (steps,), and
    after each step a triangle of the covariance of the derivatives below the one that is told (steps, o, o).
    """

    gain: Array
    variance: Array
    below: Array


@lru_cache(maxsize=16)
def gains(q: int, told: int, steps: int) -> Gains:
    """For the derivative that is told, 1 or 2; at the beginning all are known.

    Examples:
        >>> gains(1, 1, 20).gain[-1].round(3)
        array([0.5, 1. ])
    """
    process, root = wiener(q, 1.0), np.zeros((q + 1, q + 1))
    gain, variance, below = np.empty((steps, q + 1)), np.empty(steps), np.empty((steps, told, told))
    for step in range(steps):
        # A triangle with the derivative that is told first: its column is what is then known.
        rows = np.concatenate([process.transition @ root, process.root], axis=1)
        lower = _triangle(np.roll(rows, -told, axis=0))
        column = np.roll(lower[:, 0], told)
        variance[step], gain[step] = column[told] ** 2, column / column[told]
        root = np.roll(lower, told, axis=0)
        root[:, 0] = 0.0
        below[step] = _triangle(root[:told])
    return Gains(gain, variance, below)


def _triangle(rows: np.ndarray) -> np.ndarray:
    """L of L Lᵀ = R Rᵀ."""
    return np.asarray(np.linalg.qr(rows.T, mode="r")).T
