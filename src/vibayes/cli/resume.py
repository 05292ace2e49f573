"""`vibayes resume`: go on with a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vibayes.cli.identify import Page, work
from vibayes.cli.speech import Data, Json, Quiet, Speech, Trust


def resume(
    folder: Annotated[Path, typer.Argument(help="Run folder, as `vibayes identify` made it.")],
    max_seconds: Annotated[float | None, typer.Option(min=0.1, help="Go on until this, all parts together.")] = None,
    max_simulations: Annotated[int | None, typer.Option(min=1, help="Likewise.")] = None,
    trust: Trust = None,
    page: Page = True,
    data: Data = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Go on with a run that was interrupted or killed, or that ended at a limit and is given more.

    It ends with the draws of a run that was left alone. The study is the one stored in the folder; data files must be
    as they were, though not where they were. A run that is done already is only shown; if its posterior was deleted or
    damaged, it is rebuilt.

    Example: vibayes resume test07-run
    """
    from vibayes.runs import open_run
    from vibayes.study import Limits

    speech = Speech(quiet, json)
    run = open_run(folder, trust=trust or (), data=data, restore=True)
    given = max_seconds is not None or max_simulations is not None
    limits = Limits(max_seconds, max_simulations) if given else None
    limited = run.state == "done" and bool(run.details.message)
    done = run.state == "done" and not (limited and given)
    lost = run.lost if done else ""
    if done:
        speech.say("This run is done already.")
    if lost:
        speech.warn(f"its posterior is rebuilt from what was kept; expected a whole one, got {lost}")
    if done and limited:
        speech.say(f"It {run.details.message}. To go on, give it more, as --max-seconds 7200.")
    work(run, speech, page and (not done or bool(lost)), limits)
