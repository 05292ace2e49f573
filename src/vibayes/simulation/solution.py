"""The result of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.atomic_write import write_whole
from vibayes.errors import InvalidInput
from vibayes.simulation.status import Status


@dataclass(frozen=True)
class EventTable:
    """Every event in time order: when, in which parameter set, which element, what happened, mode before and after."""

    time: np.ndarray
    parameter_set: np.ndarray
    element: tuple[str, ...]
    kind: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.time)

    def rows(self) -> list[tuple]:
        """One tuple per event."""
        return list(zip(self.time.tolist(), self.element, self.kind, self.before, self.after, strict=True))

    def write_csv(self, path: str | Path) -> None:
        """Write the table as comma-separated text."""
        lines = ["time,parameter_set,element,event,mode_before,mode_after"]
        for index, row in zip(self.parameter_set, self.rows(), strict=True):
            lines.append(",".join([repr(row[0]), str(index), *row[1:]]))
        write_whole("EventTable.write_csv", path, ("\n".join(lines) + "\n").encode("utf-8"))

    def __str__(self) -> str:
        head = f"{'time':>12}  {'element':<24} {'event':<26} {'before':<14} after"
        body = [f"{t:12.6f}  {e:<24} {k:<26} {b:<14} {a}" for t, e, k, b, a in self.rows()]
        return "\n".join([head, *body])


@dataclass(frozen=True)
class Work:
    """What a simulation cost, per parameter set: steps kept and rejected, evaluations of the flow in each, events."""

    steps: Any
    rejected: Any
    evaluations: Any
    rejected_evaluations: Any
    events: Any


@dataclass(frozen=True)
class Solution:
    """Outputs (and states and events, where kept) of one or many parameter sets.

    ``outputs`` has shape (samples, sensors), with the parameter sets in front of it for a batch. Samples after a
    failure are NaN; ``status`` says why.
    """

    times: np.ndarray
    outputs: Any
    output_names: tuple[str, ...]
    states: Any | None
    state_names: tuple[str, ...]
    modes: Any | None
    events: EventTable | None
    work: Work | None
    status: Any

    def __getitem__(self, name: str) -> Any:
        """One output channel, or one state, by name."""
        if name in self.output_names:
            return self.outputs[..., self.output_names.index(name)]
        if self.states is not None and name in self.state_names:
            return self.states[..., self.state_names.index(name)]
        known = [*self.output_names, *(self.state_names if self.states is not None else ())]
        raise InvalidInput("Solution", f"a channel among {known}", repr(name), "check the spelling")

    @property
    def successful(self) -> Any:
        """Whether (each parameter set) reached the end."""
        return np.asarray(self.status) == Status.SUCCESS

    def summary(self) -> str:
        """A sentence or two on how it went."""
        codes = np.atleast_1d(np.asarray(self.status))
        parts = [
            f"{int((codes == code).sum())} × {code.name}: {code.message}" for code in Status if (codes == code).any()
        ]
        return f"{len(codes)} parameter set{'s' * (len(codes) > 1)}, {len(self.times)} samples; " + "; ".join(parts)
