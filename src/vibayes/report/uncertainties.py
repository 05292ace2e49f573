"""Figures of solved structures: what parameters, solver and measurement each leave open, and how particles fared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from vibayes.errors import InvalidInput
from vibayes.interval import PROB
from vibayes.posterior import ModelPosterior
from vibayes.report.style import COLOURS, GREY, legend_below, pyplot, tidy
from vibayes.samplers.ibis import State
from vibayes.solvers import Solutions

_PARTS = ("solver", "parameters", "measurement")


def figure_of_uncertainties(
    found: Solutions,
    noise: Mapping[str, float] | None = None,
    measured: Mapping[str, Any] | None = None,
    span: tuple[float, float] | None = None,
    prob: float = PROB,
) -> Any:
    """Readings with a band, and below each the deviations that solver, parameters and measurement leave, apart.

    Args:
        found: by `vibayes.solve` with draws of a posterior.
        noise: standard deviation of what was measured, by the name of the reading.
        measured: what was measured, by the name of the reading.
        span: first and last second to be shown; by default all.
        prob: posterior probability of the band.

    Returns:
        A Matplotlib figure.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_uncertainties
        >>> means = np.random.default_rng(0).normal(size=(5, 20, 1))
        >>> found = vb.Solutions(("drift",), np.linspace(0.0, 1.0, 20), means, np.full((5, 20, 1), 0.1))
        >>> len(figure_of_uncertainties(found, noise={"drift": 0.2}).axes)
        2
    """
    first, last = (found.times[0], found.times[-1]) if span is None else span
    shown = (found.times >= first) & (found.times <= last)
    if not shown.any():
        expected = f"two times within {found.times[0]:g} … {found.times[-1]:g} s"
        raise InvalidInput("figure_of_uncertainties.span", expected, f"{first:g} and {last:g}", "choose some inside")
    rows, times, half = len(found.names), found.times[shown], float(ndtri(0.5 + 0.5 * prob))
    figure, grid = pyplot().subplots(
        2 * rows, 1, figsize=(8.4, 1.0 + 2.8 * rows), sharex=True, squeeze=False, layout="constrained",
        height_ratios=[1.6, 1.0] * rows,
    )  # fmt: skip
    for number, name in enumerate(found.names):
        above, below = grid[2 * number, 0], grid[2 * number + 1, 0]
        mean = found.mean[shown, number]
        level = 0.0 if noise is None else float(noise.get(name, 0.0))
        parts = found.solver[shown, number], found.parameters[shown, number], np.full(len(times), level)
        whole = np.sqrt(sum(part**2 for part in parts))
        above.fill_between(
            times, mean - half * whole, mean + half * whole, color=COLOURS[0], alpha=0.3, linewidth=0,
            label=f"{100 * prob:g} % band",
        )  # fmt: skip
        above.plot(times, mean, color=COLOURS[0], linewidth=0.9, label="mean")
        if measured is not None and name in measured:
            values = np.asarray(measured[name])[shown]
            above.plot(times, values, ".", color=GREY, markersize=2.5, label="measured")
        tidy(above, "", name.replace(" of ", "\nof "))
        for part, values, colour in zip(_PARTS, parts, COLOURS[1:], strict=False):
            if np.any(values > 0.0):
                below.plot(times, np.where(values > 0.0, values, np.nan), color=colour, linewidth=1.0, label=part)
        below.set_yscale("log")
        tidy(below, "", "standard\ndeviation")
    grid[-1, 0].set_xlabel("time (s)")
    grid[0, 0].set_xlim(times[0], times[-1])
    figure.align_ylabels()
    handles, labels = (
        [*one, *other] for one, other in zip(*(axes.get_legend_handles_labels() for axes in grid[:2, 0]), strict=True)
    )
    legend_below(figure, handles, labels)
    return figure


def figure_of_particles(model: ModelPosterior) -> Any:
    """How particles of `IBIS` fared along the record: effective number, rejuvenations and evidence.

    Args:
        model: of a posterior by `IBIS`.

    Returns:
        A Matplotlib figure, with the number of rejuvenations against the logarithm of the samples below.
    """
    state = None if model.sample is None else model.sample.state
    if not isinstance(state, State):
        raise InvalidInput("figure_of_particles.model", "a model by IBIS", "another", "call infer with method=IBIS()")
    figure, (above, below) = pyplot().subplots(2, 1, figsize=(8.4, 5.4), layout="constrained")
    samples = np.arange(1, len(state.effective) + 1)
    above.plot(samples, state.effective, color=COLOURS[0], linewidth=0.7)
    above.axhline(state.method.threshold * state.method.particles, color=GREY, linewidth=0.8)
    tidy(above, "", "effective particles")
    above.set_xlabel("sample")
    times = [each.sample for each in state.rejuvenations]
    below.step([*times, len(samples)], [*range(1, len(times) + 1), len(times)], where="post", color=COLOURS[1])
    below.set_xscale("log")
    tidy(below, "", "rejuvenations")
    below.set_xlabel("samples so far, logarithmic: a straight line grows like their logarithm")
    return figure
