"""Attacks on the whole of the package, and how many of them it did not withstand.

Each module of this folder that has ``TRIES`` is one attack: ``attack(tries, seed, folder)`` makes that many tries in an
empty folder and returns a line per failure, from which the try can be repeated. The test suite makes
``FEW`` tries. The command ends with 1 if there was a failure.

    python verify/run.py                          # all, as long as it takes
    python verify/run.py --only structures --scale 0.01 --seed 7
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # attacks use what tests and studies have
SHOWN = 20  # failures of one attack that are printed; all are in the JSON


@dataclass(frozen=True)
class Outcome:
    """Tries of one attack, and the failures among them."""

    attack: str
    tries: int
    failures: list[str]
    seconds: float


def names() -> list[str]:
    """Modules of this folder that are attacks."""
    return sorted(path.stem for path in HERE.glob("*.py") if "\nTRIES" in path.read_text(encoding="utf-8"))


def attacked(name: str, scale: float, seed: int) -> Outcome:
    """One attack; an error of its own counts as a failure, not as an end of the others."""
    module = importlib.import_module(f"verify.{name}")
    tries = max(1, round(module.TRIES * scale))
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="vibayes-verify-") as folder:
        try:
            failures = module.attack(tries, seed, Path(folder))
        except Exception:
            failures = [f"the attack itself ended: {traceback.format_exc()}"]
    return Outcome(name, tries, failures, time.perf_counter() - start)


def main(arguments: list[str] | None = None) -> int:
    """Run attacks, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=names(), help="one attack; may be given again")
    parser.add_argument("--scale", type=float, default=1.0, help="part of the usual number of tries")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    options = parser.parse_args(arguments)
    outcomes = []
    for name in options.only or names():
        print(f"{name} ...", file=sys.stderr, flush=True)
        outcomes.append(attacked(name, options.scale, options.seed))
        for failure in outcomes[-1].failures[:SHOWN]:
            print(f"  {failure}", file=sys.stderr, flush=True)
    print(f"{'attack':<24}{'tries':>9}{'failures':>10}{'seconds':>10}")
    for each in outcomes:
        print(f"{each.attack:<24}{each.tries:>9,}{len(each.failures):>10,}{each.seconds:>10.0f}")
    if options.json:
        print(json.dumps({each.attack: asdict(each) for each in outcomes}))
    return int(any(each.failures for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
