"""Likelihoods whose posterior and evidence are known, in coordinates with a standard normal prior."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats


@dataclass
class Toy:
    """A likelihood as a formula of a point and of NumPy or JAX, and what is known of its posterior."""

    formula: Callable[[Any, Any], Any]
    size: int
    log_evidence: float
    features: Callable[[np.ndarray], np.ndarray]
    """Numbers of each point, (..., size) to (..., features)."""
    expected: np.ndarray
    """Their posterior means."""
    differentiable: bool = True
    name: str = "toy"
    prior_probability: float = 1.0
    batches: list[int] = field(default_factory=list)

    def log_likelihood(self, points: np.ndarray) -> np.ndarray:
        self.batches.append(len(points))
        with np.errstate(invalid="ignore"):
            return self.formula(points, np)

    @property
    def traceable(self) -> Callable[[jax.Array], jax.Array] | None:
        return (lambda point: self.formula(point, jnp)) if self.differentiable else None


def gaussian(size: int = 3, width: float = 0.2, **settings) -> Toy:
    """Correlated, between ``width`` and three times as wide, off the median of the prior."""
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.normal(size=(size, size)))[0] * width * np.linspace(1.0, 3.0, size)
    centre, inverse = rng.normal(size=size) * 0.5, np.linalg.inv(axes)
    noise = axes @ axes.T
    covariance = np.linalg.inv(np.linalg.inv(noise) + np.eye(size))
    mean = covariance @ np.linalg.solve(noise, centre)
    spread = noise + np.eye(size)
    log_evidence = 0.5 * (np.linalg.slogdet(noise)[1] - np.linalg.slogdet(spread)[1])
    log_evidence -= 0.5 * centre @ np.linalg.solve(spread, centre)
    factor = np.linalg.inv(np.linalg.cholesky(covariance))

    def features(points):
        rounded = (points - mean) @ factor.T
        products = rounded[..., :, None] * rounded[..., None, :]
        return np.concatenate([rounded, products.reshape(*rounded.shape[:-1], -1)], axis=-1)

    def formula(z, xp):
        return -0.5 * xp.sum(((z - centre) @ inverse.T) ** 2, axis=-1)

    expected = np.concatenate([np.zeros(size), np.eye(size).ravel()])
    return Toy(formula, size, float(log_evidence), features, expected, **settings)


def banana(width: float = 0.1, **settings) -> Toy:
    """Along z_2 = z_1² - ½, at a distance of about ``width``; given z_1, z_2 is Gaussian."""

    def formula(z, xp):
        return -0.5 * ((z[..., 1] - z[..., 0] ** 2 + 0.5) / width) ** 2 - 2.0 * (z[..., 0] - 0.5) ** 2

    along = np.linspace(-4.0, 5.0, 20_001)
    shrink = 1.0 / (1.0 + width**2)
    there = along**2 - 0.5
    heights = stats.norm.pdf(along) * np.exp(-2.0 * (along - 0.5) ** 2 - 0.5 * shrink * there**2)
    heights *= width * np.sqrt(shrink)
    whole = np.trapezoid(heights, along)
    moments = [along, along**2, shrink * there, (shrink * there) ** 2 + shrink * width**2]
    expected = np.array([np.trapezoid(heights * each, along) / whole for each in moments])

    def features(points):
        return np.stack([points[..., 0], points[..., 0] ** 2, points[..., 1], points[..., 1] ** 2], axis=-1)

    return Toy(formula, 2, float(np.log(whole)), features, expected, **settings)


def bimodal(size: int = 2, **settings) -> Toy:
    """Two round Gaussians far apart, one three times as wide; the feature is being in the left one."""
    centres, widths, shares = 1.5 * np.eye(2, size)[[0, 0]] * [[-1], [1]], np.array([0.05, 0.15]), np.array([0.3, 0.7])
    heights = np.log(shares) - size * np.log(widths)

    def formula(z, xp):
        left, right = (
            heights[k] - 0.5 * xp.sum((z - centres[k]) ** 2, axis=-1) / widths[k] ** 2 for k in range(2)
        )  # fmt: skip
        return xp.logaddexp(left, right)

    variances = widths**2 + 1.0
    logs = np.log(shares) - 0.5 * size * np.log(variances) - 0.5 * np.sum(centres**2, axis=1) / variances
    log_evidence = np.logaddexp(*logs)
    return Toy(
        formula, size, float(log_evidence), lambda points: (points[..., :1] < 0) * 1.0,
        np.exp(logs[:1] - log_evidence), **settings,
    )  # fmt: skip


def cut(**settings) -> Toy:
    """Round, cut off at z_1 = 0.3: minus infinity beyond it above the other axis, NaN below."""

    def formula(z, xp):
        outside = xp.where(z[..., 1] > 0, -xp.inf, xp.nan)
        return xp.where(z[..., 0] > 0.3, -0.5 * xp.sum(z**2, axis=-1), outside)

    spread = np.sqrt(0.5)
    mean = stats.truncnorm(0.3 / spread, np.inf, scale=spread).mean()
    log_evidence = float(-np.log(2.0) + stats.norm.logsf(0.3 / spread))
    return Toy(formula, 2, log_evidence, lambda points: points[..., :1], np.array([mean]), **settings)
