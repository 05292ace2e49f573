"""`vibayes new`: a commented study file from a look at a data file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vibayes.cli.speech import Json, Quiet, Speech


class Kind(StrEnum):
    """What is asked of the data."""

    pwl = "pwl"
    hysteresis = "hysteresis"
    output_only = "output-only"
    solver = "solver"
    backbone = "backbone"


def new(
    data: Annotated[Path, typer.Argument(help="Data file: CSV, NPZ or another format that vibayes reads.")],
    study: Annotated[
        Path | None, typer.Argument(help="Study file to write; by default beside the data, with their name.")
    ] = None,
    method: Annotated[
        Kind | None,
        typer.Option(
            help="pwl: which piecewise-linear spring; hysteresis: does it yield; output-only: the input was not "
            "measured; solver: samples are sparse, the solver's error counts; backbone: points of frequency and "
            "amplitude. By default after what the file holds."
        ),
    ] = None,
    inputs: Annotated[list[str] | None, typer.Option("--input", "-i", help="Column that drove the structure.")] = None,
    outputs: Annotated[list[str] | None, typer.Option("--output", "-o", help="Column that it answered with.")] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second, where no column has the time.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a study file that is there.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a commented study file for a data file.

    Columns are guessed from their names and units, priors from the size and the dominant frequency of what was
    measured. Look at the lines that say CHECK, then run: vibayes check STUDY

    Example: vibayes new test07.csv --method pwl --input force --output acceleration
    """
    from vibayes.errors import InvalidInput
    from vibayes.study.fresh import fresh_study

    target = data.with_suffix(".toml") if study is None else study
    if target.exists() and not force:
        raise InvalidInput(
            "vibayes new", "a study file that is not there yet", f"'{target}'", "add --force to replace it"
        )
    speech = Speech(quiet, json)
    made = fresh_study(data, target, str(method) if method else "", tuple(inputs or ()), tuple(outputs or ()), rate)
    from vibayes.io.files import whole_file

    with whole_file("vibayes new", target) as file:
        file.write(made.text.encode())
    speech.say(f"Written: {target}")
    for line in made.guesses:
        speech.say(f"  {line}")
    speech.say(f"Look at the lines that say CHECK, then: vibayes check {target}")
    speech.result({"study": target, "method": made.method, "guesses": made.guesses})
