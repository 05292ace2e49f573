"""`vibayes report`: write the page of a run again, with what is known of it by now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run, as `vibayes identify` makes it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; by default report.html in the folder.")
    ] = None,
    title: Annotated[str, typer.Option(help="Of the page; by default that of the study.")] = "",
    figures: Annotated[bool, typer.Option("--figures", help="Write the figures as PNG files as well.")] = False,
) -> None:
    """Write what a run has found as one HTML file that opens without a network."""
    from vibayes.report import write_report
    from vibayes.runs import open_run

    opened: Any = open_run(run)
    study = opened.study
    path = output if output is not None else run / "report.html"
    written = write_report(
        opened.posterior(),
        path,
        title=title or getattr(study, "title", "") or "Identification",
        reproduce="vibayes identify study.toml",
        facts=_facts(run, study),
        figures=run / "figures" if figures else None,
    )
    typer.echo(str(written))


def _facts(run: Path, study: Any) -> dict[str, str]:
    """Seed, method and files of a run, and the versions it was made with, as its own account has them."""
    found = {"seed": str(getattr(study, "seed", "")), "method": repr(getattr(study, "method", ""))}
    for file in getattr(study, "files", ()):
        found[f"data file {Path(file).name}"] = str(file)
    account = run / "run.json"
    told = json.loads(account.read_text(encoding="utf-8")) if account.is_file() else {}
    environment = told.get("environment") if isinstance(told, dict) else None
    if isinstance(environment, dict):
        found |= {f"{name}, when it was run": str(value) for name, value in environment.items()}
    files = told.get("files") if isinstance(told, dict) else None
    if isinstance(files, dict):
        found |= {f"SHA-256 of {Path(name).name}": str(value) for name, value in files.items()}
    return {name: value for name, value in found.items() if value not in ("", "''")}
