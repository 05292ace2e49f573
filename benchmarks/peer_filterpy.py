"""The peer filterpy: its unscented filter of the bilinear oscillator, one parameter set at a time, in NumPy.

Before the first sample it wants a prediction. The oscillator begins at rest, so the first sample tells nothing of the
state and counts by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from filterpy.kalman import JulierSigmaPoints, UnscentedKalmanFilter
from scipy.stats import norm


def log_likelihood(
    p: Mapping[str, float], damping: float, interval: float, noise: np.ndarray, deviation: float, outputs: np.ndarray
) -> float:
    """Of one set."""
    points = JulierSigmaPoints(3, kappa=0.0)  # equal weights, none at the mean, as ours
    filter = UnscentedKalmanFilter(3, 1, interval, hx=lambda x: x[1:2], fx=transition(p, damping), points=points)
    filter.P, filter.Q, filter.R = 1e-12 * np.eye(3), noise, deviation**2 * np.eye(1)
    total = float(norm.logpdf(outputs[0, 0], 0.0, deviation))
    for y in outputs[1:]:
        filter.predict()
        filter.update(y)
        total += filter.log_likelihood
    return total


def transition(p: Mapping[str, float], damping: float) -> Callable[[np.ndarray, float], np.ndarray]:
    """One step of Runge and Kutta; floats, which are faster than arrays of three."""
    k, slope, limit = p["k"], p["alpha"], p["D_y"]

    def pull(x: float, v: float, z: float) -> float:
        return -damping * v - k * (slope * x + (1.0 - slope) * min(max(z, -limit), limit))

    def advance(state: np.ndarray, h: float) -> np.ndarray:
        x, v, z = state.tolist()
        a1 = pull(x, v, z)
        v2 = v + 0.5 * h * a1
        a2 = pull(x + 0.5 * h * v, v2, z + 0.5 * h * v)
        v3 = v + 0.5 * h * a2
        a3 = pull(x + 0.5 * h * v2, v3, z + 0.5 * h * v2)
        v4 = v + h * a3
        a4 = pull(x + h * v3, v4, z + h * v3)
        moved = h / 6.0 * (v + 2.0 * (v2 + v3) + v4)
        end = min(max(z + moved, -limit), limit)
        return np.array([x + moved, v + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4), end])

    return advance
