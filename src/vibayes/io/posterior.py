"""Posteriors in files: netCDF, with the groups of ArviZ for every model."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.arviz import datasets, model_of, variable
from vibayes.io.files import PathLike, existing_file, write_whole
from vibayes.io.hdf5 import items_of, require_own
from vibayes.io.packages import package
from vibayes.io.seal import is_whole, sealed
from vibayes.io.stored_names import stored_name
from vibayes.posterior import Level, Posterior
from vibayes.problem import Problem

Made = TypeVar("Made")
_FORMAT = 2
"""Since 2 names are escaped, and the file ends with a checksum."""


def write_posterior(posterior: Posterior, path: PathLike) -> None:
    """Write a posterior as netCDF, completely or not at all.

    Models are groups of the file by their names, each with the groups of ArviZ:
    ``arviz.InferenceData.from_netcdf(path, base_group=name)`` reads one of them without vibayes. Names that a netCDF
    file cannot hold are escaped as in `to_arviz`. The file ends with a checksum of all that comes before.

    Args:
        posterior: of all models.
        path: the file to write or replace, as ``run.nc``.

    Examples:
        >>> import tempfile
        >>> import numpy as np
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
        >>> def line(slope):
        ...     return slope * np.arange(20.0)
        >>> problem = vb.Problem(line, record, {"slope": vb.Uniform(0.0, 3.0)})
        >>> posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=50, draws=100, threshold=1.0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     vb.write_posterior(posterior, f"{folder}/run.nc")
        ...     again = vb.read_posterior(f"{folder}/run.nc", problem)
        >>> bool(np.all(again.selected.draws["slope"] == posterior.selected.draws["slope"]))
        True
    """
    xarray = package("xarray", "write_posterior")
    package("h5netcdf", "write_posterior")
    root = {
        "vibayes_posterior": _FORMAT,
        "models": json.dumps([model.name for model in posterior.models]),
        "threshold": posterior.threshold,
        "white_noise": posterior.white_noise,
        "seconds": posterior.seconds,
        "notes": json.dumps(posterior.notes),
        "trace": json.dumps([asdict(level) for level in posterior.trace]),
    }
    groups = {"/": xarray.Dataset(attrs=root)}
    for model in posterior.models:
        groups |= {f"/{stored_name(model.name)}/{name}": data for name, data in datasets(model).items()}
    # In memory first: on a full disk HDF5 ends the process with a segmentation fault when it closes a file.
    content = bytes(xarray.DataTree.from_dict(groups).to_netcdf(engine="h5netcdf"))
    write_whole("write_posterior", path, sealed(content))


def read_posterior(path: PathLike, problems: Problem | Sequence[Problem]) -> Posterior:
    """Read what `write_posterior` wrote.

    Args:
        path: the file.
        problems: as they were posed, in any order; a file holds numbers, not models.

    Returns:
        The posterior, its draws to the last bit.

    Raises:
        InvalidInput: the file is none of ours, is damaged or was changed, is from a later version, or is of other
            problems.

    Warns:
        UserWarning: the file is from a version that wrote no checksums, so that nothing tells whether it is whole.
    """
    posed = {each.name: each for each in ([problems] if isinstance(problems, Problem) else problems)}
    return read_stored(path, lambda stored: _posterior(stored, posed))


@dataclass(frozen=True)
class Stored:
    """Content of a file of `write_posterior`, in memory.

    Attributes:
        root: attributes of the file.
        groups: those of ArviZ for every model, by its name, in the order the models were posed.
    """

    root: dict[str, Any]
    groups: dict[str, dict[str, Any]]


def read_stored(path: PathLike, make: Callable[[Stored], Made]) -> Made:
    """What `make` gives of the content of a file, which is checked as `read_posterior` says.

    Args:
        path: the file.
        make: may fail in whatever way on content that nobody meant.

    Raises:
        InvalidInput: the file is none of ours, is damaged or was changed, or is from a later version.
    """
    package("xarray", "read_posterior")
    package("h5netcdf", "read_posterior")
    file = existing_file("read_posterior", path)
    try:
        content = file.read_bytes()
        whole = is_whole(content)
        if whole is False:
            raise _damaged(file, "one that was damaged or changed")
        require_own(f"read_posterior('{file.name}')", items_of(f"read_posterior('{file.name}')", file))
        found = make(_stored(*_groups(content), file, unchecked=whole is None))
    except InvalidInput:
        raise
    except Exception as trouble:  # a library may raise anything on bytes that nobody meant
        got = f"'{file}', which cannot be read: {type(trouble).__name__}: {trouble}"
        raise InvalidInput("read_posterior", "a file of write_posterior", got, _REMEDY) from None
    if whole is None:
        warnings.warn(f"'{file}' has no checksum, so nobody can tell whether it is whole: write it anew", stacklevel=3)
    return found


_REMEDY = "restore it from a copy; that of a run is rebuilt by `vibayes resume`"


def _damaged(file: Path, got: str) -> InvalidInput:
    return InvalidInput("read_posterior", f"'{file}' as it was written", got, _REMEDY)


def _groups(content: bytes) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Attributes of the file, and the groups of every model, in memory."""
    xarray = package("xarray", "read_posterior")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries, on damaged files
        with xarray.open_datatree(io.BytesIO(content), engine="h5netcdf") as opened:
            # One by one: loading the whole tree leaves out variables that are called like a group (xarray 2026.9).
            found = {
                model: {name: group.to_dataset().load() for name, group in node.children.items()}
                for model, node in opened.children.items()
            }
            return dict(opened.attrs), found


