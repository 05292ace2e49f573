"""`[simulation]`: what a structure of a study does under a declared excitation, or under the inputs of its data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.excitation import Analytic, Hold, Sampled, StraightLines
from vibayes.io.files import PathLike
from vibayes.naming import nearest
from vibayes.priors import Prior
from vibayes.record import Record
from vibayes.simulation import realise, simulate
from vibayes.structure import Structure
from vibayes.study.data import data_of
from vibayes.study.declaration import Surroundings, declared, guarded
from vibayes.study.mistakes import Mistakes, require_known, require_table, shown
from vibayes.study.models import model_tables, structure_of
from vibayes.study.study import soundly
from vibayes.study.text import read_text, tables_of
from vibayes.study.trust import trust_in

_KEYS = ("excitation", "rate", "seconds", "values")
_MOST = 10_000_000
_REFINEMENT = 10


@dataclass(frozen=True)
class Simulated:
    """A response: of which model, with which values, and the record of it."""

    model: str
    values: Mapping[str, float]
    record: Record


@dataclass(frozen=True)
class _Order:
    """What `[simulation]` says."""

    excitation: Any
    rate: float | None
    seconds: float | None
    values: Mapping[str, float]


def simulated(path: PathLike, values: Mapping[str, float], model: str = "", trust: Iterable[str] = ()) -> Simulated:
    """The response of a structure of a study.

    Args:
        path: of the study.
        values: of unknowns; others are those of `[simulation]`, or the medians of their priors.
        model: by name; by default the first.
        trust: modules that the study may import, as in `read_study`.
    """
    path, text = read_text(path)
    tables = tables_of(path.name, text)
    order, chosen, structure, hold, around = soundly(
        path,
        Surroundings(path.absolute().parent, trust=trust_in(trust)),
        lambda around: _parts(tables, values, model, around),
    )
    record = guarded("simulation", {}, lambda: _record(structure, chosen[1], order, tables, hold, around))
    name, numbers = chosen
    return Simulated(name, numbers, record)


def numbers_by_name(given: Sequence[str]) -> dict[str, float]:
    """Values from ``name=value`` on the command line.

    Examples:
        >>> numbers_by_name(["k=1e3", "c = 2"])
        {'k': 1000.0, 'c': 2.0}
    """
    found = {}
    for each in given:
        name, sign, value = each.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign or not math.isfinite(found[name.strip()]):
            raise InvalidInput("--set", "NAME=VALUE with a number", repr(each), "write --set k=1200")
    return found


def _parts(tables: Mapping[str, Any], values: Mapping[str, float], model: str, around: Surroundings) -> tuple[Any, ...]:
    """What is simulated: the order, the model's name and values, its structure, its hold, and the surroundings."""
    found = Mistakes()
    order = found.attempt(_order, tables.get("simulation", {}), around)
    named = {str(table.get("name", where)): (where, table) for where, table in model_tables(tables)}
    if model and model not in named:
        raise InvalidInput("--model", "the name of a model", repr(model), nearest(model, named))
    name = model or next(iter(named))
    where, table = named[name]
    if "simulator" in table or ("structure" not in table and "structure" not in tables):
        raise InvalidInput(where, "a model with a structure", "another", "choose another model with --model")
    at = f"{where}.structure" if "structure" in table else "structure"
    structure = found.attempt(structure_of, table.get("structure", tables.get("structure")), at, around)
    hold = found.attempt(declared, table["hold"], f"{where}.hold", (Hold,), around) if "hold" in table else None
    priors = {
        each: found.attempt(declared, prior, f"priors.{each}", (Prior,), around)
        for each, prior in {**tables.get("priors", {}), **table.get("priors", {})}.items()
    }
    if order is not None and order.excitation is None:
        found.attempt(data_of, tables, around)
    found.end()
    assert structure is not None and order is not None
    chosen = _values(structure, priors, {**order.values, **values})
    return order, (name, chosen), structure, hold or StraightLines(), around


