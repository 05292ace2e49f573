"""Processes that are killed (SIGKILL), and what becomes of their runs.

Some kill `vibayes identify` at a random call of the system that writes, so that every file is met at every stage of its
making, or between the last level of the method and the saving of its result. The others kill a method of inference with
a journal at random moments (`studies/kill_and_resume.py`). Every run must end with the draws of one left alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent.parent / "studies")]

from verify import full_disk  # noqa: E402

TRIES, FEW = 26, 1
SAVING = -1.0
"""In place of a number of calls: between the last level and the saving of the result."""


def attack(tries: int, seed: int, folder: Path) -> list[str]:
    """So many kills; lines of those that were not withstood."""
    import kill_and_resume as methods  # type: ignore[import-not-found]

    rng, failures, names = np.random.default_rng(seed), [], [*methods.CASES]
    with full_disk.everything_kept(), full_disk.trusted(folder):
        whole = full_disk.made(folder / "whole")
        with full_disk.full_after(folder, np.inf) as disk:
            assert full_disk.ended(_identify(whole))[0] == 0
        draws = full_disk.draws_of(whole / "run")
        for number in range(tries):
            if number % 8 in (0, 2, 5):  # ten of 26
                room = SAVING if number % 8 == 0 else float(rng.integers(disk.calls))
                failures += _killed_command(folder / str(number), room, draws)
            else:
                name = names[(number - 1) % len(names)]
                failures += _killed_method(methods, name, folder / str(number), seed, rng)
    return failures


def _identify(folder: Path) -> list[str]:
    return ["identify", str(folder / "study.toml"), "--folder", str(folder / "run"), "--no-report", "--quiet"]


def _killed_command(folder: Path, room: float, draws: dict[str, bytes]) -> list[str]:
    full_disk.made(folder)
    where = f"identify, killed {'before saving' if room == SAVING else f'after {room:.0f} calls'}"
    path = os.pathsep.join([str(Path(full_disk.vb.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, __file__, str(room), *_identify(folder)]
    ended = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    found = []
    if ended.returncode != -signal.SIGKILL:
        found.append(f"{where}: was not killed but ended with {ended.returncode}: {ended.stderr[-300:]}")
    made = folder / "run"
    again = ["resume", str(made), "--no-report"] if (made / "run.json").exists() else _identify(folder)
    code, said = full_disk.ended(again)
    if code:
        found.append(f"{where}: {again[0]} ended with {code}: {said.strip()[-300:]}")
    elif full_disk.draws_of(made) != draws:
        found.append(f"{where}: other draws")
    elif left := [each.name for each in folder.rglob("*.tmp")]:
        found.append(f"{where}: left {left}")
    return found


def _killed_method(methods: Any, name: str, folder: Path, seed: int, rng: np.random.Generator) -> list[str]:
    """One kill, at a random moment of a run whose duration is known from one that was left alone."""
    alone, disturbed = folder / "alone", folder / "disturbed"
    alone.mkdir(parents=True)
    disturbed.mkdir()
    methods.killed(name, seed, alone, 600.0)  # compiles
    (alone / "journal.bin").unlink()
    methods.killed(name, seed, alone, 600.0)
    expected, found = {}, {}
    with np.load(alone / "end.npz") as file:
        expected = dict(file)
    seconds = float(expected.pop("seconds"))
    while not methods.killed(name, seed, disturbed, rng.uniform(0.0, 0.9 * seconds)):
        for each in disturbed.iterdir():  # it was quicker this time
            each.unlink()
    methods.killed(name, seed, disturbed, 600.0)
    with np.load(disturbed / "end.npz") as file:
        found = dict(file)
    found.pop("seconds")
    wrong = methods.different(expected, found)
    return [f"{name}: other {', '.join(wrong)}"] if wrong else []


def _work(room: float, arguments: list[str]) -> None:
    """The process that kills itself."""
    from vibayes.cli.app import run
    from vibayes.runs import identify as identifies

    def kill(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if room == SAVING:
        identifies.write_posterior = kill
        room = float("inf")
    with full_disk.everything_kept(), full_disk.full_after(Path(arguments[1]).parent, room, kill):
        run(arguments)


if __name__ == "__main__":
    _work(float(sys.argv[1]), sys.argv[2:])
