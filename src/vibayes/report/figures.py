"""Figures of simulations and of accuracy studies: each function takes results and gives a Matplotlib figure.

Events are marked alike in all of them: one colour and one marker for each transition from mode to mode.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.accuracy import AccuracyStudy
from vibayes.atomic_write import write_whole
from vibayes.errors import InvalidInput
from vibayes.excitation import Analytic
from vibayes.io.files import MARK
from vibayes.report.style import COLOURS, GREY, decades, legend_below, look, plain_numbers, pyplot, tidy
from vibayes.simulation import EventTable, Solution

_EVENT: dict[str, Any] = {"linestyle": "none", "markersize": 4.5, "markeredgecolor": "white", "markeredgewidth": 0.4}


def figure_of_history(
    solution: Solution,
    channels: Sequence[str] | None = None,
    units: Mapping[str, str] | None = None,
    excitation: Analytic | None = None,
    title: str = "",
) -> Any:
    """Time histories of some channels, one below the other, with the events marked on each.

    Args:
        solution: of one parameter set.
        channels: outputs or states by name; by default all outputs.
        units: by name of the channel, "excitation" included.
        excitation: a smooth signal to show on top.
        title: above the uppermost panel.

    Returns:
        A Matplotlib figure.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_history
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis(1.0, 0.75, 0.3)])
        >>> force = vb.Sine(0.8, 0.1)
        >>> solution = vb.simulate(oscillator, force, rate=10.0, samples=101)
        >>> len(figure_of_history(solution, excitation=force).axes)
        4
    """
    _single(solution)
    curves: dict[str, Any] = {}
    if excitation is not None:
        curves["excitation"] = np.array([float(excitation.value(t)) for t in solution.times])
    curves |= {name: solution[name] for name in (solution.output_names if channels is None else channels)}
    figure, all_axes = pyplot().subplots(
        len(curves), 1, figsize=(8, 1.0 + 1.35 * len(curves)), sharex=True, squeeze=False, layout="constrained"
    )
    for axes, (name, values) in zip(all_axes[:, 0], curves.items(), strict=True):
        axes.plot(solution.times, values, color=GREY, linewidth=1.0)
        if name != "excitation":
            _mark(axes, solution, solution.times, values)
        tidy(axes, "", _label(name, units, break_at=" of "))
    figure.align_ylabels()
    all_axes[0, 0].set_title(title, loc="left", fontsize=10)
    all_axes[0, 0].margins(x=0.01)
    all_axes[-1, 0].set_xlabel("time (s)")
    legend_below(figure, *all_axes[-1, 0].get_legend_handles_labels())
    return figure


def figure_of_loop(
    solution: Solution, deformation: str, force: str, title: str = "", units: Mapping[str, str] | None = None
) -> Any:
    """Force over deformation with the events marked.

    Args:
        solution: of one parameter set.
        deformation: name of the output or state along the horizontal axis.
        force: name of the one along the vertical axis.
        title: above the figure.
        units: by name of the channel.

    Returns:
        A Matplotlib figure.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_loop
        >>> spring = vb.BilinearHysteresis(1.0, 0.75, 0.3).between("ground", "mass", name="spring")
        >>> sensors = [vb.Displacement("mass"), vb.ElementForce("spring")]
        >>> oscillator = vb.Structure.single_dof(1.0, [spring], sensors=sensors)
        >>> solution = vb.simulate(oscillator, vb.Sine(0.8, 0.1), rate=20.0, samples=201)
        >>> figure = figure_of_loop(solution, "displacement of mass", "element force of spring")
    """
    _single(solution)
    figure, axes = pyplot().subplots(figsize=(5.4, 4.4), layout="constrained")
    axes.plot(solution[deformation], solution[force], color=GREY, linewidth=0.7)
    _mark(axes, solution, solution[deformation], solution[force])
    tidy(axes, _label(deformation, units), _label(force, units), title)
    legend_below(figure, *axes.get_legend_handles_labels())
    return figure


def figure_of_accuracy(studies: AccuracyStudy | Mapping[str, AccuracyStudy], title: str = "") -> Any:
    """Tolerance proportionality and work–accuracy diagrams of one or several studies of the same response.

    Args:
        studies: a study, or several by name.
        title: above the figure.

    Returns:
        A Matplotlib figure of four panels: error over tolerance with the fitted line; elapsed time, evaluations in
        steps kept and evaluations in steps rejected over error.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.accuracy import accuracy
        >>> from vibayes.report import figure_of_accuracy
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis(1.0, 0.75, 0.3)])
        >>> study = accuracy(oscillator, vb.Sine(0.8, 0.1), duration=20.0, tolerances=[1e-4, 1e-6], repeats=1)
        >>> len(figure_of_accuracy({"events located": study}).axes)
        4
    """
    named = {"": studies} if isinstance(studies, AccuracyStudy) else studies
    figure, grid = pyplot().subplots(2, 2, figsize=(8.4, 6.6), layout="constrained")
    proportionality, *work = grid.ravel()
    error = "displacement error at the end"
    for i, (name, study) in enumerate(named.items()):
        words = f"{name} (slope {study.tp_slope:.3f})" if name else f"slope {study.tp_slope:.3f}"
        dots = {**_dots(study, i), "label": words}
        proportionality.loglog(study.tolerances, study.displacement_errors, **dots)
        _fitted_line(proportionality, study, COLOURS[i % len(COLOURS)])
        for axes, cost in zip(work, (1e3 * study.seconds, study.evaluations, study.rejected_evaluations), strict=True):
            axes.loglog(study.displacement_errors, np.where(cost > 0, cost, np.nan), **dots)
    tidy(proportionality, "relative tolerance", error)
    decades(proportionality.yaxis)
    for axes, cost in zip(work, ("elapsed time (ms)", "evaluations, kept", "evaluations, rejected"), strict=True):
        tidy(axes, error, cost)
        plain_numbers(axes.yaxis)
    for axes in grid.ravel():
        decades(axes.xaxis)
    legend_below(figure, *work[0].get_legend_handles_labels())
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def figure_of_event_times(study: AccuracyStudy, title: str = "") -> Any:
    """Number of events, their times and the errors of these times, over the tolerance.

    Args:
        study: of a method that locates events.
        title: above the figure.

    Returns:
        A Matplotlib figure of three panels.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.accuracy import accuracy
        >>> from vibayes.report import figure_of_event_times
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis(1.0, 0.75, 0.3)])
        >>> study = accuracy(oscillator, vb.Sine(0.8, 0.1), duration=20.0, tolerances=[1e-4, 1e-6], repeats=1)
        >>> len(figure_of_event_times(study).axes)
        3
    """
    if not study.locates_events:
        raise InvalidInput(
            "figure_of_event_times", "a study of a method that locates events", "one without", "study EventLocated()"
        )
    figure, (counts, times, errors) = pyplot().subplots(
        3, 1, figsize=(7, 7.5), sharex=True, height_ratios=(1, 2, 1.4), layout="constrained"
    )
    counts.semilogx(study.tolerances, study.event_counts, "o-", color=GREY, markersize=2.5, linewidth=0.8)
    counts.yaxis.get_major_locator().set_params(integer=True)
    counts.set_ylim(0, 1.15 * max(1, study.event_counts.max()))
    tables = [run.events for run in study.runs if run.events is not None]
    kinds = list(dict.fromkeys(name for table in tables for name in _transitions(table)))
    for i, kind in enumerate(kinds):
        points = [
            (run_rtol, time)
            for run_rtol, table in zip(study.tolerances, tables, strict=True)
            for time, name in zip(table.time, _transitions(table), strict=True)
            if name == kind
        ]
        times.plot(*np.array(points).T, **_dots(study, i), label=kind)
        mine = [name == kind for name in _transitions(study.reference.events)]
        late = study.event_time_errors[:, mine]
        errors.loglog(study.tolerances, np.where(late > 0, late, np.nan), **_dots(study, i))
    tidy(counts, "", "number of events", title)
    tidy(times, "", "event time (s)")
    tidy(errors, "relative tolerance", "error of event time (s)")
    decades(errors.yaxis)
    decades(errors.xaxis)
    figure.align_ylabels()
    legend_below(figure, *times.get_legend_handles_labels())
    return figure


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure as PNG (or whatever the name ends in) and close it."""
    path, memory = Path(path), io.BytesIO()
    kind = path.suffix.lstrip(".").lower() or "png"
    try:
        figure.savefig(memory, dpi=150, format=kind, metadata={"Software": MARK} if kind == "png" else None)
    finally:
        pyplot().close(figure)
    write_whole("save", path, memory.getbuffer())  # a picture that is there is replaced, and a link is not followed
    return path


