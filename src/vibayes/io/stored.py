"""The parts in which a record is kept by binary files: two matrices, what the header says, and the metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.header import header_of, parse_header, rebuild
from vibayes.record import Record

HEADER, METADATA = "vibayes_record", "vibayes_metadata"


def parts_of(record: Record) -> dict[str, Any]:
    """What to store: ``input`` and ``output`` of shape (samples, channels), and two texts.

    Examples:
        >>> list(parts_of(Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]})))
        ['input', 'output', 'vibayes_record', 'vibayes_metadata']
    """
    return {
        "input": np.asarray(record.input),
        "output": np.asarray(record.output),
        HEADER: header_of(record).to_json(),
        METADATA: record.metadata_json,
    }


def record_from(where: str, parts: Mapping[str, Any]) -> Record:
    """The record that was stored in parts.

    Args:
        where: the function and file to blame in the message.
        parts: by the names that `parts_of` gives them.

    Returns:
        The record, exactly as it was.

    Raises:
        InvalidInput: a part is missing or damaged.

    Examples:
        >>> record = Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0]})
        >>> record_from("read_npz('a.npz')", parts_of(record))
        Record(2 samples at 2 Hz, 0.5 s; input: none; output: gap)
    """
    if not {"input", "output", METADATA} <= set(parts):
        raise InvalidInput(where, "all parts of a stored record", f"{sorted(parts)}", "write the file anew")
    header = parse_header(where, str(parts[HEADER]))
    try:
        metadata = json.loads(str(parts[METADATA]))
        if not isinstance(metadata, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise InvalidInput(where, "metadata as JSON", str(parts[METADATA])[:80], "write the file anew") from None
    return rebuild(header, parts["input"], parts["output"], metadata)
