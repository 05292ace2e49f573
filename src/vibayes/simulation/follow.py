"""Follow a measured record with many parameter sets, on every core: `tracking` for a whole queue of sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.excitation import Sampled
from vibayes.simulation.checks import check_method
from vibayes.simulation.cores import cores
from vibayes.simulation.method import Method
from vibayes.simulation.tracking import Target, track
from vibayes.simulation.verb import default_method, excite
from vibayes.structure.element import as_arrays
from vibayes.structure.structure import Structure

_LANES = 128
_MOST = 2048
"""Sets that a call of the compiled program takes at most; it is compiled once for a fixed number."""
_NUMBERS = 4_000_000
"""Errors that a call has room for."""


class Follower:
    """A structure under an excitation beside what was measured.

    ``weights`` are those of the squared errors, of the shape of ``measured``; where one is zero nothing was measured.
    ``before_batch`` is called before every batch, in its thread, and ends the simulations by what it raises.
    """

    def __init__(
        self,
        structure: Structure,
        excitation: Sampled,
        measured: np.ndarray,
        weights: np.ndarray,
        method: Method | None = None,
        before_batch: Callable[[], None] = lambda: None,
    ):
        self.structure, self._before_batch = structure, before_batch
        self._drive, axes, clock, keep, _ = excite(structure, excitation, None, None)
        if axes is not None:
            raise InvalidInput("Follower.excitation", "one signal for all sets", "a batch", "give one at a time")
        self._clock = clock._replace(max_steps=100_000 + 100 * clock.pieces)
        self._refinement = keep.refinement
        chosen = default_method(structure, excitation) if method is None else method
        check_method(chosen, structure, excitation, clock)
        self._method = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), chosen)
        self._samples = measured.shape[0]
        self._room = int(np.clip(_NUMBERS // measured.size, _LANES, _MOST))
        known = np.where(weights > 0, measured, 0.0)
        self._target = Target(jnp.asarray(known), jnp.asarray(np.where(weights > 0, weights, 0.0)))

    def __call__(self, values: Mapping[str, np.ndarray], limit: float) -> tuple[np.ndarray, np.ndarray]:
        """Weighted sum of squared errors of every set, and the samples until it passed the limit or the record ended.

        The sum is infinite for a set that could not be simulated.
        """
        parts = self._track(values, limit, self._samples)
        return np.concatenate([total for total, *_ in parts]), np.concatenate([samples for _, samples, _ in parts])

    def errors(self, values: Mapping[str, np.ndarray], samples: int) -> np.ndarray:
        """Weighted errors over the first samples, (sets, samples, outputs), NaN for sets that could not be simulated.

        Their squares sum up to what a call gives.
        """
        parts = self._track(values, np.inf, samples)
        failed = ~np.isfinite(np.concatenate([total for total, *_ in parts]))
        errors = np.concatenate([errors[:, :samples] for *_, errors in parts])
        errors[failed] = np.nan
        return errors

    def _track(self, values: Mapping[str, np.ndarray], limit: float, until: int) -> list[tuple[np.ndarray, ...]]:
        """A part of the sets at a time, on every core."""
        count = len(next(iter(values.values())))
        bound_of_error, samples = jnp.asarray(float(limit)), jnp.asarray(until, jnp.int32)

        def follow(first: int) -> tuple[np.ndarray, ...]:
            self._before_batch()
            last = min(first + size, count)
            chosen = np.minimum(np.arange(first, first + self._room), last - 1)
            bound = as_arrays(self.structure.bind({name: value[chosen] for name, value in values.items()}))
            many = jnp.asarray(last - first, jnp.int32)
            one = jnp.ones(_LANES)
            result = track(
                self._method, bound, self._drive, many, one, self._target, bound_of_error, samples, self._clock,
                self._refinement,
            )  # fmt: skip
            return tuple(np.asarray(each)[: last - first] for each in jax.block_until_ready(result))

        workers = cores() if jax.default_backend() == "cpu" else 1
        parts = workers * -(-count // (workers * self._room))
        size = -(-count // parts)
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(follow, range(0, count, size)))
