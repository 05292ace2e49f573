"""The figure of how an inference went. A model has the same colour in all its panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from vibayes.posterior import Level, Posterior
from vibayes.report.style import COLOURS, GREY, LIGHT, decades, legend_below, plain_numbers, pyplot, tidy

_RELIABLE = 20.0
"""Effective draws below which a probability is not worth drawing."""
_GRID = 60
_STAGES = 8
"""More than these are not marked: a method that goes to and fro between them would be hidden by the marks."""


def figure_of_trace(posterior: Posterior, title: str = "") -> Any:
    """How the inference went, level by level, and what came of it.

    Args:
        posterior: of all models.
        title: above the figure.

    Returns:
        A Matplotlib figure. Over the levels: the share of the record that is followed and the probabilities of the
        models, where the method has them on its way; the threshold, and the share of accepted draws. Below: the
        probabilities with standard errors, and what they would be at smaller thresholds.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_trace
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
        >>> def line(slope):
        ...     return slope * np.arange(20.0)
        >>> problem = vb.Problem(line, record, {"slope": vb.Uniform(0.0, 3.0)})
        >>> posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=50, draws=100, threshold=1.0))
        >>> [axes.get_xlabel() for axes in figure_of_trace(posterior).axes[-2:]]
        ['probability', 'threshold']
    """
    trace, names = [level for level in posterior.trace if level.stage != "done"], list(posterior.probabilities)
    partly, together = any(level.followed < 1.0 for level in trace), any(_of_all(level) for level in trace)
    panels = ["followed"] * partly + ["probability"] * together + ["threshold", "acceptance"]
    figure, axes = pyplot().subplot_mosaic(
        [[panel, panel] for panel in panels] + [["models", "below"]],
        figsize=(8.4, 1.45 * len(panels) + 1.6 + 0.22 * len(names)),
        height_ratios=[1.0] * len(panels) + [1.0 + 0.15 * len(names)],
        layout="constrained",
    )
    if partly:
        _over_levels(axes["followed"], names, trace, lambda level: 100.0 * level.followed)
        axes["followed"].set_ylim(0.0, 105.0)
        tidy(axes["followed"], "", "followed (%)")
    if together:
        _probabilities_over_levels(axes["probability"], trace)
    _over_levels(axes["threshold"], names, trace, lambda level: level.threshold)
    _finish_threshold(axes["threshold"], posterior.threshold)
    _over_levels(axes["acceptance"], names, trace, lambda level: 100.0 * level.acceptance)
    axes["acceptance"].set_ylim(0.0, 105.0)
    tidy(axes["acceptance"], "level", "accepted (%)")
    for panel in panels:
        axes[panel].set_xlim(0.5, max(len(trace), 1) + 0.5)
        axes[panel].tick_params(labelbottom=panel == panels[-1])
        axes[panel].xaxis.get_major_locator().set_params(integer=True)
    _mark_stages([axes[panel] for panel in panels], trace)
    figure.align_ylabels([axes[panel] for panel in panels])
    _bars(axes["models"], posterior)
    _at_smaller_thresholds(axes["below"], posterior)
    legend_below(figure, *_handles(names, any(not level.model for level in trace)))
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _of_all(level: Level) -> bool:
    """Whether a level is one of all models together, with probabilities."""
    return not level.model and bool(np.isfinite(level.probabilities).all())


def _line(number: int) -> dict[str, Any]:
    """Look of a model's curve; beyond the palette the stroke changes."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": ("-", "--", ":")[number // len(COLOURS) % 3]}


def _over_levels(
    axes: Any,
    names: Sequence[str],
    trace: Sequence[Level],
    value: Callable[[Level], float],
) -> None:
    """A quantity over the levels, one curve per model; grey for levels of all models together.

    Curves are broken where other models had their turn.
    """
    for i, name in enumerate(["", *names]):
        mine = np.array([(number, value(level)) for number, level in enumerate(trace, 1) if level.model == name], float)
        if len(mine):
            look = _line(i - 1) if name else {"color": GREY}
            mine = np.insert(mine, np.flatnonzero(np.diff(mine[:, 0]) > 1) + 1, np.nan, axis=0)
            axes.plot(*mine.T, **look, marker=".", markersize=3, linewidth=0.9)


def _probabilities_over_levels(axes: Any, trace: Sequence[Level]) -> None:
    """Of every model, for methods that work on all of them together."""
    found = [(number, level.probabilities) for number, level in enumerate(trace, 1) if _of_all(level)]
    numbers, probabilities = zip(*found, strict=True)
    for i, curve in enumerate(np.array(probabilities).T):
        axes.plot(numbers, curve, **_line(i), marker=".", markersize=3, linewidth=0.9)
    axes.set_ylim(-0.05, 1.05)
    tidy(axes, "", "probability")


