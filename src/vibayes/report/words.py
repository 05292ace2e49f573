"""Numbers and tables as a page shows them to people."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from vibayes.posterior import ModelPosterior

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4) -> str:
    """Some digits of a number, without a power of ten where it is of common size.

    Examples:
        >>> number(1234.5678), number(-0.00001234), number(float("nan"))
        ('1,235', '−1.234 × 10⁻⁵', '–')
    """
    size = abs(value)
    if np.isnan(value):
        return "–"
    if not np.isfinite(value) or value == 0:
        words = f"{value:g}"
    elif 1e-4 <= size < 1e6:
        words = f"{value:,.{max(digits - 1 - int(np.floor(np.log10(size))), 0)}f}"
    else:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        words = f"{mantissa} × 10{str(int(power)).translate(_RAISED)}"
    return words.replace("-", "\N{MINUS SIGN}")


def unit_words(unit: str) -> str:
    """A unit as people write it.

    Examples:
        >>> unit_words("m/s^2")
        'm/s²'
    """
    return unit.replace("**", "^").replace("^2", "²").replace("^3", "³").replace("*", "·")


def probability(model: ModelPosterior) -> str:
    """Of a model, with its standard error."""
    if not np.isfinite(model.probability):
        return "not known"
    return f"{model.probability:.3f}" + (f" ± {model.standard_error:.3f}" if model.standard_error > 0 else "")


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], raw: Sequence[int] = ()) -> str:
    """Rows of text as a table that scrolls by itself where it is too wide; the first column names its row.

    Args:
        caption: what the table is of, for those who do not see it.
        head: of the columns.
        rows: of text, which is escaped.
        raw: columns that are HTML already.

    Examples:
        >>> "&lt;k&gt;" in table("parameters", ("name", "mean"), [("<k>", "1")])
        True
    """
    top = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    body = ""
    for first, *rest in rows:
        cells = (f"<td>{each if i in raw else escape(each)}</td>" for i, each in enumerate(rest, 1))
        name = first if 0 in raw else escape(first)
        body += f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>'
    words = escape(caption)
    return (
        f'<div class="table" role="region" aria-label="{words}" tabindex="0"><table><caption>{words}</caption>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def sparkline(values: np.ndarray, weights: np.ndarray, prior: np.ndarray, words: str) -> str:
    """The posterior of a parameter as a small picture: bars over the range in which it lies, the prior as a line.

    Args:
        values: draws.
        weights: theirs.
        prior: values below which equal shares of the belief lie, in order.
        words: what the picture shows, for those who do not see it.
    """
    low, high = float(values.min()), float(values.max())
    room = 0.15 * (high - low) or abs(low) or 1.0
    edges = np.linspace(low - room, high + room, 33)
    heights, _ = np.histogram(values, edges, weights=weights)
    before, _ = np.histogram(prior, edges, weights=np.full(len(prior), 1.0 / len(prior)))
    top = max(float(heights.max()), float(before.max()), 1e-12)
    bars = "".join(
        f'<rect x="{3 * i}" y="{28 - 27 * h / top:.1f}" width="2.6" height="{27 * h / top:.1f}"/>'
        for i, h in enumerate(heights)
        if h > 0
    )
    line = " ".join(f"{3 * i + 1.3:.1f},{28 - 27 * h / top:.1f}" for i, h in enumerate(before))
    return (
        f'<svg class="spark" viewBox="0 0 96 29" role="img" aria-label="{escape(words, quote=True)}">{bars}'
        f'<polyline points="{line}"/></svg>'
    )
