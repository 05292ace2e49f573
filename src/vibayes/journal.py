"""Results that took long to compute, kept in a file as they come, so that a run that was killed need not repeat them.

A sampler with a seed asks the same questions in the same order whenever it is run. So a run that ended at any moment is
resumed by running it again: what was answered before comes from the journal at once, bit for bit, and the first
question that it does not know is where the run goes on. No sampler has to know.

The file is a header and frames, each with a checksum. A frame is appended whole; what a kill left unfinished at the end
is dropped when the file is opened, and so is everything from a damaged frame on: it will be computed again.

    header  =  "vibayes journal\\n" · format · length · {"study": …, "environment": …} · checksum
    frame   =  length · fingerprint of the question · time of the run · arrays · checksum
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from vibayes.atomic_write import force_to_disk, write_whole
from vibayes.environment import changes, environment
from vibayes.errors import InvalidInput

Arrays = tuple[np.ndarray, ...]
Recall = Callable[[str, Sequence[Any], Callable[[], Sequence[Any]]], Arrays]

MAGIC = b"vibayes journal\n"
FORMAT = 1
_HEAD = struct.Struct("<II")
_LENGTH = struct.Struct("<Q")
_CHECK = 16
_KEY = 32
_STAMP = struct.Struct("<d")
_WORTH_KEEPING = 8e6
"""Bytes per second of computing. What is quicker to compute than that is computed again."""
_PART = 1.0 / 16.0
"""Share of that for a result which is only part of a larger one that is kept too."""
_MOST_BYTES = 2_000_000_000
_SYNC = 5.0
"""Seconds after which the disk is asked to keep what it has; a kill loses nothing, a power cut no more than these."""


class UnwritableJournal(OSError):
    """A journal to which nothing can be added, as on a full disk; what it has is whole, and a run resumes from there.

    Examples:
        >>> from vibayes.journal import UnwritableJournal
        >>> isinstance(UnwritableJournal(28, "No space left on device", "journal.bin"), OSError)
        True
    """


class Journal:
    """An append-only file of expensive results; one process at a time may have it open.

    Args:
        path: the file; it is begun if it does not exist.
        study: what the results are of; a journal of another study is refused.
        worth_keeping: bytes per second of computing; a larger result is not kept, for computing it again is quick. The
            fuller the file, the fewer: half of it when the file is half full. Of what is computed within the
            computation of another result that is kept, a sixteenth of that.
        most_bytes: that the file may have.

    Raises:
        InvalidInput: the file is no journal, of a newer format or of another study, or cannot be opened for writing.
        UnwritableJournal: of `recall`, if there is no room for a result; what was kept before is whole.

    Examples:
        >>> import tempfile
        >>> from vibayes.journal import Journal
        >>> folder = tempfile.TemporaryDirectory()
        >>> def slow():
        ...     print("computing")
        ...     return (2.0 ** np.arange(3.0),)
        >>> for _ in range(2):
        ...     with Journal(f"{folder.name}/journal.bin", worth_keeping=float("inf")) as journal:
        ...         journal.recall("powers", [np.arange(3.0)], slow)
        computing
        (array([1., 2., 4.]),)
        computing
        (array([1., 2., 4.]),)

        The second was computed too, because the first result of each kind is checked after a journal was opened.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        study: str = "",
        *,
        worth_keeping: float = _WORTH_KEEPING,
        most_bytes: float = _MOST_BYTES,
    ):
        self.path, self.study, self.note = Path(path), study, ""
        self._worth, self._most = worth_keeping, most_bytes
        self._clock, self._mark, self._synced = 0.0, time.perf_counter(), time.monotonic()
        self._checked, self._depth, self._asked, self._found = set[str](), 0, False, False
        try:
            if not self.path.exists() or not self.path.stat().st_size:
                _begin(self.path, {"study": study, "environment": environment()})
            self._file: BinaryIO = open(self.path, "r+b", buffering=0)
        except (OSError, InvalidInput) as trouble:
            got = f"'{self.path}': {getattr(trouble, 'strerror', None) or trouble}"
            remedy = "check the folder, its permissions and its room"
            raise InvalidInput("Journal", "a file that can be written", got, remedy) from None
        try:
            self._environment = self._require_ours()
            self._frames, self._end = self._scan()
        except BaseException:
            self._file.close()
            raise
        self._old = frozenset(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the file; what was kept stays."""
        if self._file.closed:
            return
        try:
            self._sync()
        finally:
            self._file.close()
        if self._asked and self._old and not self._found:
            said = f"none of the {len(self._old):,} results in '{self.path}' is of these models, settings and key"
            warnings.warn(f"{said}: all was computed anew", RuntimeWarning, stacklevel=2)

    def elapsed(self) -> float:
        """Seconds that the run has taken, those before it was resumed included."""
        return self._clock + time.perf_counter() - self._mark

    def recalling(self, context: str) -> Recall:
        """`recall` for one of several models or settings: what is kept for another is not found."""
        return lambda kind, inputs, compute: self.recall(f"{context} {kind}", inputs, compute)

    def recall(self, kind: str, inputs: Sequence[Any], compute: Callable[[], Sequence[Any]]) -> Arrays:
        """What is kept for these inputs, or else what is computed now, and kept.

        Args:
            kind: what is computed.
            inputs: arrays and numbers that the result depends on.
            compute: gives arrays; called if there is no result yet, and to check the first that is found of a kind.

        Returns:
            The arrays, as they were computed.

        Raises:
            InvalidInput: the first result found is not what is computed now: the model was changed.
        """
        key = _key(kind, inputs)
        kept = self._read(key)
        self._asked, self._found = True, self._found or kept is not None
        if kept is not None and (kind in self._checked or key not in self._old):
            return kept
        start = time.perf_counter()
        self._depth += 1
        try:
            computed = always_computed(kind, inputs, compute)
        finally:
            self._depth -= 1
        if kept is not None:
            self._require_same(kind, kept, computed)
            return kept
        self._append(key, computed, time.perf_counter() - start)
        return computed

    def _require_ours(self) -> dict[str, str]:
        """The environment that the header tells, if the header is ours."""
        where, remedy = f"the journal '{self.path}'", "delete it to compute everything anew"
        beginning = self._file.read(len(MAGIC) + _HEAD.size)
        if not beginning.startswith(MAGIC) or len(beginning) < len(MAGIC) + _HEAD.size:
            raise InvalidInput(where, "a journal", "another file, or a damaged one", remedy)
        version, length = _HEAD.unpack(beginning[len(MAGIC) :])
        if version != FORMAT:
            raise InvalidInput(where, f"format {FORMAT}", f"format {version}", f"update vibayes, or {remedy}")
        rest = self._file.read(min(length, 1 << 20) + _CHECK)
        if len(rest) != length + _CHECK or _checksum(beginning + rest[:-_CHECK]) != rest[-_CHECK:]:
            raise InvalidInput(where, "a whole header", "a damaged one", remedy)
        header = json.loads(rest[:-_CHECK])
        if header["study"] != self.study:
            raise InvalidInput(where, "results of this study", "those of another", remedy)
        return header["environment"]

    def _scan(self) -> tuple[dict[bytes, tuple[int, int]], int]:
        """Where the frames are, by the fingerprint of their question; and where they end."""
        size, place, frames, damaged = os.fstat(self._file.fileno()).st_size, self._file.tell(), {}, False
        while place < size:
            head = self._file.read(_LENGTH.size)
            length = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else size
            after = place + _LENGTH.size + length + _CHECK
            if after > size:
                break
            body = self._file.read(length)
            damaged = self._file.read(_CHECK) != _checksum(head + body) or length < _KEY + _STAMP.size
            if damaged:
                break
            frames[body[:_KEY]] = (place + _LENGTH.size, length)
            place = after
        if place < size:
            lost = f"{size - place:,} of {size:,} bytes of '{self.path}'"
            self.note = f"{lost} were not written to their end; what they held is computed again"
            if damaged:
                self.note = f"{lost} are damaged or come after a damaged place; what they held is computed again"
                warnings.warn(self.note, RuntimeWarning, stacklevel=3)
        return frames, place

    def _read(self, key: bytes) -> Arrays | None:
        if key not in self._frames:
            return None
        place, length = self._frames[key]
        self._file.seek(place)
        body = self._file.read(length)
        if self._file.read(_CHECK) != _checksum(_LENGTH.pack(length) + body):
            return None  # changed since it was opened
        (stamp,) = _STAMP.unpack_from(body, _KEY)
        if stamp > self.elapsed():
            self._clock, self._mark = stamp, time.perf_counter()
        return _unpacked(body[_KEY + _STAMP.size :])

    def _require_same(self, kind: str, kept: Arrays, computed: Arrays) -> None:
        """Refuse what another model gave. Other versions of libraries may round differently, which is said once."""
        self._checked.add(kind)
        same = len(kept) == len(computed) and all(
            one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
            for one, other in zip(kept, computed, strict=True)
        )
        if same:
            return
        if found := changes(self._environment, environment()):
            said = f"results are not quite as they were before, for there is {', '.join(found)}: draws will differ"
            self.note = self.note or said
            warnings.warn(said, RuntimeWarning, stacklevel=4)
            return
        remedy = "begin a new run; a simulator that draws random numbers must draw the same ones every time"
        raise InvalidInput(f"the journal '{self.path}'", "results of these models", "those of others", remedy)

    def _append(self, key: bytes, arrays: Arrays, seconds: float) -> None:
        allowed = self._worth * (1.0 - self._end / self._most) * seconds * (_PART if self._depth else 1.0)
        if not sum(each.nbytes for each in arrays) <= allowed:
            return
        body = key + _STAMP.pack(self.elapsed()) + _packed(arrays)
        head = _LENGTH.pack(len(body))
        frame = head + body + _checksum(head + body)
        try:
            self._file.seek(self._end)  # over what an interruption may have left there
            _write(self._file, frame)
        except OSError as trouble:
            raise self._unwritable(trouble) from None
        self._frames[key] = (self._end + _LENGTH.size, len(body))
        self._end += len(frame)
        if time.monotonic() - self._synced > _SYNC:
            self._sync()

    def _unwritable(self, trouble: OSError) -> UnwritableJournal:
        """A run that went on without its journal would lose all that it computes from here on to the next fault."""
        try:
            self._file.truncate(self._end)
        except OSError:
            pass  # half a frame at the end is dropped when the file is opened
        return UnwritableJournal(trouble.errno, trouble.strerror or str(trouble), str(self.path))

    def _sync(self) -> None:
        try:
            force_to_disk(self._file.fileno())
        except OSError as trouble:
            raise self._unwritable(trouble) from None
        self._synced = time.monotonic()


def always_computed(kind: str, inputs: Sequence[Any], compute: Callable[[], Sequence[Any]]) -> Arrays:
    """`Journal.recall` where there is no journal.

    Arrays are laid out row by row, as those of a journal are: the order of a sum, and so its last bit, depends on it.
    """
    return tuple(np.array(each, order="C", copy=None) for each in compute())


def _begin(path: Path, header: dict[str, Any]) -> None:
    """A header alone, which is there completely or not at all."""
    told = json.dumps(header).encode()
    whole = MAGIC + _HEAD.pack(FORMAT, len(told)) + told
    write_whole("Journal", path, whole + _checksum(whole))


def _write(file: BinaryIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _key(kind: str, inputs: Sequence[Any]) -> bytes:
    hashed = hashlib.blake2b(kind.encode(), digest_size=_KEY)
    for each in inputs:
        array = np.asarray(each)
        hashed.update(f"\n{array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    return hashed.digest()


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_CHECK).digest()


def _packed(arrays: Arrays) -> bytes:
    shapes = json.dumps([(each.dtype.str, each.shape) for each in arrays]).encode()
    return b"".join([_LENGTH.pack(len(shapes)), shapes, *(each.tobytes() for each in arrays)])


def _unpacked(payload: bytes) -> Arrays:
    (length,) = _LENGTH.unpack_from(payload)
    place, arrays = _LENGTH.size + length, []
    for name, shape in json.loads(payload[_LENGTH.size : place]):
        dtype = np.dtype(name)
        count = int(np.prod(shape, dtype=int))
        arrays.append(np.frombuffer(payload, dtype, count, place).reshape(shape).copy())
        place += count * dtype.itemsize
    return tuple(arrays)
