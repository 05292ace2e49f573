"""Whether there are draws enough, whether they agree, and whether the evidence is sure."""

from __future__ import annotations

import numpy as np

from vibayes.findings.finding import Finding, Severity
from vibayes.posterior import ModelPosterior
from vibayes.samplers.settings import ENOUGH_DRAWS, FEW_DRAWS
from vibayes.samplers.verdicts import Verdict

_ROUGH = 0.5
"""Standard error of a log-evidence, above which probabilities of models cannot be quoted."""
_APART = 1.1
"""R-hat of chains that have not met."""
_SEVERITIES: dict[str, Severity] = {"method": "notice", "draws": "notice", "acceptance": "warning", "chains": "warning"}


def of_sample(model: ModelPosterior) -> list[Finding]:
    """R-hat, effective draws and acceptance of a sampler of a likelihood; of others, draws by their weights."""
    found = model.diagnostics()
    said = [each for each in found.verdicts if isinstance(each, Verdict) and each.about in _SEVERITIES]
    findings = [_finding(each, found) for each in said]
    findings += [Finding("notice", "method", s) for s in found.verdicts if not isinstance(s, Verdict)]
    if any(each.rank for each in findings):
        return findings
    fewest = min(np.nanmin([p.ess_bulk, p.ess_tail]) for p in found)
    largest = max(p.rhat for p in found)
    agree = f"Chains agree (R-hat {largest:.2f} at most), and there" if np.isfinite(largest) else "There"
    return [Finding("good", "draws", f"{agree} are {fewest:,.0f} effective draws of every parameter at least")]


def _finding(said: Verdict, found) -> Finding:
    severity = _SEVERITIES[said.about]
    if said.about == "chains" and max(p.rhat for p in found) > _APART:
        severity = "serious"
    fewest = min(np.nanmin([p.ess_bulk, p.ess_tail, ENOUGH_DRAWS]) for p in found)
    if said.about == "draws" and not fewest >= FEW_DRAWS:
        severity = "warning"
    return Finding(severity, said.about, said.sentence, said.remedy)


def of_evidence(model: ModelPosterior, several: bool) -> list[Finding]:
    """Whether the evidence scatters too much to compare models by."""
    error = model.log_evidence_error
    if not several or not np.isfinite(model.log_evidence) or not np.isfinite(error):
        return []
    words = f"the logarithm of the evidence of {model.name} has a standard error of {error:.2g}"
    if error > _ROUGH:
        remedy = "give more particles or draws before models are compared"
        return [Finding("warning", "evidence", words[0].upper() + words[1:], remedy)]
    return [Finding("good", "evidence", words[0].upper() + words[1:])]
