"""Exact simulation of piecewise-linear systems.

Within a mode the flow is linear, ẏ = A y + b + B u(t), and its Taylor coefficients follow from one another,

    a_0 = y,   a_{k+1} = h/(k+1) · (A a_k + B u_k),

by applying the flow map's linear part; no matrix is formed. With enough terms this is the matrix exponential to rounding
error, it vectorises over parameter sets, and it is a polynomial, whose roots are the crossings.

There is no step size to choose: a step reaches to the next input sample or event. Where the frequencies of the structure
are so high that the series has not converged by then, the step is halved until it has.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from vibayes.errors import InvalidInput
from vibayes.simulate.fusion import materialise
from vibayes.simulate.method import Drive, Method, Piece, horner, horner_slope
from vibayes.structure.hybrid import HybridSystem, Modes, State

Scalar = Any
_ROUNDING = 1e-16
_FEW_STATES = 3
"""Up to this many states it is cheaper to recompute the series for each than to store it."""


class Exact(Method):
    """Exact method for piecewise-linear structures (settings need no attention).

    Args:
        order: number of terms of the series.

    Examples:
        >>> import vibayes as vb
        >>> vb.Exact()
        Exact(order=20)
    """

    order: int = eqx.field(static=True, default=20)
    events: ClassVar[bool] = True

    def __check_init__(self):
        if not 6 <= self.order <= 40:
            raise InvalidInput("Exact.order", "6 to 40 terms", str(self.order), "leave it at its default")

    def first_step(self, interval: float) -> float:
        """A whole piece of input."""
        return interval

    def expand(
        self, system: HybridSystem, state: State, modes: Modes, drive: Drive, length: Scalar, wish: Scalar, one: Scalar
    ) -> Piece:
        """Taylor series of state and guards over the step."""
        inputs = _scaled(drive(0.0 * length, self.order), length)
        now = tuple(channel[0] for channel in inputs)
        series = self._series(system, state, modes, inputs, length, one)

        def guards_of(y, u):
            return system.guards(y, modes, u)

        values, guard_part = jax.linearize(guards_of, state, now)
        zero = tuple(jnp.zeros_like(u) for u in now)
        guards = [[g] for g in values]
        for k in range(1, self.order + 1):
            u_k = tuple(c[k] if k < len(c) else z for c, z in zip(inputs, zero, strict=True))
            for coefficients, g in zip(guards, guard_part(tuple(a[k] for a in series), u_k), strict=True):
                coefficients.append(g)

        def evaluate_guards(theta):
            y = tuple(horner(a, theta) for a in series)
            u = tuple(horner(c, theta) for c in inputs)
            slope = tuple(length * f for f in system.flow(y, modes, u))
            du = tuple(horner_slope(c, theta) if len(c) > 1 else z for c, z in zip(inputs, zero, strict=True))
            return guards_of(y, u), guard_part(slope, du)

        def state_at(theta):
            return tuple(materialise(horner(a, theta), one) for a in series)

        accepted, comfortable = self._converged(series)
        longer = jnp.where(comfortable, jnp.maximum(wish, 2.0 * length), wish)
        next_step = jax.lax.stop_gradient(jnp.where(accepted, longer, 0.5 * length))
        return Piece(guards, evaluate_guards, state_at, accepted, next_step, 1)

    def _series(self, system, state, modes, inputs, length, one):
        """Coefficients of every state variable."""
        now = tuple(channel[0] for channel in inputs)
        rate, state_part = jax.linearize(lambda y: system.flow(y, modes, now), state)
        _, input_part = jax.linearize(lambda u: system.flow(state, modes, u), now)
        zero = tuple(jnp.zeros_like(u) for u in now)
        terms = [state, tuple(length * r for r in rate)]
        longest_input = max(len(c) for c in inputs)
        for k in range(1, self.order):
            rate = state_part(terms[k])
            if k < longest_input:
                u_k = tuple(c[k] if k < len(c) else z for c, z in zip(inputs, zero, strict=True))
                rate = tuple(r + p for r, p in zip(rate, input_part(u_k), strict=True))
            term = tuple((length * (1.0 / (k + 1))) * r for r in rate)
            if system.size > _FEW_STATES:
                term = tuple(materialise(t, one) for t in term)
            terms.append(term)
        return list(zip(*terms, strict=True))

    def _converged(self, series):
        """Whether the last terms are lost in rounding, and whether they would be for twice the step."""
        accepted, comfortable = jnp.bool_(True), jnp.bool_(True)
        for a in jax.lax.stop_gradient(series):
            size = jnp.maximum(jnp.maximum(jnp.abs(a[0]), jnp.abs(a[1])), jnp.maximum(jnp.abs(a[2]), jnp.abs(a[3])))
            tail = jnp.maximum(jnp.abs(a[-1]), jnp.abs(a[-2]))
            still = size == 0.0
            accepted &= still | (tail <= _ROUNDING * size)
            comfortable &= still | (2.0**self.order * tail <= _ROUNDING * size)
        return accepted, comfortable


def _scaled(inputs, length):
    """Series in θ instead of in time."""
    scaled = []
    for channel in inputs:
        weight, series = 1.0, []
        for c in channel:
            series.append(c * weight)
            weight = weight * length
        scaled.append(tuple(series))
    return tuple(scaled)
