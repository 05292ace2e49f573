"""Records in universal files, the format of modal testing: functions of time in data sets of type 58.

A channel is called after what it measures, where and in which direction: ``acceleration 3+Z`` at node 3 along z.
Where two would be called the same, the second has ``#2`` behind its name.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.arrays import Arrays, Found, Sampling, sort_out
from vibayes.io.content import UNIVERSAL, foreign, require_kind
from vibayes.io.files import PathLike
from vibayes.io.limits import require_columns
from vibayes.io.packages import package
from vibayes.io.selection import record_of
from vibayes.record import Record

_TIME = 17
_QUANTITIES = {
    2: "stress",
    3: "strain",
    5: "temperature",
    8: "displacement",
    9: "force",
    11: "velocity",
    12: "acceleration",
}
_QUANTITIES |= {13: "excitation force", 15: "pressure"}
_ACCELERATION = 12
_DIRECTIONS = {size: axis for size, axis in enumerate(("X", "Y", "Z", "RX", "RY", "RZ"), start=1)}
_SIX_DIGITS = 5e-6


def read_uff(
    path: PathLike,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Record:
    """Read a record from a universal file (.uff, .unv); needs ``pyuff``.

    Text and binary data sets of type 58 are read; functions of frequency are not records. The step of time has six
    digits in these files: a rate that is a whole number to that accuracy is taken for one.

    Args:
        path: the file.
        input: channels that drove the structure, as ``force 1+Z``; `look` lists them.
        output: channels that it answered with.
        rate: samples per second, instead of what the file states.
        units: units of the channels by name, instead of those in the file.

    Returns:
        The record.

    Raises:
        InvalidInput: the file cannot be read, is cut short, or has no such channels.

    Examples:
        >>> import tempfile, pyuff
        >>> one = pyuff.prepare_58(
        ...     binary=0, func_type=1, rsp_node=3, rsp_dir=3, abscissa_spacing=1, abscissa_spec_data_type=17,
        ...     ordinate_spec_data_type=12, ordinate_axis_units_lab="m/s^2", id1="a", ref_node=1, ref_dir=3,
        ...     data=np.array([0.0, 1.0, 2.0]), x=np.arange(3) / 512, abscissa_min=0.0, abscissa_inc=1 / 512, num_pts=3,
        ...     orddenom_spec_data_type=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pyuff.UFF(f"{folder}/a.uff").write_sets(one, "overwrite")
        ...     read_uff(f"{folder}/a.uff", output="acceleration 3+Z")
        Record(3 samples at 512 Hz, 0.00390625 s; input: none; output: acceleration 3+Z [m/s^2])
    """
    return record_of(load_uff(path), input, output, None, rate, units)


def load_uff(path: PathLike) -> Arrays:
    """What a universal file holds.

    Args:
        path: the file.

    Returns:
        Its functions of time.

    Raises:
        InvalidInput: it cannot be read, or is cut short.
    """
    where, path = require_kind("read_uff", path, UNIVERSAL)
    pyuff = package("pyuff", where, "formats")
    if not path.read_bytes().rstrip().endswith(b"-1"):
        raise InvalidInput(where, "a line with -1 at its end", "none", "export the file again, it is cut short")
    with foreign(where, "a universal file"):
        sets = _sets(where, pyuff, path)
        found = list(_found(where, sets))
        arrays = sort_out(where, found, "\0")
    arrays.sampling.update({each.path: each.attributes["sampling"] for each in found if "sampling" in each.attributes})
    if not found:
        raise InvalidInput(where, "data sets of type 58", "none", "export functions of time")
    return arrays


def _sets(where: str, pyuff: Any, path: Path) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = pyuff.UFF(str(path))
        functions = np.flatnonzero(np.asarray(file.get_set_types()) == 58)
        require_columns(where, len(functions))
        return [file.read_sets(int(number)) for number in functions]


def _found(where: str, sets: list[dict[str, Any]]) -> Iterator[Found]:
    used: dict[str, int] = {}
    for each in sets:
        name = _name(each)
        used[name] = used.get(name, 0) + 1
        name = name if used[name] == 1 else f"{name} #{used[name]}"
        values = np.asarray(each["data"])
        if len(values) != each["num_pts"]:
            expected = f"{each['num_pts']} values of {name!r}"
            raise InvalidInput(where, expected, f"{len(values)}", "export the file again, it is damaged")
        if each.get("abscissa_spec_data_type", 0) not in (0, _TIME) or values.dtype.kind == "c":
            yield Found(name, unfit="a function of something else than time, or of complex numbers")
            continue
        yield Found(name, values, _attributes(each))


def _attributes(each: dict[str, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    unit = str(each.get("ordinate_axis_units_lab", "")).strip()
    if unit.lower() not in ("", "none"):
        gravity = unit.lower() == "g" and each.get("ordinate_spec_data_type") == _ACCELERATION
        attributes["units"] = "g_0" if gravity else unit
    step = float(each["abscissa_inc"])
    if each["abscissa_spacing"] == 1 and step > 0 and np.isfinite(1.0 / step):
        attributes["sampling"] = Sampling(float(each["abscissa_min"]), _whole(1.0 / step))
    elif each["abscissa_spacing"] == 0:
        times = np.asarray(each["x"])
        middle = float(np.median(np.diff(times)))
        if middle > 0 and np.allclose(np.diff(times), middle, rtol=1e-3):
            attributes["sampling"] = Sampling(float(times[0]), _whole((len(times) - 1) / float(times[-1] - times[0])))
    return attributes


def _whole(rate: float) -> float:
    """The whole number that a rate of six digits stands for, if there is one."""
    return float(round(rate)) if abs(rate - round(rate)) <= _SIX_DIGITS * rate else rate


def _name(each: dict[str, Any]) -> str:
    quantity = _QUANTITIES.get(each.get("ordinate_spec_data_type", 0), "channel")
    direction = int(each.get("rsp_dir", 0))
    axis = _DIRECTIONS.get(abs(direction), "")
    sign = "" if not axis else "-" if direction < 0 else "+"
    return f"{quantity} {each.get('rsp_node', 0)}{sign}{axis}"
