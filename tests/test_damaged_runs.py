"""Run folders that were damaged or moved: every flipped bit is detected, and what can be rebuilt is."""

import json
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import vibayes as vb
from vibayes.cli.app import run
from vibayes.journal import Journal
from vibayes.posterior import Posterior
from vibayes.runs import RefusedRun, begin_run, identify_run, open_run, report_run
from vibayes.runs import identify as identifies
from vibayes.runs.details import read_details
from vibayes.study import Limits, read_study

STUDY = """
seed = 7
[data]
file = "data/test.csv"
input = "force"
output = "x"
rate = 20.0
[structure]
mass = 1.0
elements = [{ type = "Spring", stiffness = "k" }, { type = "Damper", coefficient = 0.5 }]
sensors = [{ type = "Displacement", on = "mass" }]
[method]
type = "ABCSMC"
particles = 20
threshold = 120.0
[model]
name = "spring"
priors = { k = { type = "LogUniform", low = 20.0, high = 80.0 } }
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project with a run that is done, and one that ended at a limit."""
    place = tmp_path_factory.mktemp("made")
    (place / "data").mkdir()
    force = np.random.default_rng(0).normal(size=40)
    springs = [vb.Spring(40.0), vb.Damper(0.5)]
    truth = vb.Structure.single_dof(1.0, springs, sensors=[vb.Displacement("mass")])
    x = np.asarray(vb.simulate(truth, vb.Sampled(force, 20.0, vb.StraightLines())).outputs)[:, 0]
    columns = np.stack([force, x], 1)
    np.savetxt(place / "data" / "test.csv", columns, delimiter=",", header="force,x", comments="")
    (place / "study.toml").write_text(STUDY)
    study = read_study(place / "study.toml")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(identifies, "Journal", lambda path, study: Journal(path, study, worth_keeping=np.inf))
        identify_run(begin_run(study, place / "run"))
        identify_run(begin_run(study, place / "limited"), limits=Limits(max_simulations=40))
    return place


@pytest.fixture
def project(made, tmp_path):
    """A copy of the project in another place, while the first does not exist."""
    shutil.copytree(made, tmp_path / "project")
    hidden = made.with_name("hidden")
    made.rename(hidden)
    yield tmp_path / "project"
    hidden.rename(made)


@pytest.fixture
def computes_nothing(monkeypatch):
    """Journals that would tell if anything had to be computed that was not known."""
    monkeypatch.setattr(identifies, "Journal", lambda path, study: Journal(path, study, worth_keeping=np.inf))
    monkeypatch.setattr(Journal, "_append", lambda *_: pytest.fail("it was computed again"))


def numbers(posterior: Posterior) -> dict[str, Any]:
    found = {f"{m.name} {n}": v.tobytes() for m in posterior for n, v in {**m.draws, "w": m.weights}.items()}
    return found | {"evidence": [m.log_evidence for m in posterior], "notes": posterior.notes}


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_every_flipped_bit_of_run_json_is_detected(made, tmp_path):
    whole = (made / "run" / "run.json").read_bytes()
    (tmp_path / "run.json").write_bytes(whole)
    assert read_details(tmp_path).state == "done"
    for bit in np.random.default_rng(0).choice(8 * len(whole), 600, replace=False):
        (tmp_path / "run.json").write_bytes(flipped(whole, bit))
        with pytest.raises(RefusedRun, match=r"run\.json.*damaged"):
            read_details(tmp_path)
    for size in (*range(0, len(whole), 97), len(whole) - 1):
        (tmp_path / "run.json").write_bytes(whole[:size])
        with pytest.raises(RefusedRun, match=r"run\.json.*damaged"):
            read_details(tmp_path)


def test_every_flipped_bit_of_a_posterior_is_detected_without_its_run(made, tmp_path):
    problems = read_study(made / "study.toml").problems
    whole = (made / "run" / "posterior.nc").read_bytes()
    file = tmp_path / "alone.nc"
    places = np.random.default_rng(0).choice(8 * len(whole), 150, replace=False)
    for bit in (*places, *range(8 * (len(whole) - 81), 8 * len(whole), 53)):
        file.write_bytes(flipped(whole, bit))
        with pytest.raises(vb.InvalidInput, match="as it was written"):
            vb.read_posterior(file, problems)
    for size in np.linspace(0, len(whole) - 1, 12).astype(int):
        file.write_bytes(whole[:size])
        with pytest.raises(vb.InvalidInput, match=r"as it was written|cannot be read"):
            vb.read_posterior(file, problems)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of libraries that close such files
def test_a_damaged_file_without_a_checksum_ends_in_words_whatever_its_libraries_raise(made, tmp_path):
    problems = read_study(made / "study.toml").problems
    old, rng = tmp_path / "old.nc", np.random.default_rng(1)
    old.write_bytes((made / "run" / "posterior.nc").read_bytes()[:-81])
    with h5py.File(old, "r+") as opened:
        opened.attrs["vibayes_posterior"] = 1
    whole = old.read_bytes()
    ours = {"models": ["[", "{}", "[3]", "null"], "trace": ["[{}]", "[0]", "{"], "notes": ["0"], "threshold": ["a"]}
    for name, each in ((name, value) for name, values in ours.items() for value in values):
        with h5py.File(old, "r+") as opened:
            opened.attrs[name] = each
        with pytest.raises(vb.InvalidInput):
            vb.read_posterior(old, problems)
        old.write_bytes(whole)
    for _ in range(25):
        old.write_bytes(flipped(whole, int(rng.integers(8 * 4000))))  # where the tables of the file are
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                vb.read_posterior(old, problems)
            except vb.InvalidInput:
                pass


