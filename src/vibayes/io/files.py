"""Files that are there when read, and whole when written."""

from __future__ import annotations

import os
from pathlib import Path

from vibayes.atomic_write import PathLike, whole_file, write_whole
from vibayes.errors import InvalidInput
from vibayes.naming import nearest, quoted

__all__ = ["MARK", "PathLike", "existing_file", "listed", "require_replaceable", "whole_file", "write_whole"]


def existing_file(where: str, path: PathLike) -> Path:
    """Check that a file is there to be read.

    Args:
        where: the function to blame in the message, such as ``read_csv``.
        path: the file.

    Returns:
        The file as a `Path`.

    Raises:
        InvalidInput: there is no such file (the message names its likeliest neighbours), or it may not be read.

    Examples:
        >>> existing_file("read_csv", __file__).name
        'files.py'
    """
    path = Path(path)
    if path.is_file():
        return _readable(where, path)
    if path.is_dir():
        raise InvalidInput(where, "a file", f"the folder '{path}'", "name a file in it")
    if not path.parent.is_dir():
        raise InvalidInput(where, "an existing file", f"'{path}', whose folder does not exist", "check the folder")
    neighbours = sorted(each.name for each in path.parent.iterdir() if each.suffix == path.suffix)
    remedy = nearest(path.name, neighbours) if neighbours else "check the path"
    raise InvalidInput(where, "an existing file", f"'{path}', which does not exist", remedy)


def _readable(where: str, path: Path) -> Path:
    try:
        with open(path, "rb"):
            return path
    except OSError as error:
        got = f"'{path}', which cannot be opened ({error.strerror or error})"
        raise InvalidInput(where, "a file that may be read", got, "ask for permission, or copy the file") from None


MARK = "vibayes"
"""What pictures and pages of ours say of who wrote them."""
_MARKS = (b"Software\0" + MARK.encode(), b'<meta name="generator" content="' + MARK.encode() + b'"')
_BEGINNING = 4096


def require_replaceable(where: str, *paths: PathLike, force: bool = False) -> None:
    """Check that nothing of the user is lost where files are to be written.

    Args:
        where: the command to blame in the message.
        paths: files to write. Pictures and pages that vibayes wrote are replaced by newer ones; any other file stays.
        force: whether the user said that all may be replaced.

    Raises:
        InvalidInput: there is another file.

    Examples:
        >>> require_replaceable("vibayes report", "no_such_page.html")
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     try:
        ...         require_replaceable("vibayes report", file.name)
        ...     except InvalidInput as problem:
        ...         problem.remedy
        'add --force to replace it'
    """
    for path in map(Path, paths):
        if not force and os.path.lexists(path) and not _ours(path):
            raise InvalidInput(where, "a file that is not there yet", f"'{path}'", "add --force to replace it")


def _ours(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        beginning = file.read(_BEGINNING)
    return any(mark in beginning for mark in _MARKS)


def listed(names: list[str]) -> str:
    """The names a file offers, for a message.

    Examples:
        >>> listed(["time", "force"])
        "choose among 'time', 'force'"
        >>> listed([])
        'the file has none'
    """
    return f"choose among {quoted(names)}" if names else "the file has none"
