"""Progress of an inference: a picture on a terminal (`live`), and now and then a line elsewhere.

Without the package rich, a terminal gets one line that is rewritten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from vibayes.budget import LimitReached
from vibayes.posterior import Level

_EVERY = {True: 0.2, False: 10.0}
"""Seconds between lines, on a terminal and elsewhere."""

INTERRUPTED = "interrupted from the keyboard: this is what there was"
"""The note of a run that was ended so."""

_SAYABLE = 0.05
"""Share of the work before which nothing can be said of the rest."""


class Progress:
    """Shows levels as lines, as they come."""

    def __init__(self, names: Sequence[str], stream: TextIO):
        self._names, self._stream, self._live = names, stream, stream.isatty()
        self._shown, self._wide = -1e9, 0

    def __call__(self, level: Level) -> None:
        """Show a level, unless the last one was shown a moment ago."""
        now = time.monotonic()
        if now - self._shown < _EVERY[self._live] and level.stage != "done":
            return
        self._shown = now
        line = line_of(level, self._names)
        end = "\r" if self._live else "\n"
        self._stream.write(line.ljust(self._wide) + end)
        self._stream.flush()
        self._wide = max(self._wide, len(line)) if self._live else 0

    def close(self) -> None:
        """Leave the last line on the terminal."""
        if self._live and self._wide:
            self._stream.write("\n")


def watched(
    levels: Iterator[Level], show: Callable[[Level], Any], spent: Callable[[Level], str]
) -> tuple[list[Level], str]:
    """Levels as they came, each shown, until there are no more, a limit is reached or the keyboard ends it; and why.

    A limit that is reached within a level ends it, and the one before is the result.
    """
    trace: list[Level] = []
    try:
        for level in levels:
            trace.append(level)
            show(level)
            over = level.stage == "done" and not level.done < 1.0
            if not over and (ended := spent(level)):
                return trace, ended
    except LimitReached as limit:
        return trace, str(limit)
    except KeyboardInterrupt:
        return trace, INTERRUPTED
    finally:
        getattr(show, "close", lambda: None)()
    return trace, ""


def line_of(level: Level, names: Sequence[str]) -> str:
    """What a person wants to know: how far it is, which models are alive, what it has cost."""
    known = [f"{n} {p:.2f}" for n, p in zip(names, level.probabilities, strict=True) if p > 0]
    where = f"{level.model}: " if level.model else ""
    far = f"follows {100 * level.followed:.0f} % within {level.threshold:.3g}, "
    if level.followed >= 1.0:
        far = f"threshold {level.threshold:.4g}, "
    if level.threshold != level.threshold:  # a likelihood has none
        far = ""
    models = "  " + ", ".join(known) if known else ""
    rate = f"accepted {100 * level.acceptance:.0f} %, " if level.acceptance == level.acceptance else ""
    rate += f"R-hat {level.rhat:.2f}, " if level.rhat == level.rhat else ""
    left = f", {remaining(level)}" if sayable(level) else ""
    cost = f"{level.simulations:,} simulations{left}"
    return f"{level.seconds:6.1f} s  {level.stage:<8} {where}{far}{rate}{cost}{models}"


def sayable(level: Level) -> bool:
    """Whether enough was done to say something of the rest."""
    return _SAYABLE < level.done < 1.0


def remaining(level: Level) -> str:
    """About how long it will still take, if it goes on as it did."""
    seconds = level.seconds * (1.0 - level.done) / level.done
    return f"about {seconds:.0f} s left" if seconds < 100.0 else f"about {seconds / 60.0:.0f} min left"
