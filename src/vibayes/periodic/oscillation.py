"""A bound structure that oscillates under harmonic forces.

    M ẍ = λ p(τ) − f(x, ϑẋ, s) − κλ M ẋ,      ds/dt = g(x, ẋ, s),      τ = Ωt

λ scales the forces p. In a free oscillation of the conservative part ϑ = 0 leaves out all damping, p is zero and κ = 1:
λ is then a made-up damping that vanishes in every solution, and makes as many equations as there are unknowns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from vibayes.structure.hybrid import HybridSystem
from vibayes.structure.sensors import Displacement
from vibayes.structure.structure import Structure

Array = Any


class Drive(NamedTuple):
    """What is done to a structure, and what closes the equations; all of it traced, so that one program serves all.

    The closing equation is λ = level where ``pinned`` is 1, and phase · (body − anchor) = 0 where it is 0.
    """

    force: Array
    """Coefficients of p, (2H + 1, masses)."""
    damped: Array
    """ϑ: 1 with damping, 0 without."""
    unfolding: Array
    """κ."""
    pinned: Array
    level: Array
    phase: Array
    anchor: Array
    moving: Array
    """1 where the phase is held by the point before, 0 where it is held by ``phase`` and ``anchor``."""


class Oscillation(eqx.Module):
    """The structure as periodic solutions see it: accelerations and rates at one instant."""

    system: HybridSystem

    @property
    def masses(self) -> Array:
        """Of all degrees of freedom."""
        return 1.0 / jnp.stack([jnp.asarray(w, float) for w in self.system.inverse_masses])

    @property
    def memory(self) -> int:
        """Number of internal states."""
        return self.system.size - 2 * self.system.masses

    def rates(self, state: Array, force: Array, drive: Drive, level: Array) -> Array:
        """Time derivative of the state (x, ẋ, s) under forces λp."""
        count = self.system.masses
        velocity = state[count : 2 * count]
        slowed = state.at[count : 2 * count].multiply(drive.damped)
        inside = self.system.bounded(tuple(slowed))
        still = (jnp.zeros(()),) * len(self.system.forced_masses)
        flow = self.system.flow(inside, self.system.free_modes(inside), still)
        rates = jnp.stack([jnp.asarray(rate, float) for rate in flow])
        pushed = rates[count : 2 * count] + level * force / self.masses - drive.unfolding * level * velocity
        return jnp.concatenate([velocity, pushed, rates[2 * count :]])

    def bounded(self, state: Array) -> Array:
        """The state with internal states within their bounds."""
        return jnp.stack([jnp.asarray(s, float) for s in self.system.bounded(tuple(state))])

    def loaded(self, displacement: Array) -> Array:
        """Internal states after a slow first loading to displacements."""
        count = self.system.masses
        state = self.system.start(tuple(displacement), (jnp.zeros(()),) * count)
        internal = [jnp.asarray(s, float) for s in state[2 * count :]]
        return jnp.stack(internal) if internal else jnp.zeros(0)


def oscillation_of(structure: Structure) -> Oscillation:
    """Of a bound structure, without meters of energy, which are no part of its motion."""
    return Oscillation(structure.measuring(Displacement(structure.mass_names[0])).compile())


def free_drive(size: int, force_shape: tuple[int, int]) -> Drive:
    """Of a free oscillation of the conservative part."""
    return Drive(
        jnp.zeros(force_shape), jnp.zeros(()), jnp.ones(()), jnp.zeros(()), jnp.zeros(()),
        jnp.zeros(size), jnp.zeros(size), jnp.ones(()),
    )  # fmt: skip


def forced_drive(size: int, force: Array, level: float = 1.0) -> Drive:
    """Of a damped structure under forces of a given level."""
    return Drive(
        jnp.asarray(force, float), jnp.ones(()), jnp.zeros(()), jnp.ones(()), jnp.asarray(level, float),
        jnp.zeros(size), jnp.zeros(size), jnp.zeros(()),
    )  # fmt: skip


def quadrature_drive(force: Array, phase: Array) -> Drive:
    """Of a damped structure under forces of whatever level keeps the response in quadrature to them."""
    size = len(phase)
    return Drive(
        jnp.asarray(force, float), jnp.ones(()), jnp.zeros(()), jnp.zeros(()), jnp.zeros(()),
        jnp.asarray(phase, float), jnp.zeros(size), jnp.zeros(()),
    )  # fmt: skip


def lanes_of(tree: Any, count: int) -> Any:
    """A tree whose every leaf has one entry per lane in front; numbers are repeated."""
    return jax.tree.map(lambda leaf: jnp.broadcast_to(jnp.asarray(leaf, float), (count, *jnp.shape(leaf))), tree)
