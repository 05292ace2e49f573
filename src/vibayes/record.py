"""What was measured: inputs and outputs, sampled together at one uniform rate, with names and units.

Sample k was taken at the time

    t_k = start + k / rate,   k = 0, ..., samples - 1.

A record is checked once, when it is made, and the rest of the package relies on it. Outputs may have gaps,
kept as NaN and known as `missing`; inputs may not, because the structure felt them all the same.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import equinox as eqx
import numpy as np
from numpy.typing import ArrayLike

from vibayes.errors import InvalidInput
from vibayes.naming import nearest, require_names
from vibayes.notebook import card
from vibayes.record_checks import require_channels, require_metadata, require_sampling
from vibayes.units import convert_values, require_unit

Channels = ArrayLike | Mapping[str, ArrayLike]


class Record(eqx.Module):
    """A measured (or simulated) vibration record; made by `Record.from_arrays` or read by `vibayes.io`.

    It is a frozen dataclass and a pytree whose leaves are `input` and `output`, in double precision.

    Attributes:
        input: what drove the structure, of shape (samples, inputs); no inputs when it was not measured.
        output: how the structure answered, of shape (samples, outputs); NaN where a value is missing.
        start: time of the first sample, in seconds.
        rate: samples per second.
        input_names: one name per input.
        output_names: one name per output.
        input_units: one unit per input; empty where not stated.
        output_units: one unit per output; empty where not stated.
        metadata_json: the metadata as JSON text; read it as `metadata`.

    Examples:
        >>> record = Record.from_arrays(
        ...     rate=100.0,
        ...     input={"force": [0.0, 1.0, 0.0]},
        ...     output={"acceleration": [0.0, 0.5, 0.2]},
        ...     units={"force": "kN", "acceleration": "m/s^2"},
        ... )
        >>> record
        Record(3 samples at 100 Hz, 0.02 s; input: force [kN]; output: acceleration [m/s^2])
        >>> record.convert("force", "N").channel("force")
        array([   0., 1000.,    0.])
    """

    input: np.ndarray
    output: np.ndarray
    start: float = eqx.field(static=True)
    rate: float = eqx.field(static=True)
    input_names: tuple[str, ...] = eqx.field(static=True)
    output_names: tuple[str, ...] = eqx.field(static=True)
    input_units: tuple[str, ...] = eqx.field(static=True)
    output_units: tuple[str, ...] = eqx.field(static=True)
    metadata_json: str = eqx.field(static=True, default="{}")

    @staticmethod
    def from_arrays(
        *,
        time: ArrayLike | None = None,
        rate: float | None = None,
        start: float = 0.0,
        input: Channels | None = None,
        output: Channels | None = None,
        input_names: str | Sequence[str] | None = None,
        output_names: str | Sequence[str] | None = None,
        units: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Record:
        """Make a record from arrays, and check it.

        Args:
            time: the time of every sample, in seconds, uniform to one part in a million of its step; or
            rate: samples per second. Give one of the two.
            start: time of the first sample, in seconds, when `rate` is given.
            input: one channel as a 1-D array, several as (samples, inputs) or as a mapping from name to 1-D
                array, or nothing when the input was not measured.
            output: likewise. NaN marks a missing value.
            input_names: names of the inputs; needless with a mapping.
            output_names: names of the outputs; needless with a mapping.
            units: a unit for each channel named; the others have none stated.
            metadata: anything that JSON can hold: specimen, date, remarks.

        Returns:
            The record.

        Raises:
            InvalidInput: something does not fit; the message says what and what to do.

        Examples:
            >>> import numpy as np
            >>> time = np.arange(500) / 250.0
            >>> force = np.sin(time)
            >>> Record.from_arrays(time=time, input=force, output=np.stack([force, 2 * force], axis=1))
            Record(500 samples at 250 Hz, 1.996 s; input: input; output: output_1, output_2)
        """
        start, rate, samples = require_sampling(time, rate, start)
        inputs, outputs = require_channels(samples, (input, input_names), (output, output_names))
        names = require_names("Record.input_names and output_names", inputs.names + outputs.names)
        given = dict(units or {})
        for name in given:
            if name not in names:
                raise InvalidInput("Record.units", "names of channels", repr(name), nearest(name, names))
        stated = {name: require_unit(f"Record.units[{name!r}]", unit) for name, unit in given.items()}
        return Record(
            input=inputs.values,
            output=outputs.values,
            start=start,
            rate=rate,
            input_names=inputs.names,
            output_names=outputs.names,
            input_units=tuple(stated.get(name, "") for name in inputs.names),
            output_units=tuple(stated.get(name, "") for name in outputs.names),
            metadata_json=require_metadata(metadata or {}),
        )

    @property
    def samples(self) -> int:
        """Number of samples."""
        return self.output.shape[0]

    @property
    def dt(self) -> float:
        """Time between two samples, in seconds."""
        return 1.0 / self.rate

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, in seconds."""
        return (self.samples - 1) / self.rate

    @property
    def times(self) -> np.ndarray:
        """Time of every sample, in seconds."""
        return self.start + np.arange(self.samples) / self.rate

    @property
    def missing(self) -> np.ndarray:
        """Where an output is missing: True or False, of shape (samples, outputs)."""
        return self.output != self.output  # only NaN differs from itself; unlike np.isnan, this can be traced

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all channels, inputs first."""
        return self.input_names + self.output_names

    @property
    def units(self) -> dict[str, str]:
        """Unit of every channel by its name; empty where not stated."""
        return dict(zip(self.names, self.input_units + self.output_units, strict=True))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What else is known about the record, not to be changed."""
        return MappingProxyType(json.loads(self.metadata_json))

    def channel(self, name: str) -> np.ndarray:
        """The samples of one channel.

        Args:
            name: the name of an input or an output.

        Returns:
            Its values, of shape (samples,).

        Raises:
            InvalidInput: there is no channel of that name.

        Examples:
            >>> Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]}).channel("gap")
            array([1., 2.])
        """
        field, index = self._locate("Record.channel", name)
        return getattr(self, field)[:, index]

    def convert(self, name: str, unit: str) -> Record:
        """The same record with one channel expressed in another unit.

        Args:
            name: the channel.
            unit: the unit to express it in.

        Returns:
            A new record.

        Raises:
            InvalidInput: there is no such channel or unit, or the two units measure different things.

        Examples:
            >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]}, units={"gap": "inch"})
            >>> record.convert("gap", "mm").channel("gap")
            array([25.4, 50.8])
        """
        where = f"Record.convert({name!r})"
        field, index = self._locate("Record.convert", name)
        unit = require_unit(where, unit)
        values = np.array(getattr(self, field))
        values[:, index] = convert_values(where, values[:, index], self.units[name], unit)
        values.setflags(write=False)
        units = list(getattr(self, f"{field}_units"))
        units[index] = unit
        return dataclasses.replace(self, **{field: values, f"{field}_units": tuple(units)})

    def segment(self, start: float | None = None, stop: float | None = None) -> Record:
        """The part of the record from `start` up to, but without, `stop`.

        Args:
            start: a whole number counts samples from the record's first (0); a float is a time in seconds on
                the record's clock. From the beginning if left out.
            stop: likewise; to the end if left out.

        Returns:
            A new record that keeps the time of its samples.

        Raises:
            InvalidInput: one bound counts samples and the other seconds, or nothing lies between them.

        Examples:
            >>> record = Record.from_arrays(rate=10.0, output=[0.0, 1.0, 2.0, 3.0, 4.0])
            >>> record.segment(1, 3).channel("output")
            array([1., 2.])
            >>> record.segment(0.2, 0.4).times
            array([0.2, 0.3])
        """
        got = f"start={start!r}, stop={stop!r}"
        bounds = [bound for bound in (start, stop) if bound is not None]
        if len({isinstance(bound, int | np.integer) for bound in bounds}) > 1:
            raise InvalidInput(
                "Record.segment",
                "two whole numbers (samples) or two floats (seconds)",
                got,
                "write both alike",
            )
        if not all(math.isfinite(bound) for bound in bounds):
            raise InvalidInput("Record.segment", "finite bounds", got, "leave one out to go to the end")
        first = 0 if start is None else self._index(start)
        last = self.samples if stop is None else self._index(stop)
        if not 0 <= first < last <= self.samples:
            end = self.start + self.samples / self.rate
            raise InvalidInput(
                "Record.segment",
                f"0 <= start < stop <= {self.samples} samples, or times from {self.start:g} to {end:g} s",
                got,
                "choose bounds inside the record",
            )
        return dataclasses.replace(
            self,
            input=self.input[first:last],
            output=self.output[first:last],
            start=self.start + first / self.rate,
        )

    def __repr__(self) -> str:
        def described(names: tuple[str, ...], units: tuple[str, ...]) -> str:
            pairs = zip(names, units, strict=True)
            return ", ".join(f"{name} [{unit}]" if unit else name for name, unit in pairs) or "none"

        gaps = int(self.missing.sum()) if isinstance(self.output, np.ndarray) else 0
        return (
            f"Record({self.samples} samples at {self.rate:g} Hz, {self.duration:g} s"
            f"; input: {described(self.input_names, self.input_units)}"
            f"; output: {described(self.output_names, self.output_units)}" + (f"; {gaps} missing)" if gaps else ")")
        )

    def _repr_html_(self) -> str:
        rows = []
        for kind, names, values in (
            ("input", self.input_names, self.input),
            ("output", self.output_names, self.output),
        ):
            for name, column in zip(names, np.asarray(values, float).T, strict=True):
                known = column[np.isfinite(column)]
                ends = (f"{known.min():.4g}", f"{known.max():.4g}") if len(known) else ("–", "–")
                rows.append((name, kind, self.units[name] or "–", *ends, len(column) - len(known)))
        title = f"Record: {self.samples:,} samples at {self.rate:g} Hz, {self.duration:g} s"
        return card(title, ("channel", "kind", "unit", "least", "most", "missing"), rows)

    def _locate(self, where: str, name: str) -> tuple[str, int]:
        if name in self.input_names:
            return "input", self.input_names.index(name)
        if name in self.output_names:
            return "output", self.output_names.index(name)
        raise InvalidInput(where, "the name of a channel", repr(name), nearest(str(name), self.names))

    def _index(self, bound: float) -> int:
        if isinstance(bound, int | np.integer):
            return int(bound)
        # A bound that misses a sample's time by less than a thousandth of a step means that sample.
        return math.ceil((bound - self.start) * self.rate - 1e-3)
