"""Missing samples, where a step looks at neighbours: refused, or bridged for the step and missing again after it."""

from __future__ import annotations

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.record import Record


def require_whole(where: str, record: Record, across_gaps: bool) -> None:
    """Check that nothing is missing, unless that is allowed.

    Args:
        where: the step to blame in the message.
        record: the record.
        across_gaps: whether gaps may be bridged.

    Raises:
        InvalidInput: there are gaps that may not be bridged, or an output has no value at all.

    Examples:
        >>> require_whole("BandPass", Record.from_arrays(rate=2.0, output=[1.0, 2.0]), False)
    """
    for name, missing in zip(record.output_names, np.asarray(record.missing).T, strict=True):
        if missing.all():
            raise InvalidInput(where, "values to work on", f"none in {name!r}", f"take {name!r} out with Drop first")
        if missing.any() and not across_gaps:
            raise InvalidInput(
                where,
                "no missing values, for each result depends on many neighbours",
                f"{int(missing.sum())} missing in {name!r}",
                "choose a part without gaps by Segment, or say across_gaps=True",
            )


def bridged(values: np.ndarray) -> np.ndarray:
    """Columns with straight lines in place of their gaps.

    Examples:
        >>> bridged(np.array([[0.0], [np.nan], [2.0], [np.nan]])).ravel()
        array([0., 1., 2., 2.])
    """
    filled, samples = np.array(values), np.arange(len(values))
    for column in filled.T:
        present = np.isfinite(column)
        column[~present] = np.interp(samples[~present], samples[present], column[present])
    return filled
