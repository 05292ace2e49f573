"""Read and write a record in the format that the file's suffix names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vibayes.errors import InvalidInput
from vibayes.io.csv import read_csv, write_csv
from vibayes.io.files import PathLike
from vibayes.io.formats import AT2, HDF5, LOADERS, MAT, NPZ, TEXT, UFF, WRITTEN, format_of
from vibayes.io.hdf5 import write_hdf5
from vibayes.io.mat import write_mat
from vibayes.io.npz import write_npz
from vibayes.io.selection import record_of
from vibayes.record import Record

_WRITERS = {TEXT: write_csv, NPZ: write_npz, MAT: write_mat, HDF5: write_hdf5}


def read_record(
    path: PathLike,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    time: str | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Record:
    """Read a record from a file; its suffix says how.

    Text in columns (.csv, .tsv, .txt, .dat), NumPy archives (.npz), MATLAB (.mat), HDF5 (.h5, .hdf5), netCDF (.nc,
    .nc4, .cdf), universal files (.uff, .unv) and ground motions of PEER (.at2, .vt2, .dt2). `look` shows what is in
    a file.

    Args:
        path: the file.
        input: columns (or arrays) that drove the structure; needless if vibayes wrote the file.
        output: columns (or arrays) that it answered with; likewise.
        time: column (or array) of times.
        rate: samples per second, instead of `time`; needless if the file states it.
        units: units of the channels by name, where the file does not state them or states them wrongly.
        delimiter: what separates the columns of a text file; found out if left out.

    Returns:
        The record.

    Raises:
        InvalidInput: the file cannot be read as a record; the message says where and what to do.

    Examples:
        >>> import tempfile
        >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]}, units={"gap": "mm"})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_record(record, f"{folder}/test07.npz")
        ...     read_record(f"{folder}/test07.npz")
        Record(2 samples at 2 Hz, 0.5 s; input: none; output: gap [mm])
    """
    kind = format_of("read_record", path)
    if kind == TEXT:
        return read_csv(path, input, output, time, rate, units, delimiter)
    if delimiter is not None:
        raise InvalidInput("read_record", "no delimiter for an archive", repr(delimiter), "leave it out")
    arrays = LOADERS[kind](path)
    if time is not None and kind in (UFF, AT2):
        raise InvalidInput(arrays.where, "no array of times, for the file states its step", repr(time), "leave it out")
    if kind == AT2 and input is None and output is None:
        input = list(arrays.values)  # a ground motion drives the structure
    return record_of(arrays, input, output, time, rate, units)


def write_record(record: Record, path: PathLike) -> None:
    """Write a record to a file; its suffix (.csv, .tsv, .txt, .dat, .npz, .mat, .h5 or .hdf5) says how.

    Args:
        record: the record.
        path: the file to write or replace.

    Raises:
        InvalidInput: the suffix is not known, or the folder does not exist.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_record(record, f"{folder}/test07.csv")
        ...     [path.name for path in Path(folder).iterdir()]
        ['test07.csv']
    """
    _WRITERS[format_of("write_record", path, WRITTEN)](record, path)
