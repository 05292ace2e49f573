"""What a prediction costs nothing to beat: errors of naive predictions, to stand beside those of a study.

last_value    the last sample that was known, held.
parabola      through the last three samples that were known, continued.
linear_model  the study's own structure without what is nonlinear in it, fitted by least squares to the same data; one
              step ahead, a regression on two samples of output and three of input.

What is known differs: one step ahead all samples before, in a free run the first three samples alone (and the inputs,
for a linear model).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import vibayes as vb

_LAGS = 2
_STEP = 1e-5


def rmse(found: np.ndarray, measured: np.ndarray) -> float:
    """Root mean square error."""
    return float(np.sqrt(np.nanmean((np.asarray(found) - np.asarray(measured)) ** 2)))


def nmse(error: float, outputs: np.ndarray) -> float:
    """Normalised mean square error in percent, as `vibayes.NMSE` has it, from a root mean square error."""
    return 100.0 * error**2 / float(np.nanvar(outputs))


def continued(outputs: np.ndarray, ahead: int) -> dict[str, np.ndarray]:
    """Last value and parabola from every sample from the third on to that ``ahead`` samples later.

    With nodes at 0, -1 and -2 the parabola at h is (h+1)(h+2)/2 y₀ - h(h+2) y₋₁ + h(h+1)/2 y₋₂.
    """
    now, before, first = outputs[2:-ahead], outputs[1 : -ahead - 1], outputs[: -ahead - 2]
    h = float(ahead)
    parabola = 0.5 * (h + 1.0) * (h + 2.0) * now - h * (h + 2.0) * before + 0.5 * h * (h + 1.0) * first
    return {"last_value": now, "parabola": parabola}


def ahead_of(
    outputs: np.ndarray,
    ahead: int = 1,
    inputs: np.ndarray | None = None,
    learnt: tuple[np.ndarray, np.ndarray] | None = None,
) -> dict[str, float]:
    """Errors of predictions so many samples ahead from all samples before; of the regression one step ahead.

    Args:
        outputs: of the test.
        ahead: samples.
        inputs: of the test.
        learnt: inputs and outputs that the regression is fitted to; by default none, and there is no linear model.
    """
    outputs = np.asarray(outputs, float)
    found = {name: rmse(each, outputs[2 + ahead :]) for name, each in continued(outputs, ahead).items()}
    if learnt is not None and inputs is not None and ahead == 1:
        coefficients = np.linalg.lstsq(*_regression(*learnt), rcond=None)[0]
        matrix, measured = _regression(inputs, outputs)
        found["linear_model"] = rmse(matrix @ coefficients, measured)
    return found


def _regression(inputs: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two earlier outputs, inputs since then and a constant, and the outputs that they should give."""
    u, y = np.asarray(inputs, float).ravel(), np.asarray(outputs, float).ravel()
    columns = [y[1:-1], y[:-2], u[2:], u[1:-1], u[:-2], np.ones(len(y) - _LAGS)]
    return np.stack(columns, axis=1), y[_LAGS:]


def from_start(outputs: np.ndarray, linear: np.ndarray | None = None) -> dict[str, float]:
    """Errors over a whole record of what is known at its beginning: its first sample, or a parabola through three.

    Args:
        outputs: of the test.
        linear: the same by a linear model under the inputs.
    """
    y = np.asarray(outputs, float)
    curve = np.polynomial.Polynomial.fit(np.arange(3.0), y[:3], 2)(np.arange(float(len(y))))
    found = {"last_value": rmse(np.full(len(y), y[0]), y), "parabola": rmse(curve, y)}
    return found | ({} if linear is None else {"linear_model": rmse(linear, y)})


def fitted(
    structure: vb.Structure, record: vb.Record, start: Mapping[str, float], hold: vb.Hold | None = None, **settings: Any
) -> dict[str, float]:
    """Positive parameters of a structure, by least squares in their logarithms; NaN outputs do not count."""
    measured, names = np.asarray(record.output)[:, 0], tuple(start)
    known = np.isfinite(measured)
    signal = vb.Sampled(record.input, record.rate, hold or vb.StraightLines())
    steps = np.concatenate([np.zeros((1, len(names))), _STEP * np.eye(len(names))])

    def runs(logs: np.ndarray) -> np.ndarray:
        values = {n: start[n] * np.exp((logs + steps)[:, i]) for i, n in enumerate(names)}
        found = np.asarray(vb.simulate(structure, signal, values, states=False, **settings).outputs)[..., 0]
        return np.nan_to_num(found[:, known], nan=1e3 * float(np.nanstd(measured)))

    def jacobian(logs: np.ndarray) -> np.ndarray:
        found = runs(logs)
        return ((found[1:] - found[0]) / _STEP).T

    best = least_squares(lambda logs: runs(logs)[0] - measured[known], np.zeros(len(names)), jacobian, max_nfev=40)
    return {n: float(start[n] * np.exp(best.x[i])) for i, n in enumerate(names)}


def told(found: Mapping[str, float], say: Callable[[str], Any] = print) -> None:
    """One line."""
    say("  naive: " + ", ".join(f"{name} {value:.3g}" for name, value in found.items()))
