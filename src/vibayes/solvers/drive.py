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
    """With so many steps per sample.

    Examples:
        >>> from vibayes.excitation import Sampled, StraightLines
        >>> drive_of(Sampled([0.0, 1.0, 4.0], rate=10.0, hold=StraightLines()), 2).at[:, 0]
        array([0. , 0.5, 1. , 2.5, 4. ])
    """
    pieces = np.asarray(signal.pieces())
    number = np.arange((signal.samples - 1) * steps)

    def value(part: float, before: bool) -> np.ndarray:
        """Of all steps, so far along each of them."""
        place = (number + part) * (signal.refinement / steps)
        nearest = np.round(place)
        on_knot = np.abs(place - nearest) <= 1e-9 * np.maximum(nearest, 1.0)
        index = np.where(on_knot, nearest - before, np.floor(place))
        index = np.clip(index, 0, len(pieces) - 1).astype(int)
        local = (place - index) / (signal.rate * signal.refinement)
        return np.einsum("sck,sk->sc", pieces[index], local[:, None] ** np.arange(pieces.shape[-1]))

    begin, end = value(0.0, False), value(1.0, True)
    return Drive(begin, value(0.5, False), end, np.concatenate([begin, end[-1:]]), pieces[0].T)
