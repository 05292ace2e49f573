"""One look for all figures: quiet axes, colours that survive colour blindness and greyscale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from vibayes.errors import InvalidInput

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The palette of Okabe and Ito without its yellow; each goes with a marker of its own."""
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY = "#555555"
LIGHT = "#DDDDDD"


def pyplot() -> Any:
    """Matplotlib's pyplot without a screen, or a clear word on how to get it."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise InvalidInput(
            "vibayes.report", "matplotlib installed", "no such package", "install vibayes[plot]"
        ) from None
    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    return plt


def look(number: int) -> dict[str, str]:
    """Colour and marker of the curve or the kind of event with this number."""
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def tidy(axes: Any, x: str, y: str, title: str = "") -> None:
    """Labels, a light grid, and no box."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, loc="left", fontsize=10)
    axes.grid(True, which="major", color=LIGHT, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def plain_numbers(axis: Any) -> None:
    """A logarithmic axis over few decades, labelled 1, 2, 5, 10, … instead of powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}".replace(",", "\u202f")))
    axis.set_minor_formatter(NullFormatter())


def decades(axis: Any) -> None:
    """A logarithmic axis over many decades: powers of ten only, no minor ticks."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(numticks=9))
    axis.set_minor_locator(NullLocator())


def legend_below(figure: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    """A legend below all panels, in as few rows as fit, evenly filled."""
    if not handles:
        return
    width = 0.07 * (7 + max(map(len, names)))
    rows = math.ceil(len(names) / max(1, int(figure.get_figwidth() / width)))
    columns = math.ceil(len(names) / rows)
    figure.legend(handles, names, fontsize=8, frameon=False, loc="outside lower center", ncols=columns)
