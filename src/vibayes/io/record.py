"""Read and write a record in the format that the file's suffix names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from vibayes.errors import InvalidInput
from vibayes.io.csv import read_csv, write_csv
from vibayes.io.files import PathLike
from vibayes.io.npz import read_npz, write_npz
from vibayes.record import Record

_TEXT = (".csv", ".tsv", ".txt", ".dat")
_ARCHIVE = (".npz",)


def read_record(
    path: PathLike,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    time: str | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Record:
    """Read a record from a file; its suffix (.csv, .tsv, .txt, .dat or .npz) says how.

    Args:
        path: the file.
        input: columns (or arrays) that drove the structure; needless if vibayes wrote the file.
        output: columns (or arrays) that it answered with; likewise.
        time: column (or array) of times.
        rate: samples per second, instead of `time`.
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
    if _format_of("read_record", path) == _TEXT:
        return read_csv(path, input, output, time, rate, units, delimiter)
    if delimiter is not None:
        raise InvalidInput("read_record", "no delimiter for an archive", repr(delimiter), "leave it out")
    return read_npz(path, input, output, time, rate, units)


def write_record(record: Record, path: PathLike) -> None:
    """Write a record to a file; its suffix (.csv, .tsv, .txt, .dat or .npz) says how.

    Args:
        record: the record.
        path: the file to write or replace.

    Raises:
        InvalidInput: the suffix is not known, or the folder does not exist.

    Examples:
        >>> import tempfile
        >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_record(record, f"{folder}/test07.csv")
        ...     [path.name for path in Path(folder).iterdir()]
        ['test07.csv']
    """
    if _format_of("write_record", path) == _TEXT:
        write_csv(record, path)
    else:
        write_npz(record, path)


def _format_of(where: str, path: PathLike) -> tuple[str, ...]:
    suffix = Path(path).suffix.lower()
    for known in (_TEXT, _ARCHIVE):
        if suffix in known:
            return known
    raise InvalidInput(where, f"a file ending in {', '.join(_TEXT + _ARCHIVE)}", f"'{Path(path).name}'", "rename it")
