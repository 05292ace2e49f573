"""Files that are written whole or not at all, whatever ends the writing: a full disk, a kill, a power cut.

The bytes go to a temporary file in the same folder, are forced to the disk, and take the place of the old file by a
rename, which the system does at once. What fails before that leaves the old file as it was, and no temporary one.
"""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from vibayes.errors import InvalidInput

PathLike = str | os.PathLike[str]
_NEVER_SYNCED = (errno.EINVAL, errno.ENOTSUP)
"""What file systems answer that cannot force anything to a disk."""


@contextmanager
def whole_file(where: str, path: PathLike) -> Iterator[BinaryIO]:
    """Write a file completely or not at all.

    Args:
        where: the function to blame in the message, such as ``write_csv``.
        path: the file to write or replace.

    Yields:
        The open temporary file. Libraries in C must not write to it by its name: some crash on a full disk (h5py). Have
        them write to memory, and use `write_whole`.

    Raises:
        InvalidInput: the folder does not exist, or `path` is a folder.
        OSError: it cannot be written; with the name of `path`, not that of the temporary file.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with whole_file("write_text", f"{folder}/a.txt") as file:
        ...         _ = file.write(b"all of it")
        ...     Path(folder, "a.txt").read_bytes()
        b'all of it'
    """
    path = Path(path)
    if path.is_dir():
        raise InvalidInput(where, "a file", f"the folder '{path}'", "add a file name")
    if not path.parent.is_dir():
        raise InvalidInput(where, "an existing folder", f"'{path.parent}'", "create it first")
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            force_to_disk(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as trouble:
        if trouble.errno is None or trouble.filename not in (None, str(temporary)):
            raise  # of another file
        raise OSError(trouble.errno, trouble.strerror, str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(where: str, path: PathLike, data: bytes | bytearray | memoryview) -> None:
    """Write bytes to a file, completely or not at all.

    Args:
        where: the function to blame in the message, such as ``write_posterior``.
        path: the file to write or replace.
        data: all of its content.

    Raises:
        InvalidInput: the folder does not exist, or `path` is a folder.
        OSError: it cannot be written, as on a full disk.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_whole("write_text", f"{folder}/a.txt", b"all of it")
        ...     [each.name for each in Path(folder).iterdir()]
        ['a.txt']
    """
    with whole_file(where, path) as file:
        file.write(data)


def remove_unfinished(folder: PathLike) -> None:
    """Remove the temporary files that a kill has left in a folder, where no other process writes.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, f".run.json.{uuid.uuid4().hex}.tmp").write_text("{")
        ...     remove_unfinished(folder)
        ...     list(Path(folder).iterdir())
        []
    """
    for each in Path(folder).glob(".*.tmp"):
        if each.is_file() and len(each.stem.rpartition(".")[2]) == len(uuid.uuid4().hex):
            each.unlink(missing_ok=True)


def force_to_disk(descriptor: int) -> None:
    """Have the system write what it holds of an open file, where it can; a full disk may show only then."""
    try:
        os.fsync(descriptor)
    except OSError as trouble:
        if trouble.errno not in _NEVER_SYNCED:
            raise


def _sync_folder(folder: Path) -> None:
    """Force the rename to the disk too, where folders can be opened. The file is whole whether or not it succeeds."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # as on Windows
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
