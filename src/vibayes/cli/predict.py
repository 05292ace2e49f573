"""`vibayes predict`: what the structure does under another input."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from vibayes.cli.speech import Data, Json, Quiet, Speech, Trust
from vibayes.interval import PROB


def predict(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    file: Annotated[
        Path | None, typer.Argument(help="File with the new input; by default the data of the run.")
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", "-i", help="Its columns, in order; by default named as in the study.")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option("--output", "-o", help="Columns that were measured, to compare with, in order.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="Its column of times; found out if left out.")] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second, instead of --time.")] = None,
    model: Annotated[str, typer.Option(help="Name of the model; by default the most probable one.")] = "",
    draws: Annotated[int, typer.Option(help="Of the posterior.")] = 200,
    prob: Annotated[float, typer.Option(help="Share of the draws within the bands.")] = PROB,
    seed: Annotated[int, typer.Option(help="Chooses the draws.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Record to write, .csv or .npz; by default in the run folder.")
    ] = None,
    figure: Annotated[bool, typer.Option(help="Draw it, beside the record.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    data: Data = None,
    trust: Trust = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict the response to a new input, with bands.

    The input must be as the data of the study were after its conditioning: the same channels, in units that can be
    converted. The file that is written has the mean and both edges of the band of every output.

    Where code of the study is not trusted, nothing is predicted: its stored results are printed.

    Example: vibayes predict test07-run storm.csv --input force --rate 200
    """
    from vibayes.cli.untrusted import UntrustedRuns, open_trusted, show_stored
    from vibayes.errors import InvalidInput
    from vibayes.io import write_record
    from vibayes.prediction import predict as predicted
    from vibayes.runs.checksums import keep_checksums

    target = run / f"prediction-{'data' if file is None else file.stem}.csv" if out is None else out
    picture = target.with_suffix(".png")
    for path in (target, *([picture] if figure else [])):
        if path.exists() and not force:
            raise InvalidInput("vibayes predict", "a new file", f"'{path}'", "add --force to replace it, or use --out")
    speech = Speech(quiet, json)
    try:
        opened = open_trusted({run.name: run}, trust, data)[run.name]
    except UntrustedRuns as untrusted:
        again = f"vibayes predict {run}{'' if file is None else f' {file}'}"
        show_stored(untrusted, speech, "A prediction needs", again, {"record": None, "figure": None})
        raise
    posterior = opened.posterior()
    if opened.incomplete:
        speech.warn(opened.incomplete)
    chosen = posterior[model] if model else posterior.selected
    record = None if file is None else new_record(file, chosen.problem.motions, inputs, outputs, time, rate)
    found = predicted(seed, chosen, record, draws)
    write_record(bands(found, prob), target)
    speech.say(f"{chosen.name}: {found.outputs.shape[0]} draws, bands of {100 * prob:g} %")
    if found.failures:
        speech.warn(f"{found.failures} of {draws} draws could not be simulated and are left out")
    compared = bool(np.isfinite(found.record.output).any()) and not found.random
    if compared:
        speech.say(f"Normalised mean square error of the mean prediction: {found.nmse:.3g} %")
    speech.say(f"Written: {target}")
    if figure:
        from vibayes.report import save
        from vibayes.report.overlay import figure_of_predictions

        speech.say(f"         {save(figure_of_predictions({chosen.name: found}, prob=prob), picture)}")
    keep_checksums(run, target, *([picture] if figure else []))
    speech.result({
        "model": chosen.name, "draws": found.outputs.shape[0], "failures": found.failures, "record": str(target),
        "figure": str(picture) if figure else None, "nmse": found.nmse if compared else None,
        "prob": prob,
        "incomplete": opened.incomplete,
    })  # fmt: skip


def new_record(
    file: Path, old: Any, inputs: list[str] | None, outputs: list[str] | None, time: str | None, rate: float | None
) -> Any:
    """A record with the channels and units of another; outputs are unknown unless columns of them are named."""
    from vibayes.errors import InvalidInput
    from vibayes.io import look, read_record
    from vibayes.record import Record

    names, measured = inputs or list(old.input_names), outputs or []
    for what, given, wanted in (("input", names, old.input_names), ("output", measured, old.output_names)):
        if len(given) != len(wanted) and (given or what == "input"):
            expected = f"{len(wanted)} columns, for {', '.join(wanted) or 'none'}"
            raise InvalidInput(f"vibayes predict --{what}", expected, str(len(given)), "name one for each, in order")
    if not names:
        raise InvalidInput("vibayes predict", "a study with measured inputs", "none", "leave the file out")
    if time is None and rate is None:
        time = look(file).time
    # Inputs alone are no record of a response, so that all columns are read as such.
    read = read_record(file, output=[*names, *measured], time=time, rate=rate)
    values = {}
    for new, channel in zip(
        [*names, *measured], [*old.input_names, *(old.output_names if measured else ())], strict=True
    ):
        unit = old.units[channel]
        column = _column(read, new)
        if unit and read.units[column] and read.units[column] != unit:
            read = read.convert(column, unit)
        values[channel] = read.channel(column)
    unknown = {name: values.get(name, np.full(read.samples, np.nan)) for name in old.output_names}
    given = {name: values[name] for name in old.input_names}
    units = {name: unit for name, unit in old.units.items() if unit}
    return Record.from_arrays(rate=read.rate, start=read.start, input=given, output=unknown, units=units)


def _column(record: Any, wanted: str) -> str:
    """A heading such as "force [N]" has become the channel "force"."""
    if wanted in record.output_names:
        return wanted
    return next(name for name in record.output_names if wanted.startswith(name))


def bands(prediction: Any, prob: float) -> Any:
    """Mean and edges of the band as a record: of every output ``…_mean``, ``…_low`` and ``…_high``."""
    from vibayes.record import Record

    record = prediction.record
    low, high = prediction.band(prob)
    columns, units = {}, {name: unit for name, unit in record.units.items() if unit and name in record.input_names}
    for i, name in enumerate(record.output_names):
        for what, values in (("mean", prediction.mean()), ("low", low), ("high", high)):
            columns[f"{name}_{what}"] = values[:, i]
            if record.units[name]:
                units[f"{name}_{what}"] = record.units[name]
    given = {name: record.input[:, i] for i, name in enumerate(record.input_names)}
    metadata = {"model": prediction.model, "draws": len(prediction.outputs), "prob": prob}
    return Record.from_arrays(
        rate=record.rate, start=record.start, input=given or None, output=columns, units=units, metadata=metadata
    )
