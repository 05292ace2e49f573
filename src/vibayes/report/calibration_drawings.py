"""Drawings of a calibration: histograms of ranks, their distribution against the uniform one, reliability of models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from vibayes.calibration import Calibration
from vibayes.calibration.ranks import bins_for, counts_of, ecdf_band
from vibayes.report.drawing import Band, Dots, Drawing, Line, Panel
from vibayes.report.picture import picture_of

_LOOKS: Any = ("model", "other", "third", "fourth")
_SHOWN = 8
"""Quantities that are drawn; of more, those with the smallest p."""
_PROB = 0.95
_GRID = np.linspace(0.0, 1.0, 101)


def figure_of_calibration(calibration: Calibration) -> Any:
    """Histograms of ranks with what chance allows, their distribution less the uniform one, reliability of models.

    Args:
        calibration: of `vibayes.calibrate`.

    Returns:
        A Matplotlib figure.

    Examples:
        >>> import numpy as np
        >>> from vibayes.calibration import Calibration, Replication
        >>> from vibayes.report import figure_of_calibration
        >>> done = [Replication(i, "line", {}, {"slope": (i + 0.5) / 40}, 100, 300.0, (1.0,)) for i in range(40)]
        >>> len(figure_of_calibration(Calibration(("line",), 40, tuple(done))).axes)
        2
    """
    return picture_of(of_calibration(calibration))


def of_calibration(calibration: Calibration) -> Drawing:
    """The same as a drawing: a histogram for every quantity, one panel for all distributions, one for models."""
    names = sorted(calibration.ranks, key=lambda name: calibration.rank_p[name])[:_SHOWN]
    names = [name for name in calibration.ranks if name in names]
    panels = [_histogram(calibration.ranks[name], name, _LOOKS[i % 4]) for i, name in enumerate(names)]
    if names:
        panels.append(_distributions(calibration, names))
    if len(calibration.models) > 1 and any(each.count for each in calibration.reliability):
        panels.append(_reliability(calibration))
    says = f"Calibration over {calibration.records} records: {calibration.verdict}. Bands hold {100 * _PROB:g} %"
    if len(names) < len(calibration.ranks):
        says += f"; {len(names)} of {len(calibration.ranks)} quantities, those with the smallest p"
    return Drawing("calibration", "Calibration", says + ".", panels)


def _histogram(ranks: np.ndarray, name: str, look: Any) -> Panel:
    bins = bins_for(len(ranks))
    edges, counts = np.linspace(0.0, 1.0, bins + 1), counts_of(ranks)
    low, high = (stats.binom.ppf(tail, len(ranks), 1.0 / bins) for tail in (0.5 - 0.5 * _PROB, 0.5 + 0.5 * _PROB))
    ends = np.array([0.0, 1.0])
    marks = [
        Band(ends, np.full(2, low), np.full(2, high), "what chance allows", "guide"),
        Line(edges, np.append(counts, counts[-1]), name, look, steps=True),
    ]
    return Panel(marks, "", f"records:\n{name}", height=0.7)


def _distributions(calibration: Calibration, names: list[str]) -> Panel:
    """Empirical distributions of ranks less the uniform one; the band is of the quantity with the fewest records."""
    fewest = min(len(calibration.ranks[name]) for name in names)
    low, high = ecdf_band(fewest, _GRID, _PROB)
    marks: list[Any] = [Band(_GRID, low - _GRID, high - _GRID, "what chance allows", "guide")]
    for i, name in enumerate(names):
        ranks = np.sort(calibration.ranks[name])
        share = np.searchsorted(ranks, _GRID, side="right") / len(ranks)
        marks.append(Line(_GRID, share - _GRID, name, _LOOKS[i % 4], dashed=i >= len(_LOOKS)))
    return Panel(marks, "normalised rank of the truth", "distribution\nless uniform", height=1.2)


def _reliability(calibration: Calibration) -> Panel:
    table = [each for each in calibration.reliability if each.count]
    mean, share, count = (np.array([getattr(each, field) for each in table]) for field in ("mean", "share", "count"))
    low, high = (stats.binom.ppf(tail, count, mean) / count for tail in (0.5 - 0.5 * _PROB, 0.5 + 0.5 * _PROB))
    ends = np.array([0.0, 1.0])
    marks = [
        Band(mean, low, high, "what chance allows", "guide"),
        Line(ends, ends, "", "guide", dashed=True),
        Dots(mean, share, "models", "model"),
    ]
    return Panel(marks, "probability of a model", "how often it\nwas true", height=1.4)
