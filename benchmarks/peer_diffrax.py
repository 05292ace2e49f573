"""The peer in diffrax: Dopri5 with error control, all parameter sets in one vmapped program.

A vmapped solve cannot be restarted at located events, so the error control has to work its way past every kink. Steps
that end at the input samples (``ClipStepSizeController``) would spare it those of the input, but take twice the time
for half the error, which a tighter tolerance gets for less.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp

Flow = Callable[[Any, Any, Any], Any]


def trilinear(state: Any, u: Any, p: Any) -> Any:
    """Rates of (x, v)."""
    x, v = state
    force = p["k0"] * x
    force += (p["kL"] - p["k0"]) * jnp.minimum(x - p["dL"], 0.0) + (p["kR"] - p["k0"]) * jnp.maximum(x - p["dR"], 0.0)
    return v, (u - p["c"] * v - force) / p["m"]


def bouc_wen(state: Any, u: Any, p: Any) -> Any:
    """Rates of (x, v, z)."""
    x, v, z = state
    pull = p["beta"] * (p["gamma"] * jnp.abs(v) * z + p["delta"] * v * jnp.abs(z))
    return v, (u - p["c"] * v - p["k"] * x - z) / p["m"], p["alpha"] * v - pull


@functools.partial(jax.jit, static_argnames=("flow", "size", "steps"))
def displacements(
    flow: Flow, size: int, parameters: Any, input: Any, interval: float, rtol: float, atol: float, steps: int = 0
) -> Any:
    """Displacements (sets, samples), from rest; ``steps`` equal ones per sample, if given, instead of tolerances."""
    times = interval * jnp.arange(len(input))
    between = diffrax.LinearInterpolation(times, input)
    term = diffrax.ODETerm(lambda t, y, p: flow(y, between.evaluate(t), p))
    control = diffrax.ConstantStepSize() if steps else diffrax.PIDController(rtol, atol)

    def one(p):
        solution = diffrax.diffeqsolve(
            term,
            diffrax.Dopri5(),
            times[0],
            times[-1],
            interval / (steps or 10),
            (jnp.zeros(()),) * size,
            p,
            saveat=diffrax.SaveAt(ts=times, fn=lambda t, y, p: y[0]),
            stepsize_controller=control,
            max_steps=None,
        )
        return solution.ys

    return jax.vmap(one)(parameters)
