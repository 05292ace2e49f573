"""What a command says: lines for people, or one JSON object for programs, or nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but warnings and errors.")]
Trust = Annotated[
    list[str] | None,
    typer.Option("--trust", metavar="MODULE", help="Module whose code the study may run, as joints; again for each."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]

Data = Annotated[
    Path | None, typer.Option("--data", help="Data file of the run, or its folder, if it is not where it was.")
]


def trusting(modules: Sequence[str] | None) -> str:
    """The same trust, for the next command.

    Examples:
        >>> trusting(["joints"])
        ' --trust joints'
    """
    return "".join(f" --trust {each}" for each in modules or ())


@dataclass(frozen=True)
class Speech:
    """To whom a command speaks."""

    quiet: bool = False
    json: bool = False

    def say(self, text: str = "") -> None:
        """A line for people."""
        if not self.quiet and not self.json:
            print(text, flush=True)

    def warn(self, text: str) -> None:
        """A warning; with JSON it is part of the result."""
        if not self.json:
            print(f"warning: {text}", file=sys.stderr, flush=True)

    def result(self, result: Mapping[str, Any]) -> None:
        """The result for programs."""
        if self.json:
            print(json.dumps(result, default=str, ensure_ascii=False, indent=2), flush=True)
