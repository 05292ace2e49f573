"""Studies run as a user would run them."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.shown import ROOT, of_studies

DATA = ROOT.parent / "shared" / "data"


def run(study: str, *options: str, folder: Path | None = None) -> dict:
    """The JSON object on the last line of what a study prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "studies" / f"{study}.py"), *options, "--json"]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, cwd=folder)
    assert finished.returncode == 0, finished.stderr[-2000:]
    return json.loads(finished.stdout.splitlines()[-1])


def as_shown(study: str, folder: Path) -> dict:
    """The same for the quick variant of the command that the documentation shows, given in an empty folder."""
    return run(study, *shlex.split(of_studies()[study]), "--quick", "--data", str(DATA), folder=folder)


def measured(*names: str) -> Path:
    """The folder of measured data; the test is skipped where these are not in it."""
    for name in names:
        if not (DATA / name).exists():
            pytest.skip(f"measured data not found: {DATA / name}")
    return DATA
