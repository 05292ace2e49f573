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
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

FINE, NO_RESULT, BAD_INPUT, INTERRUPTED, REFUSED = 0, 1, 2, 3, 4
_TRACEBACK = "VIBAYES_TRACEBACK"


def outcome_of(command: Callable[[], Any]) -> int:
    """Run a command and give the number for the shell; nothing gets out of here as a traceback.

    Examples:
        >>> outcome_of(lambda: None)
        0
    """
    with warnings.catch_warnings():
        warnings.showwarning = _plain_warning
        try:
            result = command()
            sys.stdout.flush()
            return result if isinstance(result, int) else FINE
        except KeyboardInterrupt:
            return _said("interrupted", INTERRUPTED)
        except BrokenPipeError:  # who reads our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FINE
        except Exception as problem:
            return _of_error(problem)


def _of_error(problem: Exception) -> int:
    from vibayes.errors import InvalidInput

    if hasattr(problem, "show") and hasattr(problem, "exit_code"):  # bad usage, as typer sees it
        problem.show()  # type: ignore[attr-defined]
        return BAD_INPUT
    if type(problem).__name__ == "Abort":
        return _said("interrupted", INTERRUPTED)
    if isinstance(problem, InvalidInput):
        return _said(str(problem), int(getattr(problem, "exit_code", BAD_INPUT)))
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
    print(text, file=sys.stderr)
    return code


def _plain_warning(message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None) -> None:
    print(f"warning: {message}", file=sys.stderr)
