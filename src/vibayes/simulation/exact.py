"""Exact simulation of piecewise-linear systems.

Within a mode the flow is linear, ẏ = A y + b + B u(t), and its Taylor coefficients follow from one another,

    a_0 = y,   a_{k+1} = h/(k+1) · (A a_k + B u_k),

by applying the flow map's linear part; no matrix is formed. With enough terms this is the matrix exponential to
rounding error, it vectorises over parameter sets, and it is a polynomial, whose roots are the crossings.

There is no step size to choose: a step reaches to the next input sample or event. Where the frequencies of the
structure are so high that the series has not converged by then, the step is halved until it has.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from vibayes.errors import InvalidInput
from vibayes.simulation.fusion import materialise
from vibayes.simulation.method import DIGITS, Drive, Method, Piece, Series
from vibayes.simulation.vectors import each, hold, horner, horner_slope, linear_part, sizes, spread
from vibayes.structure.hybrid import HybridSystem, Modes, State

Scalar = Any
_ROUNDING = 1e-16


class Exact(Method):
    """Exact method for piecewise-linear structures (settings need no attention).

    Args:
        order: number of terms of the series.

    Examples:
        >>> import vibayes as vb
        >>> vb.Exact()
        Exact()
    """

    order: int = eqx.field(static=True, default=20)

    def __check_init__(self):
        if not isinstance(self.order, int) or not 6 <= self.order <= 40:
            raise InvalidInput("Exact.order", "6 to 40 terms", repr(self.order), "leave it at its default")

    @property
    def locates(self) -> bool:
        """Always."""
        return True

    @property
    def stages(self) -> int:
        """One, whose linear part is then applied to every term."""
        return 1

    def rests(self, spread: bool) -> bool:
        """With few states there is one mass, and nothing to subtract that would lose digits."""
        return not spread

    def first_step(self, interval: float) -> float:
        """A whole piece of input."""
        return interval

    def expand(
        self, system: HybridSystem, state: State, modes: Modes, drive: Drive, length: Scalar, wish: Scalar, one: Scalar
    ) -> Piece:
        """Taylor series of state and guards over the step."""
        inputs = _by_order(drive(0.0 * length, self.order), length)
        apart = system.spread

        def flow_of(y, u):
            return hold(system.flow(spread(y), modes, u), apart)

        def guards_of(y, u):
            return hold(system.guards(spread(y), modes, u), apart)

        start = hold(state, apart)
        terms = self._series(flow_of, start, inputs, length, one)
        value, by_state = linear_part(lambda y: guards_of(y, inputs[0]), start)
        _, by_input = linear_part(lambda u: guards_of(start, u), inputs[0])
        guards = [value] if system.guard_owners() else []
        for k in range(1, self.order + 1) if guards else ():
            slope = by_state(terms[k])
            guards.append(each(jnp.add, slope, by_input(inputs[k])) if k < len(inputs) else slope)
        if not apart:
            guards = [each(lambda g: materialise(g, one), g) for g in guards]

        def evaluate_guards(theta):
            if not apart:
                return horner(guards, theta), horner_slope(guards, theta)
            # With few states it is cheaper to evaluate those, and the guards from them.
            y, u = horner(terms, theta), horner(inputs, theta)
            slope = by_state(each(lambda f: length * f, flow_of(y, u)))
            if len(inputs) > 1:
                slope = each(jnp.add, slope, by_input(horner_slope(inputs, theta)))
            return guards_of(y, u), slope

        def state_at(theta):
            return spread(each(lambda y: materialise(y, one), horner(terms, theta)))

        accepted, comfortable = self._converged(terms)
        longer = jnp.where(comfortable, jnp.maximum(wish, 2.0 * length), wish)
        next_step = jax.lax.stop_gradient(jnp.where(accepted, longer, 0.5 * length))
        resolution = None
        if guards and not apart:
            # A deformation is a difference of two displacements, and no better known than they are.
            size = sizes(lambda y: guards_of(y, inputs[0]), start, terms[:4])
            resolution = jax.lax.stop_gradient(DIGITS * materialise(size, one))
        return Piece(guards, evaluate_guards, state_at, accepted, next_step, resolution)

    def _series(self, flow_of, start, inputs, length, one):
        """Coefficients of the state in θ, one tree per order."""
        rate, by_state = linear_part(lambda y: flow_of(y, inputs[0]), start)
        _, by_input = linear_part(lambda u: flow_of(start, u), inputs[0])
        terms = [start, each(lambda r: length * r, rate)]
        for k in range(1, self.order):
            rate = by_state(terms[k])
            if k < len(inputs):
                rate = each(jnp.add, rate, by_input(inputs[k]))
            term = each(lambda r, k=k: (length * (1.0 / (k + 1))) * r, rate)
            terms.append(term if isinstance(term, tuple) else materialise(term, one))
        return terms

    def _converged(self, terms):
        """Whether the last terms are lost in rounding, and whether they would be for twice the step."""
        accepted, comfortable = jnp.bool_(True), jnp.bool_(True)
        columns = zip(*(jax.tree.leaves(term) for term in jax.lax.stop_gradient(terms)), strict=True)
        for a in columns:
            size = jnp.maximum(jnp.maximum(jnp.abs(a[0]), jnp.abs(a[1])), jnp.maximum(jnp.abs(a[2]), jnp.abs(a[3])))
            tail = jnp.maximum(jnp.abs(a[-1]), jnp.abs(a[-2]))
            still = size == 0.0
            accepted &= jnp.all(still | (tail <= _ROUNDING * size))
            comfortable &= jnp.all(still | (2.0**self.order * tail <= _ROUNDING * size))
        return accepted, comfortable


def _by_order(inputs: tuple[Series, ...], length: Scalar) -> list[tuple[Scalar, ...]]:
    """Input series in θ instead of in time: one tuple of channels per order."""
    orders, weight = [], 1.0
    for k in range(max(len(channel) for channel in inputs)):
        orders.append(tuple(c[k] * weight if k < len(c) else 0.0 * length for c in inputs))
        weight = weight * length
    return orders
