"""Figures of simulations and of accuracy studies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.accuracy import AccuracyStudy
from vibayes.report.style import COLOURS, GREY, MARKERS, pyplot, tidy
from vibayes.simulation import Solution


def figure_of_history(
    solution: Solution, channels: list[str] | None = None, units: Mapping[str, str] | None = None
) -> Any:
    """Time histories of some channels, one below the other, with the events marked on each.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_history
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis(1.0, 0.75, 0.3)])
        >>> solution = vb.simulate(oscillator, vb.Sine(0.8, 0.1), rate=10.0, samples=101)
        >>> len(figure_of_history(solution).axes)
        3
    """
    plt = pyplot()
    channels = list(solution.output_names) if channels is None else channels
    figure, all_axes = plt.subplots(
        len(channels), 1, figsize=(8, 1.1 + 1.5 * len(channels)), sharex=True, squeeze=False, layout="constrained"
    )
    for axes, name in zip(all_axes[:, 0], channels, strict=True):
        axes.plot(solution.times, solution[name], color=GREY, linewidth=1.1)
        _mark(axes, solution, solution.times, solution[name], over_time=True)
        unit = (units or {}).get(name)
        tidy(axes, "", name.replace(" of ", "\nof ") + (f" ({unit})" if unit else ""))
    all_axes[-1, 0].set_xlabel("time (s)")
    _legend(figure, all_axes[0, 0])
    return figure


def figure_of_loop(solution: Solution, deformation: str, force: str, title: str = "") -> Any:
    """Force over deformation with the events marked.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_loop
        >>> spring = vb.BilinearHysteresis(1.0, 0.75, 0.3).between("ground", "mass", name="spring")
        >>> sensors = [vb.Displacement("mass"), vb.ElementForce("spring")]
        >>> oscillator = vb.Structure.single_dof(1.0, [spring], sensors=sensors)
        >>> solution = vb.simulate(oscillator, vb.Sine(0.8, 0.1), rate=20.0, samples=201)
        >>> figure = figure_of_loop(solution, "displacement of mass", "element force of spring")
    """
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(5.4, 4.4), layout="constrained")
    axes.plot(solution[deformation], solution[force], color=GREY, linewidth=1.1)
    _mark(axes, solution, solution[deformation], solution[force], over_time=False)
    tidy(axes, deformation, force, title)
    _legend(figure, axes)
    return figure


def figure_of_accuracy(studies: Mapping[str, AccuracyStudy], title: str = "") -> Any:
    """Tolerance proportionality and work–accuracy diagrams of one or several studies of the same response."""
    plt = pyplot()
    figure, grid = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
    error = "error at the end"
    panels = (
        (grid[0, 0], lambda s: (s.tolerances, s.displacement_errors), "relative tolerance", error),
        (grid[0, 1], lambda s: (s.displacement_errors, 1e3 * s.seconds), error, "elapsed time (ms)"),
        (grid[1, 0], lambda s: (s.displacement_errors, s.evaluations), error, "evaluations kept"),
        (
            grid[1, 1],
            lambda s: (s.displacement_errors, s.rejected_evaluations + 0.5),
            error,
            "evaluations rejected (+½)",
        ),
    )
    for axes, pick, x, y in panels:
        for i, (name, study) in enumerate(studies.items()):
            label = f"{name} (slope {study.tp_slope:.2f})" if axes is grid[0, 0] else name
            axes.loglog(
                *pick(study), MARKERS[i % 6] + "-", color=COLOURS[i % 6], markersize=4, linewidth=0.9, label=label
            )
        tidy(axes, x, y)
    grid[0, 0].legend(fontsize=8, frameon=False)
    if title:
        figure.suptitle(title, x=0.01, ha="left")
    return figure


def figure_of_event_times(study: AccuracyStudy, title: str = "") -> Any:
    """Number of events, and their times, over the tolerance."""
    plt = pyplot()
    figure, (counts, times) = plt.subplots(
        2, 1, figsize=(7, 6), sharex=True, height_ratios=(1, 2), layout="constrained"
    )
    counts.semilogx(study.tolerances, study.event_counts, "o-", color=COLOURS[0], markersize=4)
    counts.set_ylim(0, 1.15 * max(1, study.event_counts.max()))
    tidy(counts, "", "number of events", title)
    kinds = sorted({kind for run in study.runs if run.events is not None for kind in run.events.kind})
    for i, kind in enumerate(kinds):
        points = [
            (r.rtol, t)
            for r in study.runs
            if r.events
            for t, k in zip(r.events.time, r.events.kind, strict=True)
            if k == kind
        ]
        x, y = np.array(points).T
        times.semilogx(x, y, MARKERS[i % 6], color=COLOURS[i % 6], markersize=3, label=kind)
    tidy(times, "relative tolerance", "event time (s)")
    times.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure as PNG and close it."""
    path = Path(path)
    figure.savefig(path, dpi=150)
    pyplot().close(figure)
    return path


def _mark(axes: Any, solution: Solution, x: Any, y: Any, over_time: bool) -> None:
    """Mark events by kind at their place on a curve."""
    if solution.events is None:
        return
    time = solution.events.time
    height = np.interp(time, solution.times, y)
    place = time if over_time else np.interp(time, solution.times, x)
    names = [f"{b} → {a}" for b, a in zip(solution.events.before, solution.events.after, strict=True)]
    for i, name in enumerate(sorted(set(names))):
        here = np.array([n == name for n in names])
        axes.plot(place[here], height[here], MARKERS[i % 6], color=COLOURS[i % 6], markersize=4.5, label=name)


def _legend(figure: Any, axes: Any) -> None:
    handles, names = axes.get_legend_handles_labels()
    if handles:
        columns = max(1, int(figure.get_figwidth() / 2.4))
        figure.legend(handles, names, fontsize=8, frameon=False, loc="outside lower center", ncols=columns)
