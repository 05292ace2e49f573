"""Mutated inputs of every format: each must end in what was asked for or in one of our messages, within its time.

Records (CSV, NPZ, MAT 4, 5 and 7.3, HDF5, netCDF 3 and 4, universal files, ground motions), study files, and `run.json`
and `posterior.nc` of a run. The tries are made by other processes, for a try may hang, crash or fill the memory: then
the process is ended, and the try that it was at is a failure. A failure names the try, which can be made again:

    python verify/inputs.py --seed 0 --again 1234      # prints what happens, and keeps the file
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import threading
import warnings
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

TRIES, FEW = 20_000, 60
LIMIT = (
    200.0  # seconds for one try; one may read a file three times whose reading takes 10 s of computing to be given up
)
MEMORY = 6 * 2**30
GROWTH = 2**20  # kB that one try may add to what the process has ever used
WORKERS = 2
STUDY = """
[data]
file = "line.csv"
output = "x"
rate = 10.0
[method]
type = "FollowAndWeigh"
particles = 50
draws = 100
threshold = 1.0
[model]
name = "line"
simulator = "line:line"
[model.priors]
slope = { type = "Uniform", low = 0.0, high = 3.0 }
"""


def attack(tries: int, seed: int, folder: Path) -> list[str]:
    """Make mutated inputs and read them; the failures."""
    _sound(folder)
    failures: list[str] = []
    workers = min(WORKERS, 1 + tries // 200)  # to start one takes as long as a hundred tries
    threads = [
        threading.Thread(target=_supervise, args=(range(first, tries, workers), seed, folder, failures))
        for first in range(workers)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return sorted(failures)


def _supervise(numbers: range, seed: int, folder: Path, failures: list[str]) -> None:
    """Have a process make these tries, and another one go on where it ended."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    while numbers:
        command = [sys.executable, __file__, "--seed", str(seed), "--folder", str(folder)]
        command += ["--tries", *map(str, (numbers.start, numbers.stop, numbers.step))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)
        assert process.stdout is not None and process.stderr is not None
        tail: list[str] = []
        errors = threading.Thread(target=lambda p=process, t=tail: t.extend(p.stderr.readlines()[-3:]))
        errors.start()
        begun, hung = False, threading.Event()
        while True:
            watch = threading.Timer(LIMIT * (1 if begun else 5), lambda p=process, h=hung: (h.set(), p.kill()))
            watch.start()
            line = process.stdout.readline()
            watch.cancel()
            if not line:
                break
            begun, number, said = True, *line.rstrip("\n").split(" ", 1)
            if said:
                failures.append(f"try {number}: {said}")
            numbers = range(int(number) + numbers.step, numbers.stop, numbers.step)
        process.wait()
        errors.join()
        if numbers:  # the process ended at the first of them
            how = f"no end within {LIMIT:g} s" if hung.is_set() else f"the process ended with {process.returncode}"
            failures.append(f"try {numbers[0]}: {how} {' '.join(tail).strip()[-300:]}")
            numbers = numbers[1:]


def _sound(folder: Path) -> None:
    """Sound files to begin with, in a folder that all processes share."""
    import numpy as np
    from tests.example_studies import laid_out
    from tests.mutations import MAKERS

    from vibayes.runs import begin_run, identify_run
    from vibayes.study import read_study

    sound = folder / "sound"
    sound.mkdir()
    for name, make in MAKERS.items():
        make(sound / name)
    studies = folder / "studies"
    studies.mkdir()
    laid_out(studies)
    (studies / "line.py").write_text("import numpy as np\n\n\ndef line(slope):\n    return slope * np.arange(20.0)\n")
    (studies / "line.toml").write_text(STUDY)
    np.savetxt(studies / "line.csv", 1.5 * np.arange(20.0) + np.sin(np.arange(20.0)), header="x", comments="")
    run = begin_run(read_study(studies / "line.toml", trust=["line"]), folder / "run")
    identify_run(run)


def attempt(number: int, seed: int, folder: Path, place: Path) -> str:
    """One try; what went wrong, and nothing if all is well."""
    from tests.example_studies import LIGHT, STUDIES
    from tests.mutations import MAKERS, damaged, mutated_study

    rng = random.Random(f"{seed} {number}")
    kinds = [*MAKERS, *LIGHT, *LIGHT, "run.json", "posterior.nc"]
    name = rng.choice(kinds) if rng.random() < 0.98 else rng.choice(STUDIES)
    if name in MAKERS:
        path = place / name
        path.write_bytes(damaged(rng, (folder / "sound" / name).read_bytes(), name))
        reading = [_record, _looked]
    elif name in STUDIES:
        path = place / name
        path.write_bytes(mutated_study(rng, (folder / "studies" / name).read_text(encoding="utf-8")))
        reading = [lambda path: _study(path, folder)]
    else:
        shutil.copytree(folder / "run", place / "run", dirs_exist_ok=True)
        path = place / "run" / name
        path.write_bytes(damaged(rng, (folder / "run" / name).read_bytes(), name))
        reading = [_posterior]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in reading:
        if said := _outcome(read, path):
            return f"{name}: {said}"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return f"{name}: {grown:,} kB more memory" if grown > GROWTH else ""


def _outcome(read, path: Path) -> str:
    from vibayes.errors import InvalidInput

    try:
        return "" if read(path) else "something else came out"
    except InvalidInput as problem:
        whole = problem.where and problem.expected and problem.remedy and "Traceback" not in str(problem)
        return "" if whole and len(str(problem)) < 20_000 else f"a message of {len(str(problem))} letters"
    except BaseException as problem:
        return " ".join(f"{type(problem).__name__}: {problem}".split())[:300]


def _record(path: Path) -> bool:
    from vibayes import Record, read_record

    return isinstance(read_record(path), Record)


def _looked(path: Path) -> bool:
    from vibayes import Record, look, read_record

    wanted = look(path).suggested()
    record = read_record(path, wanted.input or None, wanted.output or None, wanted.time, wanted.rate)
    return isinstance(record, Record)


def _study(path: Path, folder: Path) -> bool:
    from tests.example_studies import OWN

    from vibayes.study import Study, read_study

    return isinstance(read_study(path, beside=folder / "studies", trust=OWN), Study)


def _posterior(path: Path) -> bool:
    from vibayes import Posterior
    from vibayes.runs import open_run

    return isinstance(open_run(path.parent, trust=["line"]).posterior(), Posterior)


def _worker(numbers: range, seed: int, folder: Path) -> None:
    import vibayes  # noqa: F401

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    place = folder / f"worker-{os.getpid()}"
    place.mkdir()
    for number in numbers:
        print(f"{number} {attempt(number, seed, folder, place)}", flush=True)
    shutil.rmtree(place)


def main() -> None:
    """Tries of one process, or one try again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="that the attack has laid out")
    parser.add_argument("--tries", type=int, nargs=3, help="first, stop and step")
    parser.add_argument("--again", type=int, help="one try, in a new folder ./mutated")
    given = parser.parse_args()
    if given.again is None:
        _worker(range(*given.tries), given.seed, given.folder)
        return
    folder = Path("mutated")
    folder.mkdir()
    _sound(folder)
    (folder / "try").mkdir()
    print(attempt(given.again, given.seed, folder, folder / "try") or "all is well")


if __name__ == "__main__":
    main()
