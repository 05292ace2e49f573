"""What a figure shows, as plain data: panels with lines, bands, dots and bars.

One description serves two ends: the figure that can be explored on a page (`explorable`) and the still picture for
print, for files and for readers without scripts (`picture`). Long series are thinned here, once for both: every
stretch of samples keeps its smallest and its largest value, so that no peak is lost, and the figure says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Look = Literal["measured", "model", "other", "third", "fourth", "faint", "guide"]
MOST = 3000
"""Points of a line; longer ones are thinned."""


@dataclass(frozen=True)
class Line:
    """A curve; NaN makes a gap."""

    x: Any
    y: Any
    name: str = ""
    look: Look = "model"
    dashed: bool = False
    steps: bool = False


@dataclass(frozen=True)
class Band:
    """What lies between two curves."""

    x: Any
    low: Any
    high: Any
    name: str = ""
    look: Look = "model"


@dataclass(frozen=True)
class Dots:
    """Points."""

    x: Any
    y: Any
    name: str = ""
    look: Look = "model"
    small: bool = False


@dataclass(frozen=True)
class Bars:
    """Named quantities as bars that lie, the first on top, with standard errors."""

    names: Sequence[str]
    values: Any
    errors: Any


Mark = Line | Band | Dots | Bars


@dataclass(frozen=True)
class Panel:
    """Marks on one pair of axes."""

    marks: Sequence[Mark]
    x: str = ""
    y: str = ""
    log: str = ""
    """Which axes are logarithmic: "", "x", "y" or "xy"."""
    height: float = 1.0


@dataclass(frozen=True)
class Drawing:
    """A figure.

    Attributes:
        name: of files and anchors, in lower case.
        title: above it.
        says: what it shows, in a sentence or two, for those who do not see it and beneath for all.
        panels: one below the other; with ``shared`` they have the horizontal axis in common.
        linked: figures of one word keep the same range of their horizontal axes, as "time".
        choices: x and y of pairs to choose from, by name, instead of panels that are fixed.
        square: as high as wide.
    """

    name: str
    title: str
    says: str
    panels: Sequence[Panel]
    shared: bool = False
    linked: str = ""
    choices: dict[str, Any] = field(default_factory=dict)
    square: bool = False


def envelope(x: np.ndarray, *series: np.ndarray, most: int = MOST) -> tuple[np.ndarray, ...]:
    """A long series by the smallest and the largest value of every stretch, in the order in which they come.

    Args:
        x: places.
        series: values at these places; the first decides which are kept, and all keep the same.
        most: points that are kept, about.

    Returns:
        Places and values that are left; all of them if they are few.

    Examples:
        >>> import numpy as np
        >>> values = np.zeros(10_000)
        >>> values[5_432] = 7.0
        >>> x, y = envelope(np.arange(10_000.0), values, most=100)
        >>> len(x) <= 104, float(y.max()), float(x[y.argmax()])
        (True, 7.0, 5432.0)
    """
    count = len(x)
    if count <= most:
        return (x, *series)
    first = series[0]
    kept = {0, count - 1}
    for part in np.array_split(np.arange(count), max(most // 2, 1)):
        values = first[part]
        known = np.isfinite(values)
        if known.all():
            kept |= {int(part[np.argmin(values)]), int(part[np.argmax(values)])}
        elif known.any():
            kept |= {int(part[np.nanargmin(values)]), int(part[np.nanargmax(values)]), int(part[np.argmin(known)])}
        else:
            kept.add(int(part[0]))
    chosen = np.array(sorted(kept))
    return (x[chosen], *(each[chosen] for each in series))


def extremes(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, most: int = MOST
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A long band by its lowest and highest edge in every stretch."""
    if len(x) <= most:
        return x, low, high
    parts = np.array_split(np.arange(len(x)), most)
    return (
        np.array([x[part].mean() for part in parts]),
        np.array([low[part].min() for part in parts]),
        np.array([high[part].max() for part in parts]),
    )


def thinned(samples: int) -> str:
    """What is said of a figure of so many samples, if anything."""
    if samples <= MOST:
        return ""
    return f" Of {samples:,} samples the smallest and largest of every {-(-2 * samples // MOST)} are drawn."
