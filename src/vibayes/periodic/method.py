"""Two routes to periodic solutions: by Fourier series, and by shooting over a period.

A method turns a periodic motion into a vector of unknowns, the *body*, and says by how much a body fails to be a
solution.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import equinox as eqx
import jax.numpy as jnp

from vibayes.errors import InvalidInput
from vibayes.periodic.oscillation import Drive, Oscillation
from vibayes.structure.structure import Structure

Array = Any


class PeriodicMethod(eqx.Module):
    """Abstract: a way to find periodic solutions."""

    harmonics: eqx.AbstractVar[int]
    """Of the Fourier series in which results are given."""

    @abstractmethod
    def settled(self, structure: Structure) -> Self:
        """The same method with settings that were left open chosen for a structure."""

    @abstractmethod
    def size(self, which: Oscillation) -> int:
        """Number of unknowns in a body."""

    @abstractmethod
    def residual(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """What is zero for a periodic solution; as many numbers as a body has."""

    @abstractmethod
    def turning(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Derivative of the body as the motion is moved along in τ."""

    @abstractmethod
    def sizes(self, body: Array, frequency: Array, masses: int) -> Array:
        """Magnitude of every entry of a body, by which changes of it are judged."""

    @abstractmethod
    def extent(self, body: Array, frequency: Array, masses: int) -> Array:
        """About the largest displacement of any mass: exact for a motion of one harmonic."""

    @abstractmethod
    def body(self, which: Oscillation, drive: Drive, coefficients: Array, frequency: Array) -> Array:
        """Body of a motion that is given as a Fourier series."""

    @abstractmethod
    def coefficients(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Fourier coefficients of the motion of a body, (2H + 1, masses)."""

    @abstractmethod
    def monodromy(self, which: Oscillation, drive: Drive, body: Array, frequency: Array, level: Array) -> Array:
        """Growth of disturbances over a period."""


def require_counts(where: str, least: dict[str, int], settings: Any) -> None:
    """Settings that count are whole numbers above their least value, or left open."""
    for name, bound in least.items():
        value = getattr(settings, name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < bound):
            raise InvalidInput(f"{where}.{name}", f"a whole number ≥ {bound}", repr(value), "give such a number")


def is_smooth(structure: Structure) -> bool:
    """Whether all laws of a structure are smooth and without memory."""
    return all(not link.element.guard_names() and not link.element.states for link in structure.links)


def largest(values: Array) -> Array:
    """Of absolute values, never zero."""
    return jnp.maximum(jnp.max(jnp.abs(values)), 1e-30)
