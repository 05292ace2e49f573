"""The peer probdiffeq on the Bouc-Wen oscillator: the same ODE filter, vmapped over parameter sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from probdiffeq import ivpsolve, probdiffeq


def solver(parameters: dict[str, np.ndarray], force: np.ndarray, interval: float, order: int) -> Callable[[], Any]:
    """A function that gives displacements (sets, samples), by EKF0 with a block of covariances per state."""
    times, forces = jnp.arange(len(force)) * interval, jnp.asarray(force)
    names = "m", "c", "k", "alpha", "beta", "gamma", "delta"

    def one(values: jax.Array) -> jax.Array:
        m, c, k, alpha, beta, gamma, delta = values

        def flow(y, *, t):
            x, v, z = y
            # The grid is even, so that a look-up is two reads and not a search.
            place = jnp.clip(t / interval, 0.0, len(force) - 1.0)
            before = jnp.minimum(place.astype(int), len(force) - 2)
            push = forces[before] + (place - before) * (forces[before + 1] - forces[before])
            rate = alpha * v - beta * (gamma * jnp.abs(v) * z + delta * v * jnp.abs(z))
            return jnp.stack([v, (push - c * v - k * x - z) / m, rate])

        model = probdiffeq.state_space_model_blockdiag()
        begin = jnp.zeros(3)
        speed, change = jax.jvp(lambda y, t: flow(y, t=t), (begin, 0.0), (flow(begin, t=0.0), 1.0))
        derivatives = [begin, speed, change, *[jnp.zeros(3)] * (order - 2)]
        ode = probdiffeq.ode(flow, jacobian=probdiffeq.jacobian_materialize())
        prior = model.prior_wiener_integrated(derivatives, output_scale=jnp.ones(3))
        method: Any = probdiffeq.solver(strategy=probdiffeq.strategy_filter(), constraint=model.constraint_ode_ts0(ode))
        return ivpsolve.solve_fixed_grid(solver=method)(prior, grid=times).u.mean[0][:, 0]

    compiled = jax.jit(jax.vmap(one))
    stacked = jnp.stack([jnp.asarray(parameters[name]) for name in names], axis=1)
    return lambda: np.asarray(compiled(stacked))
