"""`vibayes identify`: run a study."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from vibayes.cli.outcome import Interrupted
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
        typer.Exit: 1 without a usable result.
        Interrupted: with words on how to go on.
    """
    from vibayes.cli.results import told, usable
    from vibayes.runs import identify_run

    for note in run.notes:
        speech.warn(note)
    try:
        posterior = identify_run(run, not (speech.quiet or speech.json), limits)
        if usable(posterior):
            told(run, posterior, speech, page)
    except KeyboardInterrupt:
        raise Interrupted(_how_to_go_on(run)) from None
    if not usable(posterior):
        print(f"There are no draws: {'; '.join(posterior.notes) or 'nothing came of it'}.", file=sys.stderr)
        speech.result({"folder": str(run.folder), "state": run.state, "models": [], "notes": list(posterior.notes)})
    if run.state == "interrupted":
        raise Interrupted(_how_to_go_on(run))
    if not usable(posterior):
        raise typer.Exit(1)


def _how_to_go_on(run: Any) -> str:
    if run.state == "done":
        return f"interrupted; the run is done and its posterior saved; for the page: vibayes report {run.folder}"
    return f"interrupted; what was computed is kept; go on with: vibayes resume {run.folder}"
