"""What a file is by its first bytes, whatever its name says; and what to say when it is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from vibayes.errors import InvalidInput
from vibayes.io.files import PathLike, existing_file


class Kind(NamedTuple):
    """A kind of file: what people call it, its usual suffix, and how it begins."""

    title: str
    suffix: str
    signs: tuple[bytes, ...]


HDF5 = Kind("an HDF5 file", ".h5", (b"\x89HDF\r\n\x1a\n",))
MAT_5 = Kind("a MAT file", ".mat", (b"MATLAB 5.0 MAT-file",))
MAT_73 = Kind("a MAT file (7.3)", ".mat", (b"MATLAB 7.3 MAT-file",))
NETCDF_3 = Kind("a netCDF file", ".nc", (b"CDF\x01", b"CDF\x02", b"CDF\x05"))
ZIP = Kind("a zip archive, such as NumPy's", ".npz", (b"PK\x03\x04", b"PK\x05\x06"))
UNIVERSAL = Kind("a universal file", ".uff", (b"    -1\n", b"    -1\r", b"    -1  "))
PEER = Kind("a record of PEER", ".at2", (b"PEER ",))
_BLOCK = 512  # what MATLAB puts before the HDF5 of its files
_ALL = (HDF5, MAT_5, MAT_73, NETCDF_3, ZIP, UNIVERSAL, PEER)


def kind_of(path: PathLike) -> Kind | None:
    """The kind of a file by its first bytes; none if they are those of no kind we know, as those of text.

    Examples:
        >>> kind_of(__file__) is None
        True
    """
    with open(path, "rb") as file:
        start = file.read(_BLOCK + 8)
    if start.startswith(b"MATLAB") and start[_BLOCK:].startswith(HDF5.signs):
        return MAT_73  # early ones called themselves 7.0
    return next((kind for kind in _ALL if start.startswith(kind.signs)), None)


def require_kind(reader: str, path: PathLike, *accepted: Kind) -> tuple[str, Path]:
    """Check that a file is there, has something in it, and is not plainly of another kind.

    Args:
        reader: the function to blame in the message, such as ``read_mat``.
        path: the file.
        accepted: kinds that the reader reads, besides files that begin like none we know.

    Returns:
        What to blame from now on, as ``read_mat('a.mat')``, and the file.

    Raises:
        InvalidInput: the file is not there, is empty, or is of another kind.

    Examples:
        >>> require_kind("read_csv", __file__)[0]
        "read_csv('content.py')"
    """
    path = existing_file(reader, path)
    where = f"{reader}('{path.name}')"
    if path.stat().st_size == 0:
        raise InvalidInput(where, "a file with something in it", "an empty file", "export the file again")
    kind = kind_of(path)
    if kind is not None and kind not in accepted:
        raise InvalidInput(
            where,
            accepted[0].title if accepted else "text in columns",
            f"the first bytes of {kind.title}",
            f"if it is one, rename it to end in {kind.suffix}",
        )
    return where, path


@contextmanager
def foreign(where: str, expected: str, remedy: str = "export the file again, it may be damaged") -> Iterator[None]:
    """Turn whatever the reader of another package raises about a file into an error that says what to do.

    A damaged file makes such readers raise almost anything, from ``KeyError`` to ``MemoryError``, so everything is
    caught here but our own errors.

    Examples:
        >>> with foreign("read_mat('a.mat')", "a MAT file"):
        ...     raise KeyError(17)
        Traceback (most recent call last):
        ...
        vibayes.errors.InvalidInput: read_mat('a.mat'): expected a MAT file, got one that cannot be read
        (KeyError: 17); export the file again, it may be damaged.
    """
    try:
        yield
    except InvalidInput:
        raise
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:120]
        raise InvalidInput(where, expected, f"one that cannot be read ({said})", remedy) from None
