"""What looks wrong in a study before hours are spent on it: channels, units, sampling, priors, identifiability.

None of it is an error; each is a sentence with a remedy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.identifiability import doubts as doubts_of_target
from vibayes.identifiability import unfelt
from vibayes.naming import quoted
from vibayes.prior_space import meets
from vibayes.problem import Problem
from vibayes.record import Record
from vibayes.structure import Structure
from vibayes.study.prior_responses import PriorResponses, prior_values, responses
from vibayes.targets import ProblemTarget
from vibayes.units import convert_values

_USUAL = {"m": 1.0, "m/s": 10.0, "m/s^2": 300.0}
"""Standard deviations beyond which vibrations in SI units are rare."""
_PER_PERIOD = 4.0
"""Samples per period below which a record hardly tells what a mode does."""
_PLACES, _MOVED = 6, 0.02
"""Draws at which parameters are moved, and by which part of their priors' width."""
_FAR = 3.0
"""Times beyond all draws of the priors."""
_HABITS = {1000.0: "millimetres given as metres, or kN as N", 9.81: "multiples of g given as m/s²"}


def doubts_of_record(record: Record) -> Iterator[str]:
    """Channels that say nothing, and magnitudes that look like another unit's.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> x = 12.0 * np.sin(np.arange(50.0))
        >>> record = vb.Record.from_arrays(rate=10.0, input={"u": 0 * x}, output={"x": x}, units={"x": "m", "u": "N"})
        >>> for doubt in doubts_of_record(record):
        ...     print(doubt)
        'u' never changes: check the channel, or leave it out
        'x' has a standard deviation of 8.49 m, which is rare: are these millimetres; state the unit under data.units
    """
    unstated = []
    for names, units, columns in (
        (record.input_names, record.input_units, record.input.T),
        (record.output_names, record.output_units, record.output.T),
    ):
        for name, unit, values in zip(names, units, columns, strict=True):
            known = values[np.isfinite(values)]
            deviation = float(known.std()) if known.size else 0.0
            if not deviation > 0:
                yield f"{name!r} never changes: check the channel, or leave it out"
            if not unit:
                unstated.append(name)
                continue
            for si, most in _USUAL.items():
                size = _in_unit(deviation, unit, si)
                if size is not None and size > most:
                    guess = "are these millimetres" if si == "m" else "are these other units"
                    yield (
                        f"{name!r} has a standard deviation of {deviation:.3g} {unit}, which is rare: {guess}; "
                        "state the unit under data.units"
                    )
                level = _in_unit(float(abs(known.mean())) if known.size else 0.0, unit, si)
                if si == "m/s^2" and size is not None and level is not None and 0.9 < level < 1.1 and size < 1.0:
                    yield f"{name!r} has a mean of {level:.2f} m/s²: is it in multiples of g; state it as 'g_0'"
    if unstated:
        yield f"no unit is stated for {quoted(unstated)}: numbers are taken as they are; state units under data.units"


def doubts_of_model(seed: int, prior: PriorResponses) -> Iterator[str]:
    """Sampling too slow or short for the priors, responses far from the data, parameters that nothing depends on."""
    problem = prior.problem
    if problem.of_backbones:
        return
    if isinstance(problem.model, Structure):
        yield from _of_frequencies(seed, problem)
    if prior.outputs is not None:
        yield from _of_sizes(prior)
    if problem.likely:
        target = ProblemTarget(problem)
        yield from (*doubts_of_target(target), *unfelt(target))
    elif isinstance(problem.model, Structure):
        yield from _of_sensitivity(seed, problem)


def natural_frequencies(structure: Structure, values: dict[str, np.ndarray]) -> np.ndarray:
    """In Hz, of the structure at rest, (sets, masses); NaN where it is not stable."""
    found = []
    for number in range(len(next(iter(values.values()), [0]))):
        try:
            bound = structure.bind({name: values[name][number] for name in structure.parameters})
        except InvalidInput:  # a draw that no structure can have
            found.append(np.full(len(structure.masses), np.nan))
            continue
        masses = np.array([float(mass) for mass in bound.masses])
        stiffness = np.asarray(bound.initial_stiffness())
        squares = np.linalg.eigvalsh(stiffness / np.sqrt(np.outer(masses, masses)))
        found.append(np.sqrt(np.where(squares > 0, squares, np.nan)) / (2.0 * np.pi))
    return np.array(found)


