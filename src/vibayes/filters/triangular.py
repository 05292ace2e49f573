"""Square roots of covariances, kept as lower triangles so that they cannot lose their sign.

For any matrix M the triangle L of M = L Q, with Q orthogonal, has L Lᵀ = M Mᵀ: columns of deviations, however many,
become a triangle without their squares ever being formed. By modified Gram–Schmidt, row by row, whose triangle is as
accurate as that of reflections. Few rows, and those of many parameter sets side by side, are written out, which runs
faster; many rows of one set are looped over, which compiles faster.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

Array = Any
_FEW = 10
"""Rows that are written out."""
_OWN = 1e-9
"""Share of a state's deviation below which its part that no other state explains is rounding."""


def triangle(matrix: Array) -> Array:
    """The lower triangle L, with diagonal ≥ 0, of L Lᵀ = M Mᵀ."""
    count = matrix.shape[0]
    if count > _FEW and matrix.ndim == 2:
        below = jnp.arange(count)

        def eliminate(i, carry):
            rest, lower = carry
            direction, column = _along(rest[i], rest)
            column = jnp.where(below >= i, column, 0.0)
            return rest - jnp.where(below > i, column, 0.0)[:, None] * direction, lower.at[:, i].set(column)

        return jax.lax.fori_loop(0, count, eliminate, (matrix, jnp.zeros((count, count))))[1]
    columns = []
    for i in range(count):
        direction, column = _along(matrix[0], matrix)
        columns.append(jnp.concatenate([jnp.zeros((i, *column.shape[1:])), column]))
        matrix = matrix[1:] - column[1:, None] * direction
    return jnp.stack(columns, axis=1)


def _along(row: Array, rows: Array) -> tuple[Array, Array]:
    """Direction of a row, and the parts of all rows along it."""
    square = jnp.sum(row * row, axis=0)
    # A row without deviation stays so; its derivative must not be that of √0.
    empty = square <= 0.0
    direction = row * jnp.where(empty, 0.0, 1.0 / jnp.sqrt(jnp.where(empty, 1.0, square)))
    return direction, jnp.sum(rows * direction, axis=1)


def downdated(lower: Array, columns: Array) -> Array:
    """The triangle of L Lᵀ − C Cᵀ, one column of C after the other; NaN where that is no covariance.

    With p = L⁻¹ c a root is L (I − p pᵀ / (1 + √(1 − pᵀ p))), and there is none if pᵀ p > 1.
    """
    for j in range(columns.shape[1]):
        solved = known_part(lower, columns[:, j, None])[:, 0]
        square = jnp.sum(solved * solved, axis=0)
        missed = columns[:, j] - jnp.sum(lower * solved, axis=1)  # of states without deviation
        size = jnp.sum(columns[:, j] * columns[:, j], axis=0)
        possible = (square <= 1.0) & (jnp.sum(missed * missed, axis=0) <= _OWN * size)
        share = 1.0 / (1.0 + jnp.sqrt(jnp.where(possible, 1.0 - square, 1.0)))
        along = jnp.sum(lower * solved, axis=1)
        lower = triangle(lower - (share * along)[:, None] * solved)
        lower = jnp.where(possible, lower, jnp.nan)
    return lower


def known_part(lower: Array, right: Array) -> Array:
    """x of L x = b for several columns b, and 0 for a state that is fixed by those before it: it must not divide by
    rounding.
    """
    whole = jnp.sqrt(jnp.sum(lower * lower, axis=1))
    own = jnp.stack([lower[i, i] for i in range(lower.shape[0])])
    free = own > _OWN * whole
    solved: list[Array] = []
    for i in range(lower.shape[0]):
        known = sum((lower[i, j] * solved[j] for j in range(i)), jnp.zeros_like(right[0]))
        solved.append(jnp.where(free[i], (right[i] - known) / jnp.where(free[i], own[i], 1.0), 0.0))
    return jnp.stack(solved)
