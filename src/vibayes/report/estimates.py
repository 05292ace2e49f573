"""Figures of what was not measured: responses, spring forces, the input, and loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from vibayes.errors import InvalidInput
from vibayes.filters import Estimate
from vibayes.interval import PROB
from vibayes.report.style import COLOURS, GREY, legend_below, pyplot, tidy


def figure_of_estimate(
    found: Estimate,
    truth: Mapping[str, Any] | None = None,
    span: tuple[float, float] | None = None,
    title: str = "",
    prob: float = PROB,
    label: str = "true",
) -> Any:
    """Estimated readings with their bands, one below the other.

    Args:
        found: by `vibayes.estimate`; readings may be responses, forces of springs or the input.
        truth: what was really there, by the name of the reading, where it is known.
        span: first and last second to be shown; by default all.
        title: above the figure.
        prob: posterior probability of the band.
        label: of the truth.

    Returns:
        A Matplotlib figure.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_estimate
        >>> times = np.linspace(0.0, 1.0, 20)
        >>> found = vb.filters.Estimate(("drift",), times, np.sin(times)[:, None], np.full((20, 1), 0.1))
        >>> figure_of_estimate(found, truth={"drift": np.sin(times)}).axes[0].get_ylabel()
        'drift'
    """
    half = float(ndtri(0.5 + 0.5 * prob))
    rows = len(found.names)
    size = (8.4, 1.0 + 1.8 * rows)
    figure, grid = pyplot().subplots(rows, 1, figsize=size, sharex=True, squeeze=False, layout="constrained")
    first, last = (found.times[0], found.times[-1]) if span is None else span
    shown = (found.times >= first) & (found.times <= last)
    if not shown.any():
        expected = f"two times within {found.times[0]:g} … {found.times[-1]:g} s"
        raise InvalidInput("figure_of_estimate.span", expected, f"{first:g} and {last:g}", "choose some inside")
    times = found.times[shown]
    for name, axes in zip(found.names, grid[:, 0], strict=True):
        mean, deviation = (each[shown] for each in found[name])
        low, high = mean - half * deviation, mean + half * deviation
        axes.fill_between(times, low, high, color=COLOURS[0], alpha=0.3, linewidth=0, label=f"{100 * prob:g} % band")
        if truth is not None and name in truth:
            axes.plot(times, np.asarray(truth[name])[shown], color=GREY, linewidth=2.4, alpha=0.5, label=label)
        axes.plot(times, mean, color=COLOURS[0], linewidth=0.9, label=_label(found))
        tidy(axes, "", name.replace(" of ", "\nof "))
    grid[-1, 0].set_xlabel("time (s)")
    grid[0, 0].set_xlim(times[0], times[-1])
    figure.align_ylabels()
    legend_below(figure, *grid[0, 0].get_legend_handles_labels())
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def figure_of_estimated_loop(
    found: Estimate, deformation: str, force: str, truth: Mapping[str, Any] | None = None, title: str = ""
) -> Any:
    """Estimated force over estimated deformation: the hysteresis that nobody measured.

    Args:
        found: by `vibayes.estimate`, with both readings.
        deformation: name of the reading along the horizontal axis.
        force: name of the one along the vertical axis.
        truth: what was really there, by the name of the reading, where it is known.
        title: above the figure.

    Returns:
        A Matplotlib figure.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_estimated_loop
        >>> times = np.linspace(0.0, 6.0, 60)
        >>> moments = np.stack([np.sin(times), np.sin(times + 0.3)], axis=1)
        >>> found = vb.filters.Estimate(("drift", "force"), times, moments, 0.1 * np.ones_like(moments))
        >>> figure_of_estimated_loop(found, "drift", "force").axes[0].get_xlabel()
        'drift'
    """
    figure, axes = pyplot().subplots(figsize=(5.0, 4.4), layout="constrained")
    if truth is not None and deformation in truth and force in truth:
        axes.plot(truth[deformation], truth[force], color=GREY, linewidth=1.4, alpha=0.6, label="true")
    axes.plot(found[deformation][0], found[force][0], color=COLOURS[0], linewidth=0.9, label=_label(found))
    tidy(axes, deformation, force, title)
    legend_below(figure, *axes.get_legend_handles_labels())
    return figure


def _label(found: Estimate) -> str:
    return "estimate, smoothed" if found.smoothed else "estimate"
