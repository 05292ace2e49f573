"""Figures of measured backbones: a release and the points of its decay, and how points agree with a posterior."""

from __future__ import annotations

from typing import Any

import numpy as np

from vibayes.backbone import BackboneLikelihood, BackbonePoints, LinearModes, ReleasedDecay, backbone_curve, normal_form
from vibayes.errors import InvalidInput
from vibayes.interval import PROB, tails
from vibayes.posterior import ModelPosterior
from vibayes.report.style import COLOURS, GREY, MARKERS, legend_below, pyplot, tidy


def figure_of_decay(test: ReleasedDecay, modes: LinearModes, points: BackbonePoints) -> Any:
    """Sweep and release, decay in modal coordinates, and the points that were found in it.

    Args:
        test: by `vibayes.released_decay`.
        modes: whose coordinates are shown.
        points: by `vibayes.decay_points`.

    Returns:
        A Matplotlib figure of three panels.
    """
    figure, (above, middle, below) = pyplot().subplots(3, 1, figsize=(8.4, 8.0), layout="constrained")
    for record, shift in ((test.sweep, test.sweep.duration), (test.decay, 0.0)):
        coordinates = modes.coordinates(record.output)
        for n in range(coordinates.shape[1]):
            time = np.arange(record.samples) / record.rate - shift
            above.plot(time, coordinates[:, n], color=COLOURS[n], linewidth=0.4)
    above.axvline(0.0, color=GREY, linewidth=0.8)
    tidy(above, "time since the release (s)", "modal coordinate")
    first = modes.coordinates(test.decay.output[: int(60.0 / points.frequency[0] * test.decay.rate) + 1])
    for n in range(first.shape[1]):
        middle.plot(np.arange(len(first)) / test.decay.rate, first[:, n], color=COLOURS[n], label=f"mode {n + 1}")
    tidy(middle, "time since the release (s)", "modal coordinate")
    _points(below, points)
    legend_below(figure, *middle.get_legend_handles_labels())
    return figure


def _points(axes: Any, points: BackbonePoints) -> None:
    for i, mode in enumerate(points.modes):
        bars = points.amplitude_errors[:, i] if np.isfinite(points.amplitude_errors[:, i]).all() else None
        axes.errorbar(
            points.frequency, np.abs(points.amplitudes[:, i]), bars, fmt=MARKERS[i], color=COLOURS[mode - 1],
            markersize=2.5, linewidth=0.6, label=f"mode {mode}, measured",
        )  # fmt: skip
    tidy(axes, "frequency Ω (rad/s)", "amplitude")


def figure_of_backbone_fit(model: ModelPosterior, draws: int = 200, seed: int = 0, prob: float = PROB) -> Any:
    """Measured points of every backbone with the band of backbones that draws of a posterior have.

    Args:
        model: of a problem with points of backbones.
        draws: of the posterior.
        seed: of the choice of draws.
        prob: posterior probability of the band.

    Returns:
        A Matplotlib figure, with a panel per backbone. Bands are of the normal form's curves alone, without scatter.
    """
    prepared = model.problem.filtering()
    if not isinstance(prepared, BackboneLikelihood):
        remedy = "pose a problem with BackbonePoints"
        raise InvalidInput("figure_of_backbone_fit.model", "one of points of backbones", "another", remedy)
    points, values = model.problem.record, model.resampled(seed, draws)
    assert isinstance(points, BackbonePoints)
    names = list(dict.fromkeys(points.backbone))
    figure, grid = pyplot().subplots(
        1, len(names), figsize=(4.2 * len(names) + 0.6, 4.2), squeeze=False, layout="constrained"
    )  # fmt: skip
    form = normal_form(prepared.form.structure, points.modes, points.ratios, order=prepared.method.order)
    given = {name: values[name] for name in form.parameters}
    for axes, name in zip(grid[0], names, strict=True):
        some = points.of(name)
        lead = int(np.argmax(np.abs(some.amplitudes).max(axis=0)))
        sizes = np.linspace(0.05, 1.02, 60) * np.abs(some.amplitudes[:, lead]).max()
        curve = backbone_curve(form, sizes, given, mode=points.modes[lead])
        edges = 100.0 * np.array(tails("figure_of_backbone_fit", prob))
        for i, mode in enumerate(points.modes):
            low, high = np.nanpercentile(curve.frequency, edges, axis=0)
            middle = np.abs(np.nanmedian(curve.amplitudes[:, :, i], axis=0))
            axes.fill_betweenx(middle, low, high, color=COLOURS[mode - 1], alpha=0.4, linewidth=0)
            axes.plot(np.nanmedian(curve.frequency, axis=0), middle, color=COLOURS[mode - 1], linewidth=0.8)
        _points(axes, some)
        axes.set_title(name, loc="left", fontsize=10)
    legend_below(figure, *grid[0, 0].get_legend_handles_labels())
    return figure
