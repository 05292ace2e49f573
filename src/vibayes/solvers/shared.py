"""The ODE filter whose covariances are shared by all functions and all parameter sets (EKF0).

A step predicts every function by its polynomial, compares the derivative that its equation tells with what the
equation says at the prediction, and corrects all derivatives by a gain (`wiener.gains`):

    m⁻ = A m,        ẑ = m⁻⁽ᵒ⁾ − f(m⁻),        m = m⁻ − g_k ẑ,

and ẑ² / s_k says how large the diffusion γ of that function is, on average (eq. 19 of Longbottom et al.). No matrix
is handled: it costs little more than a step of Euler, at order q.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.solvers.drive import Drive
from vibayes.solvers.layout import Layout
from vibayes.solvers.moving import Moving
from vibayes.solvers.wiener import Gains, Wiener

Array = Any


class Means(NamedTuple):
    """What is carried along: functions (functions, derivatives, sets), modes (elements, sets), and of every function
    the sum of ẑ² / s, or its diffusion where that is known (functions, sets).
    """

    functions: Array
    modes: Array
    squares: Array


class Shared(eqx.Module):
    """EKF0 over a structure."""

    moving: Moving
    layout: Layout
    process: Wiener
    gains: dict[int, Gains]
    """By the derivative that is told."""
    drive: Drive
    steps: int = eqx.field(static=True)
    """Per sample."""
    calibrated: bool = eqx.field(static=True)
    """Whether the diffusion is what the steps so far tell."""

    def begin(self, state: Array, modes: Array, diffusion: Array) -> Means:
        """At the first sample; the diffusion is zero where it is to be calibrated."""
        return Means(begun(self, state, modes, self.drive.series), modes, diffusion)

    def advance(self, now: Means, index: Any) -> Means:
        """From a sample to the next."""
        return stepped(self._step, self.steps, now, index)

    def _step(self, now: Means, number: Any) -> Means:
        transition, scales = self.process.transition, self.process.scales
        ahead = jnp.stack([_combined(row, now.functions) for row in transition], axis=1)
        state = self.layout.state(ahead, scales)
        rates = self.layout.rates(self.moving.rates(state, now.modes, self.drive.at[number + 1]))
        functions, squares = [], []
        for i, told in enumerate(self.layout.told):
            gains = self.gains[told]
            error = ahead[i, told] - rates[i] / scales[told]
            functions.append(ahead[i] - gains.gain[number][:, None] * error)
            squares.append(now.squares[i] + self.calibrated * (error * error / gains.variance[number]))
        settled, modes = self._settled(jnp.stack(functions), now.modes, self.drive.at[number + 1])
        return Means(settled, modes, jnp.stack(squares))

    def _settled(self, functions: Array, modes: Array, inputs: Array) -> tuple[Array, Array]:
        """Functions within their bounds, and as new modes have them where modes change."""
        scales = self.process.scales
        state = self.moving.bounded(self.layout.state(functions, scales))
        functions = self.layout.put(functions, scales, state)
        if not self.moving.tracked:
            return functions, modes
        state, after = self.moving.settle(state, modes, inputs)
        anew = begun(self, state, after, inputs[None])
        return jnp.where(jnp.any(after != modes, axis=0), anew, functions), after

    def state(self, now: Means) -> Array:
        """Mean of the state."""
        return self.layout.state(now.functions, self.process.scales)

    def diffusion(self, now: Means, index: Any) -> Array:
        """Of every function, by what has been seen up to a sample."""
        return now.squares / jnp.maximum(index * self.steps, 1) if self.calibrated else now.squares

    def spread(self, now: Means, index: Any) -> Array:
        """Columns of the state's covariance at a sample, (columns, size, sets)."""
        last = jnp.maximum(index * self.steps - 1, 0)
        scales, told, found = self.process.scales, self.layout.told, []
        deviation = jnp.sqrt(self.diffusion(now, index)) * (index > 0)
        for i, of in enumerate(told):
            for part in range(of):
                functions = jnp.zeros((len(told), len(scales))).at[i, :of].set(self.gains[of].below[last, :, part])
                found.append(self.layout.state(functions, scales)[:, None] * deviation[i])
        return jnp.stack(found)

    def absorb(self, now: Means, readings: Any) -> Means:
        """Readings do not change it."""
        return now


def begun(solver: Any, state: Array, modes: Array, series: Array) -> Array:
    """Functions at a state, with inputs of a Taylor series from there on."""
    scales = solver.process.scales
    return solver.layout.begin(state, solver.moving.derivatives(state, modes, series, len(scales) - 1), scales)


def stepped(step: Any, steps: int, now: Any, index: Any) -> Any:
    """All steps of an interval between samples."""
    if steps == 1:
        return step(now, index)
    return jax.lax.fori_loop(0, steps, lambda i, each: step(each, index * steps + i), now)


def _combined(row: np.ndarray, functions: Array) -> Array:
    """Sum over derivatives."""
    parts = [float(weight) * functions[:, j] for j, weight in enumerate(row) if weight]
    return sum(parts[1:], parts[0])
