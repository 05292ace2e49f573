"""Linear members that join more than two points, and so enter as a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from vibayes.structure.element import Check, Parameter


class Frame(eqx.Module):
    """Base of such members."""

    def stiffness_matrix(self, masses: int) -> Any:
        """Stiffness against the displacements of all masses."""
        raise NotImplementedError

    def checks(self) -> Iterator[Check]:
        """Requirements on the parameter values."""
        yield from ()


class FlexuralCantilever(Frame):
    """A massless cantilever clamped at the ground, bending along with the masses at equal spacing.

    Its flexibility (displacement at height a under a unit force at height b) is that of a beam,
    min(a, b)² (3 max(a, b) − min(a, b)) / (6 EI); the stiffness matrix is its inverse.

    Args:
        rigidity: bending stiffness EI (N m²).
        storey_height: distance between neighbouring masses (m).

    Examples:
        >>> import vibayes as vb
        >>> float(vb.FlexuralCantilever(2.0, 3.0).stiffness_matrix(1)[0, 0])  # 3 EI / h³
        0.2222222222222222
    """

    rigidity: Parameter
    storey_height: Parameter = 1.0

    def stiffness_matrix(self, masses: int) -> Any:
        """Stiffness against the displacements of all masses."""
        heights = np.arange(1.0, masses + 1.0)
        low, high = np.minimum.outer(heights, heights), np.maximum.outer(heights, heights)
        unit = np.linalg.inv(low**2 * (3 * high - low) / 6.0)
        return jnp.asarray(unit) * (self.rigidity / self.storey_height**3)

    def checks(self) -> Iterator[Check]:
        """Requirements on the parameter values."""
        yield Check(np.asarray(self.rigidity) < 0, "rigidity", "EI ≥ 0", "check sign and units")
        yield Check(~(np.asarray(self.storey_height) > 0), "storey_height", "a positive height", "check units")
