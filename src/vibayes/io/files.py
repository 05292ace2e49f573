"""Files that are there when read, and whole when written."""

from __future__ import annotations

from pathlib import Path

from vibayes.atomic_write import PathLike, whole_file, write_whole
from vibayes.errors import InvalidInput
from vibayes.naming import nearest, quoted

__all__ = ["PathLike", "existing_file", "listed", "whole_file", "write_whole"]


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


def listed(names: list[str]) -> str:
    """The names a file offers, for a message.

    Examples:
        >>> listed(["time", "force"])
        "choose among 'time', 'force'"
        >>> listed([])
        'the file has none'
    """
    return f"choose among {quoted(names)}" if names else "the file has none"
