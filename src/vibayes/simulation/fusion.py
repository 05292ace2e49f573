"""Arithmetic that keeps a whole simulation step in a few compiled kernels.

XLA on CPU joins cheap operations into one loop over the batch, recomputing shared inputs freely, but ends a kernel at
every division, square root and power. A step of the exact simulator needs dozens of approximate divisions to *search*
for a crossing and very few precise ones. Searching with multiplications alone made a step seven times faster; putting
one division exactly where a value is used by many others keeps it from being recomputed by each of them.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

_MAGIC = 0x5FE6EB50C7B537A9
"""Half of the bits of 1.5·2^1023 plus a correction: subtracting half a double's bits from it nearly inverts its
root.
"""


def rough_inverse_root(x: Any) -> Any:
    """1/√x for positive x, to a relative 5e-6."""
    bits = lax.bitcast_convert_type(x, jnp.int64)
    y = lax.bitcast_convert_type(_MAGIC - lax.shift_right_logical(bits, jnp.int64(1)), jnp.float64)
    for _ in range(2):
        y = y * (1.5 - 0.5 * x * y * y)
    return y


def rough_inverse(x: Any) -> Any:
    """1/x for positive x, to a relative 1e-5."""
    root = rough_inverse_root(x)
    return root * root


def materialise(x: Any, one: Any) -> Any:
    """x itself, computed once: ``one`` is 1.0 in a form the compiler cannot see through."""
    return x / one
