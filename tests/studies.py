"""Studies run as a user would run them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(study: str, *options: str) -> dict:
    """The JSON object on the last line of a study's output."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(ROOT / "studies" / f"{study}.py"), "--json", *options]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert finished.returncode == 0, finished.stderr[-2000:]
    return json.loads(finished.stdout.splitlines()[-1])


def measured(*names: str) -> Path:
    """The folder of measured data; the test is skipped where these are not in it."""
    data = ROOT.parent / "shared" / "data"
    for name in names:
        if not (data / name).exists():
            pytest.skip(f"measured data not found: {data / name}")
    return data
