"""`vibayes identify`: run a study."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from vibayes.cli.speech import Json, Quiet, Speech, Trust

Page = Annotated[bool, typer.Option("--report/--no-report", help="Write report.html into the folder.")]


def identify(
    study: Annotated[Path, typer.Argument(help="Study file.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", "-f", help="Run folder to make; by default the one the study names.")
    ] = None,
    trust: Trust = None,
    page: Page = True,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run a study: which model, and which parameters.

    Everything goes into a run folder, a page to forward included. Ctrl-C ends the run with what there is;
    `vibayes resume` goes on, also after the process was killed, and ends with the same draws.

    Example: vibayes identify test07.toml
    """
    from vibayes.runs import begin_run
    from vibayes.study import read_study

    speech = Speech(quiet, json)
    run = begin_run(read_study(study, trust=trust or ()), folder)
    speech.say(f"Run folder: {run.folder}")
    work(run, speech, page)


def work(run: Any, speech: Speech, page: bool, limits: Any = None) -> None:
    """Work in a run folder, tell what came of it, write its page, and end with the number that says how.

    Raises:
        typer.Exit: 1 without a usable result, 3 if interrupted.
    """
    from vibayes.cli.results import told, usable
    from vibayes.runs import identify_run

    for note in run.notes:
        speech.warn(note)
    with _terminated_as_interrupted():
        posterior = identify_run(run, not (speech.quiet or speech.json), limits)
    if usable(posterior):
        told(run, posterior, speech, page)
    else:
        print(f"There are no draws: {'; '.join(posterior.notes) or 'nothing came of it'}.", file=sys.stderr)
        speech.result({"folder": str(run.folder), "state": run.state, "models": [], "notes": list(posterior.notes)})
    if run.state == "interrupted":
        raise typer.Exit(3)
    if not usable(posterior):
        raise typer.Exit(1)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """A polite request to end, as batch systems send it, is like Ctrl-C."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupted)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
