"""Which events of one simulation are which of another.

Two event tables are aligned in order of time, like two versions of a text: an event may be paired with one of the
same label (element, what happened, modes before and after) or stay alone. Of all alignments the one with the fewest
events left alone is taken, and among those the one whose pairs lie closest in time. A lost pair of crossings thus
shows as two events of the reference left alone, a spurious one as an event of the simulation left alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vibayes.simulation import EventTable


class Matching(NamedTuple):
    """Events found, lost and spurious, against a reference."""

    pairs: tuple[tuple[int, int], ...]
    """Indices of each pair, (in the reference, in the simulation)."""
    lost: int
    """Events of the reference that were not found."""
    spurious: int
    """Events found that the reference does not have."""


def labels(events: EventTable) -> list[tuple[str, str, str, str]]:
    """What each event is, apart from its time."""
    return list(zip(events.element, events.kind, events.before, events.after, strict=True))


def match_events(reference: EventTable, found: EventTable) -> Matching:
    """Align two event tables.

    Examples:
        >>> import numpy as np, vibayes as vb
        >>> from vibayes.accuracy.matching import match_events
        >>> def table(*times):
        ...     n = len(times)
        ...     return vb.EventTable(np.array(times), np.zeros(n, int), ("e",) * n, ("k",) * n, ("a",) * n, ("b",) * n)
        >>> match_events(table(1.0, 2.0, 3.0), table(1.1, 3.1))
        Matching(pairs=((0, 0), (2, 1)), lost=1, spurious=0)
    """
    ours, theirs = labels(reference), labels(found)
    if ours == theirs:
        pairs = tuple((i, i) for i in range(len(ours)))
    else:
        pairs = _align(ours, theirs, reference.time, found.time)
    return Matching(pairs, len(ours) - len(pairs), len(theirs) - len(pairs))


def _align(ours: list, theirs: list, our_times: np.ndarray, their_times: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Pairs of the best alignment, by dynamic programming over beginnings of both lists."""
    rows, columns = len(ours), len(theirs)
    # An event left alone costs more than all differences in time together.
    span = max([1e-300, *our_times, *their_times])
    alone = 1.0 + min(rows, columns)
    cost = np.zeros((rows + 1, columns + 1))
    cost[:, 0], cost[0, :] = alone * np.arange(rows + 1), alone * np.arange(columns + 1)

    def pairing(i: int, j: int) -> float:
        return abs(our_times[i] - their_times[j]) / span if ours[i] == theirs[j] else np.inf

    for i in range(rows):
        for j in range(columns):
            apart = min(cost[i, j + 1], cost[i + 1, j]) + alone
            cost[i + 1, j + 1] = min(apart, cost[i, j] + pairing(i, j))
    pairs, i, j = [], rows, columns
    while i and j:
        if cost[i, j] == cost[i - 1, j - 1] + pairing(i - 1, j - 1):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif cost[i, j] == cost[i - 1, j] + alone:
            i -= 1
        else:
            j -= 1
    return tuple(reversed(pairs))
