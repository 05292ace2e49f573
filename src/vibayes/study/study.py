"""A study: what shall be found out from which data, by which method, declared in one file of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from vibayes.backbone import BackbonePoints
from vibayes.errors import InvalidInput
from vibayes.io.files import PathLike
from vibayes.problem import Problem
from vibayes.record import Record
from vibayes.samplers.likely import LikelihoodSampler
from vibayes.samplers.shapes import Sampler
from vibayes.study.data import data_of
from vibayes.study.declaration import Surroundings, called, declared
from vibayes.study.mistakes import (
    Deferred,
    InvalidStudy,
    Mistakes,
    SeveralMistakes,
    require_known,
    require_table,
    shown,
)
from vibayes.study.models import problems_of
from vibayes.study.signatures import arguments_of
from vibayes.study.text import read_text, tables_of
from vibayes.study.trust import trust_in

SECTIONS = ("title", "seed", "output", "data", "structure", "priors", "model", "method", "limits", "simulation")
_SEEDS = 2**32
Made = TypeVar("Made")


@dataclass(frozen=True)
class Limits:
    """When a run ends with what there is; None for no limit."""

    max_seconds: float | None = None
    max_simulations: int | None = None


@dataclass(frozen=True)
class Study:
    """Everything that a study file says, ready to be run.

    Attributes:
        path: of the file.
        text: the file as read.
        title: for people.
        seed: of all random numbers.
        output: folder for what a run writes.
        files: data files that were read.
        record: what was measured, conditioned: a record of motions or points of backbones.
        problems: one per model.
        method: of inference; None for the one that `infer` would choose.
        limits: of the run.
    """

    path: Path
    text: str
    title: str
    seed: int
    output: Path
    files: tuple[Path, ...]
    record: Record | BackbonePoints
    problems: tuple[Problem, ...]
    method: Any
    limits: Limits

    def __repr__(self) -> str:
        models = ", ".join(problem.name for problem in self.problems)
        method = "the default method" if self.method is None else type(self.method).__name__
        return f"Study({self.title!r}: {models}; {self.record.samples} samples; {method}, seed {self.seed})"


def read_study(
    path: PathLike, beside: PathLike | None = None, *, trust: Iterable[str] = (), data: PathLike | None = None
) -> Study:
    """Read and validate a study file.

    Files that it names lie beside it unless their paths say otherwise. Classes and functions that it names by import
    path are imported, which runs the code of their modules: only of those that are trusted, and after all the rest of
    the study was found sound.

    Args:
        path: of the file, in TOML.
        beside: folder that names of files, modules and the output are of, for a copy that lies elsewhere; by default
            that of the file.
        trust: modules that the study may import, besides those of the user's configuration.
        data: the data file, if it is not where the study says.

    Raises:
        InvalidInput: the file cannot be used; every mistake that was found is named by the path of its key.

    Examples:
        >>> import tempfile
        >>> import numpy as np
        >>> import vibayes as vb
        >>> text = '''
        ... [data]
        ... file = "test.csv"
        ... input = "force"
        ... output = "displacement"
        ... rate = 50.0
        ... [structure]
        ... mass = 1.0
        ... elements = [{ type = "Spring", stiffness = "k" }, { type = "Damper", coefficient = 0.4 }]
        ... sensors = [{ type = "Displacement", on = "mass" }]
        ... [priors]
        ... k = { type = "LogUniform", low = 10.0, high = 1000.0 }
        ... '''
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     columns = np.random.default_rng(0).normal(size=(50, 2))
        ...     np.savetxt(f"{folder}/test.csv", columns, delimiter=",", header="force,displacement", comments="")
        ...     _ = Path(folder, "spring.toml").write_text(text)
        ...     read_study(f"{folder}/spring.toml").problems
        (Problem('1 unknowns': k; 50 samples of displacement),)
    """
    path, text = read_text(path)
    tables, folder = tables_of(path.name, text), Path(beside or path.parent).absolute()
    moved = None if data is None else Path(data)
    around = Surroundings(folder, trust=trust_in(trust), data=moved)
    return soundly(path, around, lambda around: _study(path, text, tables, around))


def soundly(path: Path, around: Surroundings, read: Callable[[Surroundings], Made]) -> Made:
    """What a reading of a study gives, first without importing anything, and with it if that is all it lacks."""
    for importing in (False, True):
        try:
            return read(replace(around, importing=importing))
        except Deferred:
            continue
        except SeveralMistakes as problem:
            mistakes = [each for each in problem.mistakes if not isinstance(each, Deferred)]
            if mistakes:
                raise InvalidStudy(path, mistakes) from None
    raise AssertionError("nothing is deferred when modules are imported")


def _study(path: Path, text: str, tables: Mapping[str, Any], around: Surroundings) -> Study:
    found = Mistakes()
    found.attempt(require_known, "", tables, SECTIONS, "a section")
    title = found.attempt(_title, tables.get("title", path.stem))
    seed = found.attempt(_seed, tables.get("seed", 0))
    output = found.attempt(_output, tables.get("output", {}), around.folder, path.stem)
    limits = found.attempt(_limits, tables.get("limits", {}))
    method = found.attempt(_method, tables.get("method"), around)
    data = found.attempt(data_of, tables, around)
    problems = None if data is None else found.attempt(problems_of, tables, data[0], around)
    if problems is not None:
        found.attempt(_require_method_for, method, problems)
    found.end()
    assert data is not None and problems is not None and limits is not None and output is not None
    return Study(path, text, str(title), int(seed or 0), output, data[1], data[0], problems, method, limits)


def _title(title: Any) -> str:
    if not isinstance(title, str):
        raise InvalidInput("title", "text", shown(title), "put it in quotes")
    return title


def _seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _SEEDS:
        raise InvalidInput("seed", f"a whole number from 0 to {_SEEDS - 1}", shown(seed), "write seed = 1")
    return seed


def _output(table: Any, beside: Path, stem: str) -> Path:
    table = require_table("output", table)
    require_known("output", table, ("folder",), "a key of [output]")
    folder = table.get("folder", f"{stem}-run")
    if not isinstance(folder, str) or not folder.strip() or not folder.isprintable():
        raise InvalidInput("output.folder", "the name of a folder", shown(folder), 'write folder = "results"')
    return beside / folder


def _limits(table: Any) -> Limits:
    given = require_table("limits", table)
    limits: Limits = called(Limits, "Limits", given, arguments_of(Limits), "limits", Surroundings())
    for name in ("max_seconds", "max_simulations"):
        value = getattr(limits, name)
        if value is not None and not value > 0:
            raise InvalidInput(f"limits.{name}", "a positive number", shown(value), "leave it out for no limit")
    return limits


def _method(table: Any, around: Surroundings) -> Any:
    return None if table is None else declared(table, "method", (Sampler, LikelihoodSampler), around)


def _require_method_for(method: Any, problems: tuple[Problem, ...]) -> None:
    likely = [problem.likely for problem in problems]
    if method is None or getattr(method, "sees", "") == "likelihood":
        return
    if any(likely) and not isinstance(method, LikelihoodSampler):
        expected, remedy = "a method that works with a likelihood, for models have noise", 'try type = "TemperedSMC"'
        raise InvalidInput("method.type", expected, repr(type(method).__name__), remedy)
    if isinstance(method, LikelihoodSampler) and not all(likely):
        remedy = "give every model the noise of its outputs, or use DataAnnealedSMC"
        raise InvalidInput("method.type", "a method without likelihood", repr(type(method).__name__), remedy)
