"""How a simulation ended."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Why a parameter set stopped; the values are codes in `Solution.status`."""

    SUCCESS = 0
    DIVERGED = 1
    CHATTERING = 2
    STEP_TOO_SMALL = 3
    TOO_MANY_STEPS = 4
    OFF_TRACK = 5
    STEP_TOO_LONG = 6

    @property
    def message(self) -> str:
        """What a person needs to know."""
        return {
            Status.SUCCESS: "reached the end",
            Status.DIVERGED: "the response grew beyond all bounds; check for negative stiffness or damping",
            Status.CHATTERING: "events follow each other without progress in time; the model may have no solution here",
            Status.STEP_TOO_SMALL: "the error tolerance cannot be met in double precision; loosen it",
            Status.TOO_MANY_STEPS: "the limit of steps was reached; raise max_steps or loosen the tolerance",
            Status.STEP_TOO_LONG: "the motion has too few fixed steps in a cycle, or the step is unstable; "
            "raise substeps or use EventLocated()",
            Status.OFF_TRACK: "the response left the record by more than was allowed",
        }[self]
