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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from vibayes.environment import changes, environment
from vibayes.fingerprint import fingerprint_of_file
from vibayes.io.files import PathLike, whole_file
from vibayes.io.posterior import read_posterior
from vibayes.posterior import Posterior
from vibayes.runs.details import NAME, Details, now, read_details, unwritable, write_details
from vibayes.runs.refusal import RefusedRun
from vibayes.study import read_study

STUDY, JOURNAL, POSTERIOR, LOG, FIGURES = "study.toml", "journal.bin", "posterior.nc", "log.txt", "figures"
_LOCK = ".lock"
_WRITTEN = (STUDY, NAME, JOURNAL, POSTERIOR, LOG, FIGURES, "report.html")


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
        for each in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not _left_by_a_beginning(each, study.text):
                raise RefusedRun(
                    where, "an empty folder", f"one with other files in it, as '{each.name}'", "name another folder"
                )
        (folder / FIGURES).mkdir(parents=True, exist_ok=True)
        files = {str(Path(each).absolute()): fingerprint_of_file(each) for each in study.files}
        with locked(folder), whole_file("begin_run", folder / STUDY) as file:
            file.write(study.text.encode())
        details = Details(
            study=str(Path(study.path).absolute()), study_fingerprint=fingerprint_of_text(study.text), seed=study.seed,
            files=files, environment=environment(), title=study.title, began=now(),
        )  # fmt: skip
        write_details(folder, details)  # last: before it is there, the folder is no run
    except OSError as trouble:
        raise unwritable(folder, trouble) from None
    return Run(folder, study)


def open_run(folder: PathLike, *, trust: Iterable[str] = ()) -> Run:
    """The run in a folder, for its result or to resume it.

    The study is the one stored in the folder. What has become of the file it was begun with does not matter.

    Args:
        folder: that `begin_run` made.
        trust: modules that the study may import, as in `read_study`; a folder cannot vouch for itself.

    Raises:
        RefusedRun: the folder is no run or of a newer format, the stored study or a data file has changed.
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
    return Run(folder, read_study(folder / STUDY, beside=Path(details.study).parent, trust=trust), notes)


def _left_by_a_beginning(path: Path, text: str) -> bool:
    """Whether a run of this study that was killed while it was being begun left this, or `vibayes check` did."""
    if path.name == STUDY:
        return path.is_file() and path.read_bytes() == text.encode()
    if path.name == FIGURES:
        return path.is_dir() and not any(path.iterdir())
    return path.name in (_LOCK, "check") or (path.name.startswith(".") and path.name.endswith(".tmp"))


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
