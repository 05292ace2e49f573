"""Data files of a run, wherever they are now: known by their SHA-256, not by their place.

A run remembers where its data were and where it was itself. So a project that was moved as a whole is found as before;
otherwise somebody says where the data are.
"""

from __future__ import annotations

import os
from pathlib import Path

from vibayes.fingerprint import fingerprint_of_file
from vibayes.io.files import PathLike
from vibayes.runs.details import Details
from vibayes.runs.refusal import RefusedRun


def found_data(folder: Path, details: Details, given: PathLike | None = None) -> dict[str, Path]:
    """Where the data files are now, by where they were.

    Args:
        folder: of the run.
        details: that it tells of itself.
        given: a data file, or a folder with it, in which to look first.

    Raises:
        RefusedRun: a file is not there, or has changed.
    """
    return {path: _found(folder, details, path, was, given) for path, was in details.files.items()}


def folder_of_study(folder: Path, details: Details) -> Path:
    """The folder that names of files and modules in the study are of, now."""
    was = Path(details.study).parent
    for place in (_seen_from(folder, details, was), was):
        if place is not None and place.is_dir():
            return place.absolute()
    return folder.absolute().parent


def _found(folder: Path, details: Details, path: str, was: str, given: PathLike | None) -> Path:
    where, name = f"the run '{folder}'", Path(path).name
    changed, trouble = False, "no such file or directory"
    for place in _places(folder, details, Path(path), given):
        try:
            if fingerprint_of_file(place) == was:
                return place.absolute()
            changed = True
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            continue
        except (OSError, ValueError) as problem:
            trouble = str(getattr(problem, "strerror", None) or problem).lower()
    if given is not None:
        remedy = f"name the file that has this fingerprint: {was}"
        raise RefusedRun(where, f"the data file '{name}' as it was", f"others in '{given}'", remedy)
    if changed:
        remedy = "restore it, name its place with --data, or begin a new run with the new data"
        raise RefusedRun(where, f"the data file '{path}' as it was", "one that was changed", remedy)
    raise RefusedRun(
        where, f"the data file '{path}'", trouble, "put it back where it was, or name its place with --data"
    )


def _places(folder: Path, details: Details, path: Path, given: PathLike | None) -> list[Path]:
    """Where a file may be, likeliest first."""
    places = [] if given is None else [Path(given), Path(given) / path.name]
    seen = _seen_from(folder, details, path)
    places += [] if seen is None else [seen]
    places += [path, folder_of_study(folder, details) / path.name]
    places += [folder.absolute().parent / path.name, folder / path.name]
    return list(dict.fromkeys(places))


def _seen_from(folder: Path, details: Details, path: Path) -> Path | None:
    """The place that has the position to the folder that a path had when the run was begun."""
    if not details.folder:
        return None  # of a run from before it was remembered
    try:
        return Path(os.path.normpath(folder.absolute() / os.path.relpath(path, details.folder)))
    except ValueError:  # on another drive
        return None
