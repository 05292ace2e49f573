"""What a method of integration gives the stepping loop: one step as a polynomial, whether to trust it, what to try
next.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from vibayes.simulation.vectors import Tree, sizes
from vibayes.structure.hybrid import HybridSystem, Modes, State

Scalar = Any
DIGITS = 4e-15
"""Rounding of a guard as a part of what it is the difference of."""
Series = tuple[Scalar, ...]
"""Taylor coefficients, lowest first."""
Drive = Callable[[Scalar, int], tuple[Series, ...]]
"""Input channels as Taylor series: at a time after the start of the step, up to an order."""


class Slip(NamedTuple):
    """How far a step, or a whole run, leaves velocities unresolved, and how large they are.

    Stages k₁ … k₄ of the classical Runge–Kutta step are accelerations; times the step, k₃ − k₂ and k₁ − k₂ − k₃ + k₄
    are what it cannot tell of the velocity. At a frequency ω that is (ωh)³/4 of the amplitude.
    """

    size: Scalar
    middle: Scalar
    """Of k₃ − k₂ alone, which knows nothing of how the input bends."""
    velocity: Scalar

    def joined(self, before: Slip) -> tuple[Slip, Scalar]:
        """The largest up to and with this step, and whether this step is an unstable one.

        From ωh = 2.8 on the middle stages differ by 1.2 times the velocity (or the change of it by the first stages,
        which is larger there), and all of them by three times as the motion enters a stop; out of rest an input that
        begins as a power of time does that too. The result of the step must not hide it: an unstable velocity grows
        faster.
        """
        largest = jnp.fmax(before.velocity, self.velocity)
        joined = Slip(jnp.fmax(before.size, self.size), jnp.fmax(before.middle, self.middle), largest)
        return joined, (self.middle > 1.2 * largest) | ((before.velocity > 0.0) & (self.size > 3.0 * largest))


class Piece(NamedTuple):
    """A step of given length, in θ ∈ [0, 1]."""

    guards: Sequence[Tree]
    """Coefficients of all guards in θ, one tree per order; empty where there are none."""
    evaluate_guards: Callable[[Scalar], tuple[Tree, Tree]]
    """Values and θ-derivatives of the guards."""
    state_at: Callable[[Scalar], State]
    accepted: Scalar
    next_step: Scalar
    """Length to try next, should nothing intervene."""
    resolution: Tree | None = None
    """How far each guard can be trusted near zero; None where that is to the last digit."""
    slip: Slip | None = None
    """What the step does not resolve of the velocities; None where the error is controlled."""


class Method(eqx.Module):
    """Base of the methods: frozen settings, no state."""

    @property
    @abstractmethod
    def locates(self) -> bool:
        """Whether events are located; if not, the modes are taken from the state at every instant."""

    @property
    @abstractmethod
    def stages(self) -> int:
        """Evaluations of the flow map per step."""

    @property
    def floor(self) -> Scalar:
        """Size below which a guard is on its boundary at the very start, in whatever unit it has."""
        return 0.0

    def floors(self, guards_of: Callable[[Tree], Tree], state: Tree) -> Tree:
        """The same for each guard, of a stacked state: not less than the rounding of what it is the difference of."""
        return jnp.maximum(self.floor, DIGITS * sizes(guards_of, state, [state]))

    def rests(self, spread: bool) -> bool:
        """Whether guards have a resolution, in a system that is spread or stacked."""
        return True

    def too_long(self, slip: Slip) -> Scalar:
        """Whether steps of a run with this largest slip were too long; never where the error is controlled."""
        return False

    @abstractmethod
    def expand(
        self, system: HybridSystem, state: State, modes: Modes, drive: Drive, length: Scalar, wish: Scalar, one: Scalar
    ) -> Piece:
        """Attempt a step of the given length, which may have been cut from the wish to end at a sample."""

    @abstractmethod
    def first_step(self, interval: float) -> float:
        """Length of the very first attempt, for input pieces of this length."""
