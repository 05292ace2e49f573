"""Whether residuals are white, and have nothing to do with the input.

With r_k the autocorrelation of n residuals at lag k, each of h lags stays within z / √n by chance, z being the normal
quantile of 0.9995 for all of them together. Against an input with autocorrelations ρ_j, the variance of a
cross-correlation is Σ_j r_j ρ_j / n (Bartlett).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from vibayes.findings.finding import Finding
from vibayes.findings.residuals import Residuals

_LAGS = 25
_SHARE = 0.001
"""Of records whose residuals are white and that are blamed all the same."""
_MATTERS = 0.1
"""A correlation below this changes no conclusion, however surely it is not zero."""
_STRONG = 0.3
_FEWEST = 30
"""Residuals that tell a correlation."""
_REMEDY = "the model misses something that lasts: try a richer one, check the noise and the sensors"


def correlation(one: np.ndarray, other: np.ndarray, lags: int) -> np.ndarray:
    """Of one series with another that is 0, 1, … lags earlier; missing values count for nothing.

    Examples:
        >>> import numpy as np
        >>> late = np.sin(np.arange(200.0))
        >>> int(np.argmax(correlation(late[:-3], late[3:], 4)[:4])), correlation(late, late, 0).tolist()
        (3, [1.0])
    """
    a, b = (np.where(np.isfinite(each), each - np.nanmean(each), 0.0) for each in (one, other))
    scale = np.sqrt(np.sum(a * a) * np.sum(b * b)) or 1.0
    return np.array([np.sum(a[lag:] * b[: len(b) - lag]) for lag in range(lags + 1)]) / scale


def chance(count: int, lags: int, variance: float = 1.0) -> float:
    """What chance makes of correlations at so many lags, at most."""
    return float(ndtri(1.0 - 0.5 * _SHARE / max(lags, 1)) * np.sqrt(variance / max(count, 1)))


def lags_of(residuals: Residuals) -> int:
    """At which residuals are compared with one another."""
    return min(_LAGS, len(residuals.places) // 4)


def of_residuals(residuals: Residuals) -> list[Finding]:
    """Whether they are white."""
    lags, found, left = lags_of(residuals), [], residuals.normalised
    shown = 0
    for name, values in zip(residuals.names, left.T, strict=True):
        count = int(np.isfinite(values).sum())
        if count < _FEWEST or not np.nanstd(values) > 0:
            continue
        shown += 1
        r = correlation(values, values, lags)[1:]
        bound, lag = chance(count, lags), int(np.argmax(np.abs(r)))
        if abs(r[lag]) > max(bound, _MATTERS):
            step = residuals.places[1] - residuals.places[0]
            where = f"{(lag + 1) * step:.3g} s" if residuals.along else f"{lag + 1} points"
            found.append(
                Finding(
                    "warning" if abs(r[lag]) > _STRONG else "notice",
                    "residuals",
                    f"What the model leaves of {name} is not white: its correlation with itself {where} earlier is "
                    f"{r[lag]:+.2f}, and chance stays within ±{bound:.2f}",
                    _REMEDY,
                )
            )
    if not found and shown:
        return [Finding("good", "residuals", "What the model leaves of the record is white, as noise is")]
    return found


def against_inputs(residuals: Residuals) -> list[Finding]:
    """Whether they have to do with inputs that were measured."""
    found, lags, shown = [], lags_of(residuals), 0
    for name, left in zip(residuals.names, residuals.normalised.T, strict=True):
        count = int(np.isfinite(left).sum())
        if count < _FEWEST or not np.nanstd(left) > 0:
            continue
        own = correlation(left, left, min(200, count - 1))
        for cause, values in zip(residuals.input_names, residuals.inputs.T, strict=True):
            if not np.std(values) > 0:
                continue
            shown += 1
            r = correlation(left, values, lags)
            others = correlation(values, values, len(own) - 1)
            variance = max(1.0, float(2.0 * np.sum(own * others) - 1.0))
            bound, lag = chance(count, lags + 1, variance), int(np.argmax(np.abs(r)))
            if abs(r[lag]) > max(bound, _MATTERS):
                after = lag * (residuals.places[1] - residuals.places[0])
                found.append(
                    Finding(
                        "warning" if abs(r[lag]) > _STRONG else "notice",
                        "residuals and input",
                        f"What the model leaves of {name} follows {cause} (correlation {r[lag]:+.2f}, {after:.3g} s "
                        f"after it; chance stays within ±{bound:.2f})",
                        "some of the answer to the input is not in the model: try a richer one, or check its input",
                    )
                )
    if not found and shown:
        return [Finding("good", "residuals and input", "What the model leaves of the record does not follow the input")]
    return found
