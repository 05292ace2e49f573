"""The file of expensive results: what is kept comes back, what is damaged does not."""

import errno
import struct
import time
import warnings

import numpy as np
import pytest

import vibayes as vb
from vibayes import journal as journals
from vibayes.fingerprint import fingerprint
from vibayes.journal import Journal

KEEP = {"worth_keeping": np.inf}
INPUTS = [np.arange(4.0), np.arange(3), np.float64(2.5)]


def answer(number):
    """Arrays of several kinds, with all that is hard to keep."""
    return (
        np.array([number, np.nan, -np.inf, -0.0]), np.array(number), np.zeros((0, 3)), np.array([True, False]),
        np.frombuffer("Größe".encode(), np.uint8), np.arange(6).reshape(2, 3).T,
    )  # fmt: skip


def filled(path, count=5):
    with Journal(path, "study", **KEEP) as journal:
        for number in range(count):
            journal.recall("kind", [number], lambda number=number: answer(number))
    return path


def never():
    raise AssertionError("it is known already")


def asked(path, count=5):
    """What a journal says to the questions that it was filled with, and which of them it had to compute."""
    found, computed = [], []
    with Journal(path, "study", **KEEP) as journal:
        for number in range(count):

            def compute(number=number):
                computed.append(number)
                return answer(number)

            found.append(journal.recall("kind", [number], compute))
    return found, computed


def same(one, other):
    return len(one) == len(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(one, other, strict=True)
    )


def test_what_was_kept_comes_back_to_the_last_bit_and_is_not_computed_but_for_the_first_check(tmp_path):
    found, computed = asked(filled(tmp_path / "j"))
    assert all(same(each, tuple(map(np.asarray, answer(number)))) for number, each in enumerate(found))
    assert computed == [0]


def test_results_can_be_written_to_and_lie_row_by_row_with_and_without_a_journal(tmp_path):
    (kept,) = asked(filled(tmp_path / "j", 1), 1)[0]
    assert all(each.flags.c_contiguous and each.flags.writeable for each in kept)
    assert journals.always_computed("", (), lambda: answer(1))[-1].flags.c_contiguous


@pytest.mark.filterwarnings("ignore:none of the")
@pytest.mark.parametrize("other", [[0.0], [np.float32(0)], [np.zeros(1, int)], [0, 0], []], ids=str)
def test_other_inputs_are_another_question(tmp_path, other):
    filled(tmp_path / "j", 1)
    with Journal(tmp_path / "j", "study", **KEEP) as journal:
        assert journal.recall("kind", other, lambda: (np.array("new"),))[0] == "new"
        assert journal.recall("another kind", [0], lambda: (np.array("new"),))[0] == "new"
        assert journal.recalling("elsewhere")("kind", [0], lambda: (np.array("new"),))[0] == "new"


def test_a_changed_model_is_refused(tmp_path):
    filled(tmp_path / "j", 2)
    with Journal(tmp_path / "j", "study", **KEEP) as journal:
        with pytest.raises(vb.InvalidInput, match="results of these models, got those of others"):
            journal.recall("kind", [0], lambda: answer(7))


def test_other_versions_may_round_differently_which_is_said_once(tmp_path, monkeypatch):
    now = journals.environment()
    monkeypatch.setattr(journals, "environment", lambda: now | {"jax": "0.0.1"})
    filled(tmp_path / "j", 2)
    monkeypatch.setattr(journals, "environment", lambda: now)
    with Journal(tmp_path / "j", "study", **KEEP) as journal:
        with pytest.warns(RuntimeWarning, match=r"instead of 0\.0\.1"):
            kept = journal.recall("kind", [0], lambda: answer(7))
        assert kept[1] == 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            journal.recall("kind", [1], never)


