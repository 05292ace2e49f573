"""Whether the record decides between the models."""

from __future__ import annotations

import numpy as np

from vibayes.findings.finding import Finding
from vibayes.findings.run import ENDED
from vibayes.posterior import Posterior

_DECISIVE = 10.0
"""Odds from which one model is preferred to another; below, both should be kept."""
_CERTAIN = 2.0
"""Standard errors by which probabilities should differ."""


def of_models(posterior: Posterior) -> list[Finding]:
    """Odds of the most probable model against the next."""
    known = [model for model in posterior if np.isfinite(model.probability)]
    if len(posterior.models) < 2:
        return []
    if len(known) < len(posterior.models):
        remedy = "use a method that gives the evidence, as TemperedSMC or IBIS"
        if any(note.startswith(ENDED) for note in posterior.notes):
            remedy = "let the run go on to its end"
        return [Finding("notice", "models", "Probabilities of the models are not known", remedy)]
    first, second = sorted(known, key=lambda model: model.probability, reverse=True)[:2]
    if not first.probability > 0:
        return []
    apart, error = first.probability - second.probability, np.hypot(first.standard_error, second.standard_error)
    if apart < _CERTAIN * error:
        words = (
            f"Which model is more probable, {first.name} or {second.name}, is not sure: their probabilities differ by "
            f"{apart:.2f} ± {error:.2f}"
        )
        return [Finding("warning", "models", words, "give more particles or draws, or keep both models")]
    if first.probability < _DECISIVE * second.probability:
        words = f"The record does not decide: {first.name} is {_times(first, second)} as probable as {second.name}"
        return [Finding("notice", "models", words, "keep both models in predictions, or measure for longer")]
    if not second.probability > 0:
        return [Finding("good", "models", f"No other model than {first.name} comes near the record")]
    return [
        Finding("good", "models", f"{first.name} is {_times(first, second)} as probable as the next, {second.name}")
    ]


def _times(first, second) -> str:
    return f"{first.probability / second.probability:.2g} times"
