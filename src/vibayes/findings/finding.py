"""One sentence on a result, how much it matters, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["good", "notice", "warning", "serious"]
SEVERITIES: tuple[Severity, ...] = ("good", "notice", "warning", "serious")
"""From what needs nothing to what makes a result useless."""


@dataclass(frozen=True)
class Finding:
    """What was found of one matter.

    Attributes:
        severity: "good": looked at, and nothing is wrong; "notice": worth knowing; "warning": do not rely on the
            numbers that it is about; "serious": do not rely on the result.
        about: the matter in a word or two, as "chains" or "residuals".
        sentence: what was found, without a full stop.
        remedy: what to do about it, an imperative; empty if there is nothing to do.

    Examples:
        >>> from vibayes.findings import Finding
        >>> print(Finding("warning", "residuals", "The residuals of x are not white", "try a richer model"))
        warning: The residuals of x are not white: try a richer model.
    """

    severity: Severity
    about: str
    sentence: str
    remedy: str = ""

    @property
    def rank(self) -> int:
        """How much it matters: 0 for what is good, and up."""
        return SEVERITIES.index(self.severity)

    def __str__(self) -> str:
        return f"{self.severity}: {self.sentence}{': ' if self.remedy else ''}{self.remedy}."


def worst(findings: Iterable[Finding]) -> Severity:
    """The gravest of all; "good" if there are none.

    Examples:
        >>> from vibayes.findings import Finding, worst
        >>> worst([Finding("good", "chains", "Chains agree"), Finding("notice", "prior", "Little is known of c")])
        'notice'
    """
    return SEVERITIES[max((finding.rank for finding in findings), default=0)]
