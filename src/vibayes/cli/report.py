"""`vibayes report`: write the page of a run, or write it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vibayes.cli.speech import Data, Json, Quiet, Speech, Trust


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run, as `vibayes identify` makes it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; by default report.html in the folder.")
    ] = None,
    title: Annotated[str, typer.Option(help="Of the page; by default that of the study.")] = "",
    figures: Annotated[bool, typer.Option("--figures", help="Write the figures as PNG files as well.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that vibayes did not write.")] = False,
    data: Data = None,
    trust: Trust = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write what a run has found as one HTML file that opens without a network.

    Where code of the study is not trusted, no page is written: its stored results are printed.

    Example: vibayes report test07-run --figures
    """
    from vibayes.cli.untrusted import UntrustedRuns, open_trusted, show_stored
    from vibayes.io.files import require_replaceable
    from vibayes.runs import report_run

    speech = Speech(quiet, json)
    drawn = (run / "figures").glob("*") if figures else ()
    require_replaceable("vibayes report", run / "report.html" if output is None else output, *drawn, force=force)
    try:
        opened = open_trusted({run.name: run}, trust, data)[run.name]
    except UntrustedRuns as untrusted:
        show_stored(untrusted, speech, "A page needs", f"vibayes report {run}", {"report": None})
        raise
    written = report_run(opened, output, title=title, figures=figures)
    if opened.incomplete:
        speech.warn(opened.incomplete)
    speech.say(f"Written: {written}")
    speech.result({"report": str(written), "incomplete": opened.incomplete})
