"""Polynomials of a static input as candidates: records, problems, and evidences and posteriors in closed form.

With errors that are linear in the unknowns β, S(β) = S_0 + (β - β̂)ᵀ A (β - β̂), priors that are uniform in a box of the
volume V around all that matters, and σ integrated out,

    ∫ S^(-n/2) dβ / V  =  S_0^(-(n-k)/2) π^(k/2) Γ((n-k)/2) / (Γ(n/2) √det A V),    cov β  =  A⁻¹ S_0 / (n - k - 2).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import gammaln

import vibayes as vb

POWERS = {"linear": (1,), "cubic": (1, 3)}
PRIORS = {1: vb.Uniform(0.0, 2.0), 3: vb.Uniform(-1.0, 1.0)}


@cache
def record(samples: int) -> tuple[np.ndarray, vb.Record]:
    """y = x + b x³ + noise, with b as far from zero as in 20,000 samples it is by 15.5 standard errors."""
    rng = np.random.default_rng(7)
    x = rng.uniform(-1.0, 1.0, samples)
    # Given x, the standard error of b is σ / √(n (x³ᵀx³ - (xᵀx³)²/xᵀx)) with moments 1/7, 1/5 and 1/3.
    b = 15.5 * 0.3 / np.sqrt(20_000 * (1 / 7 - (1 / 5) ** 2 * 3))
    y = x + b * x**3 + 0.3 * rng.standard_normal(samples)
    return x, vb.Record.from_arrays(rate=1.0, output={"y": y})


def problem(name: str, samples: int, missing: int = 0) -> vb.Problem:
    """A candidate of that record, the first samples of which may be missing."""
    x, measured = record(samples)
    if missing:
        y = measured.output[:, 0].copy()
        y[:missing] = np.nan
        measured = vb.Record.from_arrays(rate=1.0, output={"y": y})
    columns = {f"b{p}": x**p for p in POWERS[name]}

    def polynomial(**values):
        return sum(values[each][:, None] * column for each, column in columns.items())

    priors = {f"b{p}": PRIORS[p] for p in POWERS[name]}
    return vb.Problem(polynomial, measured, priors, name, sequential=False, vectorised=True)


def exact(name: str, samples: int, missing: int = 0) -> tuple[float, dict[str, float], dict[str, float]]:
    """Logarithm of the evidence against a record of noise about its mean, posterior means and standard deviations."""
    x, measured = record(samples)
    powers = POWERS[name]
    x, y = x[missing:], measured.output[missing:, 0]
    design = np.stack([x**p for p in powers], axis=1)
    volume = np.sum([np.log(PRIORS[p].high - PRIORS[p].low) for p in powers])
    log_evidence, best, deviations = linear_in_unknowns(design, y, float(volume))
    names = [f"b{p}" for p in powers]
    return log_evidence, dict(zip(names, best, strict=True)), dict(zip(names, deviations, strict=True))


def linear_in_unknowns(design: np.ndarray, y: np.ndarray, log_volume: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Log evidence against noise about the mean of y, posterior means and standard deviations, σ integrated out."""
    n, k = design.shape
    best, (rest,), *_ = np.linalg.lstsq(design, y, rcond=None)
    a = design.T @ design
    log_integral = (
        -0.5 * (n - k) * np.log(rest) + 0.5 * k * np.log(np.pi) + gammaln(0.5 * (n - k)) - gammaln(0.5 * n)
        - 0.5 * np.linalg.slogdet(a)[1] - log_volume
    )  # fmt: skip
    of_noise = -0.5 * n * np.log(np.sum((y - y.mean()) ** 2))
    return log_integral - of_noise, best, np.sqrt(np.diag(np.linalg.inv(a)) * rest / (n - k - 2))
