"""Drawings of what is believed: pairs of parameters, probabilities of models, backbones."""

from __future__ import annotations

from typing import Any

import numpy as np

from vibayes.backbone import BackboneLikelihood, BackbonePoints, backbone_curve, normal_form
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.report.drawing import Band, Bars, Dots, Drawing, Line, Panel

_DRAWS = 1500
_CURVES = 200
_GRID = 60
_LOOKS: Any = ("model", "other", "third", "fourth")


def of_pairs(model: ModelPosterior) -> Drawing:
    """Draws of two parameters to choose."""
    draws = model.resampled(0, _DRAWS)
    names = list(draws)
    x, y = names[0], names[min(1, len(names) - 1)]
    says = (
        f"{_DRAWS:,} draws of two parameters of {model.name}; choose which. A narrow slanting cloud is a ridge: the "
        "record knows the two together better than each alone."
    )
    panel = Panel([Dots(draws[x], draws[y], small=True)], x, y)
    return Drawing("pairs", "Parameters in pairs", says, [panel], choices=dict(draws), square=True)


def of_models(posterior: Posterior) -> Drawing | None:
    """Probabilities with standard errors, where they are known."""
    if len(posterior.models) < 2 or not all(np.isfinite(m.probability) for m in posterior):
        return None
    names = [m.name for m in posterior]
    values, errors = (np.array([getattr(m, f) for m in posterior]) for f in ("probability", "standard_error"))
    panel = Panel([Bars(names, values, np.nan_to_num(errors))], "probability", "", height=0.5 + 0.2 * len(names))
    told = ", ".join(f"{m.name} {m.probability:.3f}" for m in posterior)
    return Drawing("models", "Probabilities of the models", f"Probabilities with standard errors: {told}.", [panel])


def of_points(points: BackbonePoints) -> Drawing:
    """Points of backbones as they were measured."""
    marks = [
        Dots(np.abs(points.amplitudes[:, i]), points.frequency, f"mode {mode}", _LOOKS[i % 4])
        for i, mode in enumerate(points.modes)
    ]
    says = f"{points.samples} measured points of backbones: frequency over amplitude."
    return Drawing("data", "What was measured", says, [Panel(marks, "amplitude", "frequency (rad/s)", height=1.8)])


def of_backbones(model: ModelPosterior, prob: float) -> Drawing | None:
    """Measured points with the band of backbones that draws have, a panel per backbone."""
    prepared, points = model.problem.filtering(), model.problem.record
    if not isinstance(prepared, BackboneLikelihood) or not isinstance(points, BackbonePoints):
        return None
    form = normal_form(prepared.form.structure, points.modes, points.ratios, order=prepared.method.order)
    values = model.resampled(0, _CURVES)
    given = {name: values[name] for name in form.parameters}
    panels = []
    for name in dict.fromkeys(points.backbone):
        some = points.of(name)
        lead = int(np.argmax(np.abs(some.amplitudes).max(axis=0)))
        sizes = np.linspace(0.05, 1.02, _GRID) * np.abs(some.amplitudes[:, lead]).max()
        curve = backbone_curve(form, sizes, given, mode=points.modes[lead])
        found = np.isfinite(curve.frequency).any(axis=0)
        low, middle, high = np.nanquantile(curve.frequency[:, found], [0.5 - 0.5 * prob, 0.5, 0.5 + 0.5 * prob], axis=0)
        marks = [
            Band(sizes[found], low, high, f"{100 * prob:g} % band", "model"),
            Line(sizes[found], middle, "median", "model"),
            Dots(np.abs(some.amplitudes[:, lead]), some.frequency, "measured", "measured"),
        ]
        panels.append(
            Panel(marks, f"amplitude of mode {points.modes[lead]}", f"{name}:\nfrequency (rad/s)", height=1.5)
        )
    says = (
        f"Measured points and the backbones of {_CURVES} draws of {model.name}. The band is of the curves alone, "
        "without the scatter of the points."
    )
    return Drawing("fit", "Fit", says, panels)