def _of_frequencies(seed: int, problem: Problem) -> Iterator[str]:
    record, structure = problem.motions, problem.model
    assert isinstance(structure, Structure)
    found = natural_frequencies(structure, prior_values(seed, problem, 12))
    if not np.isfinite(found).any():
        return
    highest, slowest = float(np.nanmedian(np.nanmax(found, axis=1))), float(np.nanmedian(np.nanmin(found, axis=1)))
    if record.rate < _PER_PERIOD * highest:
        yield (
            f"the highest natural frequency is about {highest:.3g} Hz at draws of the priors, and samples come at "
            f"{record.rate:g} Hz: fewer than {_PER_PERIOD:g} per period hardly tell that mode; check units, or "
            "sample faster"
        )
    if record.duration * slowest < 1.0 and not problem.likely:  # those with a likelihood are told of it anyway
        yield (
            f"the record lasts {record.duration:.3g} s, and the slowest period about {1.0 / slowest:.3g} s at draws of "
            "the priors: take a longer record, or check units"
        )


def _of_sizes(prior: PriorResponses) -> Iterator[str]:
    assert prior.outputs is not None
    record, sets = prior.problem.motions, len(prior.outputs)
    good = prior.outputs[np.isfinite(prior.outputs).all(axis=(1, 2))]
    if prior.failures:
        yield f"{prior.failures} of {sets} simulations at draws of the priors failed: narrow the priors"
    if not len(good):
        return
    sizes, measured = good.std(axis=1), np.nanstd(record.output, axis=0)
    for column, name in enumerate(record.output_names):
        low, high = sizes[:, column].min(), sizes[:, column].max()
        if measured[column] > 0 and not low / _FAR <= measured[column] <= high * _FAR:
            ratio = measured[column] / np.median(sizes[:, column]) if np.median(sizes[:, column]) > 0 else np.inf
            yield (
                f"{name!r} was measured with a standard deviation of {measured[column]:.3g}, and the priors of "
                f"{prior.problem.name!r} give {low:.3g} to {high:.3g}{_habit(ratio)}: check units and priors"
            )


def _habit(ratio: float) -> str:
    for factor, habit in _HABITS.items():
        if any(0.5 < ratio / each < 2.0 for each in (factor, 1.0 / factor)):
            return f", as with {habit}"
    return ""


def _of_sensitivity(seed: int, problem: Problem) -> Iterator[str]:
    """Of parameters that change no output, each moved a little towards its median while the others stay."""
    names, places = problem.parameters, prior_values(seed, problem, _PLACES)
    count = len(places[names[0]])
    sets = {name: np.tile(places[name], len(names) + 1).reshape(-1, count) for name in names}
    for row, name in enumerate(names, start=1):
        low, middle, high = (float(np.asarray(problem.priors[name].icdf(share))) for share in (0.1, 0.5, 0.9))
        sets[name][row] += _MOVED * (high - low) * np.where(places[name] > middle, -1.0, 1.0)
    flat = {name: each.ravel() for name, each in sets.items()}
    allowed = meets(problem, flat).reshape(-1, count)[1:]
    found = responses(seed, problem, flat)
    found = found.reshape(len(names) + 1, count, -1)
    change, size = np.abs(found[1:] - found[0]).max(axis=2), np.abs(found[0]).max(axis=1)
    known = allowed & np.isfinite(change)
    felt = (known & (change > 1e-9 * size)).any(axis=1) | ~known.any(axis=1)
    unmoved = [name for name, is_felt in zip(names, felt, strict=True) if not is_felt]
    if unmoved:
        yield (
            f"no output of {problem.name!r} depends on {quoted(unmoved)} at {count} draws of the priors: if it is so "
            "everywhere, the posterior is the prior; fix such values, or add a sensor"
        )


def _in_unit(value: float, unit: str, target: str) -> float | None:
    try:
        return float(convert_values("unit", np.array([value]), unit, target)[0])
    except ValueError:
        return None


def all_doubts(seed: int, record: Record | object, priors: Sequence[PriorResponses]) -> tuple[str, ...]:
    """All of a study, each once."""
    found = list(doubts_of_record(record)) if isinstance(record, Record) else []
    for prior in priors:
        several = len(priors) > 1
        said = doubts_of_model(seed, prior)
        found += [f"{prior.problem.name}: {each}" if several else each for each in said]
    return tuple(dict.fromkeys(found))
