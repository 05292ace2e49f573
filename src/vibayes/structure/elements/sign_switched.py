"""What the Bouc–Wen family has in common: a rate that is smooth except where velocity or hysteretic state change sign.

Four modes, one per pair of signs. Either kind of event can be left out, as in the paper's options A (none), B (both)
and C (velocity only): the sign is then taken from the state at every instant, and the kink is stepped over.
"""

from __future__ import annotations

from abc import abstractmethod
from math import prod
from typing import Any

import jax.numpy as jnp

from vibayes.structure.element import Element, Local, Scalar, plain, sign_of, slow_loading

SMALL = (1.0, 2.0, 3.0, 4.0)
"""Exponents that are computed by multiplication."""


class SignSwitched(Element):
    """Abstract: first internal state z, events at v = 0 and z = 0.

    A law gives ``smooth_rates`` and ``located``.
    """

    @property
    def modes(self) -> tuple[str, ...]:
        """Signs of velocity and hysteretic state."""
        return ("v+ z+", "v+ z-", "v- z+", "v- z-")

    @property
    def regions(self) -> tuple[str, ...]:
        """None: the law is smooth but for the signs of its arguments."""
        return ()

    @abstractmethod
    def located(self) -> tuple[bool, bool]:
        """Whether v = 0 and z = 0 are events."""

    @abstractmethod
    def smooth_rates(self, local: Local, velocity_sign: Scalar, state_sign: Scalar) -> tuple[Scalar, ...]:
        """Rates with |v| = velocity_sign·v and |z| = state_sign·z."""

    def start(self, deformation: Scalar | None = None) -> tuple[Scalar, ...]:
        """Virgin, or after a slow first loading."""
        return (0.0,) * len(self.states) if deformation is None else slow_loading(self, deformation)

    def signs(self, local: Local) -> tuple[Scalar, Scalar]:
        """(sign of v, sign of z): of the mode where they are located, of the state where they are not."""
        of_velocity, of_state = sign_of(local.velocity), sign_of(local.states[0])
        by_velocity, by_state = self.located()
        if by_velocity:
            of_velocity = jnp.where(local.mode < 2, 1.0, -1.0)
        if by_state:
            of_state = jnp.where((local.mode == 0) | (local.mode == 2), 1.0, -1.0)
        return of_velocity, of_state

    def rates(self, local: Local) -> tuple[Scalar, ...]:
        """Rates in the given mode."""
        return self.smooth_rates(local, *self.signs(local))

    def guards(self, local: Local) -> tuple[Scalar, ...]:
        """Each located sign stays what it is."""
        of_velocity, of_state = self.signs(local)
        guards = (of_velocity * local.velocity, of_state * local.states[0])
        return tuple(guard for guard, wanted in zip(guards, self.located(), strict=True) if wanted)

    def guard_names(self) -> tuple[str, ...]:
        """Turning point; zero of the hysteretic force."""
        return tuple(name for name, wanted in zip(("turn", "zero force"), self.located(), strict=True) if wanted)

    def switch(self, local: Local, fired: tuple[Scalar, ...]):
        """Flip the sign that changed."""
        flips = [bit for bit, wanted in zip((2, 1), self.located(), strict=True) if wanted]
        mode = local.mode
        for happened, bit in zip(fired, flips, strict=True):
            mode = jnp.where(happened, mode ^ bit, mode)
        return mode, local.states

    def mode_at(self, local: Local) -> Scalar:
        """By the signs of velocity and hysteretic state."""
        return jnp.where(local.velocity >= 0, 0, 2) + jnp.where(local.states[0] >= 0, 0, 1)


def positive_power(base: Scalar, exponent: Any) -> Scalar:
    """base^exponent for base ≥ 0, with the limit at zero and finite derivatives there.

    Below zero it goes on smoothly, as an even function where the exponent is even and as an odd one elsewhere: a trial
    step looks beyond the event at zero before it is cut back, and must not meet a kink there.
    """
    exponent = plain(exponent)
    if isinstance(exponent, int | float) and exponent in (0, *SMALL):
        return prod([base] * int(exponent), start=1.0)
    size = jnp.abs(base)
    safe = jnp.where(size > 0, size, 1.0)
    at_zero = jnp.where(exponent == 0, 1.0, 0.0)
    sign = jnp.where(exponent % 2 == 0, 1.0, sign_of(base))
    return sign * jnp.where(size > 0, safe**exponent, at_zero)
