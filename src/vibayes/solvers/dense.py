"""The ODE filter with a covariance of its own for every parameter set.

It knows how the rates depend on the state (EKF1), so that it is sure where the structure forgets its past, and measured
samples may correct it on the way. With D the columns of a prediction, those of the diffusion among them, and f(m⁻) what
the equations say there, each equation is an output that was measured without noise to be

    0 = X⁽ᵒ⁾ − f(X),        with the row  D⁽ᵒ⁾ − f′ D  of its deviations, or D⁽ᵒ⁾ alone (EKF0).

A step may be cut at events (`landing`): then it goes over a part of the step only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.filters.recursion import absorb
from vibayes.filters.triangular import triangle
from vibayes.solvers.drive import Drive
from vibayes.solvers.landing import landed
from vibayes.solvers.layout import Layout
from vibayes.solvers.moving import Moving
from vibayes.solvers.shared import begun, stepped
from vibayes.solvers.softened import softened
from vibayes.solvers.wiener import Gains, Wiener

Array = Any
_EXACT = 1e-12
"""Deviation of an equation, in parts of that of the prediction: none, but zero by zero is avoided."""


class Gaussian(NamedTuple):
    """What is carried along: functions (functions, derivatives, sets), a root of their covariance (functions ·
    derivatives, columns, sets), modes (elements, sets), and sums of ẑ² / s or diffusions as in `Means` (functions,
    sets).
    """

    functions: Array
    root: Array
    modes: Array
    squares: Array


class Readings(NamedTuple):
    """A sample: what was measured, what was expected, columns of that (outputs, columns, sets), and noise."""

    measured: Array
    expected: Array
    images: Array
    noise: Array


class Dense(eqx.Module):
    """EKF1, or EKF0 that measured samples correct, over a structure."""

    moving: Moving
    layout: Layout
    process: Wiener
    gains: dict[int, Gains]
    drive: Drive
    start: Array
    """Standard deviations of the state at the first sample (size,)."""
    steps: int = eqx.field(static=True)
    calibrated: bool = eqx.field(static=True)
    linearised: bool = eqx.field(static=True)
    corrected: bool = eqx.field(static=True)
    """By measured samples."""
    events: int = eqx.field(static=True, default=0)
    """At which a step is cut, at most."""

    def begin(self, state: Array, modes: Array, diffusion: Array) -> Gaussian:
        """At the first sample; the diffusion is zero where it is to be calibrated."""
        functions = begun(self, state, modes, self.drive.series)
        count, sets = functions.shape[0] * functions.shape[1], state.shape[1:]

        def along(column):
            move = jnp.broadcast_to(column[:, None], state.shape)
            return jax.jvp(lambda x: begun(self, x, modes, self.drive.series), (state,), (move,))[1]

        unsure = jax.vmap(along, in_axes=1, out_axes=2)(jnp.diag(self.start)).reshape(count, -1, *sets)
        root = jnp.concatenate([unsure, jnp.zeros((count, count - unsure.shape[1], *sets))], axis=1)
        return Gaussian(functions, root, modes, diffusion)

    def advance(self, now: Gaussian, index: Any) -> Gaussian:
        """From a sample to the next."""
        return stepped(self._step, self.steps, now, index)

    def _step(self, now: Gaussian, number: Any) -> Gaussian:
        inputs = self.drive.at[number + 1]
        whole = self.over(now, number, inputs)
        if self.events:
            whole = landed(self, now, whole, number)
        return self._settled(whole, inputs)

    def over(self, now: Gaussian, number: Any, inputs: Array, part: Array | None = None) -> Gaussian:
        """Over a step, or a part of it (sets,), to where inputs are these."""
        told, process = self.layout.told, self.process if part is None else self.process.over(part)
        many, sets = process.transition.shape[0], now.functions.shape[2:]
        transition = jnp.asarray(process.transition)
        ahead = jnp.einsum("ij...,fj...->fi...", transition, now.functions)

        columns = now.root.reshape(len(told), many, -1, *sets)
        root = jnp.einsum("ij...,fjc...->fic...", transition, columns)
        moving = softened(self.moving, self.state_of(root)[self._velocities]) if self.corrected else self.moving

        def errors(functions):
            rates = self.layout.rates(moving.rates(self.state_of(functions), now.modes, inputs))
            return jnp.stack([functions[i, of] - rates[i] / process.scales[of] for i, of in enumerate(told)])

        def seen(columns):
            """What the equations see of columns (functions, derivatives, columns, sets)."""
            if not self.linearised:
                return jnp.stack([columns[i, of] for i, of in enumerate(told)])
            along = jax.vmap(lambda each: jax.jvp(errors, (ahead,), (each,))[1], in_axes=2, out_axes=1)
            return along(columns)

        error, images = errors(ahead), seen(root)
        squares = now.squares + self.calibrated * self._told(error, number, part)
        diffusion = squares / (number + 1) if self.calibrated else squares
        fresh = self._noise(process, jnp.sqrt(diffusion))
        columns = jnp.concatenate([root, fresh], axis=2).reshape(len(told) * many, -1, *sets)
        images = jnp.concatenate([images, seen(fresh)], axis=1)
        noise = _EXACT * jnp.sqrt(jnp.sum(images * images, axis=1)) + 1e-150
        zero = jnp.zeros_like(error)
        found = absorb(images, columns, ahead.reshape(-1, *sets), zero, error, noise)
        functions = found.mean.reshape(len(told), many, *sets)
        return Gaussian(functions, triangle(found.columns), now.modes, squares)

    def _told(self, error: Array, number: Any, part: Array | None) -> Array:
        """ẑ² / s of every function; parts of a step count for as much as they are of it."""
        q, told = len(self.process.scales) - 1, self.layout.told
        variance = jnp.stack([self.gains[of].variance[number] for of in told])[:, None]
        if part is None:
            return error * error / variance
        return error * error * part / (variance * jnp.stack([part ** (2 * (q - of) + 1) for of in told]))

    @property
    def step(self) -> float:
        """Length of a step: the highest derivative is in units of its root."""
        return float(self.process.scales[-1] ** 2)

    @property
    def _velocities(self) -> slice:
        return slice(self.layout.masses, 2 * self.layout.masses)

    def state_of(self, functions: Array) -> Array:
        """The state in functions, or in columns of theirs."""
        return self.layout.state(functions, self.process.scales)

    def _noise(self, process: Wiener, deviation: Array) -> Array:
        """Columns of the diffusion over a step, (functions, derivatives, functions · derivatives, sets)."""
        count, many = len(self.layout.told), len(process.scales)
        root = jnp.asarray(process.root).reshape(many, many, -1)
        blocks = jnp.einsum("fg,ij...->figj...", np.eye(count), root).reshape(count, many, count * many, -1)
        return blocks * deviation[:, None, None]

    def _settled(self, now: Gaussian, inputs: Array) -> Gaussian:
        """Within bounds, and as new modes have it where modes change."""
        scales = self.process.scales
        state = self.moving.bounded(self.state_of(now.functions))
        now = now._replace(functions=self.layout.put(now.functions, scales, state))
        if not self.moving.tracked:
            return now
        state, modes = self.moving.settle(state, now.modes, inputs)
        anew = begun(self, state, modes, inputs[None])
        changed = jnp.any(modes != now.modes, axis=0)
        return now._replace(functions=jnp.where(changed, anew, now.functions), modes=modes)

    def state(self, now: Gaussian) -> Array:
        """Mean of the state."""
        return self.state_of(now.functions)

    def spread(self, now: Gaussian, index: Any) -> Array:
        """Columns of the state's covariance at a sample, (columns, size, sets)."""
        count, many = len(self.layout.told), len(self.process.scales)
        columns = now.root.reshape(count, many, -1, *now.root.shape[2:])
        return jnp.moveaxis(self.state_of(columns), 1, 0)

    def absorb(self, now: Gaussian, readings: Readings) -> Gaussian:
        """A measured sample."""
        if not self.corrected:
            return now
        mean = now.functions.reshape(-1, *now.functions.shape[2:])
        y, expected, images, noise = readings
        found = absorb(images, now.root, mean, y, expected, noise)
        functions = found.mean.reshape(now.functions.shape)
        state = self.moving.bounded(self.state_of(functions))
        functions = self.layout.put(functions, self.process.scales, state)
        return Gaussian(functions, found.columns, self.moving.fitting(state, now.modes), now.squares)
