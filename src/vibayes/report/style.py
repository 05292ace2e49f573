"""One look for all figures: quiet axes, colours that survive colour blindness and greyscale."""

from __future__ import annotations

from typing import Any

from vibayes.errors import InvalidInput

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY = "#555555"


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


def tidy(axes: Any, x: str, y: str, title: str = "") -> None:
    """Labels, a light grid, and no box."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, loc="left", fontsize=10)
    axes.grid(True, which="major", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
