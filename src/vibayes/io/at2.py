"""Ground motions as PEER gives them: four lines of text above, then numbers in rows of five.

PEER NGA STRONG MOTION DATABASE RECORD
San Fernando, 2/9/1971, Pacoima Dam (upper left abut), 164
ACCELERATION TIME SERIES IN UNITS OF G
NPTS=   4172, DT=   .0100 SEC,
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.arrays import Arrays, Found, sort_out
from vibayes.io.content import PEER, require_kind
from vibayes.io.files import PathLike
from vibayes.io.selection import record_of
from vibayes.record import Record

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NAMED = re.compile(rf"NPTS\s*=\s*(?P<count>\d{{1,12}}+)\s*+(?:,\s*+)?DT\s*=\s*(?P<step>{_NUMBER})", re.IGNORECASE)
_BARE = re.compile(rf"\s*+(?P<count>\d{{1,12}}+)\s++(?P<step>{_NUMBER})\s+NPTS\s*,\s*DT", re.IGNORECASE)
_QUANTITY = re.compile(r"\b(ACCELERATION|VELOCITY|DISPLACEMENT)\b", re.IGNORECASE)
_UNIT = re.compile(r"UNITS?\s+OF\s+([A-Z/0-9^*]+)", re.IGNORECASE)
_UNITS = {"G": "g_0", "CM/S": "cm/s", "CM/SEC": "cm/s", "CM": "cm", "CM/S/S": "cm/s^2", "CM/SEC/SEC": "cm/s^2"}
_LINES = 4
_LETTERS = 500  # of a line above the numbers


def read_at2(
    path: PathLike,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Record:
    """Read a ground motion from a file of PEER (.AT2, or .VT2 and .DT2 of velocities and displacements).

    Its one channel is called ``acceleration`` (or ``velocity``, ``displacement``), and is the input unless said
    otherwise. The acceleration is in ``g_0``; ``record.convert("acceleration", "m/s^2")`` makes SI of it.

    Args:
        path: the file.
        input: the channel, where it is named at all.
        output: the channel, if it is to be an output.
        rate: samples per second, instead of what the file states.
        units: unit of the channel, instead of what the file states.

    Returns:
        The record; the lines above the numbers are in its metadata under ``heading``.

    Raises:
        InvalidInput: there are other than the stated number of values, or something that is none.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> title = "PEER\\nSomewhere, 1/1/1970\\nACCELERATION TIME SERIES IN UNITS OF G\\n"
        >>> text = f"{title}NPTS= 3, DT= .01 SEC\\n.1 .2 .3\\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.at2").write_text(text)
        ...     read_at2(f"{folder}/a.at2")
        Record(3 samples at 100 Hz, 0.02 s; input: acceleration [g_0]; output: none)
    """
    arrays = load_at2(path)
    if input is None and output is None:
        input = list(arrays.values)
    return record_of(arrays, input, output, None, rate, units)


def load_at2(path: PathLike) -> Arrays:
    """What a file of PEER holds.

    Args:
        path: the file.

    Returns:
        One array, with its sampling and unit.

    Raises:
        InvalidInput: as `read_at2`.
    """
    where, path = require_kind("read_at2", path, PEER)
    lines = path.read_bytes().decode("latin-1").splitlines()  # names of places may be in any encoding
    heading = [line.strip()[:_LETTERS] for line in lines[:_LINES]]
    stated = next((match for line in heading if (match := _NAMED.search(line) or _BARE.match(line))), None)
    if stated is None:
        got = repr(heading[-1][:60]) if heading else "no lines"
        raise InvalidInput(where, f"NPTS and DT in the first {_LINES} lines", got, "download the file again")
    above = " ".join(heading)
    values = _numbers(where, lines[_LINES:])
    if len(values) != int(stated["count"]):
        remedy = "download the file again, it is cut short or damaged"
        raise InvalidInput(where, f"{stated['count']} values (NPTS)", f"{len(values)}", remedy)
    quantity, unit = _QUANTITY.search(above), _UNIT.search(above)
    attributes: dict[str, float | str] = {"dt": float(stated["step"])}
    if unit is not None and unit[1].upper() in _UNITS:
        attributes["units"] = _UNITS[unit[1].upper()]
    found = Found((quantity[1] if quantity else "motion").lower(), values, attributes)
    return sort_out(where, [Found("", attributes={"heading": heading}), found])


def _numbers(where: str, lines: list[str]) -> np.ndarray:
    values: list[float] = []
    for number, line in enumerate(lines, _LINES + 1):
        try:
            values += [float(word) for word in line.split()]
        except ValueError:
            raise InvalidInput(
                where, f"numbers on line {number}", repr(line.strip()[:60]), "download the file again"
            ) from None
    return np.array(values)
