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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from vibayes.environment import changes, environment
from vibayes.fingerprint import fingerprint_of_file, fingerprints_of_code
from vibayes.io.files import PathLike, write_whole
from vibayes.io.posterior import read_posterior
from vibayes.posterior import Posterior
from vibayes.runs.checksums import CHECKSUMS, changed_files
from vibayes.runs.data_files import folder_of_study, found_data
from vibayes.runs.details import COPY, NAME, Details, details_to_restore, now, read_details, unwritable, write_details
from vibayes.runs.refusal import LostPosterior, RefusedRun
from vibayes.runs.stored import JOURNAL, POSTERIOR, StoredRun
from vibayes.study import read_study

STUDY, LOG, FIGURES = "study.toml", "log.txt", "figures"
_LOCK = ".lock"
_WRITTEN = (STUDY, NAME, COPY, JOURNAL, POSTERIOR, LOG, CHECKSUMS, FIGURES, "report.html")


@dataclass(frozen=True)
class Run(StoredRun):
    """A run folder, with the study that is in it.

    Attributes:
        folder: where it is.
        study: as it was when the run was begun.
        notes: what a person should know before it is resumed, as versions that have changed.
    """

    study: Any
    notes: tuple[str, ...] = ()

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
        return self.read(lambda path: read_posterior(path, self.study.problems))


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
        for each in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not _left_by_a_beginning(each, study.text):
                raise RefusedRun(
                    where, "an empty folder", f"one with other files in it, as '{each.name}'", "name another folder"
                )
        files = {str(Path(each).absolute()): fingerprint_of_file(each) for each in study.files}
        details = Details(
            study=str(Path(study.path).absolute()), study_fingerprint=fingerprint_of_text(study.text), seed=study.seed,
            files=files, environment=environment(), title=study.title, began=now(), code=_code(study, study.path),
            folder=str(folder.absolute()),
        )  # fmt: skip
        with _gone_if_it_fails(folder):
            (folder / FIGURES).mkdir(parents=True, exist_ok=True)
            with locked(folder):
                write_whole("begin_run", folder / STUDY, study.text.encode())
            write_details(folder, details)  # last: before it is there, the folder is no run
    except OSError as trouble:
        raise unwritable(folder, trouble) from None
    return Run(folder, study)


@contextmanager
def _gone_if_it_fails(folder: Path) -> Iterator[None]:
    """Folders and files that a run which could not be begun has made are removed; what was there before stays."""
    places = [folder / FIGURES, folder, *folder.parents]
    made = [each for each in places if not each.exists()]
    files = [each for each in (folder / STUDY, folder / _LOCK) if not each.exists()]
    try:
        yield
    except BaseException:
        for each in files:
            each.unlink(missing_ok=True)
        for each in made:
            with suppress(OSError):
                each.rmdir()
        raise


def open_run(
    folder: PathLike, *, trust: Iterable[str] = (), data: PathLike | None = None, restore: bool = False
) -> Run:
    """The run in a folder, for its result or to resume it.

    The study is the one stored in the folder. What has become of the file it was begun with does not matter. Data are
    known by their SHA-256. They are looked for where `data` says, where they lay as seen from the run folder (so that
    all may be moved together), where they lay before, and beside the run folder.

    Args:
        folder: of the run.
        trust: modules that the study may import, as in `read_study`; a folder cannot vouch for itself.
        data: the data file, or a folder that it is in, if it was moved.
        restore: whether a damaged ``run.json`` is restored from its copy, as when a run is resumed.

    Raises:
        RefusedRun: the folder is no run or of a newer format; the stored study, a data file or code of one's own that
            the models are made of has changed.

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
    study = read_study(folder / STUDY, beside=beside, trust=trust, **_moved(files, details, beside))
    _require_code(where, details, _code(study, beside / Path(details.study).name))
    return Run(folder, study, notes)


def _moved(files: dict[str, Path], details: Details, beside: Path) -> dict[str, Path]:
    """Where the data are, if not where the study says."""
    for was, path in files.items():
        expected = beside / os.path.relpath(was, Path(details.study).parent)
        if path.resolve() != expected.resolve():
            return {"data": path}
    return {}


def _left_by_a_beginning(path: Path, text: str) -> bool:
    """Whether a run of this study that was killed while it was being begun left this, or `vibayes check` or
    `calibrate` did.
    """
    if path.name == STUDY:
        return path.is_file() and path.read_bytes() == text.encode()
    if path.name == FIGURES:
        return path.is_dir() and not any(path.iterdir())
    if path.name in ("check", "calibration"):
        return True
    return path.name in (_LOCK, COPY, CHECKSUMS) or (path.name.startswith(".") and path.name.endswith(".tmp"))


def refuse_links(folder: Path) -> None:
    """Refuse a folder in which a file that a run writes is a link: it would be written somewhere else.

    Raises:
        RefusedRun: one of them is.
    """
    for name in (*_WRITTEN, _LOCK):
        if (folder / name).is_symlink():
            remedy = "put a file in its place, or take it away"
            raise RefusedRun(f"the run '{folder}'", f"{name} as a file or folder", "a link to another place", remedy)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Work in a folder alone. A process that is killed gives the lock up.

    Raises:
        RefusedRun: another process works there.
    """
    refuse_links(folder)
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


def _code(study: Any, path: PathLike) -> dict[str, str]:
    """SHA-256 of the files of one's own code, by their paths from the study, so that a project can be moved."""
    beside = Path(path).absolute().parent.resolve()
    found = fingerprints_of_code(study.problems, study.method)
    return {
        (file.relative_to(beside) if file.is_relative_to(beside) else file).as_posix(): value
        for file, value in found.items()
    }


def _require_code(where: str, details: Details, now: dict[str, str]) -> None:
    """Refuse other models than those that the draws so far are of."""
    was = details.code
    for name in sorted(was | now) if was else ():
        if was.get(name) != now.get(name):
            got = "one that was changed" if name in was and name in now else "one that is gone"
            got = got if name in was else "one that is new"
            remedy = "restore it, or begin a new run: draws of two models must not be mixed"
            raise RefusedRun(where, f"the code '{name}' as it was", got, remedy)
