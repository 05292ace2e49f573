"""Whether the record is something that the model can do at all."""

from __future__ import annotations

import numpy as np

from vibayes.findings.finding import Finding
from vibayes.findings.residuals import Residuals
from vibayes.findings.whiteness import chance, correlation, lags_of
from vibayes.posterior import Posterior
from vibayes.prediction import Prediction

_MUCH, _MOST = 0.2, 0.5
"""Shares of the record's variance that a fit should not leave."""
_ABOVE = 1.3
"""Times the noise that a fit may leave."""
_FAR = 4.0
"""Standard deviations of what was predicted at which a size is out of reach."""
_REMEDY = "try another model, widen the priors, and check units, signs and which channel is which"


def of_models(posterior: Posterior) -> list[Finding]:
    """Whether any model came near the record."""
    if any(model.probability > 0 or np.isnan(model.probability) or len(model.weights) for model in posterior):
        return []
    return [Finding("serious", "reach", "None of the models has been found to explain the record", _REMEDY)]


def of_fit(residuals: Residuals) -> list[Finding]:
    """Whether the best fit leaves more than noise."""
    found = []
    for number, name in enumerate(residuals.names):
        left, values = residuals.left[number], residuals.normalised[:, number]
        values = values[np.isfinite(values)]
        if len(values) < 10:
            continue
        times = float(np.sqrt(np.mean(values**2)))
        if residuals.noise_known and times > _ABOVE + 4.0 / np.sqrt(2.0 * len(values)):
            severity = "serious" if times > 3.0 else "warning"
            found.append(
                Finding(severity, "reach", f"The best fit of {name} leaves {times:.2g} times the noise", _REMEDY)
            )
        elif left > _MUCH and residuals.along and not residuals.innovations:
            found.append(_leaves(residuals, number, name, left))
    if found:
        return found
    if residuals.along and not residuals.innovations:
        words = f"The fit leaves {100 * np.nanmax(residuals.left):.2g} % of the variance of the record"
        return [Finding("good", "reach", words)]
    return [Finding("good", "reach", "The fit leaves no more than the noise")]


def _leaves(residuals: Residuals, number: int, name: str, left: float) -> Finding:
    """A fit that leaves much of an output: noise, if it is white, or motion that the model cannot make."""
    values, lags = residuals.normalised[:, number], lags_of(residuals)
    r = correlation(values, values, lags)[1:]
    sentence = f"The best fit leaves {100 * left:.0f} % of the variance of {name}"
    if len(r) and np.abs(r).max() < max(chance(len(values), lags), 0.1):
        return Finding("notice", "reach", f"{sentence}, and what it leaves is white, as noise is", "measure with less")
    return Finding("serious" if left > _MOST else "warning", "reach", sentence, _REMEDY)


def of_random(prediction: Prediction) -> list[Finding]:
    """Whether a structure under random inputs moves about as much as was measured."""
    if not prediction.random or len(prediction.outputs) < 10:
        return []
    record, found = prediction.record, []
    sizes = np.log(np.sqrt(np.mean(prediction.outputs**2, axis=1)))
    for number, name in enumerate(record.output_names):
        size = np.log(np.sqrt(np.nanmean(record.output[:, number] ** 2)))
        middle, spread = sizes[:, number].mean(), max(sizes[:, number].std(), 0.02)
        if abs(size - middle) > _FAR * spread:
            factor = np.exp(size - middle)
            words = f"What was measured of {name} is {factor:.2g} times as large as the model's own motions"
            found.append(Finding("serious", "reach", words, _REMEDY))
    return found or [Finding("good", "reach", "Under inputs drawn anew the model moves about as much as was measured")]
