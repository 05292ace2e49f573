"""Run folders: what is in them, how they are resumed, and what they refuse."""

import errno
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import vibayes as vb
from vibayes import journal as journals
from vibayes.journal import Journal
from vibayes.runs import RefusedRun, begin_run, identify_run, open_run
from vibayes.runs import folder as folders
from vibayes.runs import identify as identifies
from vibayes.runs.details import Details, write_details
from vibayes.study import Limits, Study

TIME = np.linspace(0.0, 1.0, 30)
METHOD = vb.ABCSMC(particles=40, threshold=15.0)


def read_study(path, beside=None, trust=(), data=None):
    """A study whose text is the name of a data file."""
    beside = Path(path).parent if beside is None else Path(beside)
    text = Path(path).read_text()
    file = beside / text.strip() if data is None else data
    record = vb.Record.from_arrays(rate=29.0, output={"y": np.loadtxt(file)})
    level, slope = vb.Uniform(-2.0, 2.0), vb.Normal(0.0, 1.0)
    problems = (
        vb.Problem(lambda a: a[:, None] + 0.0 * TIME, record, {"a": level}, "flat", vectorised=True),
        vb.Problem(lambda a, b: a[:, None] + b[:, None] * TIME, record, {"a": level, "b": slope}, "line",
                   vectorised=True),
    )  # fmt: skip
    return Study(Path(path), text, "lines", 3, beside / "run", (file,), record, problems, METHOD, Limits())


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "read_study", read_study)
    noise = 0.05 * np.random.default_rng(0).standard_normal(30)
    np.savetxt(tmp_path / "data.txt", 0.3 + 0.8 * TIME + noise)
    (tmp_path / "lines.toml").write_text("data.txt\n")
    return read_study(tmp_path / "lines.toml")


@pytest.fixture
def keeps(monkeypatch):
    """Journals that keep everything, however quick it was."""
    monkeypatch.setattr(identifies, "Journal", lambda path, study: Journal(path, study, worth_keeping=np.inf))


def draws(posterior):
    return {f"{m.name} {n}": v.tobytes() for m in posterior for n, v in {**m.draws, "w": m.weights}.items()}


def interrupting(after):
    """Progress that is interrupted from the keyboard."""
    seen = []

    def show(level):
        seen.append(level)
        if len(seen) == after:
            raise KeyboardInterrupt

    return show


def test_a_run_leaves_a_folder_that_tells_all_of_it(study):
    run = begin_run(study)
    assert run.state == "begun" and run.folder == study.output
    posterior = identify_run(run)
    told = json.loads((run.folder / "run.json").read_text())
    assert told["state"] == "done" and told["format"] == 2 and told["seed"] == 3 and told["title"] == "lines"
    assert {"vibayes", "python", "jax", "numpy", "processor"} <= set(told["environment"])
    assert list(told["files"]) == [str(study.files[0])] and len(told["files"][str(study.files[0])]) == 64
    assert (run.folder / "study.toml").read_bytes() == study.path.read_bytes()
    assert "done" in (run.folder / "log.txt").read_text() and (run.folder / "figures").is_dir()
    assert {each.name for each in run.folder.iterdir()} <= {
        "study.toml", "run.json", "run.copy.json", "log.txt", "journal.bin", "posterior.nc", "figures", ".lock",
        "checksums.txt",
    }  # fmt: skip
    again = open_run(run.folder)
    assert draws(again.posterior()) == draws(posterior) and again.notes == ()
    assert draws(posterior) == draws(vb.infer(3, study.problems, METHOD))
    assert draws(identify_run(again)) == draws(posterior)  # done already


@pytest.mark.parametrize("after", [1, 3])
def test_interrupted_from_the_keyboard_there_is_a_posterior_and_the_rest_comes_later(study, keeps, after):
    whole = vb.infer(3, study.problems, METHOD)
    run = begin_run(study)
    part = identify_run(run, interrupting(after))
    assert run.state == "interrupted" and any("interrupted" in note for note in part.notes)
    assert draws(open_run(run.folder).posterior()) == draws(part) != draws(whole)
    assert draws(identify_run(open_run(run.folder))) == draws(whole)
    assert run.state == "done" and run.details.parts == 2


def test_interrupted_earlier_the_second_time_the_larger_part_is_kept(study, keeps):
    run = begin_run(study)
    part = identify_run(run, interrupting(4))
    assert draws(identify_run(open_run(run.folder), interrupting(1))) == draws(part)
    assert draws(run.posterior()) == draws(part) and run.state == "interrupted"


