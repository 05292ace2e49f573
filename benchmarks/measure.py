"""Clocks: the least wall and processor time of several calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Timing(NamedTuple):
    """Seconds of wall clock, and of all processors together."""

    wall: float
    cpu: float


def timed(function: Callable[[], Any]) -> tuple[Any, Timing]:
    """Result and cost of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, Timing(time.perf_counter() - wall, time.process_time() - cpu)


def best(function: Callable[[], Any], repeats: int = 5, budget: float = 10.0) -> Timing:
    """Least wall and processor time of several calls, fewer where they take long."""
    return alternate([function], repeats, budget)[0]


def alternate(functions: list[Callable[[], Any]], repeats: int = 5, budget: float = 60.0) -> list[Timing]:
    """The same for several functions in turn, so that whatever else the machine does hits all of them."""
    end, costs = time.perf_counter() + budget, []
    while len(costs) < repeats and (not costs or time.perf_counter() < end):
        costs.append([timed(function)[1] for function in functions])
    return [Timing(*map(min, zip(*column, strict=True))) for column in zip(*costs, strict=True)]


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """p in seconds ∝ size^p, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def cores() -> list[int]:
    """The processors this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def fresh(use: list[int], sets: int, samples: int, repeats: int) -> dict[str, float]:
    """What `probe.py` measures in a new process confined to some cores."""
    probe = Path(__file__).with_name("probe.py")
    settings = json.dumps({"cores": use, "sets": sets, "samples": samples, "repeats": repeats})
    # A compiled program kept from an earlier run would hide the time to compile.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JAX_COMPILATION_CACHE")}
    environment["VIBAYES_CACHE"] = "off"
    order = [sys.executable, str(probe), settings]
    done = subprocess.run(order, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])
