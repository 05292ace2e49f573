"""Quantiles of weighted values."""

from __future__ import annotations

import numpy as np


def weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The smallest value below or at which a share of the weight lies.

    Examples:
        >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.5)
        2.0
    """
    order = np.argsort(values)
    heights = np.cumsum(weights[order])
    return float(values[order][min(np.searchsorted(heights, share * heights[-1]), len(order) - 1)])
