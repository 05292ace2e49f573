"""The checks that a record passes once: uniform time, right shapes, finite numbers, plain metadata."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vibayes.errors import InvalidInput

UNIFORM = 1e-6  # how far a time step may stray from the others, relative to the step


class Channels(NamedTuple):
    """Checked values of shape (samples, channels), read-only, and the channels' names."""

    values: np.ndarray
    names: tuple[str, ...]


def require_sampling(time: ArrayLike | None, rate: float | None, start: float = 0.0) -> tuple[float, float, int | None]:
    """When the samples were taken, from every sample's time or from the rate.

    Args:
        time: the time of every sample, in seconds; or
        rate: samples per second; one of the two.
        start: time of the first sample, when the rate is given.

    Returns:
        Time of the first sample, samples per second, and the number of samples if the times tell it.

    Raises:
        InvalidInput: both or neither are given, or what is given cannot be used.

    Examples:
        >>> require_sampling(None, 200)
        (0.0, 200.0, None)
    """
    if (time is None) == (rate is None):
        got = "neither" if rate is None else "both"
        raise InvalidInput(
            "Record.time", "either time or rate", got, "give time= in seconds or rate= in samples per second"
        )
    if time is not None:
        return sampling_of(time)
    if not isinstance(rate, int | float | np.number) or not (math.isfinite(rate) and rate > 0):
        raise InvalidInput("Record.rate", "a positive number", repr(rate), "give samples per second")
    if not math.isfinite(start):
        raise InvalidInput("Record.start", "a finite time in seconds", repr(start), "leave it out for 0")
    return float(start), float(rate), None


def sampling_of(time: ArrayLike) -> tuple[float, float, int]:
    """The start, rate and number of samples of a uniform time axis.

    Args:
        time: the time of every sample, in seconds.

    Returns:
        Time of the first sample, samples per second, and number of samples.

    Raises:
        InvalidInput: the times do not increase in equal steps; the message says where.

    Examples:
        >>> sampling_of([0.5, 0.6, 0.7, 0.8])
        (0.5, 10.0, 4)
    """
    axis = _numbers("Record.time", time)
    if axis.ndim != 1 or axis.size < 2:
        raise InvalidInput(
            "Record.time", "a 1-D array of at least two times", f"shape {axis.shape}", "or give rate= instead"
        )
    if not np.isfinite(axis).all():
        bad = _some(np.flatnonzero(~np.isfinite(axis)))
        raise InvalidInput("Record.time", "finite times", f"none at samples {bad}", "or give rate= instead")
    steps = np.diff(axis)
    step = float(np.median(steps))
    rounding = float(np.spacing(np.abs(axis).max()))
    if step <= 0:
        raise InvalidInput(
            "Record.time", "increasing times", f"a typical step of {step:g} s", "sort the samples by time"
        )
    wrong = np.flatnonzero(np.abs(steps - step) > UNIFORM * step + 4 * rounding)
    if wrong.size:
        at = int(wrong[0])
        raise InvalidInput(
            "Record.time",
            f"equal steps of {step:.9g} s",
            f"a step of {steps[at]:.9g} s from sample {at} to {at + 1} ({wrong.size} such steps)",
            "resample to a uniform rate, or give rate= instead if only the clock is rounded or jitters",
        )
    rate = (axis.size - 1) / float(axis[-1] - axis[0])
    # 0.01 s is 100 Hz, not 99.99999999999999 Hz: take the short number if rounding explains the difference.
    short = float(f"{rate:.12g}")
    explained = 2 * rounding / float(axis[-1] - axis[0]) + 4e-16
    return float(axis[0]), short if abs(short - rate) <= explained * rate else rate, axis.size


def require_channels(samples: int | None, input: tuple[Any, Any], output: tuple[Any, Any]) -> tuple[Channels, Channels]:
    """Check inputs and outputs together: shapes, lengths, finite numbers.

    Args:
        samples: how many samples there are, if the time axis says so.
        input: the inputs (an array, a mapping or None) and their names (or None).
        output: likewise for the outputs.

    Returns:
        The inputs and the outputs, each of shape (samples, channels).

    Raises:
        InvalidInput: they do not fit together; the message says which and what to do.

    Examples:
        >>> inputs, outputs = require_channels(2, (None, None), ([1.0, 2.0], "gap"))
        >>> inputs.values.shape, outputs.values.shape, outputs.names
        ((2, 0), (2, 1), ('gap',))
    """
    tables = {"input": _table("input", *input), "output": _table("output", *output)}
    given = {kind: table for kind, table in tables.items() if table is not None}
    if not given:
        raise InvalidInput("Record.output", "at least one channel", "none", "give output=, input= or both")
    # A single column cannot have been transposed, so its length is the better witness.
    witness = max(given.values(), key=lambda table: table.values.shape[1] == 1)
    count = witness.values.shape[0] if samples is None else samples
    for kind, table in given.items():
        _require_shape(kind, table.values.shape, (count, len(table.names)))
        _require_finite(kind, table)
    empty = Channels(np.empty((count, 0)), ())
    checked = []
    for table in tables.values():
        table = empty if table is None else table
        table.values.setflags(write=False)
        checked.append(table)
    return checked[0], checked[1]


