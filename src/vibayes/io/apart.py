"""HDF5 files, read in a process apart from this one, which ends if the file makes it run for ever or crash.

The process is started when the first such file comes, and ends with this one. See `hdf5_process` for what it does.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.limits import MOST_COLUMNS, most_unpacked, require_columns, require_unpacked

_PROGRAM = Path(__file__).with_name("hdf5_process.py")
_SECONDS = "VIBAYES_HDF5_SECONDS"
_USUAL = 10.0  # of computing, for one array or group and beyond what its size needs
_WAITING = 12.0  # as long as that by the clock, for disks are slow and others compute too
_REMEDY = "export the file again, it is damaged"
_LINE = 2**24


class Item(NamedTuple):
    """A group, an array, a text or a link of a file.

    Attributes:
        path: names from the root.
        what: ``group``, ``array``, ``text``, ``objects``, ``link`` or ``outside`` (kept in another file).
        value: the array or the text.
        attributes: plain numbers and texts, None for others.
        unfit: why it cannot hold samples.
        leads: paths that references in it lead to.
        fields: names of the fields of a table.
    """

    path: tuple[str, ...]
    what: str
    value: Any = None
    attributes: Mapping[str, Any] = {}
    unfit: str = ""
    leads: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


def read_apart(where: str, path: Path) -> list[Item]:
    """Everything in an HDF5 file, in its order.

    Args:
        where: the function and file to blame in messages.
        path: the file.

    Raises:
        InvalidInput: the file is damaged: it cannot be read, crashes the library, or makes it run for ever.
    """
    with _LOCK:
        process = _process(where)
        try:
            return list(_items(where, path, process))
        except InvalidInput:
            raise
        except Exception:  # of a stream that was cut: what came was not from a sound process
            _end(process)
            raise InvalidInput(where, "an HDF5 file", "one that cannot be read", _REMEDY) from None
        except BaseException:
            _end(process)
            raise


_LOCK = threading.Lock()
_RUNNING: dict[int, subprocess.Popen[bytes]] = {}
"""By the process that started it: after a fork, the child's own."""


def _process(where: str) -> subprocess.Popen[bytes]:
    process = _RUNNING.get(os.getpid())
    if process is None or process.poll() is not None:
        _RUNNING.clear()
        command = [sys.executable, "-P", str(_PROGRAM)]  # -P, for modules of this folder have names of Python's own
        paths = os.pathsep.join(each for each in sys.path if each)
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": paths},
            )  # fmt: skip
        except OSError as trouble:
            raise InvalidInput(where, "a process that reads HDF5", str(trouble), "check the system's limits") from None
        _RUNNING[os.getpid()] = process
    return process


def _items(where: str, path: Path, process: subprocess.Popen[bytes]) -> Iterator[Item]:
    size = path.stat().st_size
    seconds = float(os.environ.get(_SECONDS, _USUAL))
    order = {
        "path": str(path.absolute()), "most": most_unpacked(size), "columns": MOST_COLUMNS, "seconds": seconds,
    }  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    watch = threading.Timer(_WAITING * (seconds + size / 1e7), process.kill)
    watch.daemon = True
    watch.start()
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        while True:
            line = process.stdout.readline(_LINE)
            told = json.loads(line)
            if "end" in told:
                break
            yield _item(told, process.stdout.read(told["bytes"]))
    finally:
        watch.cancel()
    _require_end(where, told, size)
    if not hasattr(os, "fork"):
        _end(process)


def _item(told: Mapping[str, Any], payload: bytes) -> Item:
    value: Any = told.get("text")
    if told["what"] == "array" and "shape" in told:
        shape = tuple(int(each) for each in told["shape"])
        dtype = np.dtype(told["dtype"])
        if dtype.kind not in "fiub" or math.prod(shape) * dtype.itemsize != len(payload):
            raise ValueError("an array cut short")
        value = np.frombuffer(payload, dtype).reshape(shape)
    elif told["what"] == "array" and not told.get("unfit"):
        value = np.empty(0, f"{told['dtype']}8" if told["dtype"] in "cmM" else told["dtype"])
    return Item(
        tuple(told["path"]), told["what"], value, told.get("attributes", {}), told.get("unfit", ""),
        tuple(told.get("leads", ())), tuple(told.get("names", ())),
    )  # fmt: skip


def _require_end(where: str, told: Mapping[str, Any], size: int) -> None:
    """Check that a file was read to its end."""
    how = told["end"]
    if how == "beyond" and told["what"] == "columns":
        require_columns(where, told["size"])
    elif how == "beyond":
        require_unpacked(where, told["size"], size, told["what"])
    elif how == "died":
        slow = hasattr(os, "fork") and told.get("signal") == 24  # SIGXCPU: it has used up its time
        got = "one whose reading does not end" if slow else "one that crashes the library of HDF5"
        raise InvalidInput(where, "a sound HDF5 file", got, _REMEDY)
    elif how != "whole":
        said = " ".join(str(told.get("said", "")).split())[:120]
        raise InvalidInput(where, "an HDF5 file", f"one that cannot be read ({said})", _REMEDY)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    _RUNNING.pop(os.getpid(), None)
