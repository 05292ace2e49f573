"""Run folders whose study names code that the user has not trusted: what is stored is shown, nothing is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vibayes.cli.results import results_of
from vibayes.cli.speech import Speech, trusting
from vibayes.errors import InvalidInput
from vibayes.io.stored_results import StoredPosterior
from vibayes.runs import Run, StoredRun, open_run
from vibayes.study import InvalidStudy

Results = dict[str, StoredPosterior]


def open_trusted(runs: Mapping[str, Path], trust: Sequence[str] | None, data: Path | None) -> dict[str, Run]:
    """The runs in several folders.

    Args:
        runs: folders by label.
        trust: modules, as `open_run` has them.
        data: likewise.

    Raises:
        UntrustedRuns: nothing is wrong but that code of one or several is not trusted.
        InvalidInput: one of them cannot be opened for another reason.
    """
    opened, refusals = {}, {}
    for label, folder in runs.items():
        try:
            opened[label] = open_run(folder, trust=trust or (), data=data)
        except InvalidStudy as refusal:
            if not refusal.untrusted:
                raise
            refusals[label] = refusal
    if refusals:
        raise UntrustedRuns(runs, list(refusals.values()), trust)
    return opened


class UntrustedRuns(InvalidInput):
    """Runs of which some name code that is not trusted.

    Attributes:
        runs: all of them by label, as far as they can be read without their studies.
        modules: that would have to be trusted.
        trusting: the arguments of the command that trust them, besides those trusted already.
    """

    def __init__(self, runs: Mapping[str, Path], refusals: Sequence[InvalidStudy], trust: Sequence[str] | None):
        first = refusals[0]
        super().__init__(first.where, first.expected, first.got, first.remedy)
        self.args = ("\n".join(dict.fromkeys(str(each) for each in refusals)),)
        self.runs = {label: StoredRun(folder) for label, folder in runs.items()}
        self.modules = tuple(dict.fromkeys(module for each in refusals for module in each.untrusted))
        self.trusting = trusting([*(trust or ()), *self.modules])

    def results(self, speech: Speech) -> Results:
        """Stored results by label, of the runs that have any, with a warning for those that have none."""
        found = {}
        for label, run in self.runs.items():
            try:
                found[label] = run.results()
                if run.incomplete:
                    speech.warn(run.incomplete)
            except InvalidInput as trouble:
                speech.warn(str(trouble))
        return found

    def missing(self, what: str, command: str, results: Results) -> str:
        """What is not shown, and how to get it."""
        shown = "Only stored results are shown" if results else "There are no stored results to show"
        return (
            f"{shown}, and no code was imported. {what} the models, and with them code that "
            f"you have not trusted ({', '.join(self.modules)}). If you know it: {command}{self.trusting}"
        )


def show_stored(untrusted: UntrustedRuns, speech: Speech, what: str, command: str, nothing: Mapping[str, Any]) -> None:
    """Show the results of one run, and say what is missing.

    Args:
        untrusted: the run.
        speech: to whom.
        what: beginning of the sentence on what is missing, as "A page needs".
        command: that would give it, without trust.
        nothing: what the JSON result has under keys of the command, as no path of a page.
    """
    results = untrusted.results(speech)
    for each in results.values():
        speech.say(each.summary())
    sentence = untrusted.missing(what, command, results)
    speech.warn(sentence)
    found = next((results_of(each) for each in results.values()), {"models": []})
    speech.result({**nothing, "missing": sentence, "untrusted": list(untrusted.modules), **found})
