"""Evidence by bridge sampling from posterior draws and a mixture that is fitted to them (Meng & Wong 1996).

With draws z_j of the posterior π = p/Z, p = N(z; 0, I) L, and draws z̃_i of a density q, the optimal bridge solves

    Z = [ 1/n₂ Σ_i l̃_i / (s₁ l̃_i + s₂ Z) ] / [ 1/n₁ Σ_j 1 / (s₁ l_j + s₂ Z) ],     l = p/q,  s_k = n_k/(n₁ + n₂).

The mixture is fitted to one half of the draws and bridged with the other half, each way, so that no draw is used for
both. The standard error is that of Frühwirth-Schnatter (2004), with the effective sample size of the posterior draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vibayes.samplers.pieces import pieces_of

_ROUNDS = 200
_CLOSE = 1e-10


class Evidence(NamedTuple):
    """Logarithm of the evidence and its standard error."""

    log: float
    error: float


def bridge(
    rng: np.random.Generator, log_likelihood: Callable[[np.ndarray], np.ndarray], points: np.ndarray, logs: np.ndarray,
    effective: float,
) -> Evidence:  # fmt: skip
    """Evidence of a posterior.

    Args:
        rng: source of chance.
        log_likelihood: of points in coordinates whose prior is standard normal; minus infinity where it is zero.
        points: draws of the posterior, (n, size), those of independent populations one after the other.
        logs: their log-likelihoods.
        effective: independent draws that they are worth.
    """
    count, size = points.shape
    constant = 0.5 * size * np.log(2.0 * np.pi)

    def log_density(z: np.ndarray, likelihood: np.ndarray) -> np.ndarray:
        return likelihood - 0.5 * np.sum(z**2, axis=1) - constant

    half = np.arange(count) < count // 2
    found = []
    for fitted in (half, ~half):
        bridged = ~fitted
        mixture = pieces_of(points[fitted], np.full(fitted.sum(), 1.0 / fitted.sum()))
        drawn = mixture.draw(rng, int(bridged.sum()))
        with np.errstate(invalid="ignore"):
            ahead = log_density(drawn, log_likelihood(drawn)) - mixture.log_density(drawn)
        behind = log_density(points[bridged], logs[bridged]) - mixture.log_density(points[bridged])
        found.append(_bridged(np.nan_to_num(ahead, nan=-np.inf), behind, 0.5 * effective))
    weights = np.array([1.0 / max(each.error, 1e-6) ** 2 for each in found])
    weights = weights / weights.sum()
    log = float(weights @ [each.log for each in found])
    # What two halves disagree by beyond their errors is error too.
    spread = abs(found[0].log - found[1].log) / 2.0
    return Evidence(
        log, float(max(np.sqrt(1.0 / np.sum(1.0 / np.square([max(e.error, 1e-6) for e in found]))), spread / 2))
    )


def _bridged(ahead: np.ndarray, behind: np.ndarray, effective: float) -> Evidence:
    """From log(p/q) at draws of the mixture and of the posterior."""
    if not np.isfinite(ahead).any():
        return Evidence(float(np.median(behind)), np.inf)
    shift = float(np.median(behind))
    l2, l1 = np.exp(np.minimum(ahead - shift, 600.0)), np.exp(np.clip(behind - shift, -600.0, 600.0))
    n1, n2 = effective, float(len(ahead))
    s1, s2 = n1 / (n1 + n2), n2 / (n1 + n2)
    z = 1.0
    for _ in range(_ROUNDS):
        new = np.mean(l2 / (s1 * l2 + s2 * z)) / np.mean(1.0 / (s1 * l1 + s2 * z))
        done = abs(new - z) < _CLOSE * new
        z = new
        if done:
            break
    f2, f1 = l2 / (s1 * l2 + s2 * z), 1.0 / (s1 * l1 + s2 * z)
    variance = np.var(f2) / np.mean(f2) ** 2 / n2 + np.var(f1) / np.mean(f1) ** 2 / n1
    return Evidence(float(np.log(z) + shift), float(np.sqrt(variance)))
