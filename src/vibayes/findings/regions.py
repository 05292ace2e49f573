"""Whether the motion visits all regions that the laws of a model have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vibayes.findings.finding import Finding, Severity
from vibayes.posterior import ModelPosterior
from vibayes.structure import Structure

_NOW_AND_THEN = 0.05
"""Probability of a region without a visit that is worth knowing."""
_MOSTLY = 0.5


def of_visits(model: ModelPosterior) -> list[Finding]:
    """Regions, as those beyond a break point, where the motion of the record never goes."""
    found, visits = [], model.visits
    shown = {name: each for name, each in visits.visited.items() if each.shape[1] > 1}
    for name, visited in shown.items():
        missing = float(np.mean(~visited.all(axis=1)))
        if missing < _NOW_AND_THEN:
            continue
        regions = visits.regions[name]
        each = {r: float(np.mean(~visited[:, i])) for i, r in enumerate(regions)}
        listing = ", ".join(f"{r} ({p:.2f})" for r, p in each.items() if p >= _NOW_AND_THEN) or "one of them"
        severity: Severity = "warning" if missing >= _MOSTLY else "notice"
        words = f"With probability {missing:.2f} the motion does not visit every region of {name}"
        sentence = f"{words}: it never enters {listing}{_beyond(model, name)}"
        found.append(Finding(severity, "regions", sentence, _remedy(model, name)))
    if shown and not found:
        listing = ", ".join(f"all {each.shape[1]} regions of {name}" for name, each in shown.items())
        return [Finding("good", "regions", f"The motion visits {listing}")]
    return found


def _breaks(model: ModelPosterior, name: str) -> tuple[str, ...]:
    """Unknown break points of an element, if it has any."""
    structure = model.problem.model
    if not isinstance(structure, Structure):
        return ()
    element = structure.links[structure.element_index(name)].element
    known: Sequence[Any] = getattr(element, "breaks", ())
    return tuple(each for each in known if isinstance(each, str))


def _beyond(model: ModelPosterior, name: str) -> str:
    breaks = _breaks(model, name)
    if not breaks:
        return ", and the record tells nothing of what it does there"
    which = ("one of " if len(breaks) > 1 else "") + ", ".join(breaks)
    return (
        f". A break point, {which}, lies where the motion never goes, and the record tells nothing of what is beyond it"
    )


def _remedy(model: ModelPosterior, name: str) -> str:
    if len(_breaks(model, name)) > 0:
        return "count the regions that the record visits, not those of the model, or excite it more strongly"
    return "excite it more strongly, or do without what is not visited"
