"""The peer cuthbert: its filter in square roots, over all parameter sets in one vmapped program.

It linearises what it is given by derivatives, as an extended filter, or, with the sigma points of cuthbertlib, by
statistical regression, as an unscented one. Before the first sample it wants a prediction. The structures here begin at
rest, so the first sample tells nothing of the state and counts by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import cuthbert
import jax
import jax.numpy as jnp
from cuthbert.gaussian import moments
from cuthbertlib.quadrature import functional, unscented
from jax.scipy.stats import norm


@functools.partial(jax.jit, static_argnames=("plain", "extended"))
def log_likelihoods(
    plain: Callable, values: Any, deviations: Any, outputs: Any, strength: Any, extended: bool = False
) -> Any:
    """Of every set."""

    def one(p):
        model = plain(p, deviations)
        size = len(model.start)
        noise, error, start = (jnp.linalg.cholesky(each) for each in (model.noise, model.error, model.start))
        points = unscented.weights(size, alpha=1.0, beta=0.0, kappa=0.0)

        def linear(function, root, state):
            """Mean and root of the covariance of what comes after a state."""
            if extended:
                return lambda x: (function(x), root)
            slope, shift, rest = functional(function, root, state.mean, state.chol_cov, points, mode="sqrt")
            return lambda x: (slope @ x + shift, rest)

        def dynamics(state, given):
            return linear(lambda x: model.advance(x, given[1]), noise, state), state.mean

        def observation(state, given):
            return linear(model.read, error, state), state.mean, given[0]

        filter = moments.build_filter(jnp.zeros(size), start, dynamics, observation)
        states = cuthbert.filter(filter, (outputs[1:], strength[1:]), filter.init_prepare())
        return states.log_normalizing_constant[-1] + jnp.sum(norm.logpdf(outputs[0], 0.0, deviations))

    return jax.vmap(one)(values)
