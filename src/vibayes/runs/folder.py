"""A run folder: the study as it was, and everything that comes of it.

study.toml     the study, byte for byte
run.json       versions, seed, fingerprints of the data, state
log.txt        what happened, with times
journal.bin    what was computed so far
posterior.nc   the result, or what there was when it was interrupted
figures/       pictures
report.html    the report
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
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
from vibayes.runs.details import NAME, Details, now, read_details, unwritable, write_details
from vibayes.runs.refusal import RefusedRun
from vibayes.study import read_study

STUDY, JOURNAL, POSTERIOR, LOG, FIGURES = "study.toml", "journal.bin", "posterior.nc", "log.txt", "figures"
_LOCK = ".lock"
_OURS_BEFORE = {STUDY, FIGURES, _LOCK, "check"}
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
    def incomplete(self) -> str:
        """Why the posterior is not the result of the whole run, in words; empty where it is."""
        details, posterior, journal = self.details, self.folder / POSTERIOR, self.folder / JOURNAL
        if not posterior.is_file() or (details.state == "done" and not details.message):
            return ""
        went_on = journal.is_file() and journal.stat().st_mtime > posterior.stat().st_mtime
        older = ", and more was computed since" if went_on and details.state != "done" else ""
        why = {
            "begun": "it was killed, or still runs",
            "interrupted": "it was interrupted",
            "failed": f"it failed ({details.message})",
            "done": f"it {details.message.partition(':')[0]}",
        }[details.state]
        more = " --max-seconds ..." if details.state == "done" else ""
        shown = "this is what there was when a part of it ended"
        return f"The run is not complete, for {why}: {shown}{older}. Go on with: vibayes resume {self.folder}{more}"

    def posterior(self) -> Posterior:
        """The result; of a run that was interrupted, what there was.

        Raises:
            RefusedRun: there is none yet.
        """
        if not (self.folder / POSTERIOR).is_file():
            got, remedy = f"none; the run is {self.state}", f"resume it: vibayes resume {self.folder}"
            raise RefusedRun(f"the run '{self.folder}'", "a posterior", got, remedy)
        return read_posterior(self.folder / POSTERIOR, self.study.problems)


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
        files = {str(Path(each).absolute()): fingerprint_of_file(each) for each in study.files}
        details = Details(
            study=str(Path(study.path).absolute()), study_fingerprint=fingerprint_of_text(study.text), seed=study.seed,
            files=files, environment=environment(), title=study.title, began=now(), code=_code(study, study.path),
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


def open_run(folder: PathLike) -> Run:
    """The run in a folder, for its result or to resume it.

    The study is the one stored in the folder. What has become of the file it was begun with does not matter.

    Raises:
        RefusedRun: the folder is no run or of a newer format; the stored study, a data file or code of one's own that
            the models are made of has changed.
    """
    folder = Path(folder)
    details = read_details(folder)
    where = f"the run '{folder}'"
    try:
        text = (folder / STUDY).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as trouble:
        raise RefusedRun(where, f"its {STUDY}", str(trouble), "restore it from a copy, or begin a new run") from None
    if fingerprint_of_text(text) != details.study_fingerprint:
        remedy = "a run keeps to the study it was begun with: begin a new one with `vibayes identify`"
        raise RefusedRun(where, f"{STUDY} as it was", "one that was changed", remedy)
    _require_data(where, details)
    found = changes(details.environment, environment())
    notes = (f"there is {', '.join(found)}: draws may differ in the last digits from those before",) if found else ()
    study = read_study(folder / STUDY, beside=Path(details.study).parent)
    _require_code(where, details, _code(study, details.study))
    return Run(folder, study, notes)


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


def _require_data(where: str, details: Details) -> None:
    for path, was in details.files.items():
        try:
            is_now = fingerprint_of_file(path)
        except OSError as trouble:
            remedy = "put it back where it was"
            raise RefusedRun(where, f"the data file '{path}'", str(trouble.strerror).lower(), remedy) from None
        if is_now != was:
            remedy = "restore it, or begin a new run with the new data"
            raise RefusedRun(where, f"the data file '{path}' as it was", "one that was changed", remedy)
