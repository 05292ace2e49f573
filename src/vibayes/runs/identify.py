"""Work in a run folder until the posterior is there, or go on where it was left."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from vibayes.atomic_write import remove_unfinished
from vibayes.budget import LIMITED
from vibayes.errors import InvalidInput
from vibayes.fingerprint import fingerprint_of_file
from vibayes.inference import infer, listener
from vibayes.io.posterior import write_posterior
from vibayes.journal import Journal, UnwritableJournal
from vibayes.posterior import Level, Posterior
from vibayes.progress import INTERRUPTED, Progress
from vibayes.runs.checksums import keep_checksums
from vibayes.runs.details import Details, now, unwritable, write_details
from vibayes.runs.folder import JOURNAL, LOG, POSTERIOR, Run, locked
from vibayes.runs.interruptions import Interruptions
from vibayes.runs.refusal import LostPosterior, RefusedRun
from vibayes.runs.rehearsal import rehearse
from vibayes.study import Limits


def identify_run(run: Run, progress: bool | Callable[[Level], None] = False, limits: Limits | None = None) -> Posterior:
    """Infer what the study of a run asks for, and write it to its folder.

    A run that was killed or interrupted goes on where it was: it ends with the draws of a run that was left alone, bit
    for bit, if the versions of vibayes, JAX and NumPy and the processor are the same. ``max_seconds`` counts all parts
    together. A run that is done already is not run again, unless it ended at a limit and is given others. If its
    posterior is lost or damaged, it is rebuilt from the journal.

    Before anything is computed the writing of the result is tried.

    Args:
        run: of `begin_run` or `open_run`.
        progress: as in `infer`.
        limits: in place of those of the study, from now on.

    Returns:
        The posterior. Interrupted from the keyboard, what there was, with a note; ``run.state`` tells which.

    Raises:
        RefusedRun: another process works in the folder, or it cannot be written, as on a full disk. What was computed
            is kept.
        InvalidInput: the study has no answer; the run has failed.
        KeyboardInterrupt: before there was anything to show, or while results were saved, which is done first.
    """
    with locked(run.folder):
        remove_unfinished(run.folder)
        details = run.details
        until = None
        if details.state == "done" and (limits is None or not details.message):
            try:
                return run.posterior()
            except LostPosterior as trouble:
                limits, lost = None, trouble.got
            # It stays what it is until it is whole again. A limit of time would not end it at quite the same place.
            until, begun = (details.levels if details.message else None), replace(details, parts=details.parts + 1)
        else:
            if limits is not None:
                details = replace(details, limits=asdict(limits))
            lost, begun = "", replace(details, state="begun", parts=details.parts + 1, message="")
        rehearse(run.study.problems, run.folder)
        with _journal(run, details) as journal, _log(run.folder) as log, Interruptions() as interruptions:
            details = begun
            write_details(run.folder, details)
            log.line(f"begun, part {details.parts}: {len(journal):,} results are known")
            if lost:
                log.line(f"the posterior is rebuilt: expected it to be whole, got {lost}")
            for note in filter(None, (*run.notes, journal.note)):
                log.line(f"note: {note}")
            try:
                within = _limits(run, details) if not until else Limits()
                posterior = _infer(run, within, journal, log, progress, interruptions, until)
            except RefusedRun:
                raise  # nothing can be written, not even that
            except UnwritableJournal as trouble:
                raise unwritable(run.folder, trouble) from None
            except KeyboardInterrupt:
                _end(run, details, journal, log, "interrupted", "before there was anything to show")
                raise
            except Exception as trouble:
                _end(run, details, journal, log, "failed", f"{type(trouble).__name__}: {trouble}")
                raise
            if until is not None and len(posterior.trace) == until and posterior.notes[:1] == (INTERRUPTED,):
                posterior = replace(posterior, notes=(details.message, *posterior.notes[1:]))
            ended = next((note for note in posterior.notes if note == INTERRUPTED or note.endswith(LIMITED)), "")
            posterior = _kept(run, posterior) if ended else _written(run.folder, posterior)
            details = replace(
                details, posterior=fingerprint_of_file(run.folder / POSTERIOR), levels=len(posterior.trace)
            )
            _end(run, details, journal, log, "interrupted" if ended == INTERRUPTED else "done", ended)
    if interruptions.held and ended != INTERRUPTED:
        raise KeyboardInterrupt  # now that nothing can be lost
    return posterior


def _limits(run: Run, details: Details) -> Limits:
    return run.study.limits if details.limits is None else Limits(**details.limits)


def _journal(run: Run, details: Details) -> Journal:
    try:
        return Journal(run.folder / JOURNAL, details.study_fingerprint)
    except InvalidInput as trouble:
        raise RefusedRun(trouble.where, trouble.expected, trouble.got, trouble.remedy) from None


def _infer(
    run: Run,
    limits: Limits,
    journal: Journal,
    log: _Log,
    progress: Any,
    interruptions: Interruptions,
    until: int | None,
) -> Posterior:
    study = run.study
    show = listener(progress, study.problems)
    write = Progress([problem.name for problem in study.problems], log)  # type: ignore[arg-type]

    levels = itertools.count(1)

    def both(level: Level) -> None:
        write(level)
        show(level)
        if next(levels) == until:
            raise KeyboardInterrupt

    def close() -> None:
        """After the last level, whatever ended them, there is only the posterior to be made and saved."""
        interruptions.hold()
        getattr(show, "close", lambda: None)()

    both.close = close  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def said(message, category, *where, **more):
            log.line(f"warning: {message}")
            shown(message, category, *where, **more)

        warnings.showwarning = said
        return infer(
            study.seed, study.problems, study.method, progress=both, journal=journal,
            max_simulations=limits.max_simulations, max_seconds=limits.max_seconds,
        )  # fmt: skip


def _kept(run: Run, posterior: Posterior) -> Posterior:
    """What there is; or what there was when it ended before, if that was more."""
    try:
        before = run.posterior()
        if before.simulations > posterior.simulations:
            return before
    except LostPosterior:
        pass
    return _written(run.folder, posterior)


def _written(folder: Path, posterior: Posterior) -> Posterior:
    """What was there before gives way only to a whole file."""
    try:
        write_posterior(posterior, folder / POSTERIOR)
    except OSError as trouble:
        raise unwritable(folder, trouble) from None
    return posterior


def _end(run: Run, details: Details, journal: Journal, log: _Log, state: str, message: str) -> None:
    log.line(f"{state}{f': {message}' if message else ''}")
    ended = replace(details, state=state, message=message, ended=now(), seconds=round(journal.elapsed(), 3))
    write_details(run.folder, ended)
    keep_checksums(run.folder, run.folder / LOG)


class _Log:
    """``log.txt``, a stream of lines with times, each of them written whole or not at all."""

    def __init__(self, path: Path):
        self._folder = path.parent
        try:
            # Never through a link that somebody put there: it would lead out of the folder.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            self._file = open(os.open(path, flags, 0o666), "ab", buffering=0)
        except OSError as trouble:
            raise unwritable(self._folder, trouble) from None

    def line(self, text: str) -> None:
        """Write one line."""
        end, rest = self._file.seek(0, os.SEEK_END), f"{now()}  {text.rstrip()}\n".encode()
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as trouble:
            with suppress(OSError):
                self._file.truncate(end)
            raise unwritable(self._folder, trouble) from None

    def close(self) -> None:
        """No more lines."""
        self._file.close()

    write = line

    def isatty(self) -> bool:
        """It is a file."""
        return False

    def flush(self) -> None:
        """Every line is written at once."""


@contextmanager
def _log(folder: Path):
    log = _Log(folder / LOG)
    try:
        yield log
    finally:
        log.close()
