"""Measured inputs where solvers ask for them: at the beginning, the middle and the end of every step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vibayes.excitation import Sampled

Array = Any


class Drive(NamedTuple):
    """Inputs of all steps of a record, (steps, inputs): just after the beginning of each, in its middle and just before
    its end; at the beginnings and the last end, (steps + 1, inputs), where a jump has happened; and coefficients of
    powers of the time at the very beginning, (terms, inputs).
    """

    begin: Array
    middle: Array
    end: Array
    at: Array
    series: Array


def drive_of(signal: Sampled, steps: int) -> Drive:
    """With so many steps per sample. What is known at a time does not depend on samples further ahead than those that
    the hold looks at, to the last bit.

    Examples:
        >>> from vibayes.excitation import Sampled, StraightLines
        >>> drive_of(Sampled([0.0, 1.0, 4.0], rate=10.0, hold=StraightLines()), 2).at[:, 0]
        array([0. , 0.5, 1. , 2.5, 4. ])
    """
    samples = np.asarray(signal.values)
    pieces = np.asarray(signal.hold.pieces(samples, signal.rate))  # type: ignore[arg-type]
    number = np.arange((signal.samples - 1) * steps)

    def value(part: float, before: bool) -> np.ndarray:
        """Of all steps, so far along each of them."""
        place = (number + part) * (signal.refinement / steps)
        nearest = np.round(place)
        on_knot = np.abs(place - nearest) <= 1e-9 * np.maximum(nearest, 1.0)
        index = np.where(on_knot, nearest - before, np.floor(place))
        index = np.clip(index, 0, len(pieces) - 1).astype(int)
        local = (place - index) / (signal.rate * signal.refinement)
        terms = (pieces[index][..., k] * local[:, None] ** k for k in range(pieces.shape[-1]))
        return sum(terms, np.zeros((len(number), signal.channels)))

    begin, end = value(0.0, False), value(1.0, True)
    at = np.concatenate([begin, end[-1:]])
    # The samples themselves: the last of a record is then what it will be once the record goes on.
    at[::steps] = samples
    return Drive(begin, value(0.5, False), end, at, pieces[0].T)