def test_interrupted_before_anything_was_done_the_run_can_be_resumed(study, monkeypatch):
    run = begin_run(study)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(identifies, "infer", lambda *a, **k: (_ for _ in ()).throw(KeyboardInterrupt))
        identify_run(run)
    assert run.state == "interrupted"
    with pytest.raises(RefusedRun, match="a posterior, got none; the run is interrupted; resume it"):
        run.posterior()
    identify_run(run)
    assert run.state == "done"


def test_a_run_that_failed_says_why_and_may_be_tried_again(study, monkeypatch):
    run = begin_run(study)
    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        patched.setattr(identifies, "infer", lambda *a, **k: 1 / 0)
        identify_run(run)
    assert run.state == "failed" and run.details.message == "ZeroDivisionError: division by zero"
    identify_run(run)
    assert run.state == "done" and run.details.message == ""


def test_a_changed_or_missing_data_file_is_refused(study):
    run = begin_run(study)
    study.files[0].write_text(study.files[0].read_text().replace("0", "1", 1))
    with pytest.raises(RefusedRun, match=r"data\.txt' as it was, got one that was changed"):
        open_run(run.folder)
    study.files[0].unlink()
    with pytest.raises(RefusedRun, match=r"data\.txt', got no such file"):
        open_run(run.folder)


def test_the_stored_study_counts_whatever_becomes_of_the_file(study):
    run = begin_run(study)
    study.path.write_text("other.txt\n")
    assert open_run(run.folder).study.text == "data.txt\n"
    study.path.unlink()
    identify_run(open_run(run.folder))
    (run.folder / "study.toml").write_text("other.txt\n")
    with pytest.raises(RefusedRun, match=r"study\.toml as it was, got one that was changed; a run keeps to the study"):
        open_run(run.folder)
    (run.folder / "study.toml").unlink()
    with pytest.raises(RefusedRun, match=r"its study\.toml"):
        open_run(run.folder)


def test_a_folder_with_something_in_it_is_left_alone(study, tmp_path):
    run = begin_run(study)
    before = {each.name: each.read_bytes() for each in run.folder.iterdir() if each.is_file()}
    with pytest.raises(RefusedRun, match="a new folder, got one with a run that is begun; resume it"):
        begin_run(study)
    assert {each.name: each.read_bytes() for each in run.folder.iterdir() if each.is_file()} == before
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine")
    with pytest.raises(RefusedRun, match="an empty folder, got one with other files"):
        begin_run(study, mine)
    with pytest.raises(RefusedRun, match="a folder, got a file"):
        begin_run(study, mine / "thesis.txt")
    assert [each.name for each in mine.iterdir()] == ["thesis.txt"]


def test_a_folder_that_was_being_begun_when_it_was_killed_can_be_begun(study):
    run = begin_run(study)
    (run.folder / "run.json").unlink()
    (run.folder / ".run.json.abc.tmp").write_text("{")
    assert begin_run(study).state == "begun"


def test_what_is_no_run_or_of_a_newer_format_or_damaged_is_refused(study, tmp_path):
    with pytest.raises(RefusedRun, match="a run folder, got no such folder"):
        open_run(tmp_path / "nowhere")
    with pytest.raises(RefusedRun, match=r"a folder without run\.json"):
        open_run(tmp_path)
    file = begin_run(study).folder / "run.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps(told | {"format": 3, "new": 0}))
    with pytest.raises(RefusedRun, match="format 2, got format 3; update vibayes"):
        open_run(file.parent)
    for bad in ("", "{", "[]", "{}", json.dumps(told | {"state": "odd"}), json.dumps(told | {"format": "1"}),
                json.dumps({k: v for k, v in told.items() if k != "seed"}), "\udce4"):  # fmt: skip
        file.write_bytes(bad.encode("utf-8", "surrogateescape"))
        with pytest.raises(RefusedRun, match=r"a whole run\.json, got a damaged one"):
            open_run(file.parent)


def test_two_processes_cannot_work_in_one_folder(study):
    run = begin_run(study)
    other = folders.FileLock(run.folder / ".lock", is_singleton=False)
    with other.acquire(timeout=0), pytest.raises(RefusedRun, match="another process"):
        identify_run(run)
    identify_run(run)


