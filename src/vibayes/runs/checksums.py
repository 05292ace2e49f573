"""Checksums of what a run folder has for people: log, report, figures, predictions.

``checksums.txt`` has a line per file that was written, the latest last: its SHA-256 and its name. Lines are only ever
appended, so that a report can be written while a run works in the same folder. What a run itself needs (study, journal,
posterior, ``run.json``) has checksums of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path

from vibayes.fingerprint import fingerprint_of_file

CHECKSUMS = "checksums.txt"


def keep_checksums(folder: Path, *paths: Path) -> None:
    """Remember what these files are like now; those that are not in the folder are left out."""
    try:
        lines = [
            f"{fingerprint_of_file(path)}  {json.dumps(name)}\n" for path in paths if (name := _name(folder, path))
        ]
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(folder / CHECKSUMS, flags, 0o666), "ab") as file:
            file.write("".join(lines).encode())
    except OSError:
        pass  # a folder that cannot be written, or a full disk: files for people are not worth an end


def changed_files(folder: Path, unless: Collection[str] = ()) -> list[Path]:
    """Files that are not as they were written, but for some; a file that was deleted is none of them."""
    latest: dict[str, str] = {}
    try:
        lines = (folder / CHECKSUMS).read_bytes().splitlines()
    except OSError:
        return []
    for line in lines:
        digest, _, quoted = line.partition(b"  ")
        try:
            name = json.loads(quoted)
        except (ValueError, RecursionError):
            continue
        if isinstance(name, str):
            latest[name] = digest.decode("ascii", "replace")
    return [folder / name for name, was in latest.items() if name not in unless and not _is(folder, name, was)]


def _name(folder: Path, path: Path) -> str:
    try:
        return path.absolute().relative_to(folder.absolute()).as_posix()
    except ValueError:
        return ""


def _is(folder: Path, name: str, was: str) -> bool:
    """Whether a file of the folder is as it was; other places than the folder are nobody's business."""
    path = folder / name
    try:
        if ".." in path.parts[len(folder.parts) :] or path.is_symlink() or not path.is_file():
            return True
        return fingerprint_of_file(path) == was
    except (OSError, ValueError):
        return True
