"""Two ways to hold the variables of a system while a step is computed.

A system with few states keeps one scalar per variable (*spread*): the compiler then fuses a whole step into a
handful of kernels that vectorise over the batch. With many states the number of operations, and the time to compile
them, would explode; they are *stacked* into one array instead. The code of the methods is the same for both: a tree
of leaves, mapped over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

Tree = Any
"""A tuple of scalars, or one array."""
FEW = 3
"""States up to which a system is spread."""


def hold(values: Sequence[Any], apart: bool) -> Tree:
    """Scalars as they are, or in one array."""
    if apart:
        return tuple(values)
    return jnp.stack([jnp.asarray(v, float) for v in values]) if values else jnp.zeros((0,))


def hold_flags(values: Sequence[Any], apart: bool) -> Tree:
    """The same for truth values."""
    return tuple(values) if apart or not values else jnp.stack(values)


def spread(tree: Tree) -> tuple[Any, ...]:
    """One scalar per variable again."""
    return tree if isinstance(tree, tuple) else tuple(tree[i] for i in range(tree.shape[0]))


def each(function: Callable, *trees: Tree) -> Tree:
    """Apply to corresponding leaves."""
    return jax.tree.map(function, *trees)


def horner(series: Sequence[Tree], theta: Any) -> Tree:
    """Σ c_k θ^k."""
    value = series[-1]
    for c in reversed(series[:-1]):
        value = each(lambda v, c: v * theta + c, value, c)
    return value


def horner_slope(series: Sequence[Tree], theta: Any) -> Tree:
    """Σ k c_k θ^(k−1)."""
    return horner([each(lambda c, k=k: k * c, c) for k, c in enumerate(series)][1:], theta)


def sizes(function: Callable, at: Tree, terms: Sequence[Tree]) -> Tree:
    """Σ |∂f/∂y| |term|: what the rounding of a linear function of a stacked state is a part of."""
    total = sum((jnp.abs(term) for term in terms), jnp.zeros_like(at))
    return jnp.sum(jnp.abs(jax.jacfwd(function)(at)) * total, axis=-1)


def linear_part(function: Callable, at: Tree) -> tuple[Tree, Callable[[Tree], Tree]]:
    """Value of a function of one tree, and its derivative there as a function."""
    if isinstance(at, tuple):
        return jax.linearize(function, at)
    value = function(at)
    matrix = jax.jacfwd(function)(at)
    return value, lambda tangent: jnp.sum(matrix * tangent, axis=-1)
