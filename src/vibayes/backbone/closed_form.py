"""Posteriors without sampling, where residuals are linear in the unknowns: first order, linear structure known.

    ε = b + A θ.

With known σ of every equation and normal priors the posterior is normal. With one unknown σ, a prior that is flat in θ
and inverse-gamma in σ², it is Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln

from vibayes.backbone.form import NormalForm, normal_form
from vibayes.backbone.points import BackbonePoints
from vibayes.errors import InvalidInput
from vibayes.filters.checks import check_noise
from vibayes.structure.structure import Structure


@dataclass(frozen=True)
class LinearPosterior:
    """Mean and covariance of the unknowns, normal or Student's t.

    Attributes:
        names: of the unknowns.
        mean: of each.
        covariance: of all; of a t-distribution with so many degrees of freedom where they are finite.
        degrees: of freedom, infinite for a normal posterior.
        log_evidence: logarithm of p(points), NaN with a flat prior.
        variance: mean of σ², where it was unknown.
    """

    names: tuple[str, ...]
    mean: np.ndarray
    covariance: np.ndarray
    degrees: float = np.inf
    log_evidence: float = np.nan
    variance: float = np.nan


def linear_posterior(
    structure: Structure, points: BackbonePoints, noise: Any, means: Sequence[float], deviations: Sequence[float]
) -> LinearPosterior:
    """Posterior of the coefficients of nonlinear springs, at first order, with known σ.

    Args:
        structure: whose unknowns are coefficients of nonlinear terms only.
        points: of its backbones.
        noise: σ of the residuals, for all equations or one per equation.
        means: of the normal priors, in the order of the structure's parameters.
        deviations: standard deviations of the priors.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> duffing = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "a")])
        >>> sizes = np.linspace(0.1, 0.5, 9)
        >>> points = vb.BackbonePoints(np.sqrt(1.0 + 0.75 * 0.4 * sizes**2), sizes)
        >>> found = vb.linear_posterior(duffing, points, 1e-3, [0.0], [10.0])
        >>> round(float(found.mean[0]), 3)
        0.4
    """
    start, slopes = _linear(structure, points)
    sigma = np.array([float(each) for each in check_noise(noise, start.shape[1])])
    weighted = (slopes / sigma[:, None]).reshape(-1, slopes.shape[2])
    target = -(start / sigma).ravel()
    prior, centre = np.diag(1.0 / np.asarray(deviations, float) ** 2), np.asarray(means, float)
    precision = weighted.T @ weighted + prior
    mean = np.linalg.solve(precision, weighted.T @ target + prior @ centre)
    square = np.sum((target - weighted @ mean) ** 2) + (mean - centre) @ prior @ (mean - centre)
    volume = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(prior)[1]
    constant = 2.0 * len(start) * np.sum(np.log(sigma)) + len(target) * np.log(2.0 * np.pi)
    evidence = -0.5 * float(square + volume + constant)
    return LinearPosterior(structure.parameters, mean, np.linalg.inv(precision), log_evidence=evidence)


def student_posterior(structure: Structure, points: BackbonePoints, shape: float, rate: float) -> LinearPosterior:
    """Posterior at first order with one unknown σ for all equations, a flat prior, and σ² ~ InverseGamma(shape, rate).

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> duffing = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "a")])
        >>> sizes = np.linspace(0.1, 0.5, 9)
        >>> points = vb.BackbonePoints(np.sqrt(1.0 + 0.75 * 0.4 * sizes**2), sizes)
        >>> vb.student_posterior(duffing, points, 2.0, 1e-6).degrees
        12.0
    """
    start, slopes = _linear(structure, points)
    matrix, target = slopes.reshape(-1, slopes.shape[2]), -start.ravel()
    mean = np.linalg.lstsq(matrix, target, rcond=None)[0]
    left = target - matrix @ mean
    after, above = shape + 0.5 * (len(target) - len(mean)), rate + 0.5 * float(left @ left)
    inverse = np.linalg.inv(matrix.T @ matrix)
    degrees = 2.0 * after
    covariance = above / (after - 1.0) * inverse
    # Up to the flat prior's density, which only differences between models with equal priors are free of.
    evidence = gammaln(after) - gammaln(shape) + shape * np.log(rate) - after * np.log(above)
    evidence += 0.5 * np.linalg.slogdet(inverse)[1] - 0.5 * (len(target) - len(mean)) * np.log(2.0 * np.pi)
    return LinearPosterior(structure.parameters, mean, covariance, degrees, float(evidence), above / (after - 1.0))


def _linear(structure: Structure, points: BackbonePoints) -> tuple[np.ndarray, np.ndarray]:
    """b (points, equations) and A (points, equations, unknowns)."""
    form = normal_form(structure, points.modes, points.ratios, order=1)
    if form.linear is None:
        expected, got = "unknowns in nonlinear terms only", "an unknown mass or linear stiffness"
        raise InvalidInput("structure", expected, got, "fix it, or sample the posterior")
    if points.amplitudes.size <= len(form.parameters):
        expected = f"more equations than there are unknowns ({len(form.parameters)})"
        raise InvalidInput("BackbonePoints", expected, f"{points.amplitudes.size}", "take more points")
    zero = jnp.zeros(len(form.parameters))
    residuals = _of(form, points)
    return np.asarray(residuals(zero)), np.asarray(jax.jacfwd(residuals)(zero))


def _of(form: NormalForm, points: BackbonePoints) -> Any:
    def residuals(values):
        given = dict(zip(form.parameters, values, strict=True))
        return form.residuals(points.frequency, points.amplitudes, given)

    return residuals
