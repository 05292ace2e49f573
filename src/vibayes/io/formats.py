"""Which format a file is in, by its suffix, and who reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vibayes.errors import InvalidInput
from vibayes.io.arrays import Arrays
from vibayes.io.at2 import load_at2
from vibayes.io.files import PathLike
from vibayes.io.hdf5 import load_hdf5
from vibayes.io.mat import load_mat
from vibayes.io.netcdf import load_netcdf
from vibayes.io.npz import load_npz
from vibayes.io.uff import load_uff

TEXT = (".csv", ".tsv", ".txt", ".dat")
NPZ = (".npz",)
MAT = (".mat",)
HDF5 = (".h5", ".hdf5")
NETCDF = (".nc", ".nc4", ".cdf")
UFF = (".uff", ".unv")
AT2 = (".at2", ".vt2", ".dt2")
READ = (TEXT, NPZ, MAT, HDF5, NETCDF, UFF, AT2)
WRITTEN = (TEXT, NPZ, MAT, HDF5)

LOADERS: dict[tuple[str, ...], Callable[[PathLike], Arrays]] = {
    NPZ: load_npz,
    MAT: load_mat,
    HDF5: load_hdf5,
    NETCDF: load_netcdf,
    UFF: load_uff,
    AT2: load_at2,
}


def format_of(where: str, path: PathLike, among: tuple[tuple[str, ...], ...] = READ) -> tuple[str, ...]:
    """The format of a file: the suffixes that stand for it.

    Args:
        where: the function to blame in the message.
        path: the file.
        among: formats that would do.

    Returns:
        One of these.

    Raises:
        InvalidInput: the suffix stands for none of them.

    Examples:
        >>> format_of("read_record", "RSN6.AT2") == AT2
        True
    """
    suffix = Path(path).suffix.lower()
    for known in among:
        if suffix in known:
            return known
    suffixes = ", ".join(each for known in among for each in known)
    raise InvalidInput(where, f"a file ending in {suffixes}", f"'{Path(path).name}'", "rename it, or export it as CSV")
