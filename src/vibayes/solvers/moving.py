"""A structure as solvers see it: rates of its state and readings, for many parameter sets along the last axis.

Laws that only bend are asked for the mode that fits the state. Those with memory of events, as dry friction, have modes
that are kept; when a step has carried the state across a guard, modes change at its end, and elements that stick then
hold the velocity.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from vibayes.structure.hybrid import HybridSystem, Modes, State
from vibayes.structure.sensors import Sensor
from vibayes.structure.structure import Structure

Array = Any
_SWITCHES = 2
"""Of modes at one instant: standstill, and breaking away at once."""


class Moving(eqx.Module):
    """A bound structure; every number of it is an array with one entry per set."""

    structure: Structure
    system: HybridSystem
    landing: bool = eqx.field(static=True, default=False)
    """Whether steps end at events, so that modes of all elements are kept."""

    @property
    def tracked(self) -> bool:
        """Whether modes are kept from step to step."""
        if self.landing and self.system.guard_owners():
            return True
        return any(e.sticks or e.needs_events for e in self.system.elements)

    def begin(self, displacement: Any, velocity: Any) -> tuple[Array, Array]:
        """State (size, sets) and modes (elements, sets), from displacements, none at rest, and velocities."""
        like = jnp.zeros_like(self.system.inverse_masses[0])
        state = self.system.start(None if displacement is None else tuple(displacement), tuple(velocity))
        state = tuple(like + s for s in state)
        modes = [like + mode for mode in self.system.modes_at(state)]
        return jnp.stack(state), jnp.stack(modes).astype(jnp.int32)

    def _modes(self, state: State, modes: Array) -> Modes:
        return tuple(modes) if self.tracked else self.system.free_modes(state)

    def rates(self, state: Array, modes: Array, inputs: Array) -> Array:
        """Time derivative of the state."""
        inside = self.system.bounded(tuple(state))
        flow = self.system.flow(inside, self._modes(inside, modes), tuple(inputs))
        return jnp.stack([jnp.broadcast_to(rate, state.shape[1:]) for rate in flow])

    def derivatives(self, state: Array, modes: Array, series: Array, count: int) -> Array:
        """First derivatives of the state by time, (count, size, sets), with inputs of a Taylor series (terms, inputs).

        Those that do not exist, as of a power at zero, are taken for zero.
        """

        def first(state, time):
            return self.rates(state, modes, sum(term * time**k for k, term in enumerate(series)))

        functions = [first]
        for _ in range(count - 1):
            functions.append(_along(functions[-1], first))
        found = jnp.stack([each(state, jnp.zeros(())) for each in functions])
        return jnp.where(jnp.isfinite(found), found, 0.0)

    def bounded(self, state: Array) -> Array:
        """The state with internal states within their bounds."""
        return jnp.stack(self.system.bounded(tuple(state)))

    def readings(self, state: Array, modes: Array, inputs: Array, sensors: tuple[Sensor, ...]) -> Array:
        """Of sensors."""
        inside = self.system.bounded(tuple(state))
        motion = self.system.motion(inside, self._modes(inside, modes), tuple(inputs))
        values = [sensor.measure(self.structure, self.system, motion) for sensor in sensors]
        return jnp.stack([jnp.broadcast_to(value, state.shape[1:]) for value in values])

    def fitting(self, state: Array, modes: Array) -> Array:
        """Modes after the state has jumped: of laws that only bend those that fit it."""
        if not (self.landing and self.tracked):
            return modes
        fit = self.system.modes_at(tuple(state))
        kept = [e.sticks or e.needs_events for e in self.system.elements]
        return jnp.stack([old if keep else new + 0 * old for keep, old, new in zip(kept, modes, fit, strict=True)])

    def switched(self, state: Array, modes: Array, inputs: Array, fired: Array) -> tuple[Array, Array]:
        """State and modes after a guard has fallen; as they were where ``fired`` is −1."""
        after, changed = self.system.switch(tuple(state), tuple(modes), tuple(inputs), fired)
        return jnp.stack(self.system.held(after, changed)), jnp.stack(changed)

    def lowest(self, state: Array, modes: Array, inputs: Array) -> tuple[Array, Array]:
        """The lowest guard and its number."""
        guards = jnp.stack(self.system.guards(tuple(state), tuple(modes), tuple(inputs)))
        return jnp.min(guards, axis=0), jnp.argmin(guards, axis=0)

    def settle(self, state: Array, modes: Array, inputs: Array) -> tuple[Array, Array]:
        """State and modes after guards have fallen, if any has."""
        if not self.tracked:
            return state, modes
        for _ in range(_SWITCHES):
            guard, number = self.lowest(state, modes, inputs)
            state, modes = self.switched(state, modes, inputs, jnp.where(guard < 0.0, number, -1))
        return state, modes


def _along(function: Any, flow: Any) -> Any:
    """Derivative of a function of state and time along the flow."""
    return lambda state, time: jax.jvp(function, (state, time), (flow(state, time), jnp.ones(())))[1]