@pytest.mark.parametrize("how", ["deleted", "damaged", "another's"])
@pytest.mark.parametrize("name", ["run", "limited"])
def test_a_lost_posterior_is_rebuilt_from_the_journal_draw_for_draw(project, computes_nothing, how, name, capsys):
    folder = project / name
    before, details = numbers(open_run(folder).posterior()), read_details(folder)
    file = folder / "posterior.nc"
    if how == "deleted":
        file.unlink()
    elif how == "damaged":
        file.write_bytes(flipped(file.read_bytes(), 30_000))
    else:
        shutil.copy(project / ("limited" if name == "run" else "run") / "posterior.nc", file)
    with pytest.raises(RefusedRun, match="vibayes resume"):
        open_run(folder).posterior()
    assert run(["resume", str(folder), "--no-report"]) == 0
    assert "rebuilt" in capsys.readouterr().err
    assert numbers(open_run(folder).posterior()) == before
    after = read_details(folder)
    assert (after.state, after.message, after.limits) == (details.state, details.message, details.limits)


def test_a_damaged_run_json_is_restored_by_resume(project, computes_nothing, capsys):
    folder = project / "run"
    before, whole = numbers(open_run(folder).posterior()), (folder / "run.json").read_bytes()
    for damaged in (flipped(whole, 999), b"", None):
        (folder / "run.json").unlink() if damaged is None else (folder / "run.json").write_bytes(damaged)
        with pytest.raises(RefusedRun, match="vibayes resume"):
            open_run(folder)
        assert run(["resume", str(folder), "-q"]) == 0 and "restored" in capsys.readouterr().err
        assert (folder / "run.json").read_bytes() == whole and numbers(open_run(folder).posterior()) == before
    for name in ("run.json", "run.copy.json"):
        (folder / name).write_bytes(flipped(whole, 999))
    with pytest.raises(RefusedRun, match="begin a new run"):
        open_run(folder, restore=True)


@pytest.mark.slow
def test_a_damaged_report_log_or_figure_is_told(project):
    folder = project / "run"
    report_run(open_run(folder), figures=True)
    files = ["report.html", "log.txt", next((folder / "figures").glob("*.png")).relative_to(folder).as_posix()]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        open_run(folder)
    for name in files:
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(flipped(whole, 4 * len(whole)))
        with pytest.warns(RuntimeWarning, match=rf"{re.escape(name)}' is not as it was written"):
            open_run(folder)
        (folder / name).write_bytes(whole)


def test_a_run_of_a_version_without_checksums_is_opened(project):
    folder = project / "run"
    told = json.loads((folder / "run.json").read_text())
    for name in ("checksum", "folder", "posterior", "levels"):
        told.pop(name)
    files = {str(project / "data" / "test.csv"): each for each in told["files"].values()}
    told |= {"format": 1, "files": files, "study": str(project / "study.toml")}
    (folder / "run.json").write_text(json.dumps(told, indent=2))
    assert len(open_run(folder).posterior()["spring"].weights) >= 20
    for bad in ({"files": []}, {"environment": {"jax": 3}}, {"seed": "1"}, {"limits": 3}, {"checksum": "0"}):
        (folder / "run.json").write_text(json.dumps(told | bad))
        with pytest.raises(RefusedRun, match="damaged"):
            open_run(folder)


def test_a_moved_project_is_predicted_compared_and_resumed(project, computes_nothing, capsys):
    one, other = str(project / "run"), str(project / "limited")
    assert run(["predict", one, "--draws", "5", "--no-figure", "-q"]) == 0, capsys.readouterr().err
    assert run(["compare", one, other, "--no-figures", "-q"]) == 0, capsys.readouterr().err
    (project / "run" / "posterior.nc").unlink()
    assert run(["resume", one, "--no-report", "-q"]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("beside", ["run/test.csv", "test.csv"])
def test_data_that_lie_beside_or_in_the_run_are_found(project, beside):
    shutil.move(project / "data" / "test.csv", project / beside)
    found = open_run(project / "run")
    assert found.study.files == (project / beside,) and len(found.posterior()["spring"].weights) >= 20


@pytest.mark.slow
def test_data_that_were_moved_alone_are_found_if_named_and_only_by_their_fingerprint(project, capsys):
    place, one = project / "elsewhere" / "renamed.csv", str(project / "run")
    place.parent.mkdir()
    shutil.move(project / "data" / "test.csv", place)
    (project / "data" / "test.csv").write_text("force,x\n1,1\n2,2\n3,3\n")  # others, of the old name
    (place.parent / "test.csv").write_text("force,x\n1,1\n2,2\n3,3\n")
    with pytest.raises(RefusedRun, match=r"others in .*; name the file that has this fingerprint"):
        open_run(one, data=place.parent / "test.csv")
    commands = (
        ["report", one], ["predict", one, "--draws", "5", "--no-figure"], ["resume", one],
        ["compare", one, str(project / "limited"), "--no-figures"],
    )  # fmt: skip
    for command in commands:
        assert run([*command, "-q"]) == 4 and "--data" in capsys.readouterr().err
        assert run([*command, "-q", "--data", str(place)]) == 0, capsys.readouterr().err


def test_data_in_a_folder_that_is_named_are_found(project):
    (project / "archive").mkdir()
    shutil.move(project / "data" / "test.csv", project / "archive" / "test.csv")
    assert open_run(project / "run", data=project / "archive").study.files == (project / "archive" / "test.csv",)
    Path(project / "archive" / "test.csv").unlink()
    with pytest.raises(RefusedRun, match=r"no such file.*--data"):
        open_run(project / "run")
