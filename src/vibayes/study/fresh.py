"""A first study file for data that nobody has described yet: `vibayes new`.

Names and units of columns tell inputs from outputs; sizes and the dominant frequency of what was measured tell where
priors should lie. Every guess is a line with CHECK in it. What is written passes `read_study` as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.io import read_record
from vibayes.naming import nearest
from vibayes.record import Record
from vibayes.study.guesses import Guess, guess_of
from vibayes.study.templates import TEMPLATES, backbone, header

METHODS = ("pwl", "hysteresis", "output-only", "solver", "backbone")


@dataclass(frozen=True)
class Fresh:
    """A study file that was thought up: its text, the method it is for, and what was guessed."""

    text: str
    method: str
    guesses: tuple[str, ...]


def fresh_study(
    data: Path,
    target: Path,
    method: str = "",
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    rate: float | None = None,
    look: Callable[[Path], Any] | None = None,
) -> Fresh:
    """The text of a study file for a data file.

    Args:
        data: the data file.
        target: where the study will be, for the way from there to the data.
        method: one of `METHODS`; by default after what the file holds.
        inputs: columns that drove the structure; by default guessed.
        outputs: columns that it answered with; by default guessed.
        rate: samples per second, where no column has the time.
        look: what looks at the file; by default `vibayes.io.look`.
    """
    if method and method not in METHODS:
        raise InvalidInput("vibayes new", "a method", repr(method), nearest(method, METHODS))
    contents = (look or _look)(data)
    names = [column.name for column in contents.columns]
    for name in (*inputs, *outputs):
        if name not in names:
            raise InvalidInput("vibayes new", "a column of the file", repr(name), nearest(name, names))
    place = os.path.relpath(data.absolute(), target.absolute().parent).replace(os.sep, "/")
    frequency = next((name for name in names if _is_frequency(name)), None)
    if method == "backbone" or (not method and frequency and not inputs):
        return _of_backbone(data, place, target.stem, names, frequency, outputs)
    suggested = contents.suggested()
    drives = list(inputs or ([] if method == "output-only" else suggested.input))
    answers = [name for name in (outputs or suggested.output) if name not in drives]
    if not answers:
        remedy = "name one with --output"
        raise InvalidInput("vibayes new", "a column that the structure answered with", "none", remedy)
    timing = _timing(suggested, rate)
    record = read_record(data, input=drives or None, output=answers, **timing)
    method = method or ("pwl" if drives else "output-only")
    if not drives and method != "output-only":
        remedy = "name one with --input, or use --method output-only"
        raise InvalidInput("vibayes new", f"a column that drove the structure, for {method}", "none", remedy)
    guess = guess_of(record)
    text = header(target.stem, place, record, timing, guess) + TEMPLATES[method](guess)
    return Fresh(text, method, _said(record, guess))


def _look(path: Path) -> Any:
    from vibayes import io

    return io.look(path)  # type: ignore[attr-defined]


def _timing(suggested: Any, rate: float | None) -> dict[str, Any]:
    if rate is not None:
        return {"rate": rate}
    if suggested.time is not None:
        return {"time": suggested.time}
    if suggested.rate:
        return {"rate": float(suggested.rate)}
    raise InvalidInput("vibayes new", "a column of times, or samples per second", "neither", "add --rate 200, say")


def _is_frequency(name: str) -> bool:
    return name.lower().startswith(("freq", "omega", "ω"))


def _of_backbone(
    data: Path, place: str, title: str, names: list[str], frequency: str | None, outputs: Sequence[str]
) -> Fresh:
    if frequency is None:
        remedy = "call the column 'frequency', or write the study by hand"
        raise InvalidInput("vibayes new", "a column of frequencies", ", ".join(map(repr, names)), remedy)
    amplitude = next(
        (each for each in outputs or names if each != frequency and not each.lower().startswith("t")), None
    )
    if amplitude is None:
        raise InvalidInput("vibayes new", "a column of amplitudes", "none", "name one with --output")
    read = read_record(data, output=[frequency, amplitude], rate=1.0)
    said = (f"frequency {frequency!r}, in rad/s; amplitude {amplitude!r}",)
    text = backbone(title, json.dumps(place), frequency, amplitude, read.channel(frequency), read.channel(amplitude))
    return Fresh(text, "backbone", said)


def _said(record: Record, guess: Guess) -> tuple[str, ...]:
    inputs = ", ".join(record.input_names) or "none measured"
    return (
        f"{record.samples} samples at {record.rate:g} Hz",
        f"input: {inputs}" + (f", {guess.drive}" if record.input_names else ""),
        f"output: {', '.join(record.output_names)}, {guess.quantity}",
        f"dominant frequency: {guess.frequency:.3g} Hz",
    )
