"""Records as comma-separated text: a heading line with units, one row per sample, metadata in comments above.

    # vibayes.record: {"format": 1, "start": 0.0, "rate": 2.0, "input": {}, "output": {"gap": "mm"}}
    # specimen: 7
    time [s],gap [mm]
    0.0,1.0
    0.5,

Numbers are written with the digits that give them back exactly; a missing value is an empty cell.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.arrays import Arrays, of_record
from vibayes.io.columns import find_column, find_columns, numbers_in, split_heading
from vibayes.io.content import require_kind
from vibayes.io.files import PathLike, listed, whole_file
from vibayes.io.header import Header, header_of, rebuild
from vibayes.io.text_table import Table, read_table, write_comments
from vibayes.record import Record
from vibayes.units import convert_values, require_unit


def write_csv(record: Record, path: PathLike) -> None:
    """Write a record as comma-separated text, completely or not at all.

    Args:
        record: the record.
        path: the file to write or replace.

    Raises:
        InvalidInput: the folder does not exist.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.5]}, metadata={"specimen": 7})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_csv(record, f"{folder}/test07.csv")
        ...     print(Path(folder, "test07.csv").read_text().splitlines()[1:])
        ['# specimen: 7', 'time [s],gap', '0.0,1.0', '0.5,2.5']
    """
    header = header_of(record)
    text = io.StringIO(newline="")
    text.write(write_comments(header, record.metadata))
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_headings(header))
    table = np.column_stack([record.times, record.input, record.output]).tolist()
    # Only NaN, a missing value, differs from itself.
    writer.writerows([["" if value != value else repr(value) for value in row] for row in table])
    with whole_file("write_csv", path) as file:
        file.write(text.getvalue().encode())


def read_csv(
    path: PathLike,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    time: str | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Record:
    """Read a record from text in columns.

    A file that `write_csv` made needs the path alone. In any other, name the columns. Units are taken from
    headings such as ``force [N]`` and ``force (N)``, whose channel is then called ``force``; empty cells, nan
    and NA are missing values. Comments ``# key: value`` above the headings become metadata.

    Args:
        path: the file.
        input: columns that drove the structure, by heading or by the name in it.
        output: columns that it answered with.
        time: column of times, in the unit of its heading or in seconds; ``time`` or ``t`` if left out.
        rate: samples per second, instead of `time`.
        units: units of the channels by name, instead of those in the headings.
        delimiter: what separates the columns; found out if left out.

    Returns:
        The record.

    Raises:
        InvalidInput: the file cannot be read as a record; the message says where and what to do.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "test07.csv")
        ...     _ = path.write_text("time [ms];force [kN];gap (mm)\\n0;1.5;0\\n5;2.5;NA\\n10;3.5;2\\n")
        ...     read_csv(path, input="force", output="gap")
        Record(3 samples at 200 Hz, 0.01 s; input: force [kN]; output: gap [mm]; 1 missing)
    """
    where, path = require_kind("read_csv", path)
    table = read_table(where, path, delimiter)
    if input is None and output is None:
        if table.header is None or time is not None or rate is not None:
            raise InvalidInput(where, "the names of columns in input= or output=", "neither", listed(table.headings))
        return _stored(where, table, table.header, units)
    units = dict(units or {})
    if rate is not None and time is None:
        sampling: dict[str, Any] = {"rate": rate}
    elif table.header is not None and time is None:
        sampling = {"start": table.header.start, "rate": table.header.rate}
    else:
        sampling = {"time": _seconds(where, table, _time_column(where, table, time), units), "rate": rate}
    inputs, outputs = (find_columns(where, table.headings, _as_list(names)) for names in (input, output))
    names = _names(table.headings, inputs + outputs)
    return Record.from_arrays(
        **sampling,
        input={names[c]: numbers_in(where, table.rows, c, table.headings[c]) for c in inputs} or None,
        output={names[c]: numbers_in(where, table.rows, c, table.headings[c]) for c in outputs} or None,
        units=_units(where, table.headings, names, units),
        metadata=table.metadata,
    )


def load_csv(path: PathLike, delimiter: str | None = None) -> Arrays:
    """What a text file holds, column by column; those that hold text are among the `others`.

    Args:
        path: the file.
        delimiter: what separates the columns; found out if left out.

    Returns:
        Its columns.

    Raises:
        InvalidInput: the file is no text in columns.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.csv").write_text("who,force [N]\\nAda,1\\nBob,2\\n")
        ...     arrays = load_csv(f"{folder}/a.csv")
        >>> list(arrays.values), arrays.units, arrays.others
        (['force'], {'force': 'N'}, {'who': 'text'})
    """
    where, path = require_kind("read_csv", path)
    table = read_table(where, path, delimiter)
    if table.header is not None:
        return of_record(where, _stored(where, table, table.header, None))
    arrays = Arrays(where, metadata=table.metadata, separator="\0")
    short = [split_heading(heading).name for heading in table.headings]
    often = Counter(short)
    for column, heading in enumerate(table.headings):
        name = short[column] if often[short[column]] == 1 else heading
        try:
            arrays.values[name] = numbers_in(where, table.rows, column, heading)
        except InvalidInput:
            arrays.others[name] = "text"
        unit = split_heading(heading).unit
        if unit is not None:
            arrays.units[name] = unit
    return arrays


def _headings(header: Header) -> list[str]:
    channels = [*header.input.items(), *header.output.items()]
    return ["time [s]", *(f"{name} [{unit}]" if unit else name for name, unit in channels)]


def _as_list(names: str | Sequence[str] | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _stored(where: str, table: Table, header: Header, units: Mapping[str, str] | None) -> Record:
    """The record in a file that `write_csv` made and that nobody has changed in a way that matters."""
    remedy = "mend the file, or give input= and output= and time="
    if table.headings != _headings(header):
        raise InvalidInput(where, f"the columns {_headings(header)}", f"{table.headings}", remedy)
    columns = [numbers_in(where, table.rows, c, heading) for c, heading in enumerate(table.headings)]
    expected = header.start + np.arange(len(table.rows)) / header.rate
    wrong = np.flatnonzero(~np.isclose(columns[0], expected, rtol=1e-12, atol=1e-6 / header.rate))
    if wrong.size:
        line, time = table.rows[wrong[0]].line, columns[0][wrong[0]]
        raise InvalidInput(where, f"the time {expected[wrong[0]]} on line {line}", f"{time}", remedy)
    values = np.column_stack(columns[1:])
    inputs = len(header.input)
    return rebuild(header, values[:, :inputs], values[:, inputs:], table.metadata, units)


def _names(headings: list[str], columns: list[int]) -> dict[int, str]:
    """Names of the chosen columns: those in the headings, or whole headings if two are alike."""
    short = {column: split_heading(headings[column]).name for column in columns}
    return short if len(set(short.values())) == len(short) else {column: headings[column] for column in columns}


def _units(where: str, headings: list[str], names: dict[int, str], units: Mapping[str, str]) -> dict[str, str]:
    """The units by name: the user's (who may have written the whole heading), else those in the headings."""
    known = dict(units)
    for column, name in names.items():
        heading = headings[column]
        if heading in known:
            known[name] = known.pop(heading)
        unit = split_heading(heading).unit
        if unit is not None and name not in known:
            known[name] = require_unit(f"{where}, column {heading!r}", unit)
    return known


def _time_column(where: str, table: Table, time: str | None) -> int:
    if time is not None:
        return find_column(where, table.headings, time)
    for column, heading in enumerate(table.headings):
        if split_heading(heading).name.lower() in ("time", "t"):
            return column
    raise InvalidInput(
        where, "a column of times or a rate", "neither", "give time= (a column) or rate= (samples per second)"
    )


def _seconds(where: str, table: Table, column: int, units: dict[str, str]) -> np.ndarray:
    """The times in a column, in seconds. Its unit, if the user gave one, is taken out of `units`."""
    heading = table.headings[column]
    name, unit = split_heading(heading)
    given = units.pop(heading, None) or units.pop(name, None)
    unit = require_unit(f"{where}, column {heading!r}", given or unit or "s")
    values = numbers_in(where, table.rows, column, heading, "give rate= instead if the clock shows dates")
    return convert_values(f"{where}, column {heading!r}", values, unit, "s")
