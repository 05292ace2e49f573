"""`vibayes report`: write the page of a run, or write it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vibayes.cli.speech import Json, Quiet, Speech


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run, as `vibayes identify` makes it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; by default report.html in the folder.")
    ] = None,
    title: Annotated[str, typer.Option(help="Of the page; by default that of the study.")] = "",
    figures: Annotated[bool, typer.Option("--figures", help="Write the figures as PNG files as well.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write what a run has found as one HTML file that opens without a network.

    Example: vibayes report test07-run --figures
    """
    from vibayes.runs import open_run, report_run

    speech = Speech(quiet, json)
    opened = open_run(run)
    written = report_run(opened, output, title=title, figures=figures)
    if opened.incomplete:
        speech.warn(opened.incomplete)
    speech.say(f"Written: {written}")
    speech.result({"report": str(written), "incomplete": opened.incomplete})