def test_cut_off_anywhere_it_gives_whole_frames_and_goes_on(tmp_path):
    whole = filled(tmp_path / "whole").read_bytes()
    header = len(filled(tmp_path / "none", 0).read_bytes())
    rng, path = np.random.default_rng(0), tmp_path / "j"
    frame = (len(whole) - header) // 5
    for length in [header, header + 1, header + 7, header + 9, len(whole) - 1, *rng.integers(header, len(whole), 30)]:
        path.write_bytes(whole[:length])
        found, computed = asked(path)
        known = (length - header) // frame
        assert all(same(each, tuple(map(np.asarray, answer(number)))) for number, each in enumerate(found))
        assert computed == [*([0] if known else []), *range(known, 5)]
        assert asked(path)[1] == [0]  # what was missing is kept now


def test_cut_off_in_its_header_it_is_refused(tmp_path):
    whole, path = filled(tmp_path / "whole").read_bytes(), tmp_path / "j"
    header = len(filled(tmp_path / "none", 0).read_bytes())
    for length in range(1, header, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(vb.InvalidInput, match="the journal"):
            Journal(path, "study")
        assert path.read_bytes() == whole[:length]


def test_any_damaged_byte_is_noticed_and_never_believed(tmp_path):
    whole = filled(tmp_path / "whole").read_bytes()
    header = len(filled(tmp_path / "none", 0).read_bytes())
    path, refused, recovered = tmp_path / "j", 0, 0
    for place in range(0, len(whole), 3):
        for flipped in (1, 0x80):
            damaged = bytearray(whole)
            damaged[place] ^= flipped
            path.write_bytes(damaged)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    found, computed = asked(path)
            except vb.InvalidInput:
                refused += 1
                assert place < header
                continue
            recovered += 1
            assert place >= header
            first = (place - header) * 5 // (len(whole) - header)
            assert computed == [*([0] if first else []), *range(first, 5)]
            assert all(same(each, tuple(map(np.asarray, answer(number)))) for number, each in enumerate(found))
    assert refused > 50 and recovered > 200


def test_damage_in_the_middle_is_told(tmp_path):
    path = filled(tmp_path / "j")
    whole = bytearray(path.read_bytes())
    whole[-300] ^= 1
    path.write_bytes(whole)
    with pytest.warns(RuntimeWarning, match="damaged"):
        Journal(path, "study").close()


def test_another_study_format_or_file_is_refused_in_words(tmp_path):
    path = filled(tmp_path / "j")
    with pytest.raises(vb.InvalidInput, match="results of this study, got those of another"):
        Journal(path, "another")
    whole = bytearray(path.read_bytes())
    whole[16:20] = struct.pack("<I", journals.FORMAT + 1)
    path.write_bytes(whole)
    with pytest.raises(vb.InvalidInput, match=r"format 1, got format 2; update vibayes"):
        Journal(path, "study")
    path.write_text("time,force\n0,1\n")
    with pytest.raises(vb.InvalidInput, match="another file, or a damaged one"):
        Journal(path, "study")
    with pytest.raises(vb.InvalidInput, match="a file that can be written"):
        Journal(tmp_path / "nowhere" / "j")
    assert path.read_text() == "time,force\n0,1\n"


class Full:
    """A file on a disk that becomes full."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, data):
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = min(self.room, len(data))
        self.room -= count
        return self.file.write(data[:count])


def test_on_a_full_disk_a_run_ends_and_what_was_kept_before_is_whole(tmp_path):
    journal = Journal(tmp_path / "j", "study", **KEEP)
    journal.recall("kind", [0], lambda: answer(0))
    journal._file = Full(journal._file, 100)  # type: ignore[assignment]
    whole = (tmp_path / "j").read_bytes()
    with pytest.raises(journals.UnwritableJournal, match=r"No space left on device"):
        journal.recall("kind", [1], lambda: answer(1))
    journal.close()
    assert (tmp_path / "j").read_bytes() == whole
    assert asked(tmp_path / "j", 3)[1] == [0, 1, 2]  # the first to be checked


def test_parts_of_a_result_that_is_kept_are_kept_only_if_they_took_long(tmp_path):
    def larger(seconds):
        def compute():
            journal.recall("part", [seconds], lambda: (time.sleep(seconds), big)[1:])
            return (np.zeros(1),)

        return compute

    big = np.zeros(2000)
    with Journal(tmp_path / "j", worth_keeping=1e6) as journal:
        journal.recall("part", ["alone"], lambda: (time.sleep(0.05), big)[1:])
        assert len(journal) == 1
        journal.recall("larger", [0], larger(0.05))
        assert len(journal) == 2
        journal.recall("larger", [1], larger(0.5))
        assert len(journal) == 4


def test_a_journal_of_other_models_is_told(tmp_path):
    filled(tmp_path / "j", 2)
    journal = Journal(tmp_path / "j", "study", **KEEP)
    journal.recall("other", [0], lambda: answer(0))
    with pytest.warns(RuntimeWarning, match=r"none of the 2 results in .* is of these models.*computed anew"):
        journal.close()


def test_an_interruption_while_a_frame_is_written_leaves_no_trace(tmp_path):
    class Interrupting(Full):
        def write(self, data):
            self.file.write(data[:50])
            raise KeyboardInterrupt

    journal = Journal(tmp_path / "j", "study", **KEEP)
    file = journal._file
    journal._file = Interrupting(file, 0)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        journal.recall("kind", [0], lambda: answer(0))
    journal._file = file
    for number in range(2):
        journal.recall("kind", [number], lambda number=number: answer(number))
    journal.close()
    assert asked(tmp_path / "j", 2)[1] == [0]


def test_what_is_computed_sooner_than_kept_is_not_kept_and_the_file_has_a_limit(tmp_path):
    big, size = (np.zeros(100_000),), 800_000
    with Journal(tmp_path / "quick", worth_keeping=1e3) as journal:
        journal.recall("quick", [0], lambda: big)
        assert len(journal) == 0
    with Journal(tmp_path / "limited", worth_keeping=1e12, most_bytes=3 * size) as journal:
        for number in range(10):
            journal.recall("much", [number], lambda: big)
        assert 1 <= len(journal) <= 4
        assert (tmp_path / "limited").stat().st_size < 4 * size


def test_time_goes_on_where_it_was(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(journals.time, "perf_counter", lambda: clock[0])

    def slow():
        clock[0] += 50.0
        return (np.zeros(1),)

    with Journal(tmp_path / "j") as journal:
        for number in range(3):
            journal.recall("slow", [number], slow)
        assert journal.elapsed() == 150.0
    clock[0] = 1000.0
    with Journal(tmp_path / "j") as journal:
        clock[0] += 1.0
        assert journal.elapsed() == 1.0
        journal.recall("slow", [0], slow)  # checked: the clock goes on from 50
        assert journal.elapsed() == 100.0
        journal.recall("slow", [2], never)
        assert journal.elapsed() == 150.0


def test_fingerprints_tell_problems_and_settings_apart_but_not_places_in_memory():
    record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})

    def problem(high=3.0, name="", spring: str | float = "k", record=record):
        structure = vb.Structure.single_dof(1.0, [vb.Spring(spring)], sensors=[vb.Displacement("mass")])
        priors = {"k": vb.Uniform(1.0, high), "s": vb.Uniform(0.1, 1.0)}
        structure = structure.driven_by(vb.WhiteNoise(1.0))
        return vb.Problem(structure, record, priors if spring == "k" else {"s": priors["s"]}, name, noise="s")

    other = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0) + 1e-9})
    prints = [fingerprint(each) for each in (problem(), problem(3.1), problem(name="a"), problem(record=other),
                                             problem(spring=2.0), problem(spring=2.1))]  # fmt: skip
    assert len(set(prints)) == len(prints) and prints[0] == fingerprint(problem())
    assert fingerprint(vb.IBIS(40)) != fingerprint(vb.IBIS(41))
    assert fingerprint(object(), lambda: 0) == fingerprint(object(), lambda: 0)
    assert fingerprint({"a", "b", "c"}) == fingerprint({"c", "b", "a"})
