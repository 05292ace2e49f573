"""A disk that is full, at any moment: exit code 4, nothing lost, nothing left behind."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from verify import full_disk

import vibayes as vb
from vibayes.atomic_write import remove_unfinished
from vibayes.cli.outcome import outcome_of
from vibayes.report import save
from vibayes.report.style import pyplot

resource = pytest.importorskip("resource")


@pytest.fixture
def no_room(tmp_path):
    """A folder in which no file may have more than a few bytes, whoever writes it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield tmp_path
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def line(slope):
    return slope * np.arange(20.0)


RECORD = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
PROBLEM = vb.Problem(line, RECORD, {"slope": vb.Uniform(0.0, 3.0)})
STRUCTURE = vb.Structure.single_dof(1.0, [vb.Spring(1.0)], sensors=[vb.Displacement("mass")])


@pytest.fixture(scope="module")
def written():
    """What can be written, by name."""
    posterior = vb.infer(0, PROBLEM, vb.ABCRejection(200.0, 20))
    events = vb.simulation.EventTable(np.arange(99.0), np.zeros(99, int), *[("x",) * 99] * 4)
    long = vb.Record.from_arrays(rate=10.0, output={"x": np.random.default_rng(0).standard_normal(999)})
    figure = pyplot().subplots()[0]
    return {
        "posterior.nc": lambda path: vb.write_posterior(posterior, path),
        "record.csv": lambda path: vb.write_record(long, path),
        "record.npz": lambda path: vb.write_record(long, path),
        "record.mat": lambda path: vb.write_record(long, path),
        "record.h5": lambda path: vb.write_record(long, path),
        "events.csv": events.write_csv,
        "figure.png": lambda path: save(figure, path),
        "figure.svg": lambda path: save(figure, path),
    }


NAMES = "posterior.nc", "record.csv", "record.npz", "record.mat", "record.h5", "events.csv", "figure.png", "figure.svg"


@pytest.mark.parametrize("name", NAMES)
def test_what_there_is_no_room_for_is_an_error_and_leaves_nothing(written, no_room, name):
    (no_room / name).write_text("before")
    with pytest.raises(OSError, match="File too large") as trouble:
        written[name](no_room / name)
    assert trouble.value.filename == str(no_room / name)
    assert [each.name for each in no_room.iterdir()] == [name] and (no_room / name).read_text() == "before"


def test_a_temporary_file_that_a_kill_left_is_removed_and_nothing_else(tmp_path):
    left, mine = tmp_path / f".run.json.{'0' * 32}.tmp", tmp_path / ".mine.tmp"
    for each in (left, mine):
        each.write_text("{")
    remove_unfinished(tmp_path)
    assert not left.exists() and mine.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_full_disk_behind_a_stream_ends_with_the_number_of_that_and_not_with_that_of_python(stream, monkeypatch):
    with open(os.dup(os.open("/dev/full", os.O_WRONLY)), "w") as full:
        monkeypatch.setattr(sys, stream, full)

        def command():
            print("a result", file=full)
            raise vb.InvalidInput("a", "b", "c", "d")

        assert outcome_of(command) == 2
        full.flush()  # as Python does when it ends
        assert outcome_of(lambda: print("a result", flush=True)) == 0


def test_the_attack_finds_a_writer_that_leaves_half_a_file(tmp_path):
    with full_disk.full_after(tmp_path, 0), pytest.raises(OSError, match="No space left"):
        (tmp_path / "half").write_text("x" * 100)
    with full_disk.full_after(tmp_path, 5) as disk:
        (tmp_path / "whole").write_text("x" * 100)
    assert disk.calls > 1
