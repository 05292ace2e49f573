"""Several results in one figure: parameters that models have in common, and what they predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.interval import PROB
from vibayes.posterior import ModelPosterior
from vibayes.prediction import Prediction
from vibayes.report.style import COLOURS, GREY, legend_below, pyplot, tidy
from vibayes.samplers.quantiles import weighted_quantile

_MOST = 24
"""Panels."""
_PROBS = PROB, 0.5


def figure_of_compared_parameters(models: Mapping[str, ModelPosterior], title: str = "") -> Any:
    """Intervals of every parameter, one row per result.

    Args:
        models: with draws, by the name they shall have in the figure.
        title: above the figure.

    Returns:
        A Matplotlib figure with one panel per parameter: thin lines hold 95 % of the belief, thick ones 50 %, and dots
        are medians. A result without the parameter has an empty row.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report.overlay import figure_of_compared_parameters
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
        >>> def line(slope):
        ...     return slope * np.arange(20.0)
        >>> problem = vb.Problem(line, record, {"slope": vb.Uniform(0.0, 3.0)})
        >>> method = vb.FollowAndWeigh(particles=50, draws=100, threshold=1.0)
        >>> runs = {f"seed {seed}": vb.infer(seed, problem, method).selected for seed in range(2)}
        >>> [each.get_text() for each in figure_of_compared_parameters(runs).axes[0].get_yticklabels()]
        ['seed 0', 'seed 1']
    """
    if not models:
        raise InvalidInput("figure_of_compared_parameters.models", "at least one", "none", "give models with draws")
    names = list(dict.fromkeys(name for model in models.values() for name in model.draws))[:_MOST]
    columns = min(len(names), 3)
    rows = -(-len(names) // columns)
    size = (3.4 * columns + 1.0, (0.28 * len(models) + 0.95) * rows + 0.4)
    figure, grid = pyplot().subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", sharey=True)
    for axes, name in zip(grid.ravel(), names, strict=False):
        for row, model in enumerate(models.values()):
            if name in model.draws:
                _interval(axes, row, model.draws[name], model.weights)
        tidy(axes, "", "", name)
        axes.set_yticks(range(len(models)), list(models))
        axes.set_ylim(len(models) - 0.5, -0.5)
    for axes in grid.ravel()[len(names) :]:
        axes.set_visible(False)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def figure_of_predictions(predictions: Mapping[str, Prediction], title: str = "", prob: float = PROB) -> Any:
    """What several results predict for one record, with what was measured where that is known.

    Args:
        predictions: of the same record, by the name they shall have in the figure.
        title: above the figure.
        prob: share of the draws, within the bands.

    Returns:
        A Matplotlib figure with one panel per output.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.prediction import Prediction
        >>> from vibayes.report.overlay import figure_of_predictions
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)}, units={"x": "mm"})
        >>> outputs = record.output * np.linspace(0.9, 1.1, 5)[:, None, None]
        >>> figure_of_predictions({"a": Prediction(record, outputs, record.output)}).axes[0].get_ylabel()
        'x (mm)'
    """
    if not predictions:
        raise InvalidInput("figure_of_predictions.predictions", "at least one", "none", "make one with predict")
    record = next(iter(predictions.values())).record
    count = len(record.output_names)
    figure, grid = pyplot().subplots(
        count, 1, figsize=(8.4, 1.0 + 2.4 * count), squeeze=False, layout="constrained", sharex=True
    )
    for column, (axes, name) in enumerate(zip(grid[:, 0], record.output_names, strict=True)):
        measured = record.output[:, column]
        if np.isfinite(measured).any():
            axes.plot(record.times, measured, color=GREY, linewidth=0, marker="o", markersize=2.0, label="measured")
        for number, (label, prediction) in enumerate(predictions.items()):
            colour = COLOURS[number % len(COLOURS)]
            low, high = (edge[:, column] for edge in prediction.band(prob))
            axes.fill_between(record.times, low, high, color=colour, alpha=0.25, linewidth=0)
            # Where inputs are drawn anew, the mean of the draws is no guess at anything.
            middle = np.median(prediction.outputs, axis=0) if prediction.random else prediction.mean()
            axes.plot(record.times, middle[:, column], color=colour, linewidth=1.0, label=label)
        unit = record.units[name]
        tidy(axes, "time (s)" if column == count - 1 else "", f"{name} ({unit})" if unit else name)
    grid[0, 0].set_title(title or f"bands hold {100 * prob:g} % of the draws", loc="left", fontsize=10)
    legend_below(figure, *grid[0, 0].get_legend_handles_labels())
    return figure


def _interval(axes: Any, row: int, values: np.ndarray, weights: np.ndarray) -> None:
    colour = COLOURS[row % len(COLOURS)]
    for prob, width in zip(_PROBS, (1.2, 4.0), strict=True):
        ends = [weighted_quantile(values, weights, 0.5 + side * prob / 2.0) for side in (-1, 1)]
        axes.plot(ends, [row, row], color=colour, linewidth=width, solid_capstyle="butt")
    axes.plot(weighted_quantile(values, weights, 0.5), row, "o", color=colour, markersize=5, markeredgecolor="white")
