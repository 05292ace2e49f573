"""`[data]`: the file that was measured, which of its columns are what, and what is done to them first.

Two kinds of data: a record of motions (`input`, `output`, `time` or `rate`), and points of backbones (`frequency`,
`amplitudes`), read from the columns of a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.backbone import BackbonePoints
from vibayes.conditioning import Step, condition
from vibayes.errors import InvalidInput
from vibayes.io import read_record
from vibayes.io.files import existing_file
from vibayes.record import Record
from vibayes.study.declaration import Reference, Surroundings, declared, guarded
from vibayes.study.mistakes import Mistakes, require_known, require_table, shown
from vibayes.study.signatures import arguments_of
from vibayes.study.values import fitted
from vibayes.units import convert_values

_COLUMNS = ("frequency", "amplitudes", "frequency_errors", "amplitude_errors", "decay_rates")
"""Of points of backbones, that are read from the file."""
_OTHERS = ("modes", "ratios", "backbone")
"""Of points of backbones, that are stated in the study."""


def data_of(tables: Mapping[str, Any], around: Surroundings) -> tuple[Record | BackbonePoints, tuple[Path, ...]]:
    """What was measured, conditioned, and the files it came from."""
    table = tables.get("data")
    if table is None:
        raise InvalidInput("data", "a table that says where the data are", "none", "write [data] and file = ... below")
    table = require_table("data", table)
    path = _file(table, around.folder) if around.data is None else existing_file("data.file", around.data)
    if "frequency" in table or "amplitudes" in table:
        return _points(table, path), (path,)
    return _record(table, path, around), (path,)


def _file(table: Mapping[str, Any], folder: Path) -> Path:
    name = table.get("file")
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise InvalidInput("data.file", "the name of a file", shown(name), 'write file = "test.csv", in quotes')
    try:
        return existing_file("data.file", folder / Path(name).expanduser())
    except InvalidInput:
        raise
    except (OSError, RuntimeError, ValueError) as problem:
        raise InvalidInput("data.file", "the name of a file", f"{problem}", "check the path") from None


def _record(table: Mapping[str, Any], path: Path, around: Surroundings) -> Record:
    arguments = {name: each for name, each in arguments_of(read_record).items() if name != "path"}
    require_known("data", table, ["file", "condition", *arguments, "frequency", "amplitudes"], "a key of [data]")
    found = Mistakes()
    reference = Reference(around, lambda each, where, kinds: declared(each, where, kinds, around))
    values = {
        key: found.attempt(fitted, value, arguments[key].hint, f"data.{key}", reference)
        for key, value in table.items()
        if key in arguments
    }
    found.end()
    record = guarded("data", table, lambda: read_record(path, **values))
    steps = table.get("condition", [])
    return _conditioned(record, steps, around) if steps else record


def _conditioned(record: Record, steps: Any, around: Surroundings) -> Record:
    if not isinstance(steps, list):
        raise InvalidInput("data.condition", "a list of steps", shown(steps), "write [[data.condition]] above each")
    found = Mistakes()
    made = [found.attempt(declared, step, f"data.condition[{i}]", (Step,), around) for i, step in enumerate(steps)]
    found.end()
    for number, step in enumerate(made):
        where = f"data.condition[{number}]"
        if not isinstance(step, Step):
            raise InvalidInput(where, "a step of conditioning", shown(steps[number]), "name one, as Detrend")
        record = guarded(where, steps[number], lambda done=record, step=step: condition(done, [step]))
    return record


def _points(table: Mapping[str, Any], path: Path) -> BackbonePoints:
    require_known("data", table, ["file", "unit", *_COLUMNS, *_OTHERS], "a key of [data] with points of backbones")
    columns = {}
    for key in _COLUMNS:
        if key in table:
            wide = key.startswith("amplitude")
            columns[key] = _column_names(table[key], f"data.{key}", wide)
    for key in ("frequency", "amplitudes"):
        if key not in columns:
            raise InvalidInput(f"data.{key}", "the name of a column", "none", f'write {key} = "..."')
    every = list(dict.fromkeys(name for names in columns.values() for name in names))
    # The rows of such a table are no instants; a record of one sample per second is a way to read columns.
    read = guarded("data", table, lambda: read_record(path, output=every, rate=1.0))
    values = {key: np.column_stack([read.channel(name) for name in names]) for key, names in columns.items()}
    values = {key: each if key.startswith("amplitude") else each[:, 0] for key, each in values.items()}
    unit = table.get("unit", "rad/s")
    if unit not in ("rad/s", "Hz"):
        raise InvalidInput("data.unit", "'rad/s' or 'Hz', of the frequencies", shown(unit), "choose one of them")
    for key in ("frequency", "frequency_errors"):
        if unit == "Hz" and key in values:
            values[key] = convert_values(f"data.{key}", values[key], "cycle/s", "rad/s")
    stated = {key: table[key] for key in _OTHERS if key in table}
    for key, value in stated.items():
        if not isinstance(value, list) or not all(isinstance(each, int | str) for each in value):
            raise InvalidInput(f"data.{key}", "a list of whole numbers or names", shown(value), "put it in brackets")
    return guarded("data", table, lambda: BackbonePoints(**values, **stated))


def _column_names(value: Any, where: str, wide: bool) -> list[str]:
    names: list[Any] = value if isinstance(value, list) and wide else [value]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        expected = "names of columns" if wide else "the name of a column"
        raise InvalidInput(where, expected, shown(value), "write it in quotes")
    return names
