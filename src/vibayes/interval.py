"""Central intervals of a posterior: the one default probability that all of them hold, and its check."""

from __future__ import annotations

from typing import Any, NamedTuple

from vibayes.errors import InvalidInput

PROB = 0.95
"""Posterior probability of intervals and bands, unless another is asked for: in results, figures, reports and JSON."""


class Interval(NamedTuple):
    """A range of a parameter that holds a given probability, and as much of the rest on either side."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high


def tails(where: str, prob: Any) -> tuple[float, float]:
    """Probabilities of the two ends of a central interval.

    Examples:
        >>> from vibayes.interval import tails
        >>> tails("interval", 0.5)
        (0.25, 0.75)
    """
    if isinstance(prob, bool) or not isinstance(prob, int | float) or not 0.0 < prob <= 1.0:
        raise InvalidInput(f"{where}.prob", "a number above 0, at most 1", repr(prob), "write 0.95 for 95 %")
    return 0.5 - 0.5 * float(prob), 0.5 + 0.5 * float(prob)
