"""What a run may cost: simulations and seconds, looked at between levels and, within a level, between batches.

A method yields a level when there is a result to show. With many particles one level may take hours, so that a limit
is looked at before every batch of simulations too; there it ends the level by an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

LIMITED = "asked: this is what there was"
"""End of a note about a limit."""


class LimitReached(Exception):
    """A limit was reached within a level; its text is the note for the result."""


@dataclass
class Budget:
    """Limits of a run, None for no limit, with what is needed to look at them.

    Attributes:
        elapsed: seconds of the run so far.
        max_seconds: of the run.
        max_simulations: of all models together.
        counts: of simulations, one per model.

    Examples:
        >>> Budget(lambda: 12.5, max_seconds=10.0).spent()
        'ended after 12.5 s, as max_seconds asked: this is what there was'
    """

    elapsed: Callable[[], float]
    max_seconds: float | None = None
    max_simulations: int | None = None
    counts: Sequence[Any] = ()

    def spent(self) -> str:
        """Which limit is reached, as a note; empty if none is."""
        simulations = sum(count.simulations for count in self.counts)
        if self.max_simulations is not None and simulations >= self.max_simulations:
            return f"ended after {simulations:,} simulations, as max_simulations {LIMITED}"
        return self._late()

    def require_time(self) -> None:
        """Between batches, in any thread.

        Raises:
            LimitReached: there is no time left.
        """
        if late := self._late():
            raise LimitReached(late)

    def require(self) -> None:
        """Between the chunks of one large batch.

        Raises:
            LimitReached: there are no simulations or no time left.
        """
        if spent := self.spent():
            raise LimitReached(spent)

    def _late(self) -> str:
        if self.max_seconds is None or (seconds := self.elapsed()) < self.max_seconds:
            return ""
        return f"ended after {seconds:.1f} s, as max_seconds {LIMITED}"


def unlimited() -> Budget:
    """For work that nobody limits."""
    return Budget(lambda: 0.0)
