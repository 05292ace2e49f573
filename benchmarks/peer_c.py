"""The peer in C: the same algorithm as a plain loop, compiled here for this machine."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).with_name("trilinear.c")
FLAGS = ("-O3", "-march=native", "-fopenmp")
NAMES = ("m", "c", "kL", "k0", "kR", "dL", "dR")


@functools.cache
def compiler() -> str | None:
    """The C compiler of the system, if there is one that works."""
    found = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "gcc", "clang"))), None)
    try:
        if found:
            _library(found)
    except (subprocess.CalledProcessError, OSError):
        return None
    return found


@functools.cache
def _library(command: str, *defines: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "trilinear.so"
        order = [command, *FLAGS, *defines, "-shared", "-fPIC", "-o", str(target), str(SOURCE), "-lm"]
        subprocess.run(order, check=True, capture_output=True)
        function = ctypes.CDLL(str(target)).trilinear
    array = np.ctypeslib.ndpointer(float, flags="C")
    function.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_double, array, array, ctypes.c_int, array]
    function.restype = ctypes.c_long
    return function


def displacements(
    parameters: Mapping[str, np.ndarray], input: np.ndarray, interval: float, reference: bool = False
) -> np.ndarray:
    """Displacements (sets, samples); as a reference with longer numbers and series."""
    table = np.stack([parameters[name] for name in NAMES], -1)
    return _outputs(table, input, interval, False, *(("-DREAL=long double", "-DORDER=30") if reference else ()))


def accelerations(table: np.ndarray, input: np.ndarray, interval: float) -> np.ndarray:
    """Accelerations (sets, samples) of sets whose parameters are the columns of a table, as in `NAMES`."""
    return _outputs(table, input, interval, True)


def _outputs(table: np.ndarray, input: np.ndarray, interval: float, accelerations: bool, *defines: str) -> np.ndarray:
    command = compiler()
    if command is None:
        raise RuntimeError("no C compiler that works")
    table, input = np.ascontiguousarray(table, float), np.ascontiguousarray(input, float)
    out = np.empty((len(table), len(input)))
    _library(command, *defines)(len(table), len(input), interval, table, input, accelerations, out)
    return out
