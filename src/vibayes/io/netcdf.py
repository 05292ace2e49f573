"""Records in netCDF: version 3, read by SciPy, and version 4, which is HDF5 within.

The conventions of netCDF are kept: what equals ``_FillValue`` is missing, ``scale_factor`` and ``add_offset`` are
applied, ``units`` are those of the variable.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import netcdf_file

from vibayes.io.arrays import Arrays, Found, plain, sort_out
from vibayes.io.content import HDF5, NETCDF_3, foreign, kind_of, require_kind
from vibayes.io.files import PathLike
from vibayes.io.hdf5 import found_in, items_of
from vibayes.io.selection import record_of
from vibayes.record import Record

_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"
_INNER = frozenset({"_NCProperties", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "CLASS", "NAME"})


def read_netcdf(
    path: PathLike,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    time: str | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Record:
    """Read a record from a netCDF file; version 4 needs ``h5py``.

    Args:
        path: the file.
        input: variables that drove the structure, by name; with their path if they are in groups.
        output: variables that it answered with. One of shape (samples, channels) gives ``name[0]``, ``name[1]``...
        time: variable of times; one called ``time`` or ``t`` if left out.
        rate: samples per second, instead of `time`; what attributes as ``sampling_rate`` state if both are left out.
        units: units of the channels by name, instead of the attributes ``units``.

    Returns:
        The record. Attributes of the file become its metadata.

    Raises:
        InvalidInput: the file cannot be read, or has no such variables.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with netcdf_file(f"{folder}/a.nc", "w") as file:
        ...         file.createDimension("time", 3)
        ...         for name, unit in (("time", b"ms"), ("acc", b"m s-2")):
        ...             variable = file.createVariable(name, "d", ("time",))
        ...             variable[:], variable.units = [0.0, 5.0, 10.0], unit
        ...     read_netcdf(f"{folder}/a.nc", output="acc")
        Record(3 samples at 200 Hz, 0.01 s; input: none; output: acc [m s^-2])
    """
    return record_of(load_netcdf(path), input, output, time, rate, units)


def load_netcdf(path: PathLike) -> Arrays:
    """What a netCDF file holds.

    Args:
        path: the file.

    Returns:
        Its variables.

    Raises:
        InvalidInput: it cannot be read.
    """
    where, path = require_kind("read_netcdf", path, NETCDF_3, HDF5)
    with foreign(where, "a netCDF file"):
        if kind_of(path) != HDF5:
            return sort_out(where, _decoded(_version_3(path)))
        return sort_out(where, _decoded(found_in(items_of(where, path))))


def _version_3(path: Path) -> Iterator[Found]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with netcdf_file(str(path), "r", mmap=False) as file:
            yield Found("", attributes=dict(file._attributes))
            for name, variable in file.variables.items():
                yield Found(name, variable.data, dict(variable._attributes))


def _decoded(found: Iterable[Found]) -> Iterator[Found]:
    for path, value, attributes, unfit in found:
        if str(plain(attributes.get("NAME"))).startswith(_NO_VARIABLE):
            continue
        attributes = {key: each for key, each in attributes.items() if key not in _INNER}
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
            value = _unpacked(value, attributes)
        elif isinstance(value, np.ndarray) and value.dtype.kind == "S" and value.ndim == 1:
            value = value.tobytes().decode("utf-8", errors="replace")  # version 3 has text as single letters
        yield Found(path, value, attributes, unfit)


def _unpacked(value: np.ndarray, attributes: Mapping[str, Any]) -> np.ndarray:
    number = {key: plain(attributes.get(key)) for key in ("_FillValue", "missing_value", "scale_factor", "add_offset")}
    number = {key: each for key, each in number.items() if isinstance(each, int | float)}
    if not number:
        return value
    absent = np.isin(value, [number[key] for key in ("_FillValue", "missing_value") if key in number])
    value = value.astype(np.float64) * number.get("scale_factor", 1.0) + number.get("add_offset", 0.0)
    return np.where(absent, np.nan, value)
