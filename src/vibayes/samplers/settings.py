"""What the settings of samplers must be, and how many draws their results need."""

from __future__ import annotations

import numpy as np

from vibayes.errors import InvalidInput

ENOUGH_DRAWS, FEW_DRAWS = 400, 100
"""Effective draws for means and the ends of a 95 % interval, beyond each of which ten of them lie; and so few, two and
a half beyond each end, that hardly more than a mean can be quoted. One rule for notes of runs, diagnoses and reports.
"""


def require_counts(settings: object, *names: str) -> None:
    """Refuse settings that are not positive whole numbers."""
    for name in names:
        value = getattr(settings, name)
        if not (isinstance(value, int) and value > 0):
            where = f"{type(settings).__name__}.{name}"
            raise InvalidInput(where, "a positive whole number", repr(value), "give a count")


def require_within(settings: object, name: str, low: float, high: float) -> None:
    """Refuse a setting that is not strictly between two numbers."""
    value = getattr(settings, name)
    if not (isinstance(value, int | float) and low < value < high):
        bounds = f"a number above {low:g}" + (f" and below {high:g}" if np.isfinite(high) else "")
        raise InvalidInput(f"{type(settings).__name__}.{name}", bounds, repr(value), "change it")