def _fitted_line(axes: Any, study: AccuracyStudy, colour: str) -> None:
    """The straight line whose slope is the study's, through the middle of its points."""
    good = np.isfinite(study.displacement_errors) & (study.displacement_errors > 0)
    if good.sum() < 2:
        return
    x, y = np.log(study.tolerances[good]), np.log(study.displacement_errors[good])
    ends = np.array([x.min(), x.max()])
    line = y.mean() + study.tp_slope * (ends - x.mean())
    axes.loglog(np.exp(ends), np.exp(line), color=colour, linewidth=0.9, zorder=1)


def _dots(study: AccuracyStudy, number: int) -> dict[str, Any]:
    """Markers for the points of a study, smaller where there are many."""
    size = float(np.clip(150.0 / len(study.runs), 3.0, 4.5))
    return {**look(number), "linestyle": "none", "markersize": size, "markeredgewidth": 0.0}


def _mark(axes: Any, solution: Solution, x: Any, y: Any) -> None:
    """Mark the events on a curve that is given at the solution's times."""
    if solution.events is None:
        return
    time = solution.events.time
    place, height = np.interp(time, solution.times, x), np.interp(time, solution.times, y)
    names = _transitions(solution.events)
    for i, name in enumerate(dict.fromkeys(names)):
        here = np.array([other == name for other in names])
        axes.plot(place[here], height[here], **look(i), **_EVENT, label=name)


def _transitions(events: EventTable | None) -> list[str]:
    """What happened at each event: from which mode to which; and where, if there is more than one place."""
    if events is None:
        return []
    several = len(set(events.element)) > 1
    rows = zip(events.element, events.before, events.after, strict=True)
    return [f"{before} → {after}" + (f" ({element})" if several else "") for element, before, after in rows]


def _label(name: str, units: Mapping[str, str] | None, break_at: str = "") -> str:
    unit = (units or {}).get(name)
    words = name.replace(break_at, "\n" + break_at.lstrip()) if break_at else name
    return words + (f" ({unit})" if unit else "")


def _single(solution: Solution) -> None:
    if np.ndim(solution.outputs) != 2:
        raise InvalidInput(
            "figure",
            "the solution of one parameter set",
            f"{np.shape(solution.outputs)[0]} sets",
            "simulate one of them",
        )
