"""`vibayes check`: is the study sound, and what do its priors expect?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vibayes.cli.speech import Json, Quiet, Speech, Trust, trusting

if TYPE_CHECKING:
    from vibayes.study import Study


def check(
    study: Annotated[Path, typer.Argument(help="Study file.")],
    draws: Annotated[int, typer.Option(min=2, max=1000, help="Draws of the priors to simulate, per model.")] = 24,
    figures: Annotated[bool, typer.Option(help="Draw data and prior predictions into the output folder.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace files in place of its figures.")] = False,
    trust: Trust = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Validate a study, simulate draws of its priors, and say what looks wrong before hours are spent.

    Warnings are about channels and units, sampling, priors that cannot reach the data, and parameters that the data
    cannot tell. They do not change the exit code: only what cannot be run does.

    Example: vibayes check test07.toml
    """
    from vibayes.io.files import require_replaceable
    from vibayes.runs.rehearsal import rehearse
    from vibayes.study import read_study
    from vibayes.study.doubts import all_doubts
    from vibayes.study.prior_responses import prior_responses

    speech = Speech(quiet, json)
    read = read_study(study, trust=trust or ())
    speech.say(f"{read.title}\n  data      {_data_of(read)}")
    for problem in read.problems:
        speech.say(f"  model     {problem.name}: {', '.join(problem.parameters)}")
    speech.say(f"  method    {_method_of(read)}, seed {read.seed}")
    places = _places(read) if figures else []
    require_replaceable("vibayes check", *places, force=force)
    with tempfile.TemporaryDirectory() as place:
        rehearse(read.problems, Path(place), "vibayes check")
    priors = [prior_responses(read.seed, problem, draws) for problem in read.problems]
    doubts = all_doubts(read.seed, read.record, priors)
    for doubt in doubts:
        speech.warn(doubt)
    written = _draw(priors, places) if figures else []
    for path in written:
        speech.say(f"  figure    {path}")
    speech.say("Sound, with warnings." if doubts else "Sound.")
    speech.say(f"Next: vibayes identify {study}{trusting(trust)}")
    models = [{"name": each.name, "parameters": each.parameters} for each in read.problems]
    speech.result({"study": study, "title": read.title, "models": models, "warnings": doubts, "figures": written})


def _data_of(read: Study) -> str:
    from vibayes.record import Record

    record = read.record
    if isinstance(record, Record):
        return repr(record)
    low, high = record.frequency.min(), record.frequency.max()
    modes = ", ".join(map(str, record.modes))
    return f"{record.samples} points of backbones, {low:.4g} to {high:.4g} rad/s; modes {modes}"


def _method_of(read: Study) -> str:
    if read.method is not None:
        return repr(read.method)
    from vibayes.inference import default_method

    return f"{type(default_method(read.problems)).__name__} by default"


def _places(read: Study) -> list[Path]:
    """Where figures go: one of the points of backbones, or one for each model."""
    folder = read.output / "check"
    if read.problems[0].of_backbones:
        return [folder / "points.png"]
    return [folder / f"prior_{number + 1}.png" for number in range(len(read.problems))]


def _draw(priors: list[Any], places: list[Path]) -> list[Path]:
    from vibayes.cli.pictures import figure_of_points, figure_of_priors
    from vibayes.report import save

    places[0].parent.mkdir(parents=True, exist_ok=True)
    if priors[0].problem.of_backbones:
        return [save(figure_of_points(priors[0].problem.record), places[0])]
    pairs = zip(priors, places, strict=True)
    return [save(figure_of_priors(prior), place) for prior, place in pairs if prior.outputs is not None]
