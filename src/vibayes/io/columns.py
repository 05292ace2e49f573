"""Columns of a text file: what their headings say, which one is meant, and the numbers in them.

A heading may carry a unit in brackets, ``force [N]`` or ``force (N)``: the channel ``force``, in newton.
A heading like ``force_N`` is a name and nothing more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.files import listed
from vibayes.naming import nearest, quoted

_BRACKETED = re.compile(r"^(?P<name>.*\S)\s*(?:\[(?P<square>[^\[\]]*)\]|\((?P<round>[^()]*)\))$")
_MISSING = frozenset({"", "nan", "na", "n/a"})
_DECIMAL_COMMA = re.compile(r"^[+-]?\d+,\d+([eE][+-]?\d+)?$")


class Heading(NamedTuple):
    """The name and the unit in a column's heading; no unit (None) if there are no brackets."""

    name: str
    unit: str | None


class Row(NamedTuple):
    """The cells of one row, and the line of the file on which it ends."""

    line: int
    cells: list[str]


def split_heading(text: str) -> Heading:
    """Split a column's heading into its name and its unit.

    Examples:
        >>> split_heading("force [N]"), split_heading("gap (mm)"), split_heading("force_N")
        (Heading(name='force', unit='N'), Heading(name='gap', unit='mm'), Heading(name='force_N', unit=None))
        >>> split_heading("ratio [-]")
        Heading(name='ratio', unit='-')
    """
    text = text.strip()
    match = _BRACKETED.match(text)
    if match is None:
        return Heading(text, None)
    unit = match["square"] if match["square"] is not None else match["round"]
    return Heading(match["name"], unit.strip() or "-")


def find_column(where: str, headings: list[str], wanted: str) -> int:
    """Which column is meant: the one with this heading, or the one with this name before its unit.

    Args:
        where: the function and file to blame in the message.
        headings: the headings of all columns.
        wanted: what the user calls the column.

    Returns:
        Its index.

    Raises:
        InvalidInput: there is no such column, or more than one.

    Examples:
        >>> find_column("read_csv", ["time [s]", "force [N]"], "force")
        1
    """
    return find_columns(where, headings, [wanted])[0]


def find_columns(where: str, headings: list[str], names: Sequence[str]) -> list[int]:
    """Which columns are meant by several names; as `find_column`, but headings are taken apart once for all."""
    whole, short = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for index, heading in enumerate(headings):
        whole[heading].append(index)
        short[split_heading(heading).name].append(index)
    places = []
    for wanted in names:
        found = whole.get(wanted) or short.get(wanted)
        if not found:
            shown = [heading for heading in headings if heading]
            raise InvalidInput(where, "the name of a column", repr(wanted), nearest(wanted, shown))
        if len(found) > 1:
            same = [headings[index] for index in found]
            raise InvalidInput(
                where,
                f"one column {wanted!r}",
                f"{len(found)}: {quoted(same)}",
                "write its heading in full" if len(set(same)) == len(same) else "rename all but one of them",
            )
        places += found
    return places


def numbers_in(where: str, rows: list[Row], column: int, heading: str, remedy: str | None = None) -> np.ndarray:
    """The numbers in one column; NaN where a cell is empty or says nan or NA.

    Args:
        where: the function and file to blame in the message.
        rows: the rows of the file.
        column: the index of the column.
        heading: its heading, for the message.
        remedy: what to do about text, if there is something better than to write a number.

    Returns:
        The numbers, of shape (rows,).

    Raises:
        InvalidInput: a cell holds text; the message gives its line and column.

    Examples:
        >>> numbers_in("read_csv", [Row(2, ["1.5", "a"]), Row(3, ["", "b"])], 0, "force")
        array([1.5, nan])
    """
    texts = [cells[column] for _, cells in rows]
    try:
        # Most columns hold numbers and nothing else. Python would take 1_000 for a number, and we do not.
        if "_" not in "".join(texts):
            return np.array([float(text) for text in texts])
    except ValueError:
        pass  # a missing value, or text: look at every cell
    values = np.empty(len(rows))
    for index, (line, cells) in enumerate(rows):
        cell = cells[column].strip()
        try:
            values[index] = np.nan if cell.lower() in _MISSING else float(cell.replace("_", "?"))
        except ValueError:
            if _DECIMAL_COMMA.match(cell):
                remedy = "write decimals with a point"
            raise InvalidInput(
                where,
                f"a number on line {line}, column {heading!r}",
                repr(cell),
                remedy or "write a number, or leave the cell empty if the value is missing",
            ) from None
    return values


def require_rectangle(where: str, headings: list[str], rows: list[Row]) -> list[Row]:
    """Check that every row has a cell for each heading.

    Empty cells beyond the last heading (a separator at the end of the line) are dropped.

    Args:
        where: the function and file to blame in the message.
        headings: the headings of all columns.
        rows: the rows of the file.

    Returns:
        The rows, all of one length.

    Raises:
        InvalidInput: there are no rows, or one is too short or too long; the message gives its line.

    Examples:
        >>> require_rectangle("read_csv", ["force"], [Row(2, ["1.5", ""])])
        [Row(line=2, cells=['1.5'])]
    """
    if not rows:
        raise InvalidInput(where, "rows of numbers under the headings", "none", "export the file again")
    width = len(headings)
    for line, cells in rows:
        if len(cells) < width or any(cell.strip() for cell in cells[width:]):
            raise InvalidInput(
                where,
                f"{width} cells on line {line}, one for each heading",
                f"{len(cells)}",
                f"mend that line; {listed(headings)}" if width == 1 else "mend that line or set delimiter=",
            )
    return [Row(line, cells[:width]) for line, cells in rows]
