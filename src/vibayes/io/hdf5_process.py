"""A program of its own that reads HDF5 files for `vibayes.io.apart`; it imports nothing of vibayes.

The library of HDF5 believes what a file says of itself: a damaged one makes it run for ever, fill the memory or end the
whole process, and a hostile one makes it read other files. So files are read here, each in a process that is forked for
it alone and may use so much time and memory, and what was found is told over a pipe: a line of JSON for each group,
array or link, with the bytes of an array behind it. Arrays that are kept in other files are not read.
"""

import json
import math
import os
import sys
import time

import h5py
import numpy as np

_ATTRIBUTE = 2**16  # bytes; HDF5 itself allows no more in its usual layout, so a larger size is a fault in the file
_DEEPEST = 20
_SLOWEST = 2e7  # bytes per second of computing, unpacked
_OVERHEAD = 2**30
_ENTRIES = 100


class Beyond(Exception):
    """More than a file may ask for: what, how many bytes."""


class Visit:
    """One file, from its root to its last array."""

    def __init__(self, order, stream):
        self.order, self.stream = order, stream
        self.bytes = self.count = 0
        self.seen = set()

    def tell(self, payload=b"", **fields):
        """One message."""
        self.stream.write(json.dumps({**fields, "bytes": len(payload)}).encode() + b"\n")
        self.stream.write(payload)

    def allow(self, size=0):
        """Time for the next step, by the clock of the processor."""
        try:
            import resource
        except ImportError:  # on other systems who waits has a clock
            return
        seconds = self.order["seconds"] + size / _SLOWEST
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))

    def charge(self, dataset):
        """Count an array, and refuse what is beyond."""
        size = int(dataset.nbytes)
        self.bytes += size
        if self.bytes > self.order["most"]:
            raise Beyond(f"array {dataset.name!r}", self.bytes)
        self.allow(size)

    def group(self, group, path, depth=0):
        """A group and all that is in it."""
        self.allow()
        here = h5py.h5o.get_info(group.id).addr  # type: ignore[attr-defined]
        if here in self.seen or depth > _DEEPEST:
            self.tell(path=path, what="link", unfit="a link")
            return
        self.seen.add(here)
        self.tell(path=path, what="group", attributes=attributes_of(group))
        for name in group:
            self.count += 1
            if self.count > self.order["columns"]:
                raise Beyond("columns", self.count)
            inner = [*path, name]
            link = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                outside = isinstance(link, h5py.ExternalLink)
                self.tell(path=inner, what="link", unfit="a link to another file" if outside else "a link")
                continue
            item = group[name]
            if isinstance(item, h5py.Group):
                self.group(item, inner, depth + 1)
            elif isinstance(item, h5py.Dataset):
                self.array(item, inner)

    def array(self, dataset, path):
        """An array, or why it is none."""
        self.allow()
        plist = dataset.id.get_create_plist()
        if plist.get_layout() == h5py.h5d.VIRTUAL:
            self.tell(path=path, what="outside", unfit="a virtual data set, parts of another file")
            return
        if plist.get_layout() == h5py.h5d.CONTIGUOUS and plist.get_external_count():
            self.tell(path=path, what="outside", unfit="samples that are kept in another file")
            return
        common = {"path": path, "attributes": attributes_of(dataset)}
        if dataset.shape is None:
            self.tell(**common, what="array", unfit="an empty array")
            return
        self.charge(dataset)
        kind, text = dataset.dtype.kind, h5py.check_string_dtype(dataset.dtype) is not None
        names = list(dataset.dtype.names or ())
        if text and dataset.size == 1:
            found = str(np.ravel(dataset.asstr(errors="replace")[()])[0])
            self.tell(**common, what="text", text=found)
        elif kind == "O":
            references = h5py.check_ref_dtype(dataset.dtype) is h5py.Reference
            leads = self.leads(dataset) if references else []
            self.tell(**common, what="objects", unfit="text" if text else "objects", leads=leads)
        elif kind not in "fiub":
            self.tell(**common, what="array", dtype=f"{kind}", names=names, unfit="")
        else:
            values = np.ascontiguousarray(dataset[()])
            self.tell(values.tobytes(), **common, what="array", dtype=values.dtype.str, shape=list(values.shape))

    def leads(self, dataset):
        """Paths that references lead to."""
        every = np.ravel(dataset[()])
        if len(every) > self.order["columns"]:
            raise Beyond("columns", len(every))
        return [(h5py.h5r.get_name(each, dataset.file.id) or b"").decode("utf-8", "replace") for each in every]


def attributes_of(item):
    """The attributes of a group or an array that can be read, as plain numbers and texts."""
    found = {}
    for key in item.attrs:
        try:
            entry = item.attrs.get_id(key)
            if math.prod(entry.shape or ()) * entry.dtype.itemsize <= _ATTRIBUTE:
                found[key] = plain(item.attrs[key])
        except Exception:  # of a type that h5py does not know: nothing we would look for
            continue
    return found


def plain(value):
    """A number, a text or a list of these; None if it is more than that."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    if isinstance(value, np.ndarray | np.generic):
        if value.size > _ENTRIES:
            return None
        return plain(value.item() if value.size == 1 else value.tolist())
    if isinstance(value, list | tuple):
        parts = [plain(each) for each in value]
        return None if None in parts else parts
    if isinstance(value, str) and len(value) > _ATTRIBUTE:
        return None
    return value if isinstance(value, str | int | float | bool) else None


def visit(order, stream):
    """Read one file, and end with a message that says so."""
    try:
        try:
            import resource

            most = order["most"] * 2 + _OVERHEAD
            resource.setrlimit(resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        except (ImportError, ValueError, OSError):
            pass
        one = Visit(order, stream)
        one.allow()
        with h5py.File(order["path"], "r") as file:
            one.group(file, [])
        last = {"end": "whole"}
    except Beyond as problem:
        last = {"end": "beyond", "what": problem.args[0], "size": problem.args[1]}
    except BaseException as problem:
        last = {"end": "error", "said": f"{type(problem).__name__}: {problem}"[:400]}
    stream.write(json.dumps(last).encode() + b"\n")
    stream.flush()


def main():
    """Files by lines of JSON, until there are no more."""
    stream = sys.stdout.buffer
    for line in sys.stdin.buffer:
        order = json.loads(line)
        if not hasattr(os, "fork"):
            visit(order, stream)
            return
        child = os.fork()
        if child == 0:
            try:
                visit(order, stream)
            finally:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status:
            stream.write(json.dumps({"end": "died", "signal": os.WTERMSIG(status)}).encode() + b"\n")
            stream.flush()


if __name__ == "__main__":
    main()
