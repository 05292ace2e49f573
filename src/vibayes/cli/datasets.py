"""`vibayes datasets`: public data sets, listed or written as a record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vibayes.cli.speech import Json, Quiet, Speech


def datasets(
    name: Annotated[str | None, typer.Argument(help="Data set to export; without a name all are listed.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Folder with files that were downloaded before.")] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch it through the package nonlinear_benchmarks.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Record to write; by default NAME.csv, one file per record.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List public data sets, or export one as a record in CSV.

    Example: vibayes datasets silverbox --download --out silverbox.csv
    """
    from vibayes import io
    from vibayes.errors import InvalidInput

    speech = Speech(quiet, json)
    if name is None:
        known = list(io.datasets())
        for each in known:
            speech.say(_described(each))
        speech.result({"datasets": {each.name: each.title for each in known}})
        return
    target = Path(f"{name}.csv") if out is None else out
    loaded: Mapping[str, Any] = io.load_dataset(name, folder, download=download)
    places = _places(target, list(loaded))
    for path in places.values():
        if path.exists() and not force:
            expected, remedy = "a file that is not there yet", "add --force to replace it"
            raise InvalidInput("vibayes datasets", expected, f"'{path}'", remedy)
    for part, path in places.items():
        io.write_record(loaded[part], path)
        speech.say(f"Written: {path}  {loaded[part]!r}")
    speech.result({"written": list(places.values())})


def _described(each: Any) -> str:
    return f"  {each.name:<18} {each.title}"


def _places(target: Path, parts: Sequence[str]) -> dict[str, Path]:
    """Where each record goes: to the file itself if there is only one."""
    if len(parts) == 1:
        return {parts[0]: target}
    return {
        part: target.with_name(f"{target.stem}_{re.sub(r'[^0-9A-Za-z-]+', '_', part)}{target.suffix}") for part in parts
    }
