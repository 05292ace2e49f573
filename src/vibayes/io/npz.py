"""Records as NumPy archives: compact, exact, quick to read."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.arrays import Arrays, Found, of_record, sort_out
from vibayes.io.content import ZIP, foreign, require_kind
from vibayes.io.files import PathLike, write_whole
from vibayes.io.limits import require_columns, require_unpacked
from vibayes.io.selection import record_of
from vibayes.io.stored import HEADER, METADATA, parts_of, record_from
from vibayes.record import Record

_REMEDY = "write it with numpy.savez, or read text with read_csv"


def write_npz(record: Record, path: PathLike) -> None:
    """Write a record as a NumPy archive, completely or not at all.

    Args:
        record: the record.
        path: the file to write or replace.

    Raises:
        InvalidInput: the folder does not exist.

    Examples:
        >>> import tempfile
        >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]}, metadata={"specimen": 7})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_npz(record, f"{folder}/test07.npz")
        ...     read_npz(f"{folder}/test07.npz").metadata["specimen"]
        7
    """
    arrays = {name: np.asarray(part) for name, part in parts_of(record).items()}
    memory = io.BytesIO()
    np.savez(memory, allow_pickle=False, **arrays)
    write_whole("write_npz", path, memory.getbuffer())


def read_npz(
    path: PathLike,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    time: str | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Record:
    """Read a record from a NumPy archive.

    A file that `write_npz` made needs the path alone. From any other archive, name the arrays: a 1-D array is
    a channel of that name, a 2-D array of shape (samples, channels) gives channels ``name[0]``, ``name[1]``...

    Args:
        path: the file.
        input: arrays that drove the structure.
        output: arrays that it answered with.
        time: array of times, in seconds; the one called ``time`` or ``t`` if left out.
        rate: samples per second, instead of `time`; a single number called ``fs`` or ``dt`` states it too.
        units: units of the channels by name, instead of those in the file if it has any.

    Returns:
        The record.

    Raises:
        InvalidInput: the file is no archive, or has no such array.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/a.npz", u=np.zeros(3), y=np.ones((3, 2)))
        ...     read_npz(f"{folder}/a.npz", input="u", output="y", rate=10.0)
        Record(3 samples at 10 Hz, 0.2 s; input: u; output: y[0], y[1])
    """
    return record_of(load_npz(path), input, output, time, rate, units)


def load_npz(path: PathLike) -> Arrays:
    """What an archive holds.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(f"{folder}/a.npz", u=np.zeros(3), fs=20.0)
        ...     list(load_npz(f"{folder}/a.npz").values)
        ['u']
    """
    where, path = require_kind("read_npz", path, ZIP)
    with foreign(where, "a NumPy archive of numbers", _REMEDY):
        _require_size(where, path)
        opened = np.load(path, allow_pickle=False)
        if not isinstance(opened, np.lib.npyio.NpzFile):
            raise InvalidInput(where, "a NumPy archive of numbers", "a single array", _REMEDY)
        with opened as archive:
            if HEADER in archive.files:
                parts = {name: archive[name] for name in ("input", "output", HEADER, METADATA) if name in archive.files}
                return of_record(where, record_from(where, parts))
            return sort_out(where, _found(archive))


def _require_size(where: str, path: Path) -> None:
    """Check what the members of an archive would unpack to, as it says itself: no more is unpacked of any of them."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    require_columns(where, len(members))
    require_unpacked(where, sum(each.file_size for each in members), path.stat().st_size)


def _found(archive: np.lib.npyio.NpzFile) -> Iterator[Found]:
    for name in archive.files:
        try:
            yield Found(name, archive[name])
        except ValueError as error:
            if "pickle" not in str(error) and "Object" not in str(error):
                raise
            yield Found(name, unfit="Python objects")
