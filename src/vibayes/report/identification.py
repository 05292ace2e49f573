"""Figures of an identification: which parameters, and how well the record is predicted."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.interval import PROB
from vibayes.naming import nearest
from vibayes.posterior import ModelPosterior
from vibayes.prediction import Prediction
from vibayes.priors import Prior
from vibayes.report.style import COLOURS, GREY, LIGHT, legend_below, pyplot, tidy

_TRUTH = COLOURS[1]
_WIDE = 24
"""Letters of a name in a line."""


def figure_of_parameters(
    model: ModelPosterior, truth: Mapping[str, float] | None = None, title: str = "", prob: float = PROB
) -> Any:
    """Histograms of all parameters of a model.

    Args:
        model: with draws.
        truth: true values by name, where they are known; names that the model has not are passed over.
        title: above the figure.
        prob: posterior probability of the shaded interval.

    Returns:
        A Matplotlib figure with one panel per parameter; above each its mean and standard deviation. A dotted line
        is the density of the prior.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_parameters
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
        >>> def line(slope):
        ...     return slope * np.arange(20.0)
        >>> problem = vb.Problem(line, record, {"slope": vb.Uniform(0.0, 3.0)})
        >>> posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=50, draws=100, threshold=1.0))
        >>> figure_of_parameters(posterior.selected, truth={"slope": 1.0}).axes[0].get_title("left").split()[0]
        'slope'
    """
    means, deviations = model.mean(), model.standard_deviation()
    count = len(means)
    columns = min(count, min((4, 3), key=lambda wide: -count % wide))  # the fewest places left over
    rows = -(-count // columns)
    size = (max(2.3 * columns, 4.6), 2.1 * rows + 0.5)
    figure, grid = pyplot().subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    bins = int(np.clip(np.sqrt(model.effective_draws), 8, 30))
    for axes, (name, values) in zip(grid.ravel(), model.draws.items(), strict=False):
        axes.hist(values, bins, weights=model.weights, color=COLOURS[0], alpha=0.55, density=True)
        axes.axvspan(*model.interval(name, prob), color=LIGHT, zorder=0, label=f"{100 * prob:g} % interval")
        axes.axvline(means[name], color=COLOURS[0], linewidth=1.4, label="mean")
        if truth and name in truth:
            axes.axvline(truth[name], color=_TRUTH, linewidth=1.4, linestyle="--", label="truth")
        _prior(axes, model.problem.priors[name])
        tidy(axes, "", "", f"{_folded(name)}\n{_plus_minus(means[name], deviations[name])}")
        _quiet_histogram(axes)
    for axes in grid.ravel()[count:]:
        axes.set_visible(False)
    handles, labels = zip(*(axes.get_legend_handles_labels() for axes in grid.ravel()[:count]), strict=True)
    most = int(np.argmax([len(each) for each in labels]))
    legend_below(figure, handles[most], labels[most])
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def figure_of_prediction(
    prediction: Prediction,
    output: str | None = None,
    zoom: tuple[float, float] | None = None,
    title: str = "",
    prob: float = PROB,
) -> Any:
    """What was measured and what is predicted, in full and from near, and the difference of the two.

    Args:
        prediction: of one model.
        output: which of the outputs; by default the first.
        zoom: first and last second of the stretch in the second panel; by default around the largest value.
        title: above the figure; the distance is added to it.
        prob: share of the draws within the band.

    Returns:
        A Matplotlib figure of three panels.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.prediction import Prediction
        >>> from vibayes.report import figure_of_prediction
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)}, units={"x": "mm"})
        >>> outputs = record.output * np.linspace(0.9, 1.1, 5)[:, None, None]
        >>> figure = figure_of_prediction(Prediction(record, outputs, record.output))
        >>> [axes.get_ylabel() for axes in figure.axes]
        ['x (mm)', 'x (mm)', 'residual (mm)']
    """
    record = prediction.record
    name = record.output_names[0] if output is None else output
    if name not in record.output_names:
        raise InvalidInput("figure_of_prediction.output", "an output", repr(name), nearest(name, record.output_names))
    column, times = record.output_names.index(name), record.times
    measured, mean = record.output[:, column], prediction.mean()[:, column]
    low, high = (edge[:, column] for edge in prediction.band(prob))
    first, last = _stretch(times, measured) if zoom is None else zoom
    figure, (whole, near, residual) = pyplot().subplots(
        3, 1, figsize=(8.4, 7.2), height_ratios=(1.3, 1.6, 1.0), layout="constrained"
    )
    for axes, style in (
        (whole, {"linewidth": 2.4, "alpha": 0.5}),
        (near, {"linewidth": 0, "marker": "o", "markersize": 2.5}),
    ):
        axes.plot(times, measured, color=GREY, label="measured", **style)
        axes.fill_between(
            times, low, high, color=COLOURS[0], alpha=0.3, linewidth=0, label=f"{100 * prob:g} % of draws"
        )
        axes.plot(times, mean, color=COLOURS[0], linewidth=1.0, label="mean prediction")
        tidy(axes, "", _with_unit(name, record.units))
    residual.plot(times, measured - mean, color=GREY, linewidth=0.8)
    tidy(residual, "time (s)", _with_unit("residual", {"residual": record.units[name]}))
    whole.axvspan(first, last, color=LIGHT, zorder=0)
    for axes in (whole, residual):
        axes.set_xlim(times[0], times[-1])
    _show_only(near, first, last, times, np.stack([measured, low, high]))
    figure.align_ylabels()
    told = "with inputs drawn anew" if prediction.random else f"NMSE of the mean prediction {prediction.nmse:.3g} %"
    words = [title or prediction.model, told]
    whole.set_title("; ".join(filter(None, words)), loc="left", fontsize=10)
    legend_below(figure, *near.get_legend_handles_labels())
    return figure


# ---- helpers --------------------------------------------------------------------------------------------------


def _prior(axes: Any, prior: Prior) -> None:
    """Its density, where the posterior is."""
    limits, shares = axes.axis(), np.linspace(0.0005, 0.9995, 1000)
    values = np.asarray(prior.icdf(shares))
    density = np.pad(np.gradient(shares, values), 1)  # down to nothing at the ends
    axes.plot(np.pad(values, 1, "edge"), density, color=GREY, linewidth=1.2, linestyle=":", label="prior")
    axes.axis(limits)


def _quiet_histogram(axes: Any) -> None:
    """Few ticks along the parameter, none along the density."""
    from matplotlib.ticker import MaxNLocator

    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
    axes.ticklabel_format(axis="x", scilimits=(-3, 5), useMathText=True)
    axes.tick_params(labelsize=8)
    axes.xaxis.get_offset_text().set_fontsize(8)


def _plus_minus(mean: float, deviation: float) -> str:
    """Both to the second digit of the deviation, and both in one power of ten."""
    largest = max(abs(mean), deviation)
    if not (deviation > 0 and np.isfinite(largest)):
        return f"{mean:.4g}"
    power = int(np.floor(np.log10(largest)))
    power = 0 if -3 < power < 5 else power
    mean, deviation = mean / 10.0**power, deviation / 10.0**power
    decimals = max(1 - int(np.floor(np.log10(deviation))), 0)
    words = f"{mean:.{decimals}f} ± {deviation:.{decimals}f}".replace("-", "\N{MINUS SIGN}")
    return f"({words}) $\\times10^{{{power}}}$" if power else words


def _stretch(times: np.ndarray, measured: np.ndarray) -> tuple[float, float]:
    """An eighth of the record, but no more than a person can read, around its largest value."""
    known = np.where(np.isfinite(measured), np.abs(measured - np.nanmean(measured)), 0.0)
    half = int(np.clip(len(times) // 16, 10, 100))
    first = int(np.clip(np.argmax(known) - half, 0, max(len(times) - 1 - 2 * half, 0)))
    return float(times[first]), float(times[min(first + 2 * half, len(times) - 1)])


def _show_only(axes: Any, first: float, last: float, times: np.ndarray, curves: np.ndarray) -> None:
    """Limits around what lies in a stretch of time."""
    inside = (times >= first) & (times <= last)
    if not (first < last and inside.any()):
        bounds = f"two times within {times[0]:g} … {times[-1]:g} s, first and last"
        raise InvalidInput("figure_of_prediction.zoom", bounds, f"{first:g} and {last:g}", "choose some inside")
    axes.set_xlim(first, last)
    low, high = np.nanmin(curves[:, inside]), np.nanmax(curves[:, inside])
    room = 0.08 * (high - low) or 1.0
    axes.set_ylim(low - room, high + room)


def _with_unit(name: str, units: Mapping[str, str] | None) -> str:
    unit = (units or {}).get(name)
    return _folded(name) + (f" ({unit})" if unit else "")


def _folded(name: str) -> str:
    return "\n".join(textwrap.wrap(name, _WIDE))