def _stored(root: dict[str, Any], groups: dict[str, dict[str, Any]], file: Path, unchecked: bool) -> Stored:
    version = root.get("vibayes_posterior")
    if version is None:
        got, remedy = f"'{file}', another netCDF file", "use arviz.from_netcdf and from_arviz for it"
        raise InvalidInput("read_posterior", "a file of write_posterior", got, remedy)
    if version > _FORMAT:
        raise InvalidInput("read_posterior", f"format {_FORMAT}", f"format {version}", "update vibayes")
    if unchecked and version != 1:
        raise _damaged(file, "one without its checksum, or with a damaged one")
    group = _old_group if version == 1 else stored_name
    names = json.loads(root["models"])
    if not isinstance(names, list) or not names:
        raise ValueError("no models")
    return Stored(root, {name: groups[group(name)] for name in names})


def _posterior(stored: Stored, posed: dict[str, Problem]) -> Posterior:
    root = stored.root
    if missing := [name for name in stored.groups if name not in posed]:
        got = ", ".join(map(repr, posed)) or "none"
        raise InvalidInput("read_posterior.problems", f"the problem {missing[0]!r}", got, "give all that were posed")
    models = tuple(_model(groups, posed[name]) for name, groups in stored.groups.items())
    trace = tuple(_level(each) for each in json.loads(root["trace"]))
    notes = tuple(json.loads(root["notes"]))
    white_noise = int(root.get("white_noise", 0))
    return Posterior(models, float(root["threshold"]), trace, float(root["seconds"]), notes, white_noise)


def _model(groups: dict[str, Any], problem: Problem) -> Any:
    seen = {name: variable(groups["observed_data"], name) for name in problem.record.output_names}
    same = all(
        each is not None and np.array_equal(each.values, problem.record.output[:, i], equal_nan=True)
        for i, each in enumerate(seen.values())
    )
    if not same:
        got = f"another record in the problem {problem.name!r}"
        raise InvalidInput("read_posterior.problems", "the record of the file", got, "read the record it was run with")
    return model_of(groups, problem, "read_posterior.problems")


def _level(fields: dict[str, Any]) -> Level:
    fields |= {name: tuple(fields[name]) for name in ("particles", "probabilities")}
    return Level(**fields)


def _old_group(name: str) -> str:
    """A model's name as files of format 1 have it."""
    return name.replace("/", "∕")
