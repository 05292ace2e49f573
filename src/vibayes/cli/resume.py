"""`vibayes resume`: go on with a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vibayes.cli.identify import Page, work
from vibayes.cli.speech import Json, Quiet, Speech


def resume(
    folder: Annotated[Path, typer.Argument(help="Run folder, as `vibayes identify` made it.")],
    page: Page = True,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Go on with a run that was interrupted or killed.

    It ends with the draws of a run that was left alone. The study is the one stored in the folder; data files must be
    as they were. A run that is done already is only shown.

    Example: vibayes resume test07-run
    """
    from vibayes.runs import open_run

    speech = Speech(quiet, json)
    run = open_run(folder)
    done = run.state == "done"
    if done:
        speech.say("This run is done already.")
    work(run, speech, page and not done)
