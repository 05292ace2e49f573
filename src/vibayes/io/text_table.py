"""Text in columns, taken apart: comments above, one line of headings, rows of cells.

A comment ``# key: value`` is metadata; its value is JSON if it can be read so, and text otherwise. Keys that
are more than words are written in quotes. Other comments are kept in order under ``comments``.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from vibayes.errors import InvalidInput
from vibayes.io.columns import Row, require_rectangle
from vibayes.io.header import Header, parse_header
from vibayes.io.limits import LONGEST_NAME, require_columns

_MARK = "#"
_HEADER = "vibayes.record"
_OTHERS = "comments"
_PLAIN_KEY = re.compile(r"[A-Za-z_](?:[\w -]*\w)?", re.ASCII)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"')


class Table(NamedTuple):
    """The columns of a text file, and what the comments above them say."""

    headings: list[str]
    rows: list[Row]
    metadata: dict[str, Any]
    header: Header | None


def write_comments(header: Header, metadata: Mapping[str, Any]) -> str:
    """The comments above a stored record.

    Examples:
        >>> print(write_comments(Header(0.0, 2.0, {}, {"gap": ""}), {"specimen": 7}), end="")
        # vibayes.record: {"format": 1, "start": 0.0, "rate": 2.0, "input": {}, "output": {"gap": ""}}
        # specimen: 7
    """
    lines = [f"{_HEADER}: {header.to_json()}"]
    for key, value in metadata.items():
        lines.append(f"{key if _PLAIN_KEY.fullmatch(key) else json.dumps(key)}: {json.dumps(value)}")
    return "".join(f"{_MARK} {line}\n" for line in lines)


def read_table(where: str, path: Path, delimiter: str | None = None) -> Table:
    """Take a text file apart.

    Args:
        where: the function and file to blame in the message.
        path: the file.
        delimiter: what separates the columns; of comma, semicolon, tabulator and bar, the most frequent in
            the headings if left out.

    Returns:
        Headings, rows and metadata.

    Raises:
        InvalidInput: the file is empty, has no headings, or has rows of different lengths.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a.csv")
        ...     _ = path.write_text("# specimen: A7\\nforce\\n1.5\\n")
        ...     read_table("read_csv('a.csv')", path)
        Table(headings=['force'], rows=[Row(line=3, cells=['1.5'])], metadata={'specimen': 'A7'}, header=None)
    """
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise InvalidInput(where, "a delimiter of one character", repr(delimiter), "give one, such as ';'")
    lines = list(io.StringIO(_text_of(where, path), newline=""))
    above = 0
    while above < len(lines) and (not lines[above].strip() or lines[above].lstrip().startswith(_MARK)):
        above += 1
    if above == len(lines):
        got = "only comments" if any(line.strip() for line in lines) else "an empty file"
        raise InvalidInput(where, "a line of headings and rows of numbers", got, "export the file again")
    metadata, header = _read_comments(where, [line.strip().removeprefix(_MARK) for line in lines[:above]])
    reader = csv.reader(lines[above:], delimiter=delimiter or _delimiter(lines[above]), skipinitialspace=True)
    try:
        headings = [cell.strip() for cell in next(reader)]
        rows = [Row(above + reader.line_num, cells) for cells in reader if "".join(cells).strip() or len(cells) > 1]
    except csv.Error as error:
        raise InvalidInput(
            where, "text in columns", f"{error} near line {above + reader.line_num}", "mend that line"
        ) from None
    while headings and not headings[-1]:
        headings.pop()
    require_columns(where, len(headings))
    _require_headings(where, headings)
    return Table(headings, require_rectangle(where, headings, rows), metadata, header)


def _text_of(where: str, path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            where, "text in UTF-8", f"other bytes at position {error.start}", "save the file as UTF-8 text"
        ) from None


def _read_comments(where: str, comments: list[str]) -> tuple[dict[str, Any], Header | None]:
    metadata: dict[str, Any] = {}
    others: list[str] = []
    header = None
    for comment in comments:
        key, text = _key_and_text(comment.strip())
        if not key:
            others += [text] if text else []
            continue
        if key == _HEADER:
            header = parse_header(where, text)
            continue
        key = _json_or_text(key) if key.startswith('"') else key
        metadata[key] = _json_or_text(text)
    if others:
        metadata.setdefault(_OTHERS, others)
    return metadata, header


def _key_and_text(comment: str) -> tuple[str, str]:
    """The key before the first colon, which may be in quotes, and what follows; no key if there is none."""
    if comment.startswith('"'):
        quoted = _QUOTED.match(comment)
        rest = comment[quoted.end() :].lstrip() if quoted is not None else ""
        return (comment[: quoted.end()], rest[1:].strip()) if quoted is not None and rest[:1] == ":" else ("", comment)
    key, colon, text = comment.partition(":")
    return (key.rstrip(), text.strip()) if colon and key.strip() else ("", comment)


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # more than a JSONDecodeError: numbers of thousands of digits, say
        return text


def _delimiter(headings: str) -> str:
    unquoted = re.sub(r'"[^"]*"', "", headings)
    return max(",;\t|", key=unquoted.count)


def _require_headings(where: str, headings: list[str]) -> None:
    def is_number(cell: str) -> bool:
        try:
            float(cell)
        except ValueError:
            return False
        return True

    longest = max(headings, key=len, default="")
    if len(longest) > LONGEST_NAME:
        got = f"one of {len(longest):,}, which begins with {longest[:20]!r}"
        raise InvalidInput(where, f"headings of at most {LONGEST_NAME:,} letters", got, "mend the first line")
    if not headings or all(is_number(heading) for heading in headings):
        raise InvalidInput(
            where,
            "a first line of headings, such as force [N]",
            f"the numbers {headings[:3]}" if headings else "an empty one",
            f"add one, or take the {_MARK!r} away that makes it a comment",
        )
