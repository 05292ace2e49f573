"""``run.json``: what a run folder says of itself. Written whole or not at all, and only while the folder is locked.

A run is *begun*; then it is *done*, *failed* (the message is kept), or *interrupted* from the keyboard. One that was
killed is still *begun*. All but those that are done can be resumed, and of those the ones that ended at a limit (the
message is kept) if they are given more.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.io.files import whole_file
from vibayes.runs.refusal import RefusedRun

NAME = "run.json"
FORMAT = 1
STATES = "begun", "interrupted", "failed", "done"


@dataclass(frozen=True)
class Details:
    """Of one run.

    Attributes:
        study: the file it was begun with.
        study_fingerprint: SHA-256 of the text of the study.
        seed: of all random numbers.
        files: SHA-256 of each data file, by its path.
        code: SHA-256 of each file of the user's own Python that the models are made of, by its path from the study.
        environment: versions and processor, as it was begun.
        state: one of `STATES`.
        title: for people.
        began: when, in universal time.
        ended: when the latest part did, likewise.
        parts: times that it was begun or resumed.
        seconds: that it has computed, all parts together.
        message: why it failed, was interrupted, or ended before its method would have.
        limits: that replace those of the study.
        format: of the folder.
    """

    study: str
    study_fingerprint: str
    seed: int
    files: dict[str, str]
    environment: dict[str, str]
    state: str = "begun"
    title: str = ""
    began: str = ""
    ended: str = ""
    parts: int = 0
    seconds: float = 0.0
    message: str = ""
    limits: dict[str, Any] | None = None
    code: dict[str, str] = field(default_factory=dict)
    format: int = field(default=FORMAT)


def now() -> str:
    """To the second, in universal time."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_details(folder: Path, details: Details) -> None:
    """Replace what the folder says of itself.

    Raises:
        RefusedRun: the folder cannot be written, or the disk is full.
    """
    try:
        with whole_file("run", folder / NAME) as file:
            file.write(json.dumps(asdict(details), indent=2).encode())
    except OSError as trouble:
        raise unwritable(folder, trouble) from None


def read_details(folder: Path) -> Details:
    """What the folder says of itself.

    Raises:
        RefusedRun: it is no run, a damaged one, or of a newer format.
    """
    where, path = f"the run '{folder}'", folder / NAME
    if not path.is_file():
        got = f"a folder without {NAME}" if folder.is_dir() else "no such folder"
        raise RefusedRun(where, "a run folder", got, "name the folder that `vibayes identify` wrote")
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
        version = told["format"]
        if isinstance(version, int) and version > FORMAT:
            remedy = "update vibayes to open it"
            raise RefusedRun(where, f"a folder of format {FORMAT}", f"format {version}", remedy)
        details = Details(**told)
        if details.state not in STATES or version != FORMAT:
            raise ValueError(f"state {details.state!r}, format {version!r}")
        return details
    except InvalidInput:
        raise
    except OSError as trouble:
        raise RefusedRun(where, f"a {NAME} that can be read", str(trouble.strerror), "check permissions") from None
    except (ValueError, TypeError, KeyError) as trouble:
        remedy = "restore it from a copy, or begin a new run"
        raise RefusedRun(where, f"a whole {NAME}", f"a damaged one ({trouble})", remedy) from None


def unwritable(folder: Path, trouble: OSError) -> RefusedRun:
    """What to say when the system refuses to write."""
    got = trouble.strerror or str(trouble)
    remedy = "free some space or check permissions, then resume: nothing that was computed is lost"
    return RefusedRun(f"the run '{folder}'", "a folder that can be written", got.lower(), remedy)
