"""The page of a run: what was found, and what belongs to an account of how."""

from __future__ import annotations

from pathlib import Path

from vibayes.io.files import PathLike
from vibayes.report.write import write_report
from vibayes.runs.checksums import keep_checksums
from vibayes.runs.folder import FIGURES, Run

REPORT = "report.html"


def report_run(run: Run, path: PathLike | None = None, *, title: str = "", figures: bool = False, **more) -> Path:
    """Write what a run has found as one HTML file that opens without a network.

    Args:
        run: of which there is a posterior, though it may have been interrupted.
        path: of the file to write or replace; by default ``report.html`` in the folder.
        title: of the page; by default that of the study.
        figures: whether the figures are written as PNG files as well, into ``figures`` of the folder.
        more: of `vibayes.report.write_report`, as ``intro`` or ``predictions``.

    Returns:
        The path of the page. If the run is not complete, the page begins by saying so.
    """
    more["intro"] = "\n\n".join(filter(None, (run.incomplete, more.get("intro", ""))))
    written = write_report(
        run.posterior(),
        Path(run.folder / REPORT if path is None else path),
        title=title or run.study.title or "Identification",
        reproduce="vibayes identify study.toml",
        facts=_facts(run),
        figures=run.folder / FIGURES if figures else None,
        **more,
    )
    keep_checksums(run.folder, written, *(sorted((run.folder / FIGURES).glob("*.png")) if figures else ()))
    return written


def _facts(run: Run) -> dict[str, str]:
    """Seed, method and files of a run, and the versions it was made with."""
    study, details = run.study, run.details
    found = {"seed": str(study.seed), "method": repr(study.method)}
    found |= {f"data file {Path(file).name}": str(file) for file in study.files}
    found |= {f"SHA-256 of {Path(name).name}": value for name, value in details.files.items()}
    return found | {f"{name}, when it was run": value for name, value in details.environment.items()}
