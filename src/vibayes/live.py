"""Progress of an inference as a picture on a terminal: what it is doing, how far, how long still, which models live.

Needs the package rich. What is shown last stays on the terminal when the run is over.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from vibayes.posterior import Level
from vibayes.progress import remaining, sayable

_EVERY = 0.1
"""Seconds between pictures."""
_WIDE = 40
_MODELS = 12
"""That are shown; of more, the most probable."""
_AGREE = 1.05
"""R-hat below which chains are said to agree."""
_DOING = {
    "begin": "looks for where the posterior is",
    "climb": "climbs to the most probable parameters",
    "done": "done",
    "draw": "draws from the posterior",
    "fit": "fits the record",
    "follow": "follows the record",
    "population": "draws within a smaller threshold",
    "temper": "goes from the prior to the posterior",
    "warm up": "learns how to move",
    "weigh": "weighs the models",
}


class LiveProgress:
    """Shows levels as they come; closed, it leaves the last one."""

    def __init__(self, names: Sequence[str], stream: TextIO, console: Console | None = None):
        self._names, self._shown, self._last = names, -1e9, None
        self._live = Live(console=console or Console(file=stream), auto_refresh=False)

    def __call__(self, level: Level) -> None:
        """Show a level, unless the last one was shown a moment ago."""
        self._last = level
        now = time.monotonic()
        if not self._live.is_started:
            self._live.start()
        if now - self._shown >= _EVERY or level.stage == "done":
            self._shown = now
            self._live.update(picture(level, self._names), refresh=True)

    def close(self) -> None:
        """Leave the terminal to others."""
        if self._last is not None and self._live.is_started:
            self._live.update(picture(self._last, self._names), refresh=True)
        self._live.stop()


def picture(level: Level, names: Sequence[str]) -> Any:
    """What a person wants to know of a level, for rich to print.

    Examples:
        >>> import io
        >>> level = Level("draw", "b", float("nan"), 1.0, 0.3, (0, 0), (0.2, 0.8), 1200, 30.0, 0.5, 1.02)
        >>> stream = io.StringIO()
        >>> Console(file=stream, width=80).print(picture(level, ["a", "b"]))
        >>> "draws from the posterior" in stream.getvalue(), "about 30 s left" in stream.getvalue()
        (True, True)
    """
    doing = Text(_DOING.get(level.stage, level.stage), style="bold")
    if level.model:
        doing.append(f"  ({level.model})", style="not bold")
    return Group(doing, _bar(level), Text(_facts(level)), *_models(level, names), *_chains(level))


def _bar(level: Level) -> Table:
    row = Table.grid(padding=(0, 2))
    known = level.done == level.done
    bar = ProgressBar(total=1.0, completed=level.done if known else 0.0, width=_WIDE, pulse=not known)
    parts = [bar, f"{100 * level.done:3.0f} %" if known else "", _clock(level.seconds)]
    row.add_row(*parts, _left(level))
    return row


def _left(level: Level) -> str:
    return remaining(level) if sayable(level) else ""


def _facts(level: Level) -> str:
    parts = [f"{level.simulations:,} simulations"]
    if level.threshold == level.threshold:
        parts.append(f"threshold {level.threshold:.4g}")
    if level.followed < 1.0:
        parts.append(f"follows {100 * level.followed:.0f} % of the record")
    if level.acceptance == level.acceptance:
        parts.append(f"accepts {100 * level.acceptance:.0f} %")
    return ", ".join(parts)


def _models(level: Level, names: Sequence[str]) -> list[Table]:
    """Probabilities, where there is a choice and they are known."""
    known = [(p, name) for p, name in zip(level.probabilities, names, strict=True) if p == p]
    if len(names) < 2 or not known:
        return []
    table = Table.grid(padding=(0, 2))
    for probability, name in sorted(known, key=lambda each: -each[0])[:_MODELS]:
        table.add_row(name, ProgressBar(total=1.0, completed=probability, width=_WIDE // 2), f"{probability:.2f}")
    return [table]


def _chains(level: Level) -> list[Text]:
    if level.rhat != level.rhat:
        return []
    agree = level.rhat < _AGREE
    said = "chains agree" if agree else "chains do not agree yet"
    return [Text(f"R-hat {level.rhat:.3f}: {said}", style="green" if agree else "yellow")]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
