"""What a file may ask for: a small file must not fill the memory, nor keep a reader busy for hours."""

from __future__ import annotations

from vibayes.errors import InvalidInput

MOST_COLUMNS = 10_000
"""Columns or arrays of one file; a name, a unit and checks belong to each."""
LONGEST_NAME = 1_000
"""Letters of the heading of a column."""
_RATIO = 100
_SMALL = 2**25
"""Bytes, 32 MiB: files that unpack to no more are harmless whatever their ratio."""


def most_unpacked(stored: int) -> int:
    """Bytes to which a file of so many bytes may unpack. What sensors measure shrinks tenfold at most.

    Examples:
        >>> most_unpacked(10**9) == 10**11
        True
    """
    return max(_SMALL, _RATIO * stored)


def require_unpacked(where: str, unpacked: int, stored: int, what: str = "its arrays") -> None:
    """Check what a file would unpack to, before it is unpacked.

    Args:
        where: the function and file to blame in the message.
        unpacked: bytes that it says it holds.
        stored: bytes that it has.
        what: would be that large.

    Raises:
        InvalidInput: it is more than a hundred times the file.
    """
    if unpacked > most_unpacked(stored):
        expected = f"arrays that unpack to at most {_RATIO} times the file ({stored:,} bytes)"
        remedy = "save it without compression if it is right, else export the file again"
        raise InvalidInput(where, expected, f"{unpacked:,} bytes in {what}", remedy)


def require_columns(where: str, count: int) -> None:
    """Check that a file has not more columns, or arrays, than a structure has sensors.

    Raises:
        InvalidInput: it has.
    """
    if count > MOST_COLUMNS:
        expected, remedy = f"at most {MOST_COLUMNS:,} columns", "export those of the record alone"
        raise InvalidInput(where, expected, f"{count:,}", remedy)
