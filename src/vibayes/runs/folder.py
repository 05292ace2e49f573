"""A run folder: the study as it was, and everything that comes of it.

study.toml     the study, byte for byte
run.json       versions, seed, fingerprints of the data, state; and run.copy.json
log.txt        what happened, with times
journal.bin    what was computed so far
posterior.nc   the result, or what there was when it was interrupted
figures/       pictures
report.html    the report
checksums.txt  of what is for people: log, report, figures, predictions
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from vibayes.environment import changes, environment
from vibayes.errors import InvalidInput
from vibayes.fingerprint import fingerprint_of_file
from vibayes.io.files import PathLike, whole_file
from vibayes.io.posterior import read_posterior
from vibayes.posterior import Posterior
from vibayes.runs.checksums import CHECKSUMS, changed_files
from vibayes.runs.data_files import folder_of_study, found_data
from vibayes.runs.details import COPY, NAME, Details, details_to_restore, now, read_details, unwritable, write_details
from vibayes.runs.refusal import LostPosterior, RefusedRun
from vibayes.study import read_study

STUDY, JOURNAL, POSTERIOR, LOG, FIGURES = "study.toml", "journal.bin", "posterior.nc", "log.txt", "figures"
_LOCK = ".lock"
_OURS_BEFORE = {STUDY, FIGURES, _LOCK, COPY, CHECKSUMS, "check"}
"""What a run that was killed while it was being begun may have left, and the figures of `vibayes check`."""


@dataclass(frozen=True)
class Run:
    """A run folder, with the study that is in it.

    Attributes:
        folder: where it is.
        study: as it was when the run was begun.
        notes: what a person should know before it is resumed, as versions that have changed.
    """

    folder: Path
    study: Any
    notes: tuple[str, ...] = ()

    @property
    def details(self) -> Details:
        """What the folder says of itself now."""
        return read_details(self.folder)

    @property
    def state(self) -> str:
        """One of begun, interrupted, failed and done."""
        return self.details.state

    @property
    def name(self) -> str:
        """Of the folder."""
        return self.folder.name

    @property
    def lost(self) -> str:
        """What is wrong with the posterior, if it is missing, damaged or not the one that was written last."""
        try:
            self.posterior()
        except LostPosterior as trouble:
            return trouble.got
        return ""

    def posterior(self) -> Posterior:
        """The result; of a run that was interrupted, what there was.

        Raises:
            LostPosterior: there is none, or it is damaged or another than the run has written.
        """
        path, details = self.folder / POSTERIOR, self.details
        where, remedy = f"the run '{self.folder}'", f"resume it: vibayes resume {self.folder}"
        if not path.is_file():
            raise LostPosterior(where, "a posterior", f"none; the run is {details.state}", remedy)
        try:
            if details.posterior and fingerprint_of_file(path) != details.posterior:
                got = "one that is damaged, or another than the run has written"
                raise LostPosterior(where, "its posterior", got, f"have it rebuilt: vibayes resume {self.folder}")
            return read_posterior(path, self.study.problems)
        except OSError as trouble:
            raise RefusedRun(where, f"a {POSTERIOR} that can be read", str(trouble.strerror), "check it") from None
        except InvalidInput as trouble:
            if details.posterior:  # as the run has written it: something else is wrong
                raise
            raise LostPosterior(where, "a whole posterior", trouble.got, remedy) from None


def begin_run(study: Any, folder: PathLike | None = None) -> Run:
    """Make the folder of a new run.

    Args:
        study: of `read_study`.
        folder: by default the one that the study names. It must be empty, or not exist yet.

    Raises:
        RefusedRun: there is something in the folder already, or it cannot be written.
    """
    folder = Path(study.output if folder is None else folder)
    where = f"the run '{folder}'"
    try:
        if (folder / NAME).exists():
            state, remedy = read_details(folder).state, f"resume it: vibayes resume {folder}"
            remedy = "name another folder" if state == "done" else f"{remedy}; or name another folder"
            raise RefusedRun(where, "a new folder", f"one with a run that is {state}", remedy)
        if folder.exists() and not folder.is_dir():
            raise RefusedRun(where, "a folder", "a file", "name another")
        if folder.is_dir() and any(
            each.name not in _OURS_BEFORE and ".tmp" not in each.name for each in folder.iterdir()
        ):
            raise RefusedRun(where, "an empty folder", "one with other files in it", "name another folder")
        (folder / FIGURES).mkdir(parents=True, exist_ok=True)
        files = {str(Path(each).absolute()): fingerprint_of_file(each) for each in study.files}
        with locked(folder), whole_file("begin_run", folder / STUDY) as file:
            file.write(study.text.encode())
        details = Details(
            study=str(Path(study.path).absolute()), study_fingerprint=fingerprint_of_text(study.text), seed=study.seed,
            files=files, environment=environment(), title=study.title, began=now(),
            folder=str(folder.absolute()),
        )  # fmt: skip
        write_details(folder, details)  # last: before it is there, the folder is no run
    except OSError as trouble:
        raise unwritable(folder, trouble) from None
    return Run(folder, study)


def open_run(folder: PathLike, *, data: PathLike | None = None, restore: bool = False) -> Run:
    """The run in a folder, for its result or to resume it.

    The study is the one stored in the folder. What has become of the file it was begun with does not matter. Data are
    known by their SHA-256. They are looked for where `data` says, where they lay as seen from the run folder (so that
    all may be moved together), where they lay before, and beside the run folder.

    Args:
        folder: of the run.
        data: the data file, or a folder that it is in, if it was moved.
        restore: whether a damaged ``run.json`` is restored from its copy, as when a run is resumed.

    Raises:
        RefusedRun: the folder is no run or of a newer format, the stored study or a data file has changed.

    Warns:
        RuntimeWarning: the report or another file for people is not as it was written.
    """
    folder = Path(folder)
    restored = ""
    if restore and (copied := details_to_restore(folder)) is not None:
        restored = f"{NAME} was damaged or missing, and was restored from {COPY}"
        with locked(folder):
            write_details(folder, copied)
    details = read_details(folder)
    where = f"the run '{folder}'"
    try:
        text = (folder / STUDY).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as trouble:
        raise RefusedRun(where, f"its {STUDY}", str(trouble), "restore it from a copy, or begin a new run") from None
    if fingerprint_of_text(text) != details.study_fingerprint:
        remedy = "a run keeps to the study it was begun with: restore it, or begin a new one with `vibayes identify`"
        raise RefusedRun(where, f"{STUDY} as it was", "one that was changed", remedy)
    beside = folder_of_study(folder, details)
    files = found_data(folder, details, data)
    for path in changed_files(folder, () if details.state != "begun" else (LOG,)):
        said = f"'{path}' is not as it was written: it is damaged, or was changed since"
        warnings.warn(f"{said}; delete it, or have it written again", RuntimeWarning, stacklevel=2)
    found = changes(details.environment, environment())
    notes = (f"there is {', '.join(found)}: draws may differ in the last digits from those before",) if found else ()
    notes = (*((restored,) if restored else ()), *notes)
    return Run(folder, read_study(folder / STUDY, beside=beside, **_moved(files, details, beside)), notes)


def _moved(files: dict[str, Path], details: Details, beside: Path) -> dict[str, Path]:
    """Where the data are, if not where the study says."""
    for was, path in files.items():
        expected = beside / os.path.relpath(was, Path(details.study).parent)
        if path.resolve() != expected.resolve():
            return {"data": path}
    return {}


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Work in a folder alone. A process that is killed gives the lock up.

    Raises:
        RefusedRun: another process works there.
    """
    lock = FileLock(folder / _LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        got, remedy = "another process that works in it", "wait until it has ended, or end it"
        raise RefusedRun(f"the run '{folder}'", "a folder that nobody uses", got, remedy) from None
    except OSError as trouble:
        raise unwritable(folder, trouble) from None
    try:
        yield
    finally:
        lock.release()


def fingerprint_of_text(text: str) -> str:
    """SHA-256, as ``sha256sum`` prints it of the file."""
    return hashlib.sha256(text.encode()).hexdigest()
