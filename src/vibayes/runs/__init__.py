"""Runs that survive: a folder with the study, what was computed so far, and the result."""

from vibayes.runs.folder import Run, begin_run, open_run
from vibayes.runs.identify import identify_run
from vibayes.runs.refusal import RefusedRun
from vibayes.runs.report import report_run
from vibayes.runs.stored import StoredRun

__all__ = ["RefusedRun", "Run", "StoredRun", "begin_run", "identify_run", "open_run", "report_run"]