def _order(table: Any, around: Surroundings) -> _Order:
    table = require_table("simulation", table)
    require_known("simulation", table, _KEYS, "a key of [simulation]")
    drive = table.get("excitation")
    if isinstance(drive, list):
        drive = [declared(each, f"simulation.excitation[{i}]", (Analytic,), around) for i, each in enumerate(drive)]
    elif drive is not None:
        drive = declared(drive, "simulation.excitation", (Analytic, Sampled), around)
    numbers = {key: _positive(table[key], f"simulation.{key}") for key in ("rate", "seconds") if key in table}
    values = require_table("simulation.values", table.get("values", {}))
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InvalidInput(f"simulation.values.{name}", "a number", shown(value), "write a number")
    return _Order(drive, numbers.get("rate"), numbers.get("seconds"), values)


def _positive(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 < value < math.inf):
        raise InvalidInput(where, "a positive number", shown(value), "write a number")
    return float(value)


def _values(structure: Structure, priors: Mapping[str, Any], given: Mapping[str, float]) -> dict[str, float]:
    """A number for every unknown of the structure."""
    for name in given:
        if name not in structure.parameters:
            raise InvalidInput("values", "unknowns of the structure", repr(name), nearest(name, structure.parameters))
    chosen: dict[str, float] = {}
    for name in structure.parameters:
        if name in given:
            chosen[name] = float(given[name])
        elif name in priors:
            chosen[name] = float(np.asarray(priors[name].icdf(0.5)))
        else:
            raise InvalidInput("values", f"a value for {name!r}", "none", f"add --set {name}=...")
    return chosen


def _record(
    structure: Structure, values: Mapping[str, float], order: _Order, tables: Mapping[str, Any], hold: Any, around: Any
) -> Record:
    every, rate, samples, drive = 1, order.rate, None, order.excitation
    if drive is None:
        record = data_of(tables, around)[0]
        if not isinstance(record, Record):
            remedy = "declare [simulation] with an excitation, a rate and seconds"
            raise InvalidInput("simulation.excitation", "an excitation, for backbones have no inputs", "none", remedy)
        rate, samples = record.rate, record.samples
        drive = Sampled(record.input, record.rate, hold) if record.input.shape[1] else None
    elif not isinstance(drive, Sampled):
        if rate is None or order.seconds is None:
            raise InvalidInput("simulation", "rate and seconds, for this excitation", "one or neither", "add them")
        samples = round(order.seconds * rate) + 1
        if samples > _MOST:
            raise InvalidInput("simulation.seconds", f"at most {_MOST:,} samples", f"{samples:,}", "take fewer")
    if drive is None or any(process is not None for process in structure.processes):
        assert rate is not None and samples is not None
        every = _REFINEMENT
        drive = realise(0, structure, values, rate=rate, samples=samples, refinement=every)
    sampled = isinstance(drive, Sampled)
    solution = simulate(structure, drive, values, **({} if sampled else {"rate": rate, "samples": samples}))
    inputs = np.asarray(drive.values) if isinstance(drive, Sampled) else _sampled(drive, rate or 0.0, samples or 0)
    names = [f"input {i + 1}" if inputs.shape[1] > 1 else "input" for i in range(inputs.shape[1])]
    return Record.from_arrays(
        rate=(drive.rate if isinstance(drive, Sampled) else rate) / every,  # type: ignore[operator]
        input=dict(zip(names, inputs[::every].T, strict=True)),
        output=dict(zip(solution.output_names, np.asarray(solution.outputs)[::every].T, strict=True)),
        metadata={"simulated with": dict(values)},
    )


def _sampled(drive: Any, rate: float, samples: int) -> np.ndarray:
    """A smooth signal, or one per input, at the samples."""
    signals = drive if isinstance(drive, list) else [drive]
    return np.concatenate([np.asarray(each.sampled(rate, samples, StraightLines()).values) for each in signals], axis=1)
