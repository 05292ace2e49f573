"""Viscous damping of a whole structure, built from its masses and its stiffness at rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from vibayes.structure.element import Check, Parameter


class Damping(eqx.Module):
    """Base of such damping models."""

    def matrix(self, masses: Any, stiffness: Any) -> Any:
        """Damping matrix from the vector of masses and the initial stiffness matrix."""
        raise NotImplementedError

    def checks(self) -> Iterator[Check]:
        """Requirements on the parameter values."""
        yield from ()


class Rayleigh(Damping):
    """C = a M + b K.

    Examples:
        >>> import jax.numpy as jnp, vibayes as vb
        >>> vb.Rayleigh(0.1, 0.01).matrix(jnp.array([2.0]), jnp.array([[50.0]])).tolist()
        [[0.7]]
    """

    mass_factor: Parameter
    stiffness_factor: Parameter

    def matrix(self, masses: Any, stiffness: Any) -> Any:
        """Damping matrix."""
        return self.mass_factor * jnp.diag(masses) + self.stiffness_factor * stiffness


class ModalDamping(Damping):
    """C = M Φ diag(2 ζ_i ω_i) Φᵀ M with mass-normalised mode shapes Φ of the structure at rest.

    Args:
        ratio: damping ratio ζ of every mode, or one per mode (lowest first).

    Examples:
        >>> import jax.numpy as jnp, vibayes as vb
        >>> round(float(vb.ModalDamping(0.05).matrix(jnp.array([1.0]), jnp.array([[100.0]]))[0, 0]), 12)
        1.0
    """

    ratio: Parameter | tuple[Parameter, ...]

    def matrix(self, masses: Any, stiffness: Any) -> Any:
        """Damping matrix."""
        root = jnp.sqrt(masses)
        squares, shapes = jnp.linalg.eigh(stiffness / (root[:, None] * root[None, :]))
        ratio = jnp.stack([jnp.asarray(r) for r in self.ratio]) if isinstance(self.ratio, tuple) else self.ratio
        diagonal = 2.0 * ratio * jnp.sqrt(jnp.maximum(squares, 0.0))
        return (root[:, None] * shapes) * diagonal @ (shapes.T * root[None, :])

    def checks(self) -> Iterator[Check]:
        """Requirements on the parameter values."""
        for ratio in self.ratio if isinstance(self.ratio, tuple) else (self.ratio,):
            yield Check(np.asarray(ratio) < 0, "ratio", "damping ratios ≥ 0", "check the sign")
