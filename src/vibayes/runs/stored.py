"""What a run folder tells without its study: how the run went, and the results in its posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from vibayes.errors import InvalidInput
from vibayes.fingerprint import fingerprint_of_file
from vibayes.io.stored_results import StoredPosterior, read_results
from vibayes.runs.details import Details, read_details
from vibayes.runs.refusal import LostPosterior, RefusedRun

JOURNAL, POSTERIOR = "journal.bin", "posterior.nc"
Made = TypeVar("Made")


@dataclass(frozen=True)
class StoredRun:
    """A run folder as far as it can be read without its study, which may name code that is not trusted.

    Attributes:
        folder: where it is.
    """

    folder: Path

    @property
    def details(self) -> Details:
        """What the folder says of itself now."""
        return read_details(self.folder)

    @property
    def state(self) -> str:
        """One of begun, interrupted, failed and done."""
        return self.details.state

    @property
    def name(self) -> str:
        """Of the folder."""
        return self.folder.name

    @property
    def incomplete(self) -> str:
        """Why the posterior is not the result of the whole run, in words; empty where it is."""
        details, posterior, journal = self.details, self.folder / POSTERIOR, self.folder / JOURNAL
        if not posterior.is_file() or (details.state == "done" and not details.message):
            return ""
        went_on = journal.is_file() and journal.stat().st_mtime > posterior.stat().st_mtime
        older = ", and more was computed since" if went_on and details.state != "done" else ""
        why = {
            "begun": "it was killed, or still runs",
            "interrupted": "it was interrupted",
            "failed": f"it failed ({details.message})",
            "done": f"it {details.message.partition(':')[0]}",
        }[details.state]
        more = " --max-seconds ..." if details.state == "done" else ""
        shown = "this is what there was when a part of it ended"
        return f"The run is not complete, for {why}: {shown}{older}. Go on with: vibayes resume {self.folder}{more}"

    def results(self) -> StoredPosterior:
        """The results as numbers, without models: nothing is imported.

        Raises:
            LostPosterior: there is none, or it is damaged or another than the run has written.
        """
        return self.read(read_results)

    def read(self, reader: Callable[[Path], Made]) -> Made:
        """What `reader` makes of the posterior that the run has written last.

        Raises:
            LostPosterior: there is none, or it is damaged or another than the run has written.
        """
        path, details = self.folder / POSTERIOR, self.details
        where, remedy = f"the run '{self.folder}'", f"resume it: vibayes resume {self.folder}"
        if not path.is_file():
            raise LostPosterior(where, "a posterior", f"none; the run is {details.state}", remedy)
        try:
            if details.posterior and fingerprint_of_file(path) != details.posterior:
                got = "one that is damaged, or another than the run has written"
                raise LostPosterior(where, "its posterior", got, f"have it rebuilt: vibayes resume {self.folder}")
            return reader(path)
        except OSError as trouble:
            raise RefusedRun(where, f"a {POSTERIOR} that can be read", str(trouble.strerror), "check it") from None
        except InvalidInput as trouble:
            if details.posterior:  # as the run has written it: something else is wrong
                raise
            raise LostPosterior(where, "a whole posterior", trouble.got, remedy) from None
