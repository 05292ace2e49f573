"""Ctrl-C and polite requests to end (SIGTERM, SIGHUP): let through while a run computes, held while it saves.

Between the last level of a method and the moment its posterior lies on the disk, an interruption would throw away what
has just been found. So from the last level on it waits until everything is saved.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, Self

_PATIENCE = 3
"""Interruptions that are held; the next one is let through, for saving may hang on a network drive."""
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interruptions:
    """Within it, signals that somebody handles are handled as before until `hold` is called.

    Examples:
        >>> import os
        >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)
        >>> with Interruptions() as interruptions:
        ...     interruptions.hold()
        ...     os.kill(os.getpid(), signal.SIGINT)
        >>> _ = signal.signal(signal.SIGINT, before)
        >>> interruptions.held
        1
    """

    def __init__(self) -> None:
        self.held, self._holds = 0, False
        self._before: dict[int, Callable[..., Any]] = {}

    def hold(self) -> None:
        """From now on, only count them."""
        self._holds = True

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # signals of other threads come there
            for number in _SIGNALS:
                before = signal.getsignal(number)
                if callable(before):
                    self._before[number] = before
                    signal.signal(number, self._received)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _received(self, number: int, frame: Any) -> None:
        if self._holds and self.held < _PATIENCE:
            self.held += 1
            return
        self._before[number](number, frame)
