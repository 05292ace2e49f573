r"""Linear modes of a structure: what its springs of first power do.

x = Φ q,        K φ_n = ω_n² M φ_n,        m_n = φ_nᵀ M φ_n.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.backbone.polynomials import stiffness_of
from vibayes.errors import InvalidInput
from vibayes.structure.element import bind
from vibayes.structure.structure import Structure

Array = Any
_EQUAL = 1e-9
"""Entries of a mode shape that differ by less are taken for equally large."""


class Normalisation(Protocol):
    """How long mode shapes are, and which way they point."""

    def scaled(self, shapes: Array, masses: Array) -> Array:
        """Shapes, one per column, scaled."""
        ...


@dataclass(frozen=True)
class LargestEntry:
    """The largest entry of every shape is one; of several equally large ones, the first.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> vb.LargestEntry().scaled(np.array([[-1.0, 1.0], [-2.0, -1.0]]), np.ones(2)).tolist()
        [[0.5, 1.0], [1.0, -1.0]]
    """

    def scaled(self, shapes: Array, masses: Array) -> Array:
        """Shapes divided by their largest entry."""
        return shapes / _leading(shapes)


@dataclass(frozen=True)
class UnitMass:
    """Every modal mass is one; the largest entry of a shape is positive.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> vb.UnitMass().scaled(np.array([[-1.0]]), np.array([4.0])).tolist()
        [[0.5]]
    """

    def scaled(self, shapes: Array, masses: Array) -> Array:
        """Shapes divided by the root of their modal mass."""
        signed = shapes / _leading(shapes)
        return signed / _library(signed).sqrt((masses[:, None] * signed**2).sum(axis=0))


def _leading(shapes: Array) -> Array:
    """The largest entry of every column."""
    numbers, sizes = _library(shapes), abs(shapes)
    first = numbers.argmax(sizes >= (1.0 - _EQUAL) * sizes.max(axis=0), axis=0)
    return numbers.take_along_axis(shapes, first[None], axis=0)


def _library(*arrays: Any) -> Any:
    """JAX where it made one of the arrays, and NumPy, which need not compile, elsewhere."""
    return jnp if any(isinstance(each, jax.Array) for each in arrays) else np


class LinearModes(eqx.Module):
    """Natural frequencies, mode shapes and modal masses, lowest mode first; by `linear_modes`."""

    frequencies: Array
    """ω, radians per second."""
    shapes: Array
    """Φ: a column per mode."""
    masses: Array
    """φᵀ M φ."""

    def coordinates(self, displacements: Any) -> np.ndarray:
        """Modal coordinates q = Φ⁻¹ x of displacements with one column per mass.

        Examples:
            >>> import vibayes as vb
            >>> pair = vb.Structure.chain([1.0, 1.0], [vb.Spring(1.0), vb.Spring(1.0)])
            >>> modes = vb.linear_modes(pair)
            >>> modes.coordinates(modes.shapes.T).round(9).tolist()
            [[1.0, 0.0], [0.0, 1.0]]
        """
        return np.linalg.solve(np.asarray(self.shapes), np.asarray(displacements, float).T).T


def linear_modes(
    structure: Structure, values: Mapping[str, Any] | None = None, normalisation: Normalisation | None = None
) -> LinearModes:
    """Modes of a structure whose elements are polynomials, from their terms of first power.

    Args:
        structure: with polynomial elements; its frames count too.
        values: of its unknowns; those of nonlinear terms need none.
        normalisation: of the mode shapes; `LargestEntry` by default.

    Examples:
        >>> import vibayes as vb
        >>> pair = vb.Structure(
        ...     {"m1": 1.0, "m2": 1.0},
        ...     [
        ...         vb.Duffing(1.0, "a").between("ground", "m1"),
        ...         vb.Spring(1.0).between("m1", "m2"),
        ...         vb.Spring(1.0).between("ground", "m2"),
        ...     ],
        ... )
        >>> modes = vb.linear_modes(pair)
        >>> (modes.frequencies**2).round(9).tolist(), modes.shapes.round(9).tolist()
        ([1.0, 3.0], [[1.0, 1.0], [1.0, -1.0]])
    """
    known = {name: np.nan for name in structure.parameters} | dict(values or {})
    found = modes_of(bind(structure, known), LargestEntry() if normalisation is None else normalisation)
    if not np.isfinite(np.asarray(found.frequencies)).all():
        expected, remedy = "values of all masses and linear stiffnesses", "give them, and check their signs"
        raise InvalidInput("linear_modes.values", expected, "too few, or an unstable structure", remedy)
    return found


def modes_of(bound: Structure, normalisation: Normalisation) -> LinearModes:
    """Of a bound structure; can be traced."""
    stiffness = stiffness_of(bound)
    numbers = _library(stiffness, *bound.masses)
    masses = numbers.stack([numbers.asarray(mass, float) for mass in bound.masses])
    root = numbers.sqrt(masses)
    scaled = stiffness / (root[:, None] * root[None, :])
    if numbers is np and not np.isfinite(scaled).all():
        scaled = np.full_like(scaled, np.nan)
        return LinearModes(scaled[0], scaled, scaled[0])
    squares, vectors = numbers.linalg.eigh(scaled)
    shapes = normalisation.scaled(vectors / root[:, None], masses)
    frequencies = numbers.sqrt(numbers.where(squares >= 0.0, squares, numbers.nan))
    return LinearModes(frequencies, shapes, (masses[:, None] * shapes**2).sum(axis=0))
