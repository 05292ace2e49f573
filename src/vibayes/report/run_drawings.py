"""Drawings of how a run went, level by level."""

from __future__ import annotations

from typing import Any

import numpy as np

from vibayes.posterior import Posterior
from vibayes.report.drawing import Drawing, Line, Panel

_LOOKS: Any = ("model", "other", "third", "fourth", "measured", "guide")


def of_trace(posterior: Posterior) -> Drawing | None:
    """Threshold, acceptance and probabilities over the levels, where the method has them, and what each had cost."""
    trace = [level for level in posterior.trace if level.stage != "done"]
    if len(trace) < 2:
        return None
    levels = np.arange(1, len(trace) + 1)
    panels = []
    thresholds = np.array([level.threshold for level in trace])
    shares = np.array([100.0 * level.acceptance for level in trace])
    followed = np.array([100.0 * level.followed for level in trace])
    if np.isfinite(thresholds).any():
        log = "y" if np.nanmax(thresholds) > 10.0 * np.nanmin(thresholds) > 0 else ""
        panels.append(Panel(_by_model(posterior, trace, levels, thresholds), "level", "threshold", log))
    if np.any(followed < 100.0):
        panels.append(Panel(_by_model(posterior, trace, levels, followed), "level", "followed (%)", height=0.8))
    if np.isfinite(shares).any():
        panels.append(Panel(_by_model(posterior, trace, levels, shares), "level", "accepted (%)", height=0.8))
    chances = np.array([level.probabilities for level in trace], float)
    if len(posterior.models) > 1 and np.isfinite(chances).all(axis=1).sum() > 1:
        marks = [Line(levels, chances[:, i], model.name, _LOOKS[i % 6]) for i, model in enumerate(posterior.models)]
        panels.append(Panel(marks, "level", "probability"))
    seconds = np.array([level.seconds for level in trace])
    panels.append(Panel([Line(levels, seconds, look="guide", steps=True)], "level", "seconds", height=0.7))
    cost = f"{posterior.simulations:,} simulations in {posterior.seconds:.1f} s"
    says = f"How the run went, over {len(trace)} levels: {cost}."
    return Drawing("trace", "How the run went", says, panels, shared=True)


def _by_model(posterior: Posterior, trace: list[Any], levels: np.ndarray, values: np.ndarray) -> list[Line]:
    """A line for every model, and one for the levels of all together."""
    names = ["", *(model.name for model in posterior)]
    looks = ["guide", *(_LOOKS[i % 6] for i in range(len(posterior.models)))]
    lines = []
    for name, look in zip(names, looks, strict=True):
        own = np.array([level.model == name for level in trace])
        if own.any() and np.isfinite(values[own]).any():
            lines.append(Line(levels, np.where(own, values, np.nan), name or "all models", look))
    return lines
