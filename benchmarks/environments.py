"""Peers that live in environments of their own, because they bring many packages or need other versions of ours."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def python(peer: str) -> Path:
    """Of the peer's environment, which `make bench` builds if it can."""
    return HERE.parent / f".venv-{peer}" / "bin" / "python"


def run(
    peer: str, problem: Mapping[str, Any], settings: str, variables: Mapping[str, str] | None = None
) -> tuple[Any, str]:
    """What the peer's script printed last, or None and why it is left out."""
    if not python(peer).exists():
        return None, f"left out: no .venv-{peer} here; `make bench` builds it if it can"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.npz"
        np.savez(file, **problem)
        order = [str(python(peer)), str(HERE / f"peer_{peer}.py"), str(file), settings]
        done = subprocess.run(order, capture_output=True, text=True, env=os.environ | dict(variables or {}))
    if done.returncode:
        return None, f"left out: {(done.stderr.splitlines() or ['no reason given'])[-1]}"
    return json.loads(done.stdout.splitlines()[-1]), ""
