"""`vibayes simulate`: what a structure of a study does, for values of its parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vibayes.cli.speech import Json, Quiet, Speech, Trust


def simulate(
    study: Annotated[Path, typer.Argument(help="Study file.")],
    values: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="NAME=VALUE", help="Value of an unknown; again for each.")
    ] = None,
    model: Annotated[str, typer.Option(help="Name of the model; by default the first.")] = "",
    out: Annotated[
        Path | None, typer.Option(help="Record to write, .csv or .npz; by default beside the study.")
    ] = None,
    figure: Annotated[bool, typer.Option(help="Draw the record beside it.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    trust: Trust = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Simulate a structure of a study, under the excitation that it declares or under the inputs of its data.

    Unknowns that are not set have the medians of their priors.

    Example: vibayes simulate test07.toml --set k=1200 --set c=2 --out response.csv
    """
    from vibayes.errors import InvalidInput
    from vibayes.io import write_record
    from vibayes.study.simulation import numbers_by_name, simulated

    target = study.with_name(f"{study.stem}-simulated.csv") if out is None else out
    picture = target.with_suffix(".png")
    for path in (target, *([picture] if figure else [])):
        if path.exists() and not force:
            raise InvalidInput(
                "vibayes simulate", "a file that is not there yet", f"'{path}'", "add --force to replace it"
            )
    speech = Speech(quiet, json)
    found = simulated(study, numbers_by_name(values or []), model, trust or ())
    write_record(found.record, target)
    speech.say(f"{found.model} with " + ", ".join(f"{name} = {value:.6g}" for name, value in found.values.items()))
    speech.say(f"Written: {target}")
    if figure:
        from vibayes.cli.pictures import figure_of_record
        from vibayes.report import save

        speech.say(f"         {save(figure_of_record(found.record, found.model), picture)}")
    speech.result(
        {"record": target, "figure": picture if figure else None, "model": found.model, "values": found.values}
    )
