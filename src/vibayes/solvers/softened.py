"""Dry friction where the velocity is known up to a Gaussian: its expectation, which is smooth.

    E[f]  =  Φ(v / s) f₊(v) + (1 − Φ(v / s)) f₋(v),

with v and s mean and standard deviation of the velocity. Near standstill it takes any value between the limits, as
friction that sticks does; a law that jumps with the sign of a mean would make a likelihood rough.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jax.scipy.special import ndtr

from vibayes.solvers.moving import Moving
from vibayes.structure.element import Element, Local, Parameter, Scalar
from vibayes.structure.elements.friction import Sticking

Array = Any
_NARROW = 1e-9
"""Standard deviation of a velocity, at least."""


class Softened(Element):
    """A law of dry friction, and the standard deviation of the velocity."""

    law: Sticking
    width: Parameter

    def force(self, local: Local) -> Scalar:
        """Expected force."""
        share = ndtr(local.velocity / self.width)
        return share * self.law.sliding(1.0, local.velocity) + (1.0 - share) * self.law.sliding(-1.0, local.velocity)


def softened(moving: Moving, velocities: Array | None = None) -> Moving:
    """A structure with softened friction.

    Args:
        moving: the structure, as it is or softened before.
        velocities: columns of deviations of the masses' velocities (masses, columns, sets); none at the first sample.
    """
    elements = []
    for element, (start, stop) in zip(moving.system.elements, moving.system.ends, strict=True):
        if isinstance(element, Softened | Sticking):
            law = element.law if isinstance(element, Softened) else element
            width = jnp.full_like(moving.system.inverse_masses[0], _NARROW)
            if velocities is not None:
                zero = jnp.zeros_like(velocities[0])
                row = (zero if stop < 0 else velocities[stop]) - (zero if start < 0 else velocities[start])
                width = jnp.maximum(jnp.sqrt(jnp.sum(row * row, axis=0)), _NARROW)
            elements.append(Softened(law, width))
        else:
            elements.append(element)
    return eqx.tree_at(lambda m: m.system.elements, moving, tuple(elements))
