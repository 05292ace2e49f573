"""Arrays in a file, sorted out: samples by name, what is said of their units and sampling, and what is none of these.

Readers of the several formats give what they found, one `Found` after another; `sort_out` does the rest for all.
Names are paths, as ``run 3/acceleration`` in HDF5 and ``data.acceleration`` in MAT files.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.limits import require_columns
from vibayes.record import Record
from vibayes.units import convert_values, is_unit, require_unit

_RATES = frozenset(
    {
        "fs",
        "rate",
        "sampling_rate",
        "sample_rate",
        "samplerate",
        "samplingrate",
        "sampling_frequency",
        "sample_frequency",
    }
)
_STEPS = frozenset({"dt", "ts", "delta_t", "deltat", "time_step", "timestep", "sampling_time", "sampling_interval"})
_UNITS = frozenset({"unit", "units"})
_KINDS = {
    "c": "complex numbers",
    "O": "objects",
    "S": "text",
    "U": "text",
    "V": "a table",
    "M": "dates",
    "m": "durations",
}


class Found(NamedTuple):
    """Something in a file: an array, a number or a text; a `str` in `unfit` says why it cannot hold samples.

    A group has attributes and no value.
    """

    path: str
    value: Any = None
    attributes: Mapping[str, Any] = {}
    unfit: str = ""


class Sampling(NamedTuple):
    """When samples were taken, as a file states it."""

    start: float
    rate: float


@dataclass(frozen=True)
class Arrays:
    """What a file holds.

    Attributes:
        where: the function and file to blame in messages.
        values: arrays of numbers by path.
        units: of arrays, or of their columns, as the file has them.
        sampling: by the path of the array or group that it is said of; the empty path is the whole file.
        metadata: single numbers and texts by path.
        others: what each other thing in the file is.
        separator: between the parts of a path.
        stored: the record, if vibayes wrote the file.
    """

    where: str
    values: dict[str, np.ndarray] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    sampling: dict[str, Sampling] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    separator: str = "/"
    stored: Record | None = None

    def parent(self, path: str) -> str:
        """The group that something is in.

        Examples:
            >>> Arrays("a.h5").parent("run 3/force"), Arrays("a.h5").parent("force")
            ('run 3', '')
        """
        return path.rpartition(self.separator)[0]


def sort_out(where: str, found: Iterable[Found], separator: str = "/") -> Arrays:
    """Sort what was found in a file.

    Args:
        where: the function and file to blame in messages.
        found: in the order of the file.
        separator: between the parts of a path.

    Returns:
        All of it, in its place.

    Examples:
        >>> things = [Found("run/force", np.ones(3), {"units": "N"}), Found("run/fs", 200), Found("who", "Ada")]
        >>> arrays = sort_out("read_hdf5('a.h5')", things)
        >>> list(arrays.values), arrays.units, arrays.sampling["run"].rate, arrays.metadata["who"]
        (['run/force'], {'run/force': 'N'}, 200.0, 'Ada')
    """
    arrays = Arrays(where, separator=separator)
    for thing in found:
        require_columns(where, len(arrays.values) + len(arrays.others))
        for key, value in thing.attributes.items():
            _note_attribute(arrays, thing.path, key, plain(value))
        if thing.unfit:
            arrays.others[thing.path] = thing.unfit
        elif thing.value is not None:
            _note_value(arrays, thing)
    return arrays


def of_record(where: str, record: Record) -> Arrays:
    """The channels of a record that vibayes wrote, as if they were arrays of the file.

    Examples:
        >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]})
        >>> list(of_record("read_npz('a.npz')", record).values)
        ['gap']
    """
    return Arrays(
        where,
        values={name: record.channel(name) for name in record.names},
        units={name: unit for name, unit in record.units.items() if unit},
        sampling={"": Sampling(record.start, record.rate)},
        metadata=dict(record.metadata),
        stored=record,
    )


def plain(value: Any) -> Any:
    """An attribute as a number, a text or a list of these; None if it is more than that.

    Examples:
        >>> plain(np.array([2.5])), plain(b"N"), plain(np.array(["N", "m"])), plain(object())
        (2.5, 'N', ['N', 'm'], None)
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, np.ndarray | np.generic):
        if value.size > 100:
            return None
        value = value.item() if value.size == 1 else value.tolist()
        return plain(value)
    if isinstance(value, list | tuple):
        parts = [plain(each) for each in value]
        return None if None in parts else parts
    return value if isinstance(value, str | int | float | bool) else None


def unit_in(arrays: Arrays, path: str, channel: str) -> str | None:
    """The unit that a file states for a channel; none if it states none.

    Raises:
        InvalidInput: it states one that nobody knows.

    Examples:
        >>> unit_in(Arrays("a.h5", units={"acc": "m/s2"}), "acc", "acc[1]")
        'm/s^2'
    """
    text = arrays.units.get(channel, arrays.units.get(path))
    if text is None:
        return None
    text = text.partition(" since ")[0]  # of times, as netCDF has them: "seconds since 1971-02-09"
    try:
        return require_unit(arrays.where, text)
    except InvalidInput:
        raise InvalidInput(
            f"{arrays.where}, {channel!r}",
            "a unit known to pint",
            repr(text),
            f"state it with units={{{channel!r}: ...}}",
        ) from None


def _note_attribute(arrays: Arrays, path: str, key: str, value: Any) -> None:
    sampling = _stated(key, value)
    if sampling is not None:
        arrays.sampling[path] = sampling
    elif key.lower() in _UNITS and isinstance(value, str):
        arrays.units[path] = value
    elif key.lower() in _UNITS and isinstance(value, list):
        arrays.units.update({f"{path}[{column}]": str(unit) for column, unit in enumerate(value)})
    elif path == "" and value is not None:
        arrays.metadata[key] = value


def _note_value(arrays: Arrays, thing: Found) -> None:
    path, value = thing.path, np.asarray(thing.value)
    if value.dtype.kind in "SU" and value.size == 1:
        arrays.metadata[path] = plain(value)
    elif value.dtype.kind not in "fiub":
        arrays.others[path] = _KINDS.get(value.dtype.kind, "something else than numbers")
    elif value.size == 0:
        arrays.others[path] = "an empty array"
    elif value.size == 1:
        number = value.item()
        arrays.metadata[path] = number
        sampling = _stated(path.rpartition(arrays.separator)[2], number, plain(thing.attributes.get("units")))
        if sampling is not None:
            arrays.sampling.setdefault(arrays.parent(path), sampling)
    else:
        arrays.values[path] = value


def _stated(key: str, value: Any, unit: Any = None) -> Sampling | None:
    """The sampling that a name and a number state, as ``fs`` and 200; none if they state none."""
    key = key.lower().replace(" ", "_").replace("-", "_")
    if key not in _RATES | _STEPS or not isinstance(value, int | float):
        return None
    if isinstance(unit, str) and is_unit(unit) and unit.strip():
        base = "Hz" if key in _RATES else "s"
        try:
            value = float(convert_values(key, np.array(value), require_unit(key, unit), base))
        except InvalidInput:
            return None
    # Where a step is stated, 1 / 0.005 is 200 and not 199.99999999999997.
    rate = float(value) if key in _RATES else float(f"{1.0 / value:.15g}") if value else math.inf
    return Sampling(0.0, rate) if math.isfinite(rate) and rate > 0 else None
