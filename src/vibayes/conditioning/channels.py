"""Steps that choose channels, and express them otherwise, each for itself: units, factors, names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vibayes.conditioning.step import Step
from vibayes.errors import InvalidInput
from vibayes.naming import nearest, require_names
from vibayes.record import Record
from vibayes.units import require_unit


@dataclass(frozen=True)
class Convert(Step):
    """One channel expressed in another unit.

    Attributes:
        channel: its name.
        unit: to express it in.

    Examples:
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]}, units={"gap": "inch"})
        >>> vb.Convert("gap", "mm").apply(record).channel("gap")
        array([25.4, 50.8])
    """

    channel: str
    unit: str

    def apply(self, record: Record) -> Record:
        """The record with that channel in the other unit."""
        return record.convert(self.channel, self.unit)


@dataclass(frozen=True)
class Scale(Step):
    """One channel by a calibration: factor times value plus offset.

    Attributes:
        channel: its name.
        factor: by which its values are multiplied.
        offset: what is added then.
        unit: of the result; the unit stays as it was if left out.

    Examples:
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=2.0, output={"force": [0.1, 0.2]}, units={"force": "V"})
        >>> scaled = vb.Scale("force", 200.0, unit="N").apply(record)
        >>> scaled.channel("force"), scaled.units
        (array([20., 40.]), {'force': 'N'})
    """

    channel: str
    factor: float
    offset: float = 0.0
    unit: str | None = None

    def apply(self, record: Record) -> Record:
        """The record with that channel calibrated."""
        if not (math.isfinite(self.factor) and math.isfinite(self.offset)) or self.factor == 0.0:
            got = f"factor {self.factor}, offset {self.offset}"
            raise InvalidInput("Scale", "finite numbers, the factor not zero", got, "give the sensor's calibration")
        record.channel(self.channel)
        unit = None if self.unit is None else require_unit(f"Scale({self.channel!r})", self.unit)
        changed = {}
        for kind in ("input", "output"):
            names = getattr(record, f"{kind}_names")
            if self.channel in names:
                column = names.index(self.channel)
                values, units = np.array(getattr(record, kind)), list(getattr(record, f"{kind}_units"))
                values[:, column] = self.factor * values[:, column] + self.offset
                values.setflags(write=False)
                units[column] = units[column] if unit is None else unit
                changed = {kind: values, f"{kind}_units": tuple(units)}
        return replace(record, **changed)


@dataclass(frozen=True)
class Rename(Step):
    """One channel under another name.

    Attributes:
        channel: its name.
        name: what it is called from now on.

    Examples:
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=2.0, output={"data.acc[0]": [1.0, 2.0]})
        >>> vb.Rename("data.acc[0]", "roof").apply(record).names
        ('roof',)
    """

    channel: str
    name: str

    def apply(self, record: Record) -> Record:
        """The record with that channel renamed."""
        _require(record, "Rename", [self.channel])
        inputs, outputs = (
            tuple(self.name if each == self.channel else each for each in names)
            for names in (record.input_names, record.output_names)
        )
        require_names("Rename", inputs + outputs)
        return replace(record, input_names=inputs, output_names=outputs)


@dataclass(frozen=True)
class Choose(Step):
    """These channels and no others, in this order. An output may become an input this way, if it has no gaps.

    Attributes:
        input: names of the inputs.
        output: names of the outputs.

    Examples:
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=2.0, output={"base": [0.0, 1.0], "roof": [1.0, 2.0]})
        >>> vb.Choose(input="base", output="roof").apply(record)
        Record(2 samples at 2 Hz, 0.5 s; input: base; output: roof)
    """

    input: str | Sequence[str] = ()
    output: str | Sequence[str] = ()

    def apply(self, record: Record) -> Record:
        """The record of those channels."""
        inputs, outputs = (_listed(names) for names in (self.input, self.output))
        _require(record, "Choose", inputs + outputs)
        return Record.from_arrays(
            rate=record.rate,
            start=record.start,
            input={name: record.channel(name) for name in inputs} or None,
            output={name: record.channel(name) for name in outputs} or None,
            units={name: record.units[name] for name in inputs + outputs},
            metadata=record.metadata,
        )


@dataclass(frozen=True)
class Drop(Step):
    """All channels but these.

    Attributes:
        channels: their names.

    Examples:
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=2.0, output={"roof": [1.0, 2.0], "broken": [0.0, 0.0]})
        >>> vb.Drop("broken").apply(record).names
        ('roof',)
    """

    channels: str | Sequence[str]

    def apply(self, record: Record) -> Record:
        """The record without those channels."""
        dropped = _listed(self.channels)
        _require(record, "Drop", dropped)
        inputs, outputs = (
            tuple(name for name in names if name not in dropped) for names in (record.input_names, record.output_names)
        )
        return Choose(inputs, outputs).apply(record)


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _require(record: Record, where: str, names: list[str]) -> None:
    for name in names:
        if name not in record.names:
            raise InvalidInput(where, "the name of a channel", repr(name), nearest(str(name), record.names))
