"""How a command ends: what is said, and the number the shell gets.

    0  all is well
    1  the run ended without a usable result, or vibayes has a defect
    2  bad usage, or input that cannot be worked with
    3  interrupted; what there was is kept
    4  a folder or file refuses: no permission, no room, locked, changed, of a newer version

An error may bring a number of its own as its attribute `exit_code`.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

FINE, NO_RESULT, BAD_INPUT, INTERRUPTED, REFUSED = 0, 1, 2, 3, 4
_TRACEBACK = "VIBAYES_TRACEBACK"


class Interrupted(Exception):
    """A command that was interrupted, with words on what becomes of it.

    An exception of its own, for typer ends with 130 and without a word where it sees a KeyboardInterrupt.
    """


def outcome_of(command: Callable[[], Any]) -> int:
    """Run a command and give the number for the shell; nothing gets out of here as a traceback.

    Examples:
        >>> outcome_of(lambda: None)
        0
    """
    with warnings.catch_warnings(), _terminated_as_interrupted():
        warnings.showwarning = _plain_warning
        try:
            result = command()
            sys.stdout.flush()
            return result if isinstance(result, int) else FINE
        except KeyboardInterrupt:
            return _said("interrupted", INTERRUPTED)
        except BrokenPipeError:  # who reads our output has seen enough
            _silence(sys.stdout)
            return FINE
        except Exception as problem:
            code = _of_error(problem)
            try:
                sys.stdout.flush()
            except OSError:  # a full disk behind it; Python would end with 120 when it flushes it once more
                _silence(sys.stdout)
            return code


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Polite requests to end, as batch systems (SIGTERM) and lost connections (SIGHUP) send them, are like Ctrl-C."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        with suppress(ValueError):  # not the main thread
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # ignored where nohup asks for it
                before[number] = signal.signal(number, interrupted)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _silence(stream: Any) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _of_error(problem: Exception) -> int:
    from vibayes.errors import InvalidInput

    if hasattr(problem, "show") and hasattr(problem, "exit_code"):  # bad usage, as typer sees it
        problem.show()  # type: ignore[attr-defined]
        return BAD_INPUT
    if isinstance(problem, Interrupted) or type(problem).__name__ == "Abort":
        return _said(str(problem) or "interrupted", INTERRUPTED)
    if isinstance(problem, InvalidInput):
        return _said(str(problem), int(getattr(problem, "exit_code", BAD_INPUT)))
    if isinstance(problem, ModuleNotFoundError) and not str(problem.name).startswith("vibayes"):
        remedy = "install all that the command line needs: pip install 'vibayes[app]'"
        return _said(f"vibayes: expected the package {problem.name}, got none; {remedy}.", BAD_INPUT)
    if isinstance(problem, OSError):
        what = f"'{problem.filename}'" if problem.filename else "a file or folder"
        return _said(f"{what}: {problem.strerror or problem}; check the place, its permissions and its room", REFUSED)
    if isinstance(problem, MemoryError):
        return _said("out of memory; take a shorter record, fewer draws or fewer models", NO_RESULT)
    if os.environ.get(_TRACEBACK):
        traceback.print_exc()
    told = f"{type(problem).__name__}: {problem}"
    return _said(f"a defect of vibayes: {told}; please report it, with what {_TRACEBACK}=1 prints", NO_RESULT)


def _said(text: str, code: int) -> int:
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:  # a closed terminal, or a full disk behind it
        with suppress(OSError, ValueError):
            _silence(sys.stderr)
    return code


def _plain_warning(message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None) -> None:
    print(f"warning: {message}", file=sys.stderr)
