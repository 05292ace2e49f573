"""Records in HDF5: one of ours, or arrays of others by their path, as ``run 3/acceleration``.

Attributes tell what arrays cannot: ``units`` of an array; ``fs``, ``sampling_rate``, ``dt`` and the like of an array,
its group or the file.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.io.apart import Item, read_apart
from vibayes.io.arrays import Arrays, Found, of_record, sort_out
from vibayes.io.content import HDF5, MAT_73, foreign, require_kind
from vibayes.io.files import PathLike, whole_file
from vibayes.io.heaps import require_heaps
from vibayes.io.packages import package, require_package
from vibayes.io.selection import record_of
from vibayes.io.stored import HEADER, METADATA, parts_of, record_from
from vibayes.record import Record

_PARTS = (("input",), ("output",), (HEADER,), (METADATA,))


def write_hdf5(record: Record, path: PathLike) -> None:
    """Write a record as HDF5, completely or not at all; needs ``h5py``.

    The file has two matrices, ``input`` and ``output`` of shape (samples, channels), whose attributes ``names`` and
    ``units`` say what the columns are, for readers other than `read_hdf5`.

    Args:
        record: the record.
        path: the file to write or replace.

    Raises:
        InvalidInput: the folder does not exist, or ``h5py`` is not installed.

    Examples:
        >>> import tempfile
        >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]}, metadata={"specimen": 7})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_hdf5(record, f"{folder}/test07.h5")
        ...     read_hdf5(f"{folder}/test07.h5").metadata["specimen"]
        7
    """
    h5py = package("h5py", "write_hdf5", "formats")
    parts, memory = parts_of(record), io.BytesIO()
    with h5py.File(memory, "w") as file:
        for kind in ("input", "output"):
            dataset = file.create_dataset(kind, data=parts[kind])
            dataset.attrs["names"] = list(getattr(record, f"{kind}_names")) or ""
            dataset.attrs["units"] = list(getattr(record, f"{kind}_units")) or ""
        # As arrays of their own, for attributes may not exceed 64 kB.
        file[HEADER], file[METADATA] = parts[HEADER], parts[METADATA]
        file.attrs["rate"], file.attrs["start"] = record.rate, record.start
    with whole_file("write_hdf5", path) as file:
        file.write(memory.getvalue())


def read_hdf5(
    path: PathLike,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    time: str | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Record:
    """Read a record from an HDF5 file; needs ``h5py``.

    A file that `write_hdf5` made needs the path alone. From any other, name the arrays by their path. A matrix of shape
    (samples, channels) gives channels ``name[0]``, ``name[1]``..., which can also be named one by one.

    Args:
        path: the file.
        input: arrays that drove the structure.
        output: arrays that it answered with.
        time: array of times; one called ``time`` or ``t`` beside the others if left out.
        rate: samples per second, instead of `time`; what attributes state if both are left out.
        units: units of the channels by name, instead of the attributes ``units``.

    Returns:
        The record.

    Raises:
        InvalidInput: the file cannot be read, or has no such arrays.

    Examples:
        >>> import tempfile, h5py
        >>> import numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with h5py.File(f"{folder}/a.h5", "w") as file:
        ...         file["run 3/force"], file["run 3/acc"] = np.zeros(4), np.zeros((4, 2))
        ...         file["run 3"].attrs["fs"] = 200.0
        ...     read_hdf5(f"{folder}/a.h5", input="run 3/force", output="run 3/acc[1]")
        Record(4 samples at 200 Hz, 0.015 s; input: run 3/force; output: run 3/acc[1])
    """
    return record_of(load_hdf5(path), input, output, time, rate, units)


def load_hdf5(path: PathLike) -> Arrays:
    """What an HDF5 file holds.

    Examples:
        >>> import tempfile, h5py
        >>> import numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with h5py.File(f"{folder}/a.h5", "w") as file:
        ...         file["force"] = np.zeros(4)
        ...     list(load_hdf5(f"{folder}/a.h5").values)
        ['force']
    """
    where, path = require_kind("read_hdf5", path, HDF5, MAT_73)
    items = items_of(where, path)
    if any(each.path == (HEADER,) for each in items):
        parts = {each.path[0]: _part(where, each) for each in items if each.path in _PARTS}
        with foreign(where, "an HDF5 file"):
            return of_record(where, record_from(where, parts))
    return sort_out(where, found_in(items))


def items_of(where: str, path: Path) -> list[Item]:
    """Everything in an HDF5 file; needs ``h5py``.

    Args:
        where: the function and file to blame in messages.
        path: the file.

    Raises:
        InvalidInput: the file is damaged, or ``h5py`` is not installed.
    """
    require_package("h5py", where, "formats")
    require_heaps(where, path)
    return read_apart(where, path)


def found_in(items: Iterable[Item]) -> Iterator[Found]:
    """Groups and arrays by their paths."""
    for each in items:
        yield Found("/".join(each.path), each.value, each.attributes, each.unfit)


def require_own(where: str, items: Iterable[Item]) -> None:
    """Refuse a file that keeps something in another one.

    Raises:
        InvalidInput: it does; the message says what.
    """
    for each in items:
        if each.what == "outside" or (each.what == "link" and "file" in each.unfit):
            got, remedy = f"{'/'.join(each.path)!r}, {each.unfit}", "copy it into this one"
            raise InvalidInput(where, "a file with everything in it", got, remedy)


def _part(where: str, item: Item) -> Any:
    """A part of a stored record."""
    require_own(where, [item])
    if item.unfit or item.value is None:
        got, remedy = f"{item.unfit or 'another thing'} in {item.path[0]!r}", "write the file anew"
        raise InvalidInput(where, "parts of a stored record", got, remedy)
    return item.value
