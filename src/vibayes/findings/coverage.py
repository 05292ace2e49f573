"""Whether as much of the record lies in its band as the band promises."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from vibayes.findings.finding import Finding
from vibayes.findings.residuals import Residuals
from vibayes.interval import PROB

_TOLERATED = 0.035
"""Shares that differ by less are as good."""
_FEWEST = 20


def share_inside(residuals: Residuals, prob: float = PROB) -> np.ndarray:
    """Share of every output that lies in its band; NaN where nothing was measured."""
    left, half = residuals.normalised, float(ndtri(0.5 + 0.5 * prob))
    known = np.isfinite(left)
    with np.errstate(invalid="ignore"):
        return np.where(
            known.any(axis=0), np.sum(np.abs(left) <= half, axis=0) / np.maximum(known.sum(axis=0), 1), np.nan
        )


def coverage(residuals: Residuals) -> list[Finding]:
    """Of every output, with what chance allows: four standard deviations of a count."""
    found, shown = [], []
    for name, inside, left in zip(residuals.names, share_inside(residuals), residuals.normalised.T, strict=True):
        count = int(np.isfinite(left).sum())
        if count < _FEWEST:
            continue
        shown.append(inside)
        allowed = max(_TOLERATED, 4.0 * np.sqrt(PROB * (1.0 - PROB) / count))
        words = f"{100 * inside:.0f} % of {name} lie in the band that should hold {100 * PROB:.0f} %"
        if inside < PROB - allowed:
            severity = "serious" if residuals.noise_known and inside < 0.5 else "warning"
            remedy = "the model is surer than it may be: let the noise be unknown, or try a richer model"
            found.append(Finding(severity, "coverage", f"Only {words}", remedy))
        elif inside > PROB + allowed and residuals.noise_known:
            found.append(Finding("notice", "coverage", words, "the noise is taken for larger than it is: give less"))
    if found or not shown:
        return found
    words = f"{100 * min(shown):.0f} % of the record or more lie in the band that should hold {100 * PROB:.0f} %"
    return [Finding("good", "coverage", words)]