def test_a_full_disk_at_the_end_is_told_and_nothing_is_lost(study, keeps, monkeypatch):
    run = begin_run(study)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(identifies, "write_posterior", full)
        with pytest.raises(RefusedRun, match=r"no space left on device; free some space"):
            identify_run(run)
    assert run.state == "begun" and not (run.folder / "posterior.nc").exists()
    computed = []
    monkeypatch.setattr(Journal, "_append", lambda *frame: computed.append(frame))
    identify_run(open_run(run.folder))
    assert run.state == "done" and not computed


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_a_folder_that_cannot_be_made_is_refused(study, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(folders, "write_whole", denied)
    with pytest.raises(RefusedRun, match="can be written, got permission denied"):
        begin_run(study)


def test_other_versions_are_told_before_a_run_is_resumed(study):
    run = begin_run(study)
    details = run.details
    write_details(run.folder, replace(details, environment=details.environment | {"jax": "0.0.1"}))
    again = open_run(run.folder)
    assert "instead of 0.0.1: draws may differ" in again.notes[0]
    identify_run(again)
    assert "instead of 0.0.1" in (run.folder / "log.txt").read_text()


def test_a_journal_of_another_study_is_refused(study, tmp_path):
    run = begin_run(study)
    Journal(tmp_path / "other", "another study").close()
    shutil.copy(tmp_path / "other", run.folder / "journal.bin")
    with pytest.raises(RefusedRun, match="results of this study, got those of another"):
        identify_run(run)
    assert run.state == "begun"


def test_limits_of_the_study_count_all_parts(study, keeps, monkeypatch):
    limited = replace(study, limits=Limits(max_seconds=500.0))
    run = begin_run(limited)
    clock = [0.0]
    monkeypatch.setattr(journals.time, "perf_counter", lambda: clock[0])

    def slow(level):
        clock[0] += 200.0
        if clock[0] == 400.0:
            raise KeyboardInterrupt

    identify_run(run, slow)
    clock[0] = 0.0
    posterior = identify_run(replace(run), lambda level: clock.__setitem__(0, clock[0] + 150.0))
    assert any("max_seconds" in note for note in posterior.notes) and run.details.seconds >= 500.0


def test_a_lost_posterior_of_a_run_that_ended_at_a_limit_of_time_is_rebuilt_whatever_time_that_takes(
    study, keeps, monkeypatch
):
    run = begin_run(replace(study, limits=Limits(max_seconds=500.0)))
    clock = [0.0]
    monkeypatch.setattr(journals.time, "perf_counter", lambda: clock[0])
    before = identify_run(run, lambda level: clock.__setitem__(0, clock[0] + 200.0))
    details = run.details
    assert "max_seconds" in details.message and 1 < details.levels == len(before.trace)
    (run.folder / "posterior.nc").unlink()
    clock[0] = 0.0
    again = identify_run(replace(run), lambda level: clock.__setitem__(0, clock[0] + 600.0))
    assert draws(again) == draws(before) and again.notes == before.notes
    assert (run.details.state, run.details.message) == ("done", details.message)


def test_details_are_what_was_written(tmp_path):
    details = Details("a.toml", "f", 1, {"ä b": "0"}, {"jax": "1"}, message='it said "no"')
    write_details(tmp_path, details)
    assert folders.read_details(tmp_path) == details


@pytest.mark.usefixtures("keeps")
def test_a_run_that_ended_at_a_limit_goes_on_if_it_is_given_more(study, tmp_path):
    run = begin_run(replace(study, limits=Limits(max_simulations=200)), tmp_path / "limited")
    early = identify_run(run)
    assert run.state == "done" and "max_simulations" in run.details.message
    assert draws(identify_run(run)) == draws(early), "not without being told to"
    whole = identify_run(begin_run(study, tmp_path / "whole"))
    assert early.simulations < whole.simulations
    assert draws(identify_run(run, limits=Limits(max_simulations=10**9))) == draws(whole)
    assert run.state == "done" and run.details.message == "" and run.details.parts == 2
    assert draws(identify_run(run, limits=Limits(max_simulations=1))) == draws(whole), "what is done is done"


@pytest.mark.usefixtures("keeps")
def test_a_lower_limit_takes_nothing_away(study, tmp_path):
    run = begin_run(replace(study, limits=Limits(max_simulations=400)), tmp_path / "limited")
    before = identify_run(run)
    assert draws(identify_run(run, limits=Limits(max_simulations=10))) == draws(before)


@pytest.mark.slow
def test_limits_that_were_given_outlast_an_interruption(study, tmp_path):
    run = begin_run(replace(study, limits=Limits(max_simulations=200)), tmp_path / "limited")
    identify_run(run)
    more = Limits(max_simulations=10**9)
    assert identify_run(run, interrupting(6), more).notes[0].startswith("interrupted")
    assert run.state == "interrupted"
    assert draws(identify_run(run)) == draws(identify_run(begin_run(study, tmp_path / "whole")))