def require_metadata(metadata: Mapping[str, Any]) -> str:
    """Check that metadata are plain, and write them as JSON.

    Args:
        metadata: anything JSON can hold, and NumPy numbers and arrays.

    Returns:
        The metadata as text; text can be compared and hashed, so a record can pass through `jax.jit`.

    Raises:
        InvalidInput: a key is not text, or a value is not plain.

    Examples:
        >>> require_metadata({"specimen": 7, "operator": "Ada"})
        '{"specimen": 7, "operator": "Ada"}'
    """
    for key in metadata:
        if not isinstance(key, str):
            raise InvalidInput("Record.metadata", "keys that are text", repr(key), "write the keys as text")
    try:
        return json.dumps(dict(metadata), default=lambda value: value.tolist())
    except (TypeError, ValueError, AttributeError):
        raise InvalidInput(
            "Record.metadata",
            "what JSON can hold",
            repr(metadata)[:120],
            "use numbers, text, lists and mappings",
        ) from None


def _table(kind: str, data: Any, names: str | Sequence[str] | None) -> Channels | None:
    where = f"Record.{kind}"
    if data is None:
        if names:
            raise InvalidInput(f"{where}_names", f"no names without {kind}", repr(names), f"give {kind}= too")
        return None
    if isinstance(data, Mapping):
        if names is not None:
            raise InvalidInput(
                f"{where}_names", f"none, for {kind} is a mapping with names", repr(names), "leave them out"
            )
        columns = [_numbers(f"{where}[{name!r}]", values) for name, values in data.items()]
        if any(column.ndim != 1 for column in columns) or len({column.shape for column in columns}) > 1:
            lengths = ", ".join(f"{name!r}: {c.shape}" for name, c in zip(data, columns, strict=True))
            raise InvalidInput(where, "1-D arrays of one length", lengths, "give each channel every sample")
        return Channels(np.stack(columns, axis=1), tuple(data)) if columns else None
    values = _numbers(where, data)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise InvalidInput(
            where, "a 1-D or 2-D array", f"{values.ndim} dimensions", "reshape it to (samples, channels)"
        )
    if names is None:
        if values.shape[0] < values.shape[1]:
            raise InvalidInput(
                where,
                "shape (samples, channels) with more samples than channels",
                f"{values.shape}",
                f"transpose it, or give {kind}_names if it is right",
            )
        count = values.shape[1]
        names = [kind] if count == 1 else [f"{kind}_{number}" for number in range(1, count + 1)]
    return Channels(values, (names,) if isinstance(names, str) else tuple(names))


def _require_shape(kind: str, shape: tuple[int, ...], expected: tuple[int, int]) -> None:
    if shape == expected and shape[0] > 0:
        return
    if shape[::-1] == expected:
        remedy = "transpose it"
    elif shape[0] != expected[0] or shape[0] == 0:
        remedy = "give every channel the same samples"
    else:
        remedy = "give one name for each channel"
    raise InvalidInput(f"Record.{kind}", f"shape (samples, channels) = {expected}", f"{shape}", remedy)


def _require_finite(kind: str, table: Channels) -> None:
    for name, column in zip(table.names, table.values.T, strict=True):
        where = f"Record.{kind}[{name!r}]"
        if np.isinf(column).any():
            at = _some(np.flatnonzero(np.isinf(column)))
            raise InvalidInput(where, "finite values", f"infinity at samples {at}", "look for a clipped sensor")
        if kind == "input" and np.isnan(column).any():
            at = _some(np.flatnonzero(np.isnan(column)))
            raise InvalidInput(
                where,
                "an input without gaps",
                f"NaN at samples {at}",
                "interpolate them, or leave that part out",
            )


def _numbers(where: str, data: Any) -> np.ndarray:
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)
    try:
        array = np.asarray(data)
        if array.dtype.kind not in "fiub":
            raise ValueError
    except (ValueError, TypeError):
        raise InvalidInput(
            where, "real numbers in a rectangular array", f"{type(data).__name__}", "convert them to floats"
        ) from None
    return np.array(array, dtype=np.float64)


def _some(indices: np.ndarray, at_most: int = 3) -> str:
    shown = ", ".join(str(index) for index in indices[:at_most])
    return shown if indices.size <= at_most else f"{shown} and {indices.size - at_most} more"
