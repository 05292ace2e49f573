"""How the state of a structure is told by functions and their derivatives.

In the form of second order a mass is one function, its displacement, of which Newton tells the second derivative;
internal states are functions of which laws tell the first. In the form of first order every state is a function, and
that the displacement grows by the velocity is one more equation.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

Array = Any


class Layout(eqx.Module):
    """Functions and the derivative told of each, for a state of displacements, velocities and others."""

    masses: int = eqx.field(static=True)
    size: int = eqx.field(static=True)
    """Of the state."""
    second_order: bool = eqx.field(static=True)

    @property
    def told(self) -> tuple[int, ...]:
        """Of every function the derivative that its equation tells."""
        if self.second_order:
            return (2,) * self.masses + (1,) * (self.size - 2 * self.masses)
        return (1,) * self.size

    @property
    def _places(self) -> np.ndarray:
        """Of every state its function and which derivative of it it is, (size, 2)."""
        if not self.second_order:
            return np.array([(i, 0) for i in range(self.size)])
        others = range(self.masses, self.size - self.masses)
        places = [(i, 0) for i in range(self.masses)] + [(i, 1) for i in range(self.masses)] + [(i, 0) for i in others]
        return np.array(places)

    def state(self, functions: Array, scales: Array) -> Array:
        """The state (size, ...) in (functions, derivatives, ...), which are in units of ``scales``."""
        function, derivative = self._places.T
        units = np.asarray(scales)[derivative]
        return functions[function, derivative] * units.reshape(-1, *(1,) * (functions.ndim - 2))

    def rates(self, rates: Array) -> Array:
        """What the equations tell (functions, ...), in the rates of the state (size, ...)."""
        return rates[self.masses :] if self.second_order else rates

    def begin(self, state: Array, derivatives: Array, scales: Array) -> Array:
        """Functions (functions, derivatives, ...) of a state with its derivatives by time (derivatives, size, ...)."""
        whole = jnp.concatenate([state[None], derivatives])
        masses, count = self.masses, len(scales)
        if not self.second_order:
            rows = whole[:count]
        else:
            moved = jnp.concatenate([whole[:1, :masses], whole[: count - 1, masses : 2 * masses]])
            rows = jnp.concatenate([moved, whole[:count, 2 * masses :]], axis=1)
        return jnp.moveaxis(rows, 0, 1) / scales.reshape(-1, *(1,) * (state.ndim - 1))

    def put(self, functions: Array, scales: Array, state: Array) -> Array:
        """Functions with another state."""
        for place, (function, derivative) in enumerate(self._places):
            functions = functions.at[function, derivative].set(state[place] / scales[derivative])
        return functions