def _finish_threshold(axes: Any, final: float) -> None:
    """Logarithmic where there is something to show; the final threshold as a line across."""
    values = np.concatenate([[final], *(line.get_ydata() for line in axes.lines)])
    known = values[np.isfinite(values) & (values > 0)]
    if len(known):
        axes.set_yscale("log")
        room = max(1.6, np.sqrt(12.0 * known.min() / known.max()))  # a decade at least, or the ticks are odd
        axes.set_ylim(known.min() / room, known.max() * room)
        _number_ticks(axes.yaxis, known)
    if np.isfinite(final) and final > 0:
        axes.axhline(final, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        # Curves come down to the line or stay below it, so there is room above it on the left.
        place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "bottom", "fontsize": 8}
        axes.annotate(f"final {final:.3g}", (0.0, final), (4, 2), color=GREY, **place)
    tidy(axes, "", "threshold")


def _number_ticks(axis: Any, values: np.ndarray) -> None:
    """Ticks of a logarithmic axis: 1, 2, 5, 10, … as long as there is room for them."""
    (plain_numbers if values.max() < 30.0 * values.min() else decades)(axis)


def _mark_stages(all_axes: Sequence[Any], trace: Sequence[Level]) -> None:
    """A line where a stage begins, and its name above where there is room for it."""
    start, runs = 0, [(stage, len(list(levels))) for stage, levels in groupby(level.stage for level in trace)]
    for stage, length in runs:
        if len(runs) > _STAGES:
            return
        for axes in all_axes if start else ():
            axes.axvline(start + 0.5, color=LIGHT, linewidth=1.0, zorder=0)
        if length > 0.05 * len(trace):
            place = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom"}
            all_axes[0].annotate(stage, (start + 0.5 + 0.5 * length, 1.02), **place, fontsize=8, color=GREY)
        start += length


def _bars(axes: Any, posterior: Posterior) -> None:
    """Probabilities with their standard errors, the first model on top."""
    names = [model.name for model in posterior]
    for i, model in enumerate(posterior):
        known = np.isfinite(model.probability)
        words = "not known"
        if known:
            axes.barh(i, model.probability, xerr=model.standard_error, color=_line(i)["color"], height=0.65, capsize=2)
            error = f" ± {model.standard_error:.3f}" if model.probability > 0 else ""
            words = f"{model.probability:.3f}{error}"
        end = model.probability + model.standard_error if known else 0.0
        axes.annotate(words, (end, i), (4, 0), textcoords="offset points", va="center", fontsize=8, color=GREY)
    axes.set_yticks(range(len(names)), [_shortened(name, 20) for name in names], fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0.0, 1.35)
    axes.set_xticks([0.0, 0.5, 1.0])
    tidy(axes, "probability", "")
    axes.grid(False, axis="y")


def _at_smaller_thresholds(axes: Any, posterior: Posterior) -> None:
    """What the probabilities would be at smaller thresholds, from the same draws, as far as there are enough."""
    tidy(axes, "threshold", "probability")
    thresholds = _thresholds(posterior)
    if not len(thresholds):
        axes.text(0.5, 0.5, "too few draws", transform=axes.transAxes, ha="center", color=GREY, fontsize=8)
        axes.set(xticks=[], yticks=[])
        return
    curves = np.array([list(posterior.below(threshold).values()) for threshold in thresholds])
    for i, curve in enumerate(curves.T):
        if np.any(curve > 0):  # the others would hide one another at zero
            axes.plot(thresholds, curve, **_line(i), linewidth=1.2)
    axes.set_ylim(-0.05, 1.05)
    if thresholds[-1] > 10.0 * thresholds[0] > 0:
        axes.set_xscale("log")
        _number_ticks(axes.xaxis, thresholds)


def _thresholds(posterior: Posterior) -> np.ndarray:
    """From the smallest that still has enough draws to the final one."""
    distances = np.concatenate([model.distances for model in posterior])
    if not len(distances):
        return distances
    grid = np.linspace(distances.min(), min(posterior.threshold, distances.max()), _GRID)
    return grid[[_effective(posterior, threshold) >= _RELIABLE for threshold in grid]]


def _effective(posterior: Posterior, threshold: float) -> float:
    """Draws within a threshold, of all models, counted by what they tell."""
    inside = [model.weights[model.distances <= threshold] for model in posterior]
    return sum(float(w.sum() ** 2 / np.sum(w**2)) for w in inside if w.sum() > 0)


def _handles(names: Sequence[str], together: bool) -> tuple[list[Any], list[str]]:
    """Of the legend: every model, and all of them if they had levels together."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **_line(i)) for i in range(len(names))] + [Line2D([], [], color=GREY)] * together
    return handles, [_shortened(name, 40) for name in [*names, *["all models"] * together]]


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
