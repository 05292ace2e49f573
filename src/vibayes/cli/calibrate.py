"""`vibayes calibrate`: would the posterior of a study be right on average?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vibayes.cli.outcome import Interrupted
from vibayes.cli.speech import Json, Quiet, Speech, Trust

FIGURE, JOURNAL = "calibration.png", "calibration.journal"


def calibrate(
    study: Annotated[Path, typer.Argument(help="Study file.")],
    records: Annotated[int, typer.Option("--records", "-n", min=1, help="Records to simulate and infer.")] = 200,
    seed: Annotated[int | None, typer.Option(help="Of all random numbers; by default that of the study.")] = None,
    noise: Annotated[
        float, typer.Option(min=0.0, help="Noise over the clean output, where the study does not say what it is.")
    ] = 0.05,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the figure and what was computed; by default in the output folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file in place of its figure.")] = False,
    trust: Trust = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Simulate records from the priors of a study, infer each as the study would, and see where the truth lies.

    Intervals of 95 % should hold the truth in 95 % of the records, and a model of probability 0.8 should be the true
    one in 80 %. The measured outputs play no part; inputs, rate and gaps are those of the data. Ctrl-C ends it with the
    records so far. The same command goes on from there, and with more --records it adds to them.

    Example: vibayes calibrate test07.toml --records 100
    """
    from vibayes.calibration import calibrate as calibrated
    from vibayes.io.files import require_replaceable
    from vibayes.journal import Journal
    from vibayes.study import read_study

    speech = Speech(quiet, json)
    read = read_study(study, trust=trust or ())
    folder = read.output / "calibration" if out is None else out
    require_replaceable("vibayes calibrate", folder / FIGURE, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    limits = {"max_simulations": read.limits.max_simulations, "max_seconds": read.limits.max_seconds}
    with Journal(folder / JOURNAL, "calibration") as journal:
        found = calibrated(
            read.seed if seed is None else seed, read.problems, read.method, records=records, noise=noise,
            progress=not (quiet or json), journal=journal, **limits,
        )  # fmt: skip
    _tell(found, folder, study, speech)


def _tell(found: Any, folder: Path, study: Path, speech: Speech) -> None:
    """What was found, and the number that says how it ended.

    Raises:
        typer.Exit: 1 if no record could be inferred.
        Interrupted: with words on how to go on.
    """
    from vibayes.report import figure_of_calibration, save

    figure = None
    if found.records:
        figure = str(save(figure_of_calibration(found), folder / FIGURE))
    speech.say(found.summary())
    if figure:
        speech.say(f"Figure: {figure}")
    speech.result({"study": str(study), "asked": found.asked, "figure": figure, **found.to_dict()})
    if len(found.replications) < found.asked:
        raise Interrupted(f"interrupted; {found.records} records are kept in '{folder}': the same command goes on")
    if not found.records:
        raise typer.Exit(1)
