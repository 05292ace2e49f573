"""Which arrays of a file are meant, and the record that they make.

A name may be followed by a place in brackets: ``acc[2]`` is the third column of a matrix of shape (samples, channels),
``acc[2,:]`` the third row of one that lies the other way, ``floor[0,:,1]`` one line through three dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.arrays import Arrays, unit_in
from vibayes.io.files import listed
from vibayes.io.header import header_of, rebuild
from vibayes.io.limits import require_columns
from vibayes.naming import nearest
from vibayes.record import Record
from vibayes.units import convert_values, require_unit

TIMES = ("time", "t")
_PLACE = re.compile(r"(?P<name>.*\S)\s*\[(?P<place>[\d:,\s]*)\]")
_REMEDIES = {
    "text": "name an array of numbers",
    "a table": "store its columns as arrays of their own",
    "complex numbers": "store real numbers: what was sampled in time, and no spectra",
    "dates": "give rate= instead, or store times in seconds",
}


def record_of(
    arrays: Arrays,
    input: str | Sequence[str] | None = None,
    output: str | Sequence[str] | None = None,
    time: str | None = None,
    rate: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Record:
    """The record that chosen arrays of a file make.

    Args:
        arrays: what the file holds.
        input: names of arrays that drove the structure.
        output: names of arrays that it answered with.
        time: name of the array of times; one beside them called ``time`` or ``t`` if left out.
        rate: samples per second, instead of `time`; what the file states if both are left out.
        units: by the name of an array or of a channel, instead of those in the file.

    Returns:
        The record.

    Raises:
        InvalidInput: there are no such arrays, or they do not fit together.

    Examples:
        >>> arrays = Arrays("a.h5", {"u": np.ones(3), "y": np.ones((3, 2))}, units={"u": "N"})
        >>> record_of(arrays, "u", "y", rate=10.0)
        Record(3 samples at 10 Hz, 0.2 s; input: u [N]; output: y[0], y[1])
    """
    if input is None and output is None:
        if arrays.stored is not None and time is None and rate is None:
            stored = arrays.stored
            return rebuild(header_of(stored), stored.input, stored.output, stored.metadata, units)
        raise InvalidInput(arrays.where, "the names of arrays in input= or output=", "neither", _choice(arrays))
    inputs, outputs = (_picked(arrays, names) for names in (input, output))
    given = dict(units or {})
    sampling = _sampling(arrays, [path for path, _ in (inputs | outputs).values()], time, rate, given)
    return Record.from_arrays(
        **sampling,
        input={channel: values for channel, (_, values) in inputs.items()} or None,
        output={channel: values for channel, (_, values) in outputs.items()} or None,
        units=_units(arrays, inputs | outputs, given),
        metadata=arrays.metadata,
    )


def columns_of(arrays: Arrays, name: str) -> dict[str, np.ndarray]:
    """The channels that a name stands for: one, or all columns of a matrix.

    Args:
        arrays: what the file holds.
        name: of an array, perhaps with a place in brackets.

    Returns:
        Samples by the name of their channel.

    Raises:
        InvalidInput: there is no such array, or it cannot be read as channels.

    Examples:
        >>> arrays = Arrays("a.h5", {"y": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])})
        >>> columns_of(arrays, "y[1]"), list(columns_of(arrays, "y"))
        ({'y[1]': array([2., 4., 6.])}, ['y[0]', 'y[1]'])
    """
    if name in arrays.values:
        return _spread(arrays, name)
    match = _PLACE.fullmatch(name)
    if match is not None and match["name"] in arrays.values:
        return _placed(arrays, match["name"], match["place"].replace(" ", ""))
    path = match["name"] if match is not None else name
    if path in arrays.others:
        got = arrays.others[path]
        raise InvalidInput(
            arrays.where, f"an array of real numbers in {path!r}", got, _REMEDIES.get(got, _choice(arrays))
        )
    if path in arrays.metadata:
        raise InvalidInput(arrays.where, f"an array of samples in {path!r}", "a single value", _choice(arrays))
    raise InvalidInput(arrays.where, "the name of an array", repr(name), nearest(name, arrays.values))


def _spread(arrays: Arrays, name: str) -> dict[str, np.ndarray]:
    values = arrays.values[name]
    if values.ndim <= 1 or max(values.shape) == values.size:
        return {name: values.ravel()}  # a vector, the way MATLAB stores it
    if values.ndim > 2:
        place = ",".join([*["0"] * (values.ndim - 2), ":", "0"])
        remedy = f"name one line of samples in it, as '{name}[{place}]'"
        raise InvalidInput(arrays.where, f"{name!r} of shape (samples, channels)", f"{values.shape}", remedy)
    if values.shape[0] < values.shape[1]:
        remedy = f"transpose it, or name its rows: '{name}[0,:]', '{name}[1,:]'"
        raise InvalidInput(arrays.where, f"{name!r} of shape (samples, channels)", f"{values.shape}", remedy)
    require_columns(arrays.where, values.shape[1])
    return {f"{name}[{number}]": column for number, column in enumerate(values.T)}


def _placed(arrays: Arrays, name: str, place: str) -> dict[str, np.ndarray]:
    values = arrays.values[name]
    parts = [":", place] if "," not in place and ":" not in place else place.split(",")
    sound = len(parts) == values.ndim and parts.count(":") == 1 and all(part == ":" or part.isdigit() for part in parts)
    if sound:
        index = tuple(slice(None) if part == ":" else int(part) for part in parts)
        if all(part == ":" or int(part) < size for part, size in zip(parts, values.shape, strict=True)):
            column = len(parts) == 2 and parts[0] == ":"
            return {f"{name}[{parts[1] if column else ','.join(parts)}]": values[index]}
    raise InvalidInput(
        arrays.where,
        f"a place in {name!r} of shape {values.shape}",
        f"[{place}]",
        "count from 0, and write ':' for the dimension of the samples",
    )


def _picked(arrays: Arrays, names: str | Sequence[str] | None) -> dict[str, tuple[str, np.ndarray]]:
    picked: dict[str, tuple[str, np.ndarray]] = {}
    for name in [] if names is None else [names] if isinstance(names, str) else names:
        match = None if name in arrays.values else _PLACE.fullmatch(name)
        path = name if match is None else match["name"]
        picked.update({channel: (path, values) for channel, values in columns_of(arrays, name).items()})
    return picked


def _choice(arrays: Arrays) -> str:
    return listed(list(arrays.values))


def _sampling(arrays: Arrays, paths: list[str], time: str | None, rate: float | None, units: dict[str, str]) -> dict:
    """What to tell `Record.from_arrays` about time. The unit of the clock is taken out of `units`."""
    if rate is not None and time is None:
        return {"rate": rate}
    if time is None:
        time = clock_beside(arrays, paths)
    if time is not None:
        return {"time": seconds(arrays, time, units), "rate": rate}
    stated = {sampling for path in paths if (sampling := _stated_for(arrays, path)) is not None}
    if len(stated) == 1:
        return next(iter(stated))._asdict()
    got = "neither" if not stated else f"rates of {', '.join(f'{each.rate:g}' for each in sorted(stated))} in the file"
    remedy = "give time= (an array) or rate= (samples per second)"
    raise InvalidInput(arrays.where, "an array of times or a rate", got, remedy)


def clock_beside(arrays: Arrays, paths: Sequence[str]) -> str | None:
    """The array of times that belongs to others: ``time`` or ``t`` in their group or in one around it.

    Examples:
        >>> arrays = Arrays("a.h5", {"run/time": np.arange(3), "run/acc": np.ones(3), "t": np.arange(9)})
        >>> clock_beside(arrays, ["run/acc"])
        'run/time'
    """
    for path in paths[:1]:
        group: str | None = path
        while group:
            group = arrays.parent(group)
            for name in arrays.values:
                if arrays.parent(name) == group and name.rpartition(arrays.separator)[2].lower() in TIMES:
                    return name
    return None


def seconds(arrays: Arrays, time: str, units: dict[str, str]) -> np.ndarray:
    """The times in an array, in seconds. Their unit, if the user gave one, is taken out of `units`.

    Examples:
        >>> arrays = Arrays("a.h5", {"t": np.array([0.0, 5.0])}, units={"t": "ms"})
        >>> seconds(arrays, "t", {})
        array([0.   , 0.005])
    """
    columns = columns_of(arrays, time)
    if len(columns) > 1:
        raise InvalidInput(
            arrays.where, "one column of times", f"{len(columns)} in {time!r}", f"choose one, as '{time}[0]'"
        )
    given = units.pop(time, None)
    where = f"{arrays.where}, {time!r}"
    unit = require_unit(where, given) if given is not None else unit_in(arrays, time, time)
    (values,) = columns.values()
    return convert_values(where, np.asarray(values, dtype=np.float64), unit or "s", "s")


def _stated_for(arrays: Arrays, path: str) -> Any:
    while path and path not in arrays.sampling:
        path = arrays.parent(path)
    return arrays.sampling.get(path)


def _units(arrays: Arrays, picked: dict[str, tuple[str, np.ndarray]], given: dict[str, str]) -> dict[str, str]:
    known: dict[str, str] = {}
    for channel, (path, _) in picked.items():
        unit = given.get(channel, given.get(path))
        unit = unit if unit is not None else unit_in(arrays, path, channel)
        if unit is not None:
            known[channel] = unit
    paths = {path for path, _ in picked.values()}
    # Names that belong to nothing stay, for the record to refuse.
    return known | {name: unit for name, unit in given.items() if name not in paths | set(picked)}
