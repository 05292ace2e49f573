"""Displacements of a period as truncated Fourier series.

    x(τ) = c₀ + Σ_k (a_k cos kτ + b_k sin kτ),      τ = Ωt,   k = 1 … H

Coefficients are kept in rows c₀, a₁, b₁, a₂, b₂, …, with one column per mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def angles(samples: int) -> np.ndarray:
    """Instants τ that divide a period evenly, the first at zero."""
    return 2.0 * np.pi * np.arange(samples) / samples


def synthesis(harmonics: int, instants: np.ndarray, derivative: int = 0) -> np.ndarray:
    """Matrix from coefficients to values (or to derivatives by τ) at instants, (instants, 2H + 1)."""
    instants = np.asarray(instants, float)
    matrix = np.zeros((len(instants), 2 * harmonics + 1))
    matrix[:, 0] = 1.0 if derivative == 0 else 0.0
    for k in range(1, harmonics + 1):
        turned = k * instants + 0.5 * np.pi * derivative
        matrix[:, 2 * k - 1] = float(k) ** derivative * np.cos(turned)
        matrix[:, 2 * k] = float(k) ** derivative * np.sin(turned)
    return matrix


def analysis(harmonics: int, samples: int) -> np.ndarray:
    """Matrix from values at evenly spaced instants to coefficients, (2H + 1, samples)."""
    matrix = synthesis(harmonics, angles(samples)).T * (2.0 / samples)
    matrix[0] *= 0.5
    return matrix


def differentiation(harmonics: int) -> np.ndarray:
    """Matrix from coefficients of a series to those of its derivative by τ."""
    matrix = np.zeros((2 * harmonics + 1,) * 2)
    for k in range(1, harmonics + 1):
        matrix[2 * k - 1, 2 * k] = k
        matrix[2 * k, 2 * k - 1] = -k
    return matrix


def shifted(coefficients: np.ndarray, angle: Any) -> np.ndarray:
    """Coefficients of x(τ − angle); of many series (…, 2H + 1, masses) by one angle each, or by the same."""
    coefficients = np.asarray(coefficients, float)
    result = coefficients.copy()
    turn = np.asarray(angle, float)[..., None]
    for k in range(1, coefficients.shape[-2] // 2 + 1):
        cosine, sine = np.cos(k * turn), np.sin(k * turn)
        a, b = coefficients[..., 2 * k - 1, :], coefficients[..., 2 * k, :]
        result[..., 2 * k - 1, :], result[..., 2 * k, :] = a * cosine - b * sine, a * sine + b * cosine
    return result


def resized(coefficients: np.ndarray, harmonics: int) -> np.ndarray:
    """The same series with another number of harmonics: cut off, or filled up with zeros."""
    coefficients = np.asarray(coefficients, float)
    rows = 2 * harmonics + 1
    result = np.zeros((*coefficients.shape[:-2], rows, coefficients.shape[-1]))
    kept = min(rows, coefficients.shape[-2])
    result[..., :kept, :] = coefficients[..., :kept, :]
    return result


def harmonic(coefficients: np.ndarray, number: int = 1) -> np.ndarray:
    """Complex amplitude z of a harmonic, with x = Re(z e^{ikτ}) for it: z = a − ib."""
    coefficients = np.asarray(coefficients)
    return coefficients[..., 2 * number - 1, :] - 1j * coefficients[..., 2 * number, :]


def peaks(coefficients: np.ndarray, samples: int = 256) -> np.ndarray:
    """Largest |x| of a period, (…, masses): the largest sample, refined by the parabola through its neighbours."""
    matrix = synthesis(np.shape(coefficients)[-2] // 2, angles(samples))
    values = np.abs(np.einsum("tk,...kn->...tn", matrix, np.asarray(coefficients)))
    top = np.expand_dims(values.argmax(axis=-2), -2)
    before, middle, after = (np.take_along_axis(values, (top + i) % samples, -2)[..., 0, :] for i in (-1, 0, 1))
    bend = 2.0 * middle - before - after
    safe = np.where(bend > 0.0, bend, 1.0)
    return middle + np.where(bend > 0.0, (after - before) ** 2 / (8.0 * safe), 0.0)
