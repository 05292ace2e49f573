"""HDF5 files cannot make a reader open other files, run for ever, crash, or fill the memory."""

import struct
import time

import h5py
import numpy as np
import pytest

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.io import hdf5 as reader
from vibayes.io import look, read_posterior, read_record, write_record

SECRET = np.frombuffer(b"root:x:0:0: what nobody should read", np.uint8)


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(SECRET.tobytes())
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["y"] = np.arange(len(SECRET), dtype=float)
    return path


def hostile(path, way, secret):
    """A file whose array `y` is in another one."""
    count = len(SECRET)
    with h5py.File(path, "w") as file:
        file["time"] = np.arange(count) / 10.0
        if way == "external storage":
            file.create_dataset("y", (count,), "u1", external=[(str(secret), 0, count)])
        elif way == "virtual":
            layout = h5py.VirtualLayout((count,), float)
            layout[:] = h5py.VirtualSource(secret.with_name("other.h5"), "y", (count,))
            file.create_virtual_dataset("y", layout)
        else:
            file["y"] = h5py.ExternalLink(str(secret.with_name("other.h5")), "y")


@pytest.mark.parametrize("suffix", [".h5", ".nc", ".mat"])
@pytest.mark.parametrize("way", ["external storage", "virtual", "external link"])
def test_arrays_in_other_files_are_refused(tmp_path, secret, way, suffix):
    path = tmp_path / f"hostile{suffix}"
    hostile(path, way, secret)
    with pytest.raises(InvalidInput, match=r"'y', got .*(other file|another file)"):
        read_record(path, output="y")
    assert [each.name for each in look(path).columns] == ["time"]


@pytest.mark.parametrize("way", ["external storage", "virtual", "external link"])
def test_parts_of_a_stored_record_in_other_files_are_refused(tmp_path, secret, way):
    path = tmp_path / "stored.h5"
    write_record(vb.Record.from_arrays(rate=10.0, output={"y": np.zeros(len(SECRET))}), path)
    other = tmp_path / "hostile.h5"
    hostile(other, way, secret)
    with h5py.File(path, "r+") as file, h5py.File(other) as given:
        del file["output"]
        if way == "external link":
            file["output"] = h5py.ExternalLink(str(secret.with_name("other.h5")), "y")
        else:
            given.copy("y", file, name="output")
    with pytest.raises(InvalidInput, match="another file"):
        read_record(path)


def endless(path):
    """The case that never ended: a free block of no size in a heap of texts."""
    write_record(vb.Record.from_arrays(rate=10.0, output={"y": np.zeros(60)}, metadata={"s": 1}), path)
    content = bytearray(path.read_bytes())
    heap = content.index(b"GCOL")
    last = content.index(b'{"s": 1}', heap)
    content[last - 8 : last] = struct.pack("<Q", 0x18)
    path.write_bytes(content)


def test_a_heap_that_never_ends_is_refused_at_once(tmp_path):
    endless(tmp_path / "hang.h5")
    start = time.perf_counter()
    for read in (read_record, look):
        with pytest.raises(InvalidInput, match="heap"):
            read(tmp_path / "hang.h5")
    assert time.perf_counter() - start < 5.0


def test_whatever_makes_hdf5_run_for_ever_is_ended(tmp_path, monkeypatch):
    endless(tmp_path / "hang.h5")
    monkeypatch.setattr(reader, "require_heaps", lambda *_: None)
    monkeypatch.setenv("VIBAYES_HDF5_SECONDS", "1")
    with pytest.raises(InvalidInput, match="does not end"):
        read_record(tmp_path / "hang.h5")
    write_record(vb.Record.from_arrays(rate=10.0, output={"y": np.zeros(60)}), tmp_path / "sound.h5")
    assert read_record(tmp_path / "sound.h5").samples == 60  # the next file is read as if nothing had happened


def test_groups_that_are_linked_again_and_again_are_read_once(tmp_path):
    with h5py.File(tmp_path / "maze.h5", "w") as file:
        group = file
        for _ in range(18):
            inner = group.create_group("a")
            group["b"] = inner
            group = inner
        group["y"] = np.arange(5.0)
    start = time.perf_counter()
    assert len(look(tmp_path / "maze.h5").columns) == 1
    assert time.perf_counter() - start < 5.0


def test_arrays_that_unpack_to_a_thousand_times_the_file_are_refused(tmp_path):
    with h5py.File(tmp_path / "bomb.h5", "w") as file:
        file.create_dataset("y", (10**8,), "f8", chunks=(10**6,), compression="gzip")  # nothing is stored of it
    with pytest.raises(InvalidInput, match="times"):
        look(tmp_path / "bomb.h5")


def test_a_posterior_that_reads_other_files_is_refused(tmp_path, secret):
    path = tmp_path / "posterior.nc"
    hostile(path, "external storage", secret)
    record = vb.Record.from_arrays(rate=1.0, output=np.arange(5.0))
    problem = vb.Problem(lambda a: np.zeros(5), record, {"a": vb.Uniform(0, 1)})
    with pytest.raises(InvalidInput, match="another file"):
        read_posterior(path, problem)
