"""Posteriors in files: netCDF, with the groups of ArviZ for every model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.arviz import datasets, model_of
from vibayes.io.files import PathLike, existing_file, whole_file
from vibayes.io.packages import package
from vibayes.posterior import Level, Posterior
from vibayes.problem import Problem

_FORMAT = 1


def write_posterior(posterior: Posterior, path: PathLike) -> None:
    """Write a posterior as netCDF, completely or not at all.

    Models are groups of the file by their names, each with the groups of ArviZ:
    ``arviz.InferenceData.from_netcdf(path, base_group=name)`` reads one of them without vibayes.

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
        groups |= {f"/{_group(model.name)}/{name}": data for name, data in datasets(model).items()}
    with whole_file("write_posterior", path) as file:
        xarray.DataTree.from_dict(groups).to_netcdf(file.name, engine="h5netcdf")


def read_posterior(path: PathLike, problems: Problem | Sequence[Problem]) -> Posterior:
    """Read what `write_posterior` wrote.

    Args:
        path: the file.
        problems: as they were posed, in any order; a file holds numbers, not models.

    Returns:
        The posterior, its draws to the last bit.

    Raises:
        InvalidInput: the file is none of ours, is from a later version, or is of other problems.
    """
    xarray = package("xarray", "read_posterior")
    file = existing_file("read_posterior", path)
    posed = {each.name: each for each in ([problems] if isinstance(problems, Problem) else problems)}
    try:
        with xarray.open_datatree(file, engine="h5netcdf") as opened:
            tree = opened.load()
    except (OSError, ValueError, KeyError) as trouble:
        got = f"'{file}', which cannot be read: {trouble}"
        raise InvalidInput("read_posterior", "a file of write_posterior", got, "check the file") from None
    root = tree.attrs
    version = root.get("vibayes_posterior")
    if version is None:
        got, remedy = f"'{file}', another netCDF file", "use arviz.from_netcdf and from_arviz for it"
        raise InvalidInput("read_posterior", "a file of write_posterior", got, remedy)
    if version > _FORMAT:
        raise InvalidInput("read_posterior", f"format {_FORMAT}", f"format {version}", "update vibayes")
    names = json.loads(root["models"])
    if missing := [name for name in names if name not in posed]:
        got = ", ".join(map(repr, posed)) or "none"
        raise InvalidInput("read_posterior.problems", f"the problem {missing[0]!r}", got, "give all that were posed")
    models = tuple(_model(tree[_group(name)], posed[name]) for name in names)
    trace = tuple(_level(each) for each in json.loads(root["trace"]))
    notes = tuple(json.loads(root["notes"]))
    white_noise = int(root.get("white_noise", 0))
    return Posterior(models, float(root["threshold"]), trace, float(root["seconds"]), notes, white_noise)


def _model(node: Any, problem: Problem) -> Any:
    groups = {name: child.to_dataset() for name, child in node.children.items()}
    seen = groups["observed_data"]
    same = all(
        name in seen and np.array_equal(seen[name], problem.record.output[:, i], equal_nan=True)
        for i, name in enumerate(problem.record.output_names)
    )
    if not same:
        got = f"another record in the problem {problem.name!r}"
        raise InvalidInput("read_posterior.problems", "the record of the file", got, "read the record it was run with")
    return model_of(groups, problem, "read_posterior.problems")


def _level(fields: dict[str, Any]) -> Level:
    fields |= {name: tuple(fields[name]) for name in ("particles", "probabilities")}
    return Level(**fields)


def _group(name: str) -> str:
    """A model's name without what separates groups."""
    return name.replace("/", "∕")
