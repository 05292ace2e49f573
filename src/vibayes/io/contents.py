"""A look into a file before it is read: what columns it has, how long they are, in which units, and what is time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.arrays import Arrays
from vibayes.io.csv import load_csv
from vibayes.io.files import PathLike
from vibayes.io.formats import AT2, LOADERS, TEXT, format_of
from vibayes.io.guess import drives, is_clock, suggest
from vibayes.io.selection import columns_of, seconds
from vibayes.record_checks import sampling_of

_ROWS = 64  # a matrix of fewer rows than columns may be one of channels; of more rows than these, hardly


@dataclass(frozen=True)
class Column:
    """One array of a file, or one column of a matrix.

    Attributes:
        name: by which `read_record` knows it.
        unit: as the file has it; empty where it states none.
        samples: how many there are.
        finite: how many of these are numbers, and not missing.
        low: the least.
        high: the greatest.
        role: ``input`` or ``output`` if the file says so, else empty.
    """

    name: str
    unit: str
    samples: int
    finite: int
    low: float
    high: float
    role: str = ""


@dataclass(frozen=True)
class Suggestion:
    """What to read from a file, guessed from names and units: arguments of `read_record`."""

    input: tuple[str, ...]
    output: tuple[str, ...]
    time: str | None
    rate: float | None


@dataclass(frozen=True)
class Contents:
    """What a file holds, as `look` finds it.

    Attributes:
        path: the file.
        columns: its arrays of numbers; columns and rows of matrices one by one.
        rate: samples per second, if the file states them or has times in about equal steps.
        time: name of the column of times, if there is one.
        others: name and nature of what else there is, such as text.
        even: whether the times are in equal steps. If they are not, but `rate` is there, its even clock strays from
            them by less than half a step, as a clock does that is rounded.
    """

    path: Path
    columns: tuple[Column, ...]
    rate: float | None
    time: str | None
    others: tuple[tuple[str, str], ...] = ()
    even: bool = True

    def suggested(self) -> Suggestion:
        """A guess of what drove the structure and what it answered with, from names and units.

        Forces, shakers and motions of the ground drive; displacements, velocities and accelerations answer. If nothing
        is known of any column, the first drives and the others answer.

        Returns:
            What to give to `read_record`.

        Examples:
            >>> columns = [Column(name, unit, 9, 9, 0.0, 1.0) for name, unit in (("a", "m/s^2"), ("hammer", "N"))]
            >>> Contents(Path("a.csv"), tuple(columns), 200.0, None).suggested()
            Suggestion(input=('hammer',), output=('a',), time=None, rate=200.0)
        """
        inputs, outputs = suggest([column for column in self.columns if column.name != self.time])
        by_clock = self.time is not None and (self.even or self.rate is None)
        return Suggestion(inputs, outputs, self.time if by_clock else None, None if by_clock else self.rate)

    def __str__(self) -> str:
        about = "" if self.even else "about "
        rate = "no rate known" if self.rate is None else f"{about}{self.rate:g} samples per second"
        lines = [f"{self.path.name}: {rate}" + (f", times in {self.time!r}" if self.time is not None else "")]
        for each in self.columns:
            unit = f" [{each.unit}]" if each.unit else ""
            gaps = f", {each.samples - each.finite} missing" if each.finite < each.samples else ""
            lines.append(f"  {each.name}{unit}: {each.samples} samples from {each.low:g} to {each.high:g}{gaps}")
        return "\n".join(lines + [f"  {name}: {nature}" for name, nature in self.others])


def look(path: PathLike, delimiter: str | None = None) -> Contents:
    """Look into a file of any format that `read_record` reads.

    Args:
        path: the file.
        delimiter: what separates the columns of a text file; found out if left out.

    Returns:
        Its columns, with a guess which of them is time.

    Raises:
        InvalidInput: the file cannot be read.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.csv").write_text("t [ms];force [kN];gap (mm)\\n0;1.5;0\\n5;2.5;NA\\n10;3.5;2\\n")
        ...     print(look(f"{folder}/a.csv"))
        a.csv: 200 samples per second, times in 't'
          t [ms]: 3 samples from 0 to 10
          force [kN]: 3 samples from 1.5 to 3.5
          gap [mm]: 3 samples from 0 to 2, 1 missing
    """
    kind = format_of("look", path)
    if delimiter is not None and kind != TEXT:
        raise InvalidInput("look", "no delimiter for an archive", repr(delimiter), "leave it out")
    arrays = load_csv(path, delimiter) if kind == TEXT else LOADERS[kind](path)
    columns = tuple(_columns(arrays))
    time = None if arrays.stored is not None else _clock(arrays, columns)
    others = dict(arrays.others)
    for name, values in arrays.values.items():
        if values.ndim > 2 and max(values.shape) < values.size:
            others[name] = f"an array of shape {values.shape}"
    if kind == AT2:
        columns = tuple(replace(each, role="input") for each in columns)  # a ground motion drives
    rate, even = _rate(arrays, time)
    return Contents(Path(path), columns, rate, time, tuple(others.items()), even)


def _columns(arrays: Arrays) -> list[Column]:
    columns = []
    for name, values in arrays.values.items():
        names = [name]
        if values.ndim == 2 and 1 < values.shape[0] < values.shape[1] and values.shape[0] <= _ROWS:
            names = [f"{name}[{row},:]" for row in range(values.shape[0])]
        try:
            found = {channel: each for one in names for channel, each in columns_of(arrays, one).items()}
        except InvalidInput:
            continue  # of more than two dimensions, or a matrix of something else than channels
        for channel, samples in found.items():
            unit = arrays.units.get(channel, arrays.units.get(name, ""))
            columns.append(_column(channel, unit, np.asarray(samples, dtype=np.float64), _role(arrays, channel)))
    return columns


def _column(name: str, unit: str, values: np.ndarray, role: str) -> Column:
    present = values[np.isfinite(values)]
    low, high = (float(present.min()), float(present.max())) if present.size else (float("nan"), float("nan"))
    return Column(name, unit, int(values.size), int(present.size), low, high, role)


def _role(arrays: Arrays, name: str) -> str:
    if arrays.stored is None:
        return ""
    return "input" if name in arrays.stored.input_names else "output"


def _clock(arrays: Arrays, columns: tuple[Column, ...]) -> str | None:
    """The first column that is called like a clock, or measured in seconds, and goes forward."""
    ends = {each.name: each.name.rpartition(arrays.separator)[2] for each in columns}
    for certain in (True, False):
        for each in columns:
            if is_clock(ends[each.name], each.unit, certain) and not drives(ends[each.name]):
                (values,) = columns_of(arrays, each.name).values()
                if each.finite == each.samples > 1 and np.all(np.diff(np.asarray(values, dtype=np.float64)) > 0):
                    return each.name
    return None


def _rate(arrays: Arrays, time: str | None) -> tuple[float | None, bool]:
    """Samples per second, and whether times go in equal steps."""
    if time is None:
        stated = {sampling.rate for sampling in arrays.sampling.values()}
        return (stated.pop() if len(stated) == 1 else None), True
    try:
        times = seconds(arrays, time, {})
    except InvalidInput:
        return None, False
    try:
        return sampling_of(times)[1], True
    except InvalidInput:
        step = (times[-1] - times[0]) / (times.size - 1)
        strays = np.abs(times - np.linspace(times[0], times[-1], times.size)).max()
        return (float(f"{1.0 / step:.6g}") if strays < 0.5 * step else None), False
