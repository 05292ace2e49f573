"""Figures of commands: data with what the priors expect, and a simulated record."""

from __future__ import annotations

from typing import Any

import numpy as np

from vibayes.backbone import BackbonePoints
from vibayes.record import Record
from vibayes.report.style import COLOURS, GREY, legend_below, look, pyplot, tidy
from vibayes.study.prior_responses import PriorResponses


def figure_of_priors(prior: PriorResponses) -> Any:
    """The data, and what draws of the priors give in their place; channels one below the other.

    The scale is that of the data and of the middle half of the draws: a few wild ones are cut.
    """
    record, outputs = prior.problem.motions, prior.outputs
    assert outputs is not None
    names = record.names
    figure, grid = _panels(len(names))
    for axes, name in zip(grid, names, strict=True):
        measured = record.channel(name)
        if name in record.output_names:
            drawn = outputs[:, :, record.output_names.index(name)]
            drawn = drawn[np.isfinite(drawn).all(axis=1)]
            for number, one in enumerate(drawn):
                label = "draws of the priors" if number == 0 else None
                axes.plot(record.times, one, color=COLOURS[0], linewidth=0.6, alpha=0.35, label=label)
            sizes = [
                np.nanmax(np.abs(measured)),
                *(np.quantile(np.abs(drawn).max(axis=1), [0.75]) if len(drawn) else []),
            ]
            reach = 1.3 * float(max(sizes))
            if reach > 0:
                axes.set_ylim(-reach, reach)
        axes.plot(record.times, measured, color=GREY, linewidth=1.1, label="measured")
        unit = record.units[name]
        tidy(axes, "", f"{name} ({unit})" if unit else name)
    grid[-1].set_xlabel("time (s)")
    grid[0].set_title(f"{prior.problem.name}: data, and what the priors expect", loc="left", fontsize=10)
    legend_below(figure, *grid[-1].get_legend_handles_labels())
    return figure


def figure_of_points(points: BackbonePoints) -> Any:
    """Points of backbones: frequency over the amplitude of every mode."""
    figure, axes = pyplot().subplots(figsize=(6.4, 4.2), layout="constrained")
    for number, mode in enumerate(points.modes):
        size = np.abs(points.amplitudes[:, number])
        axes.plot(size, points.frequency, linestyle="", markersize=5, label=f"mode {mode}", **look(number))
    tidy(axes, "amplitude", "frequency (rad/s)", "Points of backbones")
    legend_below(figure, *axes.get_legend_handles_labels())
    return figure


def figure_of_record(record: Record, title: str = "") -> Any:
    """All channels of a record, one below the other."""
    figure, grid = _panels(len(record.names))
    for number, (axes, name) in enumerate(zip(grid, record.names, strict=True)):
        axes.plot(record.times, record.channel(name), color=COLOURS[number % len(COLOURS)], linewidth=0.9)
        unit = record.units[name]
        tidy(axes, "", f"{name} ({unit})" if unit else name)
    grid[-1].set_xlabel("time (s)")
    grid[0].set_title(title, loc="left", fontsize=10)
    return figure


def _panels(count: int) -> tuple[Any, Any]:
    figure, grid = pyplot().subplots(
        count, 1, figsize=(8.4, 1.6 + 1.7 * count), squeeze=False, sharex=True, layout="constrained"
    )
    return figure, grid[:, 0]
