"""The peer dynamax: its unscented filter over all parameter sets in one vmapped program."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from dynamax.nonlinear_gaussian_ssm import ParamsNLGSSM, UKFHyperParams, unscented_kalman_filter


@functools.partial(jax.jit, static_argnames="plain")
def log_likelihoods(plain: Callable, values: Any, deviations: Any, outputs: Any, strength: Any) -> Any:
    """Of every set; nothing else is kept of a run."""

    def one(p):
        model = plain(p, deviations)
        parameters = ParamsNLGSSM(
            initial_mean=jnp.zeros(len(model.start)),
            initial_covariance=model.start,
            dynamics_function=model.advance,
            dynamics_covariance=model.noise,
            emission_function=lambda x, _: model.read(x),
            emission_covariance=model.error,
        )
        points = UKFHyperParams(alpha=1.0, beta=0.0, kappa=0.0)  # equal weights, none at the mean, as ours
        found = unscented_kalman_filter(parameters, outputs, points, inputs=strength, output_fields=[])
        return found.marginal_loglik

    return jax.vmap(one)(values)
