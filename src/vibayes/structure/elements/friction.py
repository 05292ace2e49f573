"""Dry friction with true sticking.

    f = offset ± f_c while sliding,     |f − offset| ≤ f_c while sticking (v = 0).

At zero velocity the law is set-valued: the force is whatever holds the two points together, as long as
friction can supply it. That reaction is found by the structure; the guards compare it with the limit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from vibayes.structure.element import Check, Element, Local, Parameter, Scalar, choose

_SLIDING_BACK, _STUCK, _SLIDING_ON = 0, 1, 2


class Sticking(Element):
    """Abstract: friction that holds the velocity at zero until the reaction passes its limits.

    A law gives ``sliding``, its force as a function of direction and velocity.
    """

    limit: Parameter
    affine = True
    sticks = True
    needs_events = True

    @abstractmethod
    def sliding(self, direction: float, velocity: Scalar) -> Scalar:
        """Force while sliding on (direction 1.0) or back (−1.0); at velocity 0 the limit of sticking."""

    @property
    def modes(self) -> tuple[str, ...]:
        """Sliding in either direction, or stuck."""
        return ("sliding back", "stuck", "sliding on")

    def force(self, local: Local) -> Scalar:
        """Sliding force; zero where stuck (the structure supplies the reaction)."""
        v = local.velocity
        return choose(local.mode, (self.sliding(-1.0, v), 0.0, self.sliding(1.0, v)))

    def stuck(self, mode: Scalar) -> Scalar:
        """Whether the mode holds the velocity at zero."""
        return mode == _STUCK

    def guards(self, local: Local) -> tuple[Scalar, ...]:
        """Sliding: the velocity keeps its sign. Stuck: the reaction stays within the limits."""
        upper, lower = self.sliding(1.0, 0.0) - local.force, local.force - self.sliding(-1.0, 0.0)
        return (
            choose(local.mode, (-local.velocity, upper, local.velocity)),
            choose(local.mode, (1.0, lower, 1.0)),
        )

    def guard_names(self) -> tuple[str, ...]:
        """Standstill while sliding, or break-away upwards; break-away downwards."""
        return ("standstill or break-away", "break-away back")

    def switch(self, local: Local, fired: tuple[Scalar, ...]):
        """Standstill always sticks first; too large a reaction then breaks away at once."""
        on, _ = fired
        breaking = jnp.where(on, _SLIDING_ON, _SLIDING_BACK)
        return jnp.where(local.mode == _STUCK, breaking, _STUCK), local.states

    def mode_at(self, local: Local) -> Scalar:
        """Sliding by the sign of the velocity, stuck at rest."""
        v = local.velocity
        return jnp.where(v > 0, _SLIDING_ON, jnp.where(v < 0, _SLIDING_BACK, _STUCK))

    def hysteretic_power(self, local: Local) -> Scalar:
        """Power lost to the force that remains at zero velocity; affine within a mode."""
        return choose(local.mode, (self.sliding(-1.0, 0.0), 0.0, self.sliding(1.0, 0.0))) * local.velocity

    def checks(self) -> Iterator[Check]:
        """The limit is not negative."""
        yield Check(np.asarray(self.limit) < 0, "limit", "a friction limit ≥ 0", "check the sign")


class CoulombFriction(Sticking):
    """Coulomb friction.

    Args:
        limit: sliding force f_c.
        offset: constant force added to it, so that the two directions may differ.

    Examples:
        >>> import vibayes as vb
        >>> vb.CoulombFriction("f_c").modes
        ('sliding back', 'stuck', 'sliding on')
    """

    limit: Parameter
    offset: Parameter = 0.0

    def sliding(self, direction: float, velocity: Scalar) -> Scalar:
        """Offset ± limit."""
        return self.offset + direction * self.limit
