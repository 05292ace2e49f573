"""A disk that is full from some call of the system on, while a study is identified, reported and compared.

The call is chosen at random among all that write: making a file or folder, writing, renaming, forcing to the disk. Each
try runs a command of the command line until the disk is full; it must end with exit code 4 and words, and leave no
temporary file. Then there is room again: the same command, or `resume` where there is a run already, must end well and
with the draws of a run that was left alone.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import vibayes as vb
from vibayes import journal as journals
from vibayes.cli.app import run
from vibayes.runs import open_run

TRIES, FEW = 50, 3
SAMPLES = 20
SIMULATOR = """
import numpy as np

def line(a, b):
    return a[:, None] + b[:, None] * np.linspace(0.0, 1.0, 20)
"""
STUDY = """
seed = 3
data = { file = "data.csv", output = "y", time = "time" }
method = { type = "ABCSMC", particles = 40, threshold = 20.0 }
[model]
simulator = "simulator:line"
vectorised = true
[model.priors]
a = { type = "Uniform", low = 0.0, high = 1.0 }
b = { type = "Uniform", low = 0.0, high = 1.0 }
"""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def refuse(path: Any) -> None:
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)


class Disk:
    """Counts calls that need room, and refuses them from one on."""

    def __init__(self, folder: Path, room: float, refuse: Callable[[Any], None] = refuse):
        self.folder, self.room, self.calls, self.refuse = folder.resolve(), room, 0, refuse

    def need(self, path: Any) -> None:
        place = Path(os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.fspath(path)).absolute()
        if not place.is_relative_to(self.folder):
            return  # caches of JAX and Matplotlib, without which all works as well
        self.calls += 1
        if self.calls > self.room:
            self.refuse(path)


class File(io.FileIO):
    """A file on such a disk; a call writes at most 4 kB of what it is given, as the system may."""

    disk: Disk

    def write(self, data: Any, /) -> int:
        self.disk.need(self.fileno())
        return super().write(memoryview(data)[:4096])


@contextlib.contextmanager
def full_after(folder: Path, room: float, refuse: Callable[[Any], None] = refuse) -> Iterator[Disk]:
    """A disk that has room for so many calls of this process in a folder."""
    disk = Disk(folder, room, refuse)
    file_class = type("FileOnDisk", (File,), {"disk": disk})
    true = {name: getattr(os, name) for name in ("open", "mkdir", "replace", "fsync", "write")}
    true_open = io.open

    def opened(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        if set(mode) <= set("rbtU") or not isinstance(file, str | os.PathLike) or str(file).startswith("/dev"):
            return true_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if "r" not in mode:
            disk.need(file)
        raw = file_class(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if not buffering:
            return raw
        buffered = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

    def needing(name):
        def call(path, *rest, **named):
            flags = rest[0] if rest else named.get("flags", 0)
            # A folder that cannot be forced to the disk loses nothing: the file in it is whole.
            folder = name == "fsync" and stat.S_ISDIR(os.fstat(path).st_mode)
            if not folder and (name != "open" or (isinstance(flags, int) and flags & WRITING)):
                disk.need(path)
            return true[name](path, *rest, **named)

        return call

    patched = {name: needing(name) for name in true}
    try:
        builtins.open = io.open = opened  # type: ignore[assignment]
        for name, call in patched.items():
            setattr(os, name, call)
        yield disk
    finally:
        builtins.open = io.open = true_open
        for name, call in true.items():
            setattr(os, name, call)


def attack(tries: int, seed: int, folder: Path) -> list[str]:
    """So many moments at which the disk becomes full; lines of those that were not withstood."""
    rng, failures = np.random.default_rng(seed), []
    with everything_kept(), trusted(folder):
        whole = made(folder / "whole")
        commands = _commands(whole)
        calls = []
        for command in commands:
            with full_after(folder, np.inf) as disk:
                code, said = ended(command)
            assert code == 0, said
            calls.append(disk.calls)
            if command[0] == "identify":
                shutil.copytree(whole / "run", whole / "same")
        draws = draws_of(whole / "run")
        for number in range(tries):
            which = 0 if number % 2 == 0 else 1 + (number // 2) % (len(commands) - 1)
            room = int(rng.integers(calls[which]))
            failures += _tried(folder / f"{number}", whole, which, room, draws)
    return failures


@contextlib.contextmanager
def everything_kept() -> Iterator[None]:
    """Journals that keep what is quick to compute too, as it is in so small a study."""
    settings: Any = journals.Journal.__init__.__kwdefaults__
    before, settings["worth_keeping"] = settings["worth_keeping"], np.inf
    try:
        yield
    finally:
        settings["worth_keeping"] = before


@contextlib.contextmanager
def trusted(folder: Path) -> Iterator[None]:
    """The simulator of the study is trusted, also by the programs that are started."""
    before = os.environ.get("VIBAYES_CONFIG")
    (folder / "config.toml").write_text(f"[trust]\nfolders = ['{folder}']\n")
    os.environ["VIBAYES_CONFIG"] = str(folder / "config.toml")
    try:
        yield
    finally:
        del os.environ["VIBAYES_CONFIG"]
        if before is not None:
            os.environ["VIBAYES_CONFIG"] = before


def made(folder: Path) -> Path:
    """A study with its data and its simulator."""
    folder.mkdir(parents=True)
    noise = 0.05 * np.random.default_rng(0).standard_normal(SAMPLES)
    clean = 0.3 + 0.5 * np.linspace(0.0, 1.0, SAMPLES)
    vb.write_record(vb.Record.from_arrays(rate=19.0, output={"y": clean + noise}), folder / "data.csv")
    (folder / "simulator.py").write_text(SIMULATOR)
    (folder / "study.toml").write_text(STUDY)
    return folder


def _commands(folder: Path) -> list[list[str]]:
    study, made = str(folder / "study.toml"), str(folder / "run")
    return [
        ["identify", study, "--folder", made, "--no-report"],
        ["report", made, "--figures"],
        ["predict", made, "--draws", "10", "--force"],
        ["compare", made, str(folder / "same"), "--out", str(folder / "compared"), "--draws", "5", "--force"],
        ["new", str(folder / "data.csv"), "--method", "output-only", "--output", "y", "--force"],
    ]


def ended(command: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        return run(command), said.getvalue()


def draws_of(place: Path) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in open_run(place).posterior().selected.draws.items()}


def _tried(folder: Path, whole: Path, which: int, room: int, draws: dict[str, bytes]) -> list[str]:
    """What went wrong when one command met a full disk."""
    if which == 0:
        made(folder)
    else:
        shutil.copytree(whole, folder)
    command, place = _commands(folder)[which], folder / "run"
    where = f"{command[0]} with room for {room} calls"
    with full_after(folder, room):
        code, said = ended(command)
    found = []
    if code != 4 or "no space left on device" not in said.lower() or "Traceback" in said:
        found.append(f"{where}: ended with {code}: {said.strip()[-300:]}")
    if left := [str(each) for each in folder.rglob("*.tmp")]:
        found.append(f"{where}: left {left}")
    if which == 0 and place.exists() and not (place / "run.json").exists():
        found.append(f"{where}: left {[each.name for each in place.iterdir()]}")
    again = ["resume", str(place), "--no-report"] if which == 0 and place.exists() else command
    code, said = ended(again)
    if code:
        found.append(f"{where}: with room again, {again[0]} ended with {code}: {said.strip()[-300:]}")
    elif draws_of(place) != draws:
        found.append(f"{where}: other draws")
    shutil.rmtree(folder)
    return found
