"""The first time any guard falls through zero during a step, never missing a pair of crossings.

Over a step, θ ∈ [0, 1], each guard is a polynomial g(θ) = Σ g_k θ^k, positive inside the domain of the mode. From a
point where g > 0 the search advances only as far as a *lower bound* of g stays positive, so it cannot jump over a
crossing, however short the excursion. With L₂ ≤ g'' on the whole step,

    g(θ + δ) ≥ g + g' δ + L₂ δ²/2,      L₂ = 2 g₂ + Σ_{k≥3} k (k−1) min(g_k, 0),

whose first root is a Newton step with a safety margin; near a crossing it converges quadratically. If it has not
converged after a few rounds the step ends there, without an event, and the next one goes on: grazing costs work,
never an event.

A step may *begin* on a boundary: right after an event, or at rest. What counts then is the sign of the first
coefficient that is not rounding noise: positive means the motion leads into the domain, negative that it leaves it
at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from vibayes.simulation.fusion import materialise, rough_inverse, rough_inverse_root
from vibayes.simulation.vectors import Tree, horner

Scalar = Any
_FAR = 2.0
"""Any advance beyond the end of the step."""
_MARGIN = 1.0 - 2e-5
"""Rough divisions are off by 1e-5; advances stay on the safe side of that."""
_NOISE = 1e-10
"""A leading coefficient this small beside the others is rounding noise."""
_LITTLE = 0.1
"""How far to look when the first coefficients vanish."""
_POLISH = 1e-14
"""Error, in parts of the step, that one Newton step may leave."""


class Crossing(NamedTuple):
    """Where the step ends (θ) and the guard that fell there, −1 for none."""

    theta: Scalar
    fired: Scalar


def first_crossing(
    coefficients: Sequence[Tree],
    evaluate: Callable[[Scalar], tuple[Tree, Tree]],
    stretch: Scalar,
    one: Scalar,
    rounds: int = 3,
) -> Crossing:
    """First crossing among the guards, or the end of the step, or a point safely before any crossing.

    Args:
        coefficients: g_0 … g_K, each a tree of all guards.
        evaluate: values and θ-derivatives of all guards at θ.
        stretch: length of a usual step over the length of this one (a very short step hides noise).
        one: 1.0, see `materialise`.
        rounds: how many times the search advances.

    Returns:
        The crossing. Its θ is differentiable with respect to whatever the guards depend on.
    """
    if not coefficients:
        return Crossing(jnp.ones_like(stretch), jnp.full_like(stretch, -1, dtype=jnp.int32))
    frozen = jax.lax.stop_gradient(list(zip(*(jax.tree.leaves(c) for c in coefficients), strict=True)))

    def leaves_at(theta):
        values, slopes = evaluate(theta)
        return list(zip(jax.tree.leaves(values), jax.tree.leaves(slopes), strict=True))

    theta, fired = _search(frozen, lambda at: jax.lax.stop_gradient(leaves_at(at)), stretch, rounds)
    # Both results in one number, so that the search is compiled once; the polish restores the digits this costs.
    packed = materialise(theta + 2.0 * (fired + 1.0), one)
    fired = jnp.floor(0.5 * packed) - 1.0
    theta = packed - 2.0 * (fired + 1.0)
    fired = fired.astype(jnp.int32)
    return Crossing(_polish(leaves_at(theta), theta, fired), fired)


def _search(guards, evaluate, stretch, rounds) -> tuple[Scalar, Scalar]:
    """θ close to (and before) the first crossing and the guard that falls there; −1 and a safe θ if none is close.

    Each entry of ``guards`` holds the coefficients of one guard, or of many in arrays.
    """
    leaving, theta, frees, bounds, bends = [], jnp.full_like(stretch, _FAR), [], [], []
    for guard in guards:
        bounds.append(2.0 * guard[2] + sum(k * (k - 1.0) * jnp.minimum(c, 0.0) for k, c in enumerate(guard) if k > 2))
        upper = 2.0 * guard[2] + sum(k * (k - 1.0) * c for k, c in enumerate(guard) if k > 1) - bounds[-1]
        bends.append(jnp.maximum(jnp.abs(bounds[-1]), jnp.abs(upper)))
        out, free = _leave(guard, stretch, bounds[-1])
        leaving.append(out)
        frees.append(free)
        theta = jnp.minimum(theta, jnp.min(free))
    theta = jnp.minimum(theta, 1.0)
    for _ in range(rounds):
        gain = jnp.full_like(theta, _FAR)
        for (g, slope), bound, free in zip(evaluate(theta), bounds, frees, strict=True):
            gain = jnp.minimum(gain, jnp.min(jnp.maximum(_advance(g, slope, bound), free - theta)))
        theta = jnp.minimum(theta + gain, 1.0)
    best, fired = jnp.full_like(theta, _FAR), jnp.full_like(theta, -1.0)
    for number, free, bend, (g, slope) in zip(_numbers(guards), frees, bends, evaluate(theta), strict=True):
        fall, height = jnp.maximum(-slope, 1e-100), jnp.maximum(g, 0.0)
        time = height * rough_inverse(fall)
        # A crossing is certain, and one Newton step finds it, when the guard cannot bend away before it gets there.
        certain = height * bend <= 0.25 * fall * fall
        polishable = height * height * bend <= _POLISH * fall * fall * fall
        near = (slope < 0.0) & certain & polishable
        # A guard that began on its boundary and rises from it must not fall by the rounding of its beginning.
        near &= theta + time >= free
        time = jnp.where(near & (time <= 1e-3) & (theta + time <= 1.0), time, _FAR)
        soonest = jnp.min(time)
        mine = jnp.min(jnp.where(time <= soonest, number, jnp.inf))
        fired = jnp.where(soonest < best, mine, fired)
        best = jnp.minimum(best, soonest)
    first_out = jnp.full_like(theta, jnp.inf)
    for number, out in zip(_numbers(guards), leaving, strict=True):
        first_out = jnp.minimum(first_out, jnp.min(jnp.where(out, number, jnp.inf)))
    any_out = jnp.isfinite(first_out)
    return jnp.where(any_out, 0.0, theta), jnp.where(any_out, first_out, fired)


def _numbers(guards) -> list[Scalar]:
    """Running numbers of the guards, in the shape of each entry."""
    numbers, count = [], 0
    for guard in guards:
        size = guard[0].size
        numbers.append(float(count) if guard[0].ndim == 0 else count + jnp.arange(size, dtype=float))
        count += size
    return numbers


def _polish(leaves, theta: Scalar, fired: Scalar) -> Scalar:
    """One Newton step on the guard that fell, which also carries the derivative of the crossing time."""
    above, below = theta, jnp.ones_like(theta)
    for number, (g, slope) in zip(_numbers(leaves), leaves, strict=True):
        # A guard that is already clearly below zero has fallen before; its time is now.
        close = (fired == number) & (slope < 0.0) & (jnp.abs(g) <= -1e-3 * slope)
        mine = jnp.any(close)
        above = jnp.where(mine, jnp.sum(jnp.where(close, theta * slope - g, 0.0)), above)
        below = jnp.where(mine, jnp.sum(jnp.where(close, slope, 0.0)), below)
    return jnp.maximum(above / below, 0.0)


def _leave(guard: Sequence[Scalar], stretch: Scalar, bound: Scalar) -> tuple[Scalar, Scalar]:
    """At θ = 0: whether the guard falls at once, and else how far it surely stays positive."""
    low, tail = guard[:4], guard[4:]
    weight, weighted = stretch, [jnp.abs(low[0])]
    for c in low[1:]:
        weighted.append(jnp.abs(c) * weight)
        weight = weight * stretch
    noise = _NOISE * jnp.maximum(jnp.maximum(weighted[1], weighted[2]), weighted[-1])
    # A falling guard above zero is taken at its word, however small its value: it may yet turn before zero.
    low = [jnp.where((w <= noise) & (k > 0), 0.0, c) for k, (c, w) in enumerate(zip(low, weighted, strict=True))]
    low[0] = jnp.where(((low[0] < 0.0) | (low[1] == 0.0)) & (weighted[0] <= noise), 0.0, low[0])
    rest = sum((jnp.minimum(c, 0.0) for c in tail), jnp.zeros_like(stretch))
    # Nothing in the first terms: a start from rest. The sign a little later decides, and the step ends there.
    lead, free = horner(tail, _LITTLE) if tail else jnp.zeros_like(stretch), jnp.where(rest < 0.0, _LITTLE, _FAR)
    for c in reversed(low):
        here = c != 0.0
        reach = jnp.where(rest < 0.0, c * rough_inverse(jnp.maximum(-rest, 1e-150)) * _MARGIN, _FAR)
        free = jnp.where(here, reach, free)
        lead = jnp.where(here, c, lead)
        rest = rest + jnp.minimum(c, 0.0)
    out = lead < 0.0
    newton = jnp.where((low[0] > 0.0) | (low[1] > 0.0), _advance(low[0], low[1], bound), 0.0)
    return out, jnp.where(out, 0.0, jnp.maximum(free, newton))


def _advance(g: Scalar, slope: Scalar, bound: Scalar) -> Scalar:
    """Smallest δ > 0 with g + slope δ + bound δ²/2 = 0, or far away."""
    g = jnp.maximum(g, 0.0)
    inside = slope * slope - 2.0 * bound * g
    safe = jnp.maximum(inside, 1e-200)
    total = jnp.abs(slope) + safe * rough_inverse_root(safe)
    rising = slope > 0.0
    # Of the two forms of the root of a quadratic, take the one without cancellation.
    over, under = jnp.where(rising, total, 2.0 * g), jnp.where(rising, -bound, total)
    never = (inside < 0.0) | (rising & (bound >= 0.0))
    return jnp.where(never, _FAR, over * rough_inverse(jnp.maximum(under, 1e-150)) * _MARGIN)
