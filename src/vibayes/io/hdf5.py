"""Records in HDF5: one of ours, or arrays of others by their path, as ``run 3/acceleration``.

Attributes tell what arrays cannot: ``units`` of an array; ``fs``, ``sampling_rate``, ``dt`` and the like of an array,
its group or the file.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.arrays import Arrays, Found, of_record, sort_out
from vibayes.io.content import HDF5, MAT_73, foreign, require_kind
from vibayes.io.files import PathLike, whole_file
from vibayes.io.packages import package
from vibayes.io.selection import record_of
from vibayes.io.stored import HEADER, METADATA, parts_of, record_from
from vibayes.record import Record

_DEEPEST = 20
_ATTRIBUTE = 2**16  # bytes; HDF5 itself allows no more in its usual layout, so a larger size is a fault in the file
_COMPRESSION = 2000  # gzip makes nothing a thousand times smaller; a size beyond that is a fault in the file


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
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with h5py.File(f"{folder}/a.h5", "w") as file:
        ...         file["force"] = np.zeros(4)
        ...     list(load_hdf5(f"{folder}/a.h5").values)
        ['force']
    """
    where, path = require_kind("read_hdf5", path, HDF5, MAT_73)
    h5py = package("h5py", where, "formats")
    with foreign(where, "an HDF5 file"), h5py.File(path, "r") as file:
        if HEADER in file:
            parts = {name: sound(where, file[name]) for name in ("input", "output") if name in file}
            for name in (HEADER, METADATA):
                if name in file:
                    _require_size(where, file[name])
                    parts[name] = file[name].asstr()[()]
            return of_record(where, record_from(where, parts))
        return sort_out(where, walk(where, file))


def walk(where: str, group: Any, path: str = "", seen: frozenset[int] = frozenset()) -> Iterator[Found]:
    """Everything in a group and the groups within it.

    Args:
        where: the function and file to blame in messages.
        group: of an open file.
        path: of the group.
        seen: addresses of the groups around it, which it may hold again.

    Yields:
        Groups and arrays.
    """
    h5py = package("h5py", where, "formats")
    here = h5py.h5o.get_info(group.id).addr
    if here in seen or len(seen) > _DEEPEST:
        yield Found(path, unfit="a link")
        return
    yield Found(path, attributes=attributes_of(group))
    for name in group:
        inner = f"{path}/{name}" if path else name
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            yield Found(inner, unfit="a link")
            continue
        item = group[name]
        if isinstance(item, h5py.Group):
            yield from walk(where, item, inner, seen | {here})
        elif isinstance(item, h5py.Dataset):
            yield _array(where, h5py, item, inner)


def sound(where: str, dataset: Any) -> np.ndarray:
    """The numbers of an array, unless its size is beyond what its file can hold.

    Raises:
        InvalidInput: it is; to read it would exhaust the memory.
    """
    _require_size(where, dataset)
    return dataset[()]


def _require_size(where: str, dataset: Any) -> None:
    if dataset.nbytes > 2**20 + _COMPRESSION * dataset.file.id.get_filesize():
        got = f"{dataset.name!r} of {dataset.nbytes:.2g} bytes"
        raise InvalidInput(where, "arrays that fit into the file", got, "export the file again, it is damaged")


def attributes_of(item: Any) -> dict[str, Any]:
    """The attributes of a group or an array that can be read."""
    found = {}
    for key in item.attrs:
        try:
            entry = item.attrs.get_id(key)
            if math.prod(entry.shape or ()) * entry.dtype.itemsize <= _ATTRIBUTE:
                value = item.attrs[key]
                if not isinstance(value, str | bytes) or len(value) <= _ATTRIBUTE:
                    found[key] = value
        except Exception:  # of a type that h5py does not know: nothing we would look for
            continue
    return found


def _array(where: str, h5py: Any, dataset: Any, path: str) -> Found:
    attributes = attributes_of(dataset)
    if dataset.shape is None:
        return Found(path, unfit="an empty array")
    _require_size(where, dataset)
    if h5py.check_string_dtype(dataset.dtype) is not None and dataset.size == 1:
        return Found(path, str(dataset.asstr(errors="replace")[()]), attributes)
    if dataset.dtype.kind == "O":
        text = h5py.check_string_dtype(dataset.dtype) is not None
        return Found(path, unfit="text" if text else "objects")
    if dataset.dtype.kind not in "fiub":
        return Found(path, np.empty(0, dataset.dtype), attributes)
    return Found(path, sound(where, dataset), attributes)
