"""How the parameters go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.interval import PROB
from vibayes.naming import nearest
from vibayes.posterior import ModelPosterior
from vibayes.report.style import COLOURS, LIGHT, pyplot, tidy

_DRAWS = 1000
"""That a density is smoothed from."""
_GRID = 48
_PROBS = PROB, 0.5


def figure_of_pairs(
    model: ModelPosterior,
    truth: Mapping[str, float] | None = None,
    names: Sequence[str] | None = None,
    title: str = "",
) -> Any:
    """Bivariate densities of all pairs of parameters, with histograms along the diagonal.

    Args:
        model: with draws.
        truth: true values by name, where they are known.
        names: of the parameters to be shown; by default all.
        title: above the figure.

    Returns:
        A Matplotlib figure. Lines hold 50 % and 95 % of the belief in a pair.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_pairs
        >>> time = np.arange(20.0)
        >>> record = vb.Record.from_arrays(rate=1.0, output={"x": 1.0 + time})
        >>> def line(offset, slope):
        ...     return offset + slope * time
        >>> problem = vb.Problem(line, record, {"offset": vb.Uniform(0.0, 3.0), "slope": vb.Uniform(0.0, 3.0)})
        >>> posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=50, draws=100, threshold=1.0))
        >>> sum(axes.get_visible() for axes in figure_of_pairs(posterior.selected).axes)
        3
    """
    chosen = tuple(model.draws) if names is None else tuple(names)
    for name in chosen:
        if name not in model.draws:
            raise InvalidInput("figure_of_pairs.names", "parameters", repr(name), nearest(name, tuple(model.draws)))
    if not chosen:
        raise InvalidInput("figure_of_pairs.names", "one parameter or more", "none", "leave it out for all")
    count, known = len(chosen), dict(truth or {})
    draws = model.resampled(0, _DRAWS)
    side = max(3.2, min(1.7 * count, 16.0))
    figure, grid = pyplot().subplots(
        count, count, figsize=(side, side), squeeze=False, sharex="col", layout="constrained"
    )
    for row, below in enumerate(chosen):
        for column, across in enumerate(chosen):
            axes = grid[row, column]
            if column > row:
                axes.set_visible(False)
            elif column == row:
                axes.hist(model.draws[below], 24, weights=model.weights, color=COLOURS[0], alpha=0.55, density=True)
                tidy(axes, "", "", below if count > 1 else "")
                axes.set_yticks([])
                axes.spines["left"].set_visible(False)
            else:
                _density(axes, draws[across], draws[below])
                tidy(axes, "", "")
                if below in known:
                    axes.axhline(known[below], color=COLOURS[1], linewidth=1.0, linestyle="--")
                if column:
                    axes.tick_params(labelleft=False)
            if across in known and column <= row:
                axes.axvline(known[across], color=COLOURS[1], linewidth=1.0, linestyle="--")
            _few_ticks(axes)
            if row == count - 1:
                axes.set_xlabel(across, fontsize=9)
            if column == 0 and row:
                axes.set_ylabel(below, fontsize=9)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _density(axes: Any, x: np.ndarray, y: np.ndarray) -> None:
    """Lines around shares of the belief; dots where the draws lie on a line."""
    from scipy.stats import gaussian_kde

    ends = [np.quantile(each, [0.0, 1.0]) for each in (x, y)]
    room = [0.05 * (high - low) for low, high in ends]
    spans = [np.linspace(low - more, high + more, _GRID) for (low, high), more in zip(ends, room, strict=True)]
    correlation = np.corrcoef(x, y)[0, 1] if x.std() > 0 and y.std() > 0 else np.nan
    if not abs(correlation) < 0.9999:
        axes.plot(x, y, ".", color=COLOURS[0], markersize=2)
        return
    smoothed = gaussian_kde(np.stack([x, y]))
    at_draws = np.sort(smoothed(np.stack([x, y])))
    levels = np.unique([at_draws[int((1.0 - prob) * len(x))] for prob in _PROBS])
    mesh = np.meshgrid(*spans)
    density = smoothed(np.stack([each.ravel() for each in mesh])).reshape(mesh[0].shape)
    axes.contourf(*mesh, density, [*levels, np.inf], colors=[LIGHT, COLOURS[0]][-len(levels) :], alpha=0.6)
    axes.contour(*mesh, density, levels, colors=COLOURS[0], linewidths=1.0)


def _few_ticks(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(3, min_n_ticks=2))
    if axes.get_yticks().size:
        axes.yaxis.set_major_locator(MaxNLocator(3, min_n_ticks=2))
        axes.ticklabel_format(axis="both", scilimits=(-3, 4), useMathText=True)
    else:
        axes.ticklabel_format(axis="x", scilimits=(-3, 4), useMathText=True)
    axes.tick_params(labelsize=7)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_offset_text().set_fontsize(7)
