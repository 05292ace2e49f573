"""Whether a result can be believed, in plain sentences with a remedy each: one file per matter."""

from vibayes.findings.finding import Finding, worst
from vibayes.findings.residuals import Residuals, residuals_of
from vibayes.findings.verb import diagnose

__all__ = ["Finding", "Residuals", "diagnose", "residuals_of", "worst"]
