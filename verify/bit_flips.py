"""Flipped bits and cut ends in every file of run folders of every method.

Two folders of each method, one of a run that is done and one of a run that was interrupted half-way, with report,
figure and prediction. A try copies one, flips a bit of one of its files (one in ten is cut instead), and does what a
user does: opens it, resumes it, compares it with the undisturbed one, predicts, reports. Each must end in our own
words, or with the numbers of the undisturbed run to the last bit; a damaged page, picture, prediction or log is told.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import vibayes as vb
from vibayes.cli.app import run as command
from vibayes.journal import Journal
from vibayes.runs import begin_run, identify, identify_run, open_run, report_run
from vibayes.study import read_study

TRIES = 1000
FEW = 12
_CUT = 0.1
"""Share of tries in which the end of a file is cut off."""
_RESUMED, _COMMANDS = 7, 11
"""One of so many tries is resumed, besides those that need it to show anything; one of so many is shown to a command.
Both have no factor in common with the number of folders, so that every folder has its turn.
"""
_FOR_PEOPLE = (".html", ".txt", ".png", ".csv")

_FORCED = """
[data]
file = "forced.csv"
input = "force"
output = "x"
rate = 10.0
[structure]
mass = 1.0
elements = [{ type = "Spring", stiffness = "k" }, { type = "Damper", coefficient = "c" }]
sensors = [{ type = "Displacement", on = "mass" }]
[priors]
k = { type = "LogNormal", median = 25.0, factor = 1.5 }
c = { type = "LogNormal", median = 0.5, factor = 2.0 }
"""
_RANDOM = _FORCED.replace('input = "force"\n', "").replace(
    "[priors]", 'driven_by = { type = "WhiteNoise", density = 0.5 }\n[priors]'
)
_BACKBONE = """
[data]
file = "points.csv"
frequency = "frequency"
amplitudes = "amplitude"
[structure]
masses = { m = 1.0 }
elements = [{ type = "Duffing", stiffness = "k", cubic = "k3", between = ["ground", "m"] }]
[priors]
k = { type = "LogNormal", median = 1.2, factor = 1.3 }
k3 = { type = "Normal", mean = 0.0, standard_deviation = 1.0 }
s = { type = "LogUniform", low = 1e-4, high = 0.5 }
"""
_NOISE = {_FORCED: "", _RANDOM: "noise = 0.005", _BACKBONE: 'noise = "s"'}
_SOLVED = 'noise = 0.005\nfilter = { type = "ODEFilter", order = 2, linearised = true }'

STUDIES = {
    "ABCRejection": (_FORCED, "", "threshold = 90.0\nparticles = 20"),
    "ABCSMC": (_FORCED, "", "threshold = 60.0\nparticles = 20"),
    "ABCNestedSampling": (_FORCED, "", "n_s = 20\nthreshold = 60.0"),
    "FollowAndWeigh": (_FORCED, "", "fits = 6\nsearches = 2\nparticles = 30\ndraws = 60"),
    "Metropolis": (_RANDOM, _NOISE[_RANDOM], "draws = 20\nchains = 3"),
    "AdaptiveMetropolis": (_RANDOM, _NOISE[_RANDOM], "draws = 10\nchains = 8\nwarmup = 10\nparticles = 20"),
    "IBIS": (_RANDOM, _NOISE[_RANDOM], "particles = 30\nmax_moves = 3"),
    "Laplace": (_RANDOM, _NOISE[_RANDOM], "starts = 4\ndraws = 40"),
    "TemperedSMC": (_FORCED, _SOLVED, "particles = 30\nmax_moves = 3"),
    "NUTS": (_BACKBONE, _NOISE[_BACKBONE], "draws = 20\nchains = 2\nwarmup = 40\nparticles = 30"),
}
"""What is studied, the likelihood of the model, and the settings, by the name of the method."""


@dataclass(frozen=True)
class Case:
    """A run folder as it should be, and what belongs to it."""

    folder: Path
    shown: dict[str, bytes]
    """Numbers of the posterior that is in it."""
    whole: dict[str, bytes]
    """Numbers that it ends with when it is resumed."""


def attack(tries: int, seed: int, folder: Path) -> list[str]:
    """Failures of so many tries, each with what repeats it."""
    with mock.patch.object(identify, "Journal", partial(Journal, worth_keeping=np.inf)):
        # A few tries are for the tests: one method, whose folders are made in a moment, and no pictures.
        cases = list(_cases(folder, list(STUDIES)[: 1 if tries <= FEW else None], seed, tries > FEW))
        order = itertools.islice(itertools.cycle(cases), tries)
        found = (_tried(case, number, seed, folder / "try") for number, case in enumerate(order))
        return [each for each in found if each]


def _cases(folder: Path, methods: list[str], seed: int, pictures: bool) -> Iterator[Case]:
    _write_data(folder)
    for method in methods:
        what, likelihood, settings = STUDIES[method]
        path = folder / f"{method}.toml"
        path.write_text(f'seed = {seed}\n{what}\n[method]\ntype = "{method}"\n{settings}\n[model]\n{likelihood}\n')
        with _silence():
            study = read_study(path)
            done = identify_run(begin_run(study, folder / f"{method}-done"))
            half = identify_run(begin_run(study, folder / f"{method}-half"), _ending(max(1, len(done.trace) // 2)))
            for each in (f"{method}-done", f"{method}-half")[: 2 if pictures else 1]:
                if any(len(model.weights) for model in open_run(folder / each).posterior()):
                    report_run(open_run(folder / each), figures=pictures and method == methods[0])
            if not study.problems[0].of_backbones:
                command(["predict", str(folder / f"{method}-done"), "--draws", "3", "--no-figure", "-q"])
        whole = _numbers(done)
        yield Case(folder / f"{method}-done", whole, whole)
        yield Case(folder / f"{method}-half", _numbers(half), whole)


def _write_data(folder: Path) -> None:
    rng = np.random.default_rng(1)
    force = rng.normal(size=24)
    springs = [vb.Spring(30.0), vb.Damper(0.8)]
    truth = vb.Structure.single_dof(1.0, springs, sensors=[vb.Displacement("mass")])
    x = np.asarray(vb.simulate(truth, vb.Sampled(force, 10.0, vb.StraightLines())).outputs)[:, 0]
    amplitude = np.linspace(0.1, 0.8, 12)
    frequency = np.sqrt(1.0 + 0.75 * 0.4 * amplitude**2) + 0.002 * rng.normal(size=12)
    for name, columns in (
        ("forced", {"force": force, "x": x + 0.005 * rng.normal(size=24)}),
        ("points", {"frequency": frequency, "amplitude": amplitude}),
    ):
        table = np.stack(list(columns.values()), 1)
        np.savetxt(folder / f"{name}.csv", table, delimiter=",", header=",".join(columns), comments="", fmt="%.17g")


def _ending(after: int) -> Any:
    levels = itertools.count(1)

    def show(level: Any) -> None:
        if next(levels) == after:
            raise KeyboardInterrupt

    return show


def _tried(case: Case, number: int, seed: int, place: Path) -> str:
    """One try; empty if it was withstood."""
    rng = np.random.default_rng((seed, number))
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(case.folder, place)
    name, how = _damage(place, rng)
    said: list[str] = []
    with _silence(said):
        try:
            wrong = _opened(place, case.shown)
            if (
                not wrong
                and name.endswith(_FOR_PEOPLE)
                and name != "checksums.txt"
                and not any(name in e for e in said)
            ):
                wrong = "nobody is told"
            needs = name == "journal.bin" and case.shown is not case.whole
            if not wrong and (needs or number % _RESUMED == 0):
                wrong = _resumed(place, case.whole)
            elif not wrong and number % _COMMANDS == 0:
                wrong = _shown(place, case, number // _COMMANDS)
        except Exception as trouble:
            wrong = f"{type(trouble).__name__}: {trouble}"
    return wrong and f"try {number} of seed {seed}, {case.folder.name}/{name} {how}: {wrong}"


def _damage(place: Path, rng: np.random.Generator) -> tuple[str, str]:
    files = sorted(each for each in place.rglob("*") if each.is_file() and each.stat().st_size)
    file = files[rng.integers(len(files))]
    content = bytearray(file.read_bytes())
    if rng.random() < _CUT:
        left = int(rng.integers(len(content)))
        content, how = content[:left], f"cut to {left} bytes"
    else:
        bit = int(rng.integers(8 * len(content)))
        content[bit // 8] ^= 1 << bit % 8
        how = f"bit {bit} flipped"
    file.write_bytes(content)
    return file.relative_to(place).as_posix(), how


def _opened(place: Path, expected: dict[str, bytes]) -> str:
    try:
        return _differences(expected, _numbers(open_run(place).posterior()))
    except vb.InvalidInput:
        return ""


def _resumed(place: Path, expected: dict[str, bytes]) -> str:
    try:
        return _differences(expected, _numbers(identify_run(open_run(place, restore=True))))
    except vb.InvalidInput:
        return ""


def _shown(place: Path, case: Case, turn: int) -> str:
    """What commands do with the damaged folder, beside the undisturbed one."""
    if turn % 3 == 0:
        code, said, found = _commanded("compare", place, case.folder, "--no-figures")
        if code or said:
            return said
        one, other = ({**found["runs"][each.name], "seconds": 0.0} for each in (place, case.folder))
        return "" if one == other else f"{one} instead of {other}"
    if turn % 3 == 1:
        return _commanded("report", place, "--output", place.parent / "page.html")[1]
    pages = [place.parent / f"{each.name}.csv" for each in (place, case.folder)]
    for folder, page in zip((place, case.folder), pages, strict=True):
        code, said, _ = _commanded("predict", folder, "--draws", 3, "--no-figure", "--force", "--out", page)
        if code:
            return said
    return "" if pages[0].read_bytes() == pages[1].read_bytes() else "other predictions"


def _commanded(*arguments: Any) -> tuple[int, str, dict[str, Any]]:
    """How a command ends, what is wrong with that, and what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = command([*map(str, arguments), "--json"])
    if code not in (0, 1, 2, 4) or "defect" in err.getvalue() or (code and not err.getvalue().strip()):
        return code, f"{arguments[0]} ends with {code}: {err.getvalue()}", {}
    return code, "", {} if code else json.loads(out.getvalue())


def _numbers(posterior: vb.Posterior) -> dict[str, bytes]:
    """All that a result tells, but for the time that it took."""
    found: dict[str, Any] = {"threshold": posterior.threshold}
    for model in posterior.models:
        fields = ("probability", "standard_error", "log_evidence", "log_evidence_error", "simulations", "failures")
        found |= {f"{model.name} {each}": getattr(model, each) for each in fields}
        found |= {f"{model.name} {each}": getattr(model, each) for each in ("weights", "distances", "log_likelihoods")}
        found |= {f"{model.name} draws of {each}": values for each, values in model.draws.items()}
    return {name: np.asarray(value).tobytes() for name, value in found.items()}


def _differences(expected: dict[str, bytes], found: dict[str, bytes]) -> str:
    return ", ".join(sorted(each for each in expected | found if expected.get(each) != found.get(each)))


@contextlib.contextmanager
def _silence(said: list[str] | None = None) -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # What is said is looked at while the attack goes on, so that the list is filled at once.
        warnings.showwarning = lambda message, *_, **__: (said if said is not None else []).append(str(message))
        yield
    del caught
