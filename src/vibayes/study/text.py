"""A study file as text and as tables: what is refused before a single key is looked at."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.io.files import PathLike, existing_file

_DEPTH = 40
"""Tables within tables; nobody means more."""
_TOO_DEEP = f"more than {_DEPTH} tables within one another"
_DOTTED = re.compile(
    r"""^[ \t\[{,]*+(?:[^"'#\n=]*+=[^\n]*?[{,][ \t]*+)??"""
    r"""(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"""
    rf"{{{_DEPTH}}}",
    re.MULTILINE,
)
"""A key of so many parts: at the beginning of a line, in brackets, or in a table within a line."""
_BITS = 64
_LARGEST = 2_000_000
"""Bytes of a study file: larger ones are data."""


def read_text(path: PathLike) -> tuple[Path, str]:
    """The file and what is in it.

    Raises:
        InvalidInput: there is no such file, it cannot be read, or it is not text in UTF-8.
    """
    try:
        path = existing_file("study", path)
    except (OSError, ValueError) as problem:
        if isinstance(problem, InvalidInput):
            raise
        raise InvalidInput("study", "a file that can be read", f"{problem}", "check the path") from None
    if path.suffix.lower() != ".toml":
        got = f"'{path.name}'"
        raise InvalidInput("study", "a study file ending in .toml", got, "write one with: vibayes new DATA")
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise InvalidInput(path.name, "a file that can be read", f"{problem.strerror}", "check permissions") from None
    if len(content) > _LARGEST:
        got = f"{len(content):,} bytes"
        raise InvalidInput(path.name, "a study file of a few pages", got, "keep data in files of their own")
    try:
        return path, content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        remedy = "save it as UTF-8"
        raise InvalidInput(path.name, "text in UTF-8", f"other bytes on line {line}", remedy) from None


def tables_of(name: str, text: str) -> dict[str, Any]:
    """The tables of a study file.

    Raises:
        InvalidInput: it is no TOML; the message gives the line.

    Examples:
        >>> tables_of("tower.toml", "seed = 3")
        {'seed': 3}
        >>> tables_of("tower.toml", "seed = ")
        Traceback (most recent call last):
        vibayes.errors.InvalidInput: tower.toml: expected TOML, got Invalid value (at end of document);
        write text in quotes, and see toml.io for the rest.
    """
    remedy = "write text in quotes, and see toml.io for the rest"
    if _DOTTED.search(text):  # the time that the reader of TOML takes grows with the square of these
        raise InvalidInput(name, "tables as the documentation shows them", _TOO_DEEP, "take some away")
    try:
        tables = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as problem:
        raise InvalidInput(name, "TOML", str(problem), remedy) from None
    except RecursionError:
        raise InvalidInput(name, "TOML", "brackets within brackets without end", remedy) from None
    except ValueError as problem:  # a number of more digits than Python reads, a day that does not exist
        raise InvalidInput(name, "TOML", str(problem), "check its numbers and dates") from None
    if _deeper(tables, _DEPTH):
        raise InvalidInput(name, "tables as the documentation shows them", _TOO_DEEP, "take some away")
    if place := _too_large(tables, ""):
        remedy = "write a smaller one, or a number as 1e20"
        raise InvalidInput(f"{name}: {place}", "whole numbers of at most 64 bits", "a larger one", remedy)
    return tables


def _too_large(value: Any, path: str) -> str:
    """The path of a whole number that no other program would read, and that could not even be shown."""
    if isinstance(value, int) and value.bit_length() > _BITS:
        return path
    if isinstance(value, dict):
        inside = ((f"{path}.{key}" if path else key, each) for key, each in value.items())
    elif isinstance(value, list):
        inside = ((f"{path}[{number}]", each) for number, each in enumerate(value))
    else:
        return ""
    return next((found for place, each in inside if (found := _too_large(each, place))), "")


def _deeper(value: Any, levels: int) -> bool:
    """Whether tables and lists go deeper than some levels."""
    if not isinstance(value, dict | list):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(each, levels - 1) for each in inside)
