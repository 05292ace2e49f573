"""Records in files of MATLAB: those up to version 7, read by SciPy, and those of version 7.3, which are HDF5 within.

Fields of structures are named as in MATLAB, ``data.acc``; of an array of structures, ``test[0].acc``.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from scipy.sparse import issparse

from vibayes.io.arrays import Arrays, Found, of_record, sort_out
from vibayes.io.content import HDF5, MAT_5, MAT_73, foreign, kind_of, require_kind
from vibayes.io.files import PathLike, whole_file
from vibayes.io.limits import most_unpacked, require_unpacked
from vibayes.io.mat5 import TooLarge, require_skeleton
from vibayes.io.mat73 import load_mat73
from vibayes.io.selection import record_of
from vibayes.io.stored import HEADER, METADATA, parts_of, record_from
from vibayes.record import Record


def write_mat(record: Record, path: PathLike) -> None:
    """Write a record as a MAT file of version 5, completely or not at all.

    MATLAB finds in it the matrices ``input`` and ``output`` with one column per channel, the vector ``time``, and the
    texts ``vibayes_record`` and ``vibayes_metadata``, which ``jsondecode`` reads.

    Args:
        record: the record.
        path: the file to write or replace.

    Raises:
        InvalidInput: the folder does not exist.

    Examples:
        >>> import tempfile
        >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]}, metadata={"specimen": 7})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_mat(record, f"{folder}/test07.mat")
        ...     read_mat(f"{folder}/test07.mat").metadata["specimen"]
        7
    """
    memory = io.BytesIO()
    scipy.io.savemat(memory, {**parts_of(record), "time": record.times[:, None]}, do_compression=True)
    with whole_file("write_mat", path) as file:
        file.write(memory.getvalue())


def read_mat(
    path: PathLike,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    time: str | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Record:
    """Read a record from a MAT file; those of version 7.3 need ``h5py``.

    A file that `write_mat` made needs the path alone. From any other, name the variables: ``force``, ``data.acc`` for
    the field of a structure. A matrix of shape (samples, channels) gives channels ``acc[0]``, ``acc[1]``..., which can
    also be named one by one.

    Args:
        path: the file.
        input: variables that drove the structure.
        output: variables that it answered with.
        time: variable of times in seconds; one called ``time`` or ``t`` beside the others if left out.
        rate: samples per second, instead of `time`; what a variable ``fs``, ``dt`` or ``Ts`` says if both are left out.
        units: units of the channels by name; a MAT file states none.

    Returns:
        The record. Single numbers and texts of the file become its metadata.

    Raises:
        InvalidInput: the file cannot be read, or has no such variables.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     scipy.io.savemat(f"{folder}/a.mat", {"data": {"acc": np.zeros((4, 2)), "fs": 200.0}})
        ...     read_mat(f"{folder}/a.mat", output="data.acc", units={"data.acc": "m/s^2"})
        Record(4 samples at 200 Hz, 0.015 s; input: none; output: data.acc[0] [m/s^2], data.acc[1] [m/s^2])
    """
    return record_of(load_mat(path), input, output, time, rate, units)


def load_mat(path: PathLike) -> Arrays:
    """What a MAT file holds.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     scipy.io.savemat(f"{folder}/a.mat", {"force": np.zeros(4), "gain": 2.0})
        ...     arrays = load_mat(f"{folder}/a.mat")
        >>> list(arrays.values), arrays.metadata
        (['force'], {'gain': 2.0})
    """
    where, path = require_kind("read_mat", path, MAT_5, MAT_73, HDF5)
    if kind_of(path) in (MAT_73, HDF5):
        return load_mat73(where, path)
    with foreign(where, "a MAT file"):
        variables = _variables(where, path)
        if HEADER in variables:
            parts = {name: variables[name] for name in ("input", "output") if name in variables}
            parts |= {name: "".join(np.ravel(variables[name])) for name in (HEADER, METADATA) if name in variables}
            return of_record(where, record_from(where, parts))
        return sort_out(where, (each for name, value in variables.items() for each in _walk(name, value)), ".")


def _variables(where: str, path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    most = most_unpacked(len(content))
    try:
        require_skeleton(content, most)
    except TooLarge:
        require_unpacked(where, most + 1, len(content), "it, and more")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of variables that come twice, and of objects that MATLAB alone can read
        found = scipy.io.loadmat(io.BytesIO(content))
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _walk(path: str, value: Any) -> Iterator[Found]:
    if issparse(value):
        yield Found(path, unfit="a sparse matrix")
    elif isinstance(value, scipy.io.matlab.MatlabOpaque | scipy.io.matlab.MatlabFunction):
        yield Found(path, unfit="an object that only MATLAB can read (a table, a datetime, a function)")
    elif isinstance(value, np.ndarray) and value.dtype.names is not None:
        for number, one in enumerate(value.ravel()):
            inner = path if value.size == 1 else f"{path}[{number}]"
            for name in value.dtype.names:
                yield from _walk(f"{inner}.{name}", one[name])
    elif isinstance(value, np.ndarray) and value.dtype.kind == "O":
        yield Found(path, unfit="a cell array")
    elif isinstance(value, np.ndarray):
        yield Found(path, value)
    else:
        yield Found(path, unfit=f"{type(value).__name__}")
