"""Use every core: a batch is cut into one part per core, each run by a thread of its own.

Cutting inside one program instead would make all cores wait for one another at each of its small kernels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

_FEWEST = 32
"""Lanes that are worth a thread."""


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parts(run: Callable[[Any], Any], tree: Any, axes: Any, lanes: int) -> Any:
    """``run(tree)`` on parts of the lanes at once; leaves whose axis is 0 are cut, results are joined along theirs."""
    parts = min(cores(), lanes // _FEWEST) if jax.default_backend() == "cpu" else 1
    if parts < 2:
        return run(tree)
    size = -(-lanes // parts)

    def part(first: int) -> Any:
        # Parts of equal size share one compiled program: the last is filled up with copies of the last lane.
        chosen = np.minimum(np.arange(first, first + size), lanes - 1)

        def cut(leaf, axis):
            return leaf if axis is None else np.asarray(leaf)[chosen]

        return jax.block_until_ready(run(jax.tree.map(cut, tree, axes)))

    with ThreadPoolExecutor(parts) as pool:
        results = list(pool.map(part, range(0, lanes, size)))
    return jax.tree.map(lambda *pieces: np.concatenate(pieces)[:lanes], *results)
