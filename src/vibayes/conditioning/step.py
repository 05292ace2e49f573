"""The contract of a step, and the verb that takes steps one after another."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.record import Record
from vibayes.record_checks import require_metadata

KEY = "conditioning"


@dataclass(frozen=True)
class Step(ABC):
    """Something that is done to a record. Its fields are its settings: numbers, texts and tuples of these."""

    @abstractmethod
    def apply(self, record: Record) -> Record:
        """The record after the step.

        Args:
            record: before it.

        Returns:
            A new record.
        """

    def declaration(self) -> dict[str, Any]:
        """The step as plain data: its name and its settings.

        Examples:
            >>> import vibayes as vb
            >>> vb.Segment(0.5, 2.0).declaration()
            {'step': 'Segment', 'start': 0.5, 'stop': 2.0}
        """
        return {"step": type(self).__name__, **json.loads(json.dumps(asdict(self)))}


def condition(record: Record, steps: Step | Sequence[Step]) -> Record:
    """Take steps one after another, and keep in the metadata what was done.

    Args:
        record: as it was measured.
        steps: in their order.

    Returns:
        The record after all steps; ``record.metadata["conditioning"]`` lists them, after those of earlier times.

    Raises:
        InvalidInput: a step cannot be taken; the message says which and what to do.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=200.0, output={"acc": np.sin(np.arange(800) / 10) + 3.0})
        >>> ready = vb.condition(record, [vb.Segment(1.0, 3.0), vb.Detrend(), vb.Resample(100.0)])
        >>> ready
        Record(200 samples at 100 Hz, 1.99 s; input: none; output: acc)
        >>> [step["step"] for step in ready.metadata["conditioning"]]
        ['Segment', 'Detrend', 'Resample']
    """
    done: list[dict[str, Any]] = []
    for number, step in enumerate([steps] if isinstance(steps, Step) else steps, start=1):
        if not isinstance(step, Step):
            got = f"{type(step).__name__} as number {number}"
            raise InvalidInput("condition", "steps such as Segment(0.0, 10.0)", got, "give a list of steps")
        record = step.apply(record)
        done.append(step.declaration())
    if not done:
        return record
    metadata = dict(record.metadata)
    earlier = metadata.get(KEY, [])
    metadata[KEY] = [*(earlier if isinstance(earlier, list) else [earlier]), *done]
    return replace(record, metadata_json=require_metadata(metadata))
