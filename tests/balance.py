"""An oracle for backbones: harmonic balance of free vibration by SciPy, which shares no code with the package."""

from __future__ import annotations

import numpy as np
from scipy.optimize import root


def balanced(masses, stiffness, forces, lead, size, guess, harmonics=9, instants=96):
    """Frequency and cosine amplitudes (harmonics 0, 1, …; masses) of M ẍ + K x + f(x) = 0.

    ``lead(spectrum)`` is what is held at ``size``; ``guess`` a frequency and a spectrum to begin from.
    """
    orders = np.arange(harmonics + 1)
    phases = 2.0 * np.pi * np.arange(instants) / instants
    cosines = np.cos(np.outer(phases, orders))
    weights = np.where(orders == 0, 1.0, 2.0) / instants

    def residual(unknown):
        frequency, spectrum = unknown[0], unknown[1:].reshape(harmonics + 1, -1)
        nonlinear = weights[:, None] * (cosines.T @ forces(cosines @ spectrum))
        inertia = (orders[:, None] * frequency) ** 2 * spectrum * masses
        return np.append((spectrum @ stiffness.T - inertia + nonlinear).ravel(), lead(spectrum) - size)

    found = root(residual, np.append(guess[0], np.asarray(guess[1]).ravel()), tol=1e-14)
    assert np.abs(found.fun).max() < 1e-11, found.message
    return found.x[0], found.x[1:].reshape(harmonics + 1, -1)
