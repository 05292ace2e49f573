"""``run.json``: what a run folder says of itself. Written whole or not at all, and only while the folder is locked.

A run is *begun*; then it is *done*, *failed* (the message is kept), or *interrupted* from the keyboard. One that was
killed is still *begun*. All but those that are done can be resumed, and of those the ones that ended at a limit (the
message is kept) if they are given more.

The last line is a checksum of all bytes before it. There is a second copy, which `vibayes resume` takes if the first is
damaged; a copy that is older does no harm, for what is resumed ends with the same draws.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.io.files import whole_file
from vibayes.runs.refusal import RefusedRun

NAME, COPY = "run.json", "run.copy.json"
FORMAT = 2
"""Since 2 there are checksums, and the place of the folder."""
STATES = "begun", "interrupted", "failed", "done"
_SEAL = re.compile(rb',\n  "checksum": "([0-9a-f]{64})"\n}\n\Z')
_OLDEST = 1


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
        folder: where the run was begun, from which data are found after a move.
        posterior: SHA-256 of the posterior that was written last; empty if there is none.
        levels: of the trace of a run that ended at a limit.
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
    folder: str = ""
    posterior: str = ""
    levels: int = 0
    format: int = field(default=FORMAT)


def now() -> str:
    """To the second, in universal time."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_details(folder: Path, details: Details) -> None:
    """Replace what the folder says of itself.

    Raises:
        RefusedRun: the folder cannot be written, or the disk is full.
    """
    content = _sealed(replace(details, format=FORMAT))
    try:
        with whole_file("run", folder / NAME) as file:
            file.write(content)
    except OSError as trouble:
        raise unwritable(folder, trouble) from None
    try:
        with whole_file("run", folder / COPY) as file:
            file.write(content)
    except OSError:
        pass  # the older copy will do


def read_details(folder: Path) -> Details:
    """What the folder says of itself.

    Raises:
        RefusedRun: it is no run, a damaged one, or of a newer format.
    """
    where, path = f"the run '{folder}'", folder / NAME
    if not path.is_file():
        got, remedy = "no such folder", "name the folder that `vibayes identify` wrote"
        if folder.is_dir():
            got, remedy = f"a folder without {NAME}", _way_out(folder, remedy)
        raise RefusedRun(where, "a run folder", got, remedy)
    try:
        return _details(where, path.read_bytes())
    except InvalidInput:
        raise
    except OSError as trouble:
        raise RefusedRun(where, f"a {NAME} that can be read", str(trouble.strerror), "check permissions") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as trouble:
        remedy = _way_out(folder, "restore it from a copy, or begin a new run")
        raise RefusedRun(where, f"a whole {NAME}", f"a damaged one ({trouble})", remedy) from None


def details_to_restore(folder: Path) -> Details | None:
    """What the copy says, if `NAME` is damaged or missing and the copy is whole."""
    try:
        _details("", (folder / NAME).read_bytes())
        return None
    except InvalidInput:
        return None  # of a newer version
    except Exception:  # whatever is wrong with it
        return _copied(folder)


def _way_out(folder: Path, otherwise: str) -> str:
    return otherwise if _copied(folder) is None else f"have it restored: vibayes resume {folder}"


def _copied(folder: Path) -> Details | None:
    try:
        return _details("", (folder / COPY).read_bytes())
    except Exception:  # damaged, missing, or of a newer version
        return None


def _sealed(details: Details) -> bytes:
    content = json.dumps(asdict(details), indent=2).removesuffix("\n}").encode()
    return content + f',\n  "checksum": "{hashlib.sha256(content).hexdigest()}"\n}}\n'.encode()


def _details(where: str, content: bytes) -> Details:
    seal = _SEAL.search(content)
    if seal is not None and hashlib.sha256(content[: seal.start()]).hexdigest().encode() != seal[1]:
        raise ValueError("its checksum does not fit")
    told: Any = json.loads(content.decode())
    version = told["format"]
    if isinstance(version, int) and version > FORMAT:
        remedy = "update vibayes to open it"
        raise RefusedRun(where, f"a folder of format {FORMAT}", f"format {version}", remedy)
    if seal is None and version != _OLDEST:
        raise ValueError("without its checksum")
    if seal is not None:
        del told["checksum"]
    details = Details(**told)
    if details.state not in STATES or not _sensible(details):
        raise ValueError(f"state {details.state!r}, format {version!r}")
    return details


def _sensible(details: Details) -> bool:
    """Whether everything is of the kind that it should be, which a file without a checksum does not assure."""
    words = details.study, details.study_fingerprint, details.title, details.began, details.ended, details.message
    tables = details.files, details.environment
    return (
        all(isinstance(each, str) for each in words)
        and all(isinstance(each, dict) and all(isinstance(v, str) for v in each.values()) for each in tables)
        and all(isinstance(each, int) for each in (details.seed, details.parts, details.format))
        and isinstance(details.seconds, int | float)
        and isinstance(details.limits, dict | None)
    )


def unwritable(folder: Path, trouble: OSError) -> RefusedRun:
    """What to say when the system refuses to write."""
    got = trouble.strerror or str(trouble)
    remedy = "free some space or check permissions, then resume: nothing that was computed is lost"
    return RefusedRun(f"the run '{folder}'", "a folder that can be written", got.lower(), remedy)
