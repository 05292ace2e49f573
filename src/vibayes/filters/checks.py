"""What a filter refuses before it computes anything, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.excitation import Hold, StraightLines, ZeroOrderHold
from vibayes.filters.method import Filter, KalmanFilter, UnscentedFilter
from vibayes.forking import require_usable_jax
from vibayes.naming import quoted
from vibayes.record import Record
from vibayes.structure.inputs import Force
from vibayes.structure.sensors import AbsoluteAcceleration, RelativeAcceleration
from vibayes.structure.structure import Structure

Noise = Any
"""Standard deviation of the outputs' noise: a number or the name of an unknown, for all or one per output."""


def check_filter(method: Any) -> Filter:
    """One of the filters."""
    if not isinstance(method, Filter):
        raise InvalidInput("filter", "UnscentedFilter(), ExtendedFilter() or KalmanFilter()", repr(method), "give one")
    return method


def check_points(method: Filter, states: int) -> None:
    """Sigma points at a distance from the mean."""
    if isinstance(method, UnscentedFilter) and method.scaled is not None and states + method.scaled[2] <= 0.0:
        expected, got = f"κ above −n, and so n + λ above 0; there are {states} states", repr(method.kappa)
        raise InvalidInput("UnscentedFilter.kappa", expected, got, f"give more than {-states}, or spread=3 instead")


def check_start(structure: Structure, method: Filter) -> bool:
    """Whether the structure is in its stationary state at the first sample."""
    if not (method.start_displacement or method.start_velocity):
        return structure.stationary
    if structure.start == "stationary":
        where, got = f"{type(method).__name__}.start_displacement", "both deviations and a stationary start"
        remedy = "leave the deviations out: those of the stationary state are computed"
        raise InvalidInput(where, 'deviations at the first sample, or start="stationary"', got, remedy)
    return False


def check_structure(structure: Structure, method: Filter) -> None:
    """Laws that can be stepped over, and readings of finite variance."""
    for link in structure.links:
        element, where = link.element, f"Structure.elements[{link.name!r}]"
        if element.sticks:
            remedy = "use a smooth law, or identify it without a filter"
            raise InvalidInput(where, "a law that a filter can follow", "dry friction that sticks", remedy)
        if element.needs_events:
            remedy = "use another form of the law, as BilinearHysteresis for bilinear loops"
            raise InvalidInput(where, "a law with states that move", "one whose memory only events update", remedy)
        if isinstance(method, KalmanFilter) and not element.linear:
            raise InvalidInput(where, "a linear law for KalmanFilter", type(element).__name__, "use UnscentedFilter()")
    for number, process in enumerate(structure.processes):
        if process is not None and process.order == 0:
            _refuse_white_readings(structure, number)


def _refuse_white_readings(structure: Structure, number: int) -> None:
    """An accelerometer on a mass that white noise pushes reads noise of infinite variance."""
    channel = structure.inputs[number]
    for sensor in structure.sensors:
        relative, absolute = (isinstance(sensor, kind) for kind in (RelativeAcceleration, AbsoluteAcceleration))
        pushed = channel.on == sensor.on if isinstance(channel, Force) else relative
        if (relative or absolute) and pushed:
            got = f"{sensor.name}, which white noise drives directly: its variance is infinite"
            remedy = "use a filtered process, as KanaiTajimi or RationalFilter, or leave the sensor out"
            raise InvalidInput("Structure.sensors", "readings of finite variance", got, remedy)


def check_channels(structure: Structure, record: Record) -> None:
    """One output per sensor, one input per input that is not a process."""
    require_usable_jax("likelihood")
    measured = structure.processes.count(None)
    pairs = (("outputs", len(structure.sensors), "sensors"), ("inputs", measured, "inputs without a process"))
    for (what, wanted, why), values in zip(pairs, (record.output, record.input), strict=True):
        if values.shape[1] != wanted:
            expected = f"{wanted} {what}, one for each of the structure's {why}"
            raise InvalidInput("record", expected, f"{values.shape[1]}", f"select the {what} of the record")
    empty = [name for i, name in enumerate(record.output_names) if np.isnan(record.output[:, i]).all()]
    if empty:
        raise InvalidInput("record", "outputs with samples", f"none in {quoted(empty)}", "leave them out")
    known = {name: _there(record.output[:, i]) for i, name in enumerate(record.output_names)}
    steady = [name for name, values in known.items() if len(values) > 1 and np.ptp(values) == 0.0]
    if steady:
        remedy = "look after the sensor, or leave it out: what never changes says nothing"
        raise InvalidInput("record", "outputs that vary", f"a constant in {quoted(steady)}", remedy)
    if np.isnan(record.input).any():
        raise InvalidInput("record", "measured inputs without gaps", "missing values", "fill them, or use a process")


def _there(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]


def check_hold(hold: Any) -> Hold:
    """Inputs that are straight or constant between samples."""
    if not isinstance(hold, StraightLines | ZeroOrderHold):
        expected = "StraightLines() or ZeroOrderHold() for inputs of a filter"
        raise InvalidInput("hold", expected, type(hold).__name__, "take a finer record instead")
    return hold


def check_noise(noise: Noise, outputs: int) -> tuple[Any, ...]:
    """One entry per output: a positive number or the name of an unknown."""
    given = (noise,) * outputs if isinstance(noise, str) or not isinstance(noise, Sequence | np.ndarray) else noise
    given = tuple(given)
    if len(given) != outputs:
        raise InvalidInput("noise", f"one entry, or one per output ({outputs})", f"{len(given)}", "give as many")
    for each in given:
        if isinstance(each, str) and each.strip():
            continue
        known = isinstance(each, int | float | np.number) and not isinstance(each, bool)
        if not (known and 0.0 < float(each) < np.inf):
            remedy = "give the sensor's standard deviation, or a name and a prior to have it found"
            raise InvalidInput("noise", "positive standard deviations or names", repr(each), remedy)
    return given
