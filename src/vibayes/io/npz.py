"""Records as NumPy archives: compact, exact, quick to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.files import PathLike, existing_file, listed, whole_file
from vibayes.io.header import header_of, parse_header, rebuild
from vibayes.naming import nearest
from vibayes.record import Record

_HEADER, _METADATA = "vibayes_record", "vibayes_metadata"


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
    arrays = {
        "input": record.input,
        "output": record.output,
        _HEADER: np.array(header_of(record).to_json()),
        _METADATA: np.array(record.metadata_json),
    }
    with whole_file("write_npz", path) as file:
        np.savez(file, allow_pickle=False, **arrays)


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
    a channel of that name, a 2-D array of shape (samples, channels) gives channels ``name_1``, ``name_2``...

    Args:
        path: the file.
        input: arrays that drove the structure.
        output: arrays that it answered with.
        time: array of times, in seconds; the one called ``time`` or ``t`` if left out.
        rate: samples per second, instead of `time`.
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
        Record(3 samples at 10 Hz, 0.2 s; input: u; output: y_1, y_2)
    """
    arrays = _load(existing_file("read_npz", path))
    name = Path(path).name
    if _HEADER in arrays and (input, output, time, rate) == (None, None, None, None):
        return _stored(name, arrays, units)
    if input is None and output is None:
        raise InvalidInput(
            f"read_npz('{name}')", "the names of arrays in input= or output=", "neither", listed(list(arrays))
        )
    if time is None and rate is None:
        time = next((key for key in arrays if key.lower() in ("time", "t")), None)
    return Record.from_arrays(
        time=None if time is None else np.squeeze(_pick(name, arrays, time)),
        rate=rate,
        input=_channels(name, arrays, input),
        output=_channels(name, arrays, output),
        units=units,
    )


def _load(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (ValueError, OSError, EOFError, BadZipFile, AttributeError, TypeError):
        raise InvalidInput(
            f"read_npz('{path.name}')",
            "a NumPy archive of numbers",
            "something else",
            "write it with numpy.savez, or read text with read_csv",
        ) from None


def _stored(name: str, arrays: dict[str, np.ndarray], units: Mapping[str, str] | None) -> Record:
    header = parse_header(name, str(arrays[_HEADER]))
    try:
        metadata = json.loads(str(arrays[_METADATA]))
        return rebuild(header, arrays["input"], arrays["output"], metadata, units)
    except (KeyError, json.JSONDecodeError):
        raise InvalidInput(
            f"read_npz('{name}')", "all parts of a stored record", f"{list(arrays)}", "write the file anew"
        ) from None


def _pick(name: str, arrays: dict[str, np.ndarray], key: str) -> np.ndarray:
    if key not in arrays:
        raise InvalidInput(f"read_npz('{name}')", "the name of an array", repr(key), nearest(key, arrays))
    return arrays[key]


def _channels(
    name: str, arrays: dict[str, np.ndarray], keys: str | Sequence[str] | None
) -> dict[str, np.ndarray] | None:
    if keys is None:
        return None
    channels: dict[str, np.ndarray] = {}
    for key in [keys] if isinstance(keys, str) else keys:
        values: np.ndarray = _pick(name, arrays, key)
        if values.ndim == 2 and min(values.shape) == 1:
            values = values.ravel()  # the way MATLAB stores a vector
        if values.ndim != 2:
            channels[key] = values
            continue
        if values.shape[0] < values.shape[1]:
            raise InvalidInput(
                f"read_npz('{name}')",
                f"{key!r} of shape (samples, channels)",
                f"{values.shape}",
                "transpose it",
            )
        for number, column in enumerate(values.T, start=1):
            channels[f"{key}_{number}"] = column
    return channels
