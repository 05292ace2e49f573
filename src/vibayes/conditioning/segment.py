"""A part of a record."""

from __future__ import annotations

from dataclasses import dataclass

from vibayes.conditioning.step import Step
from vibayes.record import Record


@dataclass(frozen=True)
class Segment(Step):
    """The part from `start` up to, but without, `stop`; samples keep their times.

    Attributes:
        start: a whole number counts samples from 0, a float is a time in seconds; from the beginning if left out.
        stop: likewise; to the end if left out.

    Examples:
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=10.0, output=[0.0, 1.0, 2.0, 3.0, 4.0])
        >>> vb.Segment(0.1, 0.3).apply(record).channel("output")
        array([1., 2.])
    """

    start: float | None = None
    stop: float | None = None

    def apply(self, record: Record) -> Record:
        """That part of the record."""
        return record.segment(self.start, self.stop)
