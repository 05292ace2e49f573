"""A run folder that cannot be used as it is."""

from __future__ import annotations

from vibayes.errors import InvalidInput


class RefusedRun(InvalidInput):
    """The folder of a run, or a file it needs, is not as it must be; nothing in it was changed.

    Examples:
        >>> from vibayes.runs import RefusedRun
        >>> str(RefusedRun("the run 'a'", "a run of its own", "one that is in use", "wait until it has ended"))
        "the run 'a': expected a run of its own, got one that is in use; wait until it has ended."
    """

    exit_code = 4
    """For the shell."""


class LostPosterior(RefusedRun):
    """The posterior of a run is missing, damaged, or another than the run has written; `identify_run` rebuilds it."""
