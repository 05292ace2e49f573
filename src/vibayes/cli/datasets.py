"""`vibayes datasets`: public data sets, listed or written as a record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vibayes.cli.speech import Json, Quiet, Speech


def datasets(
    name: Annotated[str | None, typer.Argument(help="Data set to export; without a name all are listed.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Folder with files that were downloaded before.")] = None,
    out: Annotated[Path | None, typer.Option(help="Record to write; by default NAME.csv.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List public data sets, or export one as a record in CSV.

    Example: vibayes datasets silverbox --out silverbox.csv
    """
    from vibayes import io
    from vibayes.errors import InvalidInput

    speech = Speech(quiet, json)
    if not hasattr(io, "datasets"):
        raise InvalidInput("vibayes datasets", "a version of vibayes with data sets", "this one", "update vibayes")
    if name is None:
        known = list(io.datasets())  # type: ignore[attr-defined]
        for each in known:
            speech.say(_described(each))
        speech.result({"datasets": [str(getattr(each, "name", each)) for each in known]})
        return
    target = Path(f"{name}.csv") if out is None else out
    if target.exists() and not force:
        raise InvalidInput(
            "vibayes datasets", "a file that is not there yet", f"'{target}'", "add --force to replace it"
        )
    loaded: Any = io.load_dataset(name, folder)  # type: ignore[attr-defined]
    records = _records(loaded)
    written = []
    for part, record in records.items():
        path = target.with_name(f"{target.stem}_{part}{target.suffix}") if len(records) > 1 else target
        if path.exists() and not force:
            raise InvalidInput("vibayes datasets", "a file that is not there yet", f"'{path}'", "add --force")
        io.write_record(record, path)
        written.append(path)
        speech.say(f"Written: {path}  {record!r}")
    speech.result({"written": written})


def _described(each: Any) -> str:
    name, about = getattr(each, "name", None), getattr(each, "description", "") or getattr(each, "about", "")
    return f"  {name:<16} {about}" if name else f"  {each}"


def _records(loaded: Any) -> dict[str, Any]:
    """One record, or several by name."""
    if isinstance(loaded, dict):
        return {str(name).replace(" ", "_"): each for name, each in loaded.items()}
    if isinstance(loaded, list | tuple):
        return {str(number + 1): each for number, each in enumerate(loaded)}
    return {"": loaded}
