"""Solvers that are taken at their word: Euler's, and that of Runge and Kutta, with steps of one length."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from vibayes.solvers.drive import Drive
from vibayes.solvers.moving import Moving
from vibayes.solvers.shared import stepped

Array = Any


class Trajectory(NamedTuple):
    """What is carried along: states (size, sets) and modes (elements, sets)."""

    state: Array
    modes: Array


class Stepper(eqx.Module):
    """Steps of one length over a structure."""

    moving: Moving
    drive: Drive
    step: float = eqx.field(static=True)
    steps: int = eqx.field(static=True)
    """Per sample."""
    order: int = eqx.field(static=True)
    """1 (Euler) or 4 (Runge and Kutta)."""

    def begin(self, state: Array, modes: Array, unused: Array) -> Trajectory:
        """At the first sample; there is no diffusion."""
        return Trajectory(state, modes)

    def advance(self, now: Trajectory, index: Any) -> Trajectory:
        """From a sample to the next."""
        return stepped(self._step, self.steps, now, index)

    def _step(self, now: Trajectory, number: Any) -> Trajectory:
        state, modes = now
        h, drive = self.step, self.drive

        def rates(state, inputs):
            return self.moving.rates(state, modes, inputs)

        a = rates(state, drive.begin[number])
        if self.order == 1:
            after = state + h * a
        else:
            b = rates(state + 0.5 * h * a, drive.middle[number])
            c = rates(state + 0.5 * h * b, drive.middle[number])
            d = rates(state + h * c, drive.end[number])
            after = state + (h / 6.0) * (a + 2.0 * (b + c) + d)
        return Trajectory(*self.moving.settle(self.moving.bounded(after), modes, drive.at[number + 1]))

    def state(self, now: Trajectory) -> Array:
        """At a sample."""
        return now.state

    def spread(self, now: Trajectory, index: Any) -> Array:
        """Columns of the state's covariance: one that is zero."""
        return jnp.zeros((1, *now.state.shape))

    def absorb(self, now: Trajectory, readings: Any) -> Trajectory:
        """Readings do not change it."""
        return now
