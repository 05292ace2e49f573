"""What a file written by vibayes says about its record besides the numbers: sampling, names and units.

Kept as one JSON object, so that text and binary files agree and a record comes back exactly as it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.record import Record

FORMAT = 1


class Header(NamedTuple):
    """Sampling, names and units of a stored record; `input` and `output` map names to units."""

    start: float
    rate: float
    input: dict[str, str]
    output: dict[str, str]

    def to_json(self) -> str:
        """The header as JSON text."""
        return json.dumps({"format": FORMAT, **self._asdict()})

    def is_sound(self) -> bool:
        """Whether its fields are of the right kinds, which is not certain after a hand or a fault has changed them."""
        texts = all(isinstance(each, dict) for each in (self.input, self.output)) and all(
            isinstance(unit, str) for unit in [*self.input.values(), *self.output.values()]
        )
        return texts and all(isinstance(each, int | float) for each in (self.start, self.rate))


def header_of(record: Record) -> Header:
    """The header to store with a record.

    Examples:
        >>> header_of(Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]}, units={"gap": "mm"}))
        Header(start=0.0, rate=2.0, input={}, output={'gap': 'mm'})
    """
    return Header(
        record.start,
        record.rate,
        dict(zip(record.input_names, record.input_units, strict=True)),
        dict(zip(record.output_names, record.output_units, strict=True)),
    )


def parse_header(where: str, text: str) -> Header:
    """Read a header back.

    Args:
        where: the file to blame in the message.
        text: what `Header.to_json` wrote.

    Returns:
        The header.

    Raises:
        InvalidInput: the text is damaged, or from a newer version.

    Examples:
        >>> text = '{"format": 1, "start": 0.0, "rate": 2.0, "input": {}, "output": {"gap": ""}}'
        >>> parse_header("a.csv", text)
        Header(start=0.0, rate=2.0, input={}, output={'gap': ''})
    """
    try:
        fields = json.loads(text)
        version = fields.pop("format")
        header = Header(**fields)
        if not header.is_sound():
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InvalidInput(
            where, "the header of a stored record", text[:80], "restore the header, or remove it"
        ) from None
    if version != FORMAT:
        raise InvalidInput(where, f"format {FORMAT}", f"format {version}", "read it with a newer vibayes")
    return header


def rebuild(
    header: Header,
    input: np.ndarray,
    output: np.ndarray,
    metadata: Mapping[str, Any],
    units: Mapping[str, str] | None = None,
) -> Record:
    """The record that a file holds.

    Args:
        header: what the file says about it.
        input: the inputs, of shape (samples, inputs).
        output: the outputs, of shape (samples, outputs).
        metadata: what else the file says.
        units: units to take instead of those in the header.

    Returns:
        The record, checked.

    Examples:
        >>> header = Header(0.0, 2.0, {}, {"gap": "mm"})
        >>> rebuild(header, np.empty((2, 0)), np.array([[1.0], [2.0]]), {})
        Record(2 samples at 2 Hz, 0.5 s; input: none; output: gap [mm])
    """
    return Record.from_arrays(
        rate=header.rate,
        start=header.start,
        input=input if header.input else None,
        output=output if header.output else None,
        input_names=tuple(header.input) or None,
        output_names=tuple(header.output) or None,
        units={**header.input, **header.output, **(units or {})},
        metadata=metadata,
    )
