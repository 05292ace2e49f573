"""Still pictures of drawings, by Matplotlib: for print, for files, and for readers without scripts."""

from __future__ import annotations

from typing import Any

import numpy as np

from vibayes.report.drawing import Band, Bars, Dots, Drawing, Mark
from vibayes.report.style import COLOURS, GREY, legend_below, pyplot, tidy

_LOOKS: dict[str, tuple[str, float, float]] = {
    "measured": (GREY, 1.3, 0.8),
    "model": (COLOURS[0], 1.1, 1.0),
    "other": (COLOURS[1], 1.1, 1.0),
    "third": (COLOURS[2], 1.1, 1.0),
    "fourth": (COLOURS[3], 1.1, 1.0),
    "faint": (COLOURS[0], 0.6, 0.25),
    "guide": (GREY, 0.8, 0.8),
}
"""Colour, width and opacity."""


def picture_of(drawing: Drawing) -> Any:
    """A Matplotlib figure."""
    heights = [panel.height for panel in drawing.panels]
    size = (5.4, 4.6) if drawing.square else (8.0, 0.9 + 1.75 * sum(heights))
    figure, grid = pyplot().subplots(
        len(heights), 1, figsize=size, squeeze=False, layout="constrained", height_ratios=heights,
        sharex=drawing.shared,
    )  # fmt: skip
    for axes, panel in zip(grid[:, 0], drawing.panels, strict=True):
        for mark in panel.marks:
            _draw(axes, mark)
        tidy(axes, panel.x if not drawing.shared or axes is grid[-1, 0] else "", panel.y)
        if "x" in panel.log:
            axes.set_xscale("log")
        if "y" in panel.log:
            axes.set_yscale("log")
    figure.align_ylabels()
    labelled = {}
    for axes in grid[:, 0]:
        labelled |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    legend_below(figure, list(labelled.values()), list(labelled))
    return figure


def _draw(axes: Any, mark: Mark) -> None:
    if isinstance(mark, Bars):
        places = np.arange(len(mark.names))
        axes.barh(places, mark.values, xerr=mark.errors, color=COLOURS[0], height=0.6, capsize=2)
        axes.set_yticks(places, list(mark.names), fontsize=8)
        axes.set_ylim(len(places) - 0.4, -0.6)
        return
    colour, width, opacity = _LOOKS[mark.look]
    label = mark.name or None
    if isinstance(mark, Band):
        axes.fill_between(mark.x, mark.low, mark.high, color=colour, alpha=0.3, linewidth=0, label=label)
    elif isinstance(mark, Dots):
        size = 1.6 if mark.small else 4.0
        axes.plot(mark.x, mark.y, "o", color=colour, alpha=opacity, markersize=size, markeredgewidth=0, label=label)
    else:
        style = {"linestyle": "--" if mark.dashed else "-", "drawstyle": "steps-post" if mark.steps else "default"}
        axes.plot(mark.x, mark.y, color=colour, alpha=opacity, linewidth=width, label=label, **style)
