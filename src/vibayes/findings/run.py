"""What happened on the way: simulations that failed, a run that was ended early, doubts from before."""

from __future__ import annotations

from vibayes.findings.finding import Finding, Severity
from vibayes.posterior import ModelPosterior, Posterior

_MANY = 0.1
ENDED = "ended after", "interrupted", "nothing was done"


def of_failures(model: ModelPosterior) -> list[Finding]:
    """Simulations or likelihoods that could not be computed."""
    if not model.simulations:
        return []
    if not model.failures:
        return [Finding("good", "failures", f"All {model.simulations:,} simulations of {model.name} were carried out")]
    share = model.failures / model.simulations
    severity: Severity = "serious" if share >= 1.0 else "warning" if share > _MANY else "notice"
    words = f"{model.failures:,} of {model.simulations:,} simulations of {model.name} failed"
    first = f"; the first said: {model.first_failure}" if model.first_failure else ""
    return [Finding(severity, "failures", words + first, "narrow the priors to what is possible, or refine the steps")]


def of_notes(posterior: Posterior) -> list[Finding]:
    """Notes of the run that no other matter tells of."""
    told = set()
    for model in posterior:
        said = model.diagnostics().verdicts if len(model.weights) else ()
        plain = [f"{each[0].lower()}{each[1:].rstrip('.')}" for each in said]
        told |= {*plain, *(f"{model.name}: {each}" for each in plain)}
    found = []
    for note in posterior.notes:
        if note in told or " failed" in note or "could not be computed" in note or "gives no evidence" in note:
            continue
        severity: Severity = "warning" if note.startswith(ENDED) else "notice"
        remedy = "let it go on to its end" if severity == "warning" else ""
        found.append(Finding(severity, "run", note[0].upper() + note[1:].rstrip("."), remedy))
    return found
