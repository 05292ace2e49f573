"""Noise of the outputs, whose levels may be unknown, and more of it on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

Array = Any
Prepared = TypeVar("Prepared", bound=eqx.Module)


class Noise(eqx.Module):
    """Standard deviations of the outputs' noise: numbers or names of unknowns, and what is added to them."""

    levels: tuple[Any, ...]
    added: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Of the unknowns."""
        return tuple(each for each in self.levels if isinstance(each, str))

    def deviations(self, entry: Callable[[Any], Array]) -> Array:
        """Of every output, given what a number or a name stands for."""
        return jnp.stack([jnp.sqrt(entry(each) ** 2 + self.added[i] ** 2) for i, each in enumerate(self.levels)])


def noise_of(levels: tuple[Any, ...]) -> Noise:
    """As it is, with nothing added."""
    return Noise(tuple(n if isinstance(n, str) else jnp.asarray(float(n)) for n in levels), jnp.zeros(len(levels)))


def noisier(prepared: Prepared, share: float) -> Prepared:
    """A record with a likelihood, as if its outputs had more noise: by a share of their root mean square."""
    squares = np.asarray(prepared.outputs) ** 2  # type: ignore[attr-defined]
    known = np.maximum(np.sum(~np.isnan(squares), axis=0), 1)
    added = share * np.sqrt(np.nansum(squares, axis=0) / known)
    return eqx.tree_at(lambda each: each.noise.added, prepared, jnp.asarray(added))
