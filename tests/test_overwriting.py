"""No file that vibayes did not write itself is replaced without --force, whichever command would write it."""

import sys
from pathlib import Path

import pytest

from vibayes.cli.app import run
from vibayes.runs import RefusedRun, begin_run
from vibayes.study import read_study

sys.path.insert(0, str(Path(__file__).parent))
from example_studies import laid_out

MINE = b"what I wrote myself"


@pytest.fixture
def folder(tmp_path) -> Path:
    return laid_out(tmp_path)


def test_a_study_of_ones_own_in_the_folder_of_a_new_run_stays(folder):
    own = folder / "mine"
    own.mkdir()
    (own / "study.toml").write_bytes(MINE)
    study = read_study(folder / "piecewise.toml")
    with pytest.raises(RefusedRun, match=r"study\.toml"):
        begin_run(study, own)
    assert (own / "study.toml").read_bytes() == MINE and [each.name for each in own.iterdir()] == ["study.toml"]
    (own / "study.toml").write_text(study.text, encoding="utf-8")  # what a run that was killed at its start leaves
    assert begin_run(study, own).state == "begun"


def test_pictures_of_ones_own_in_the_folder_of_a_new_run_stay(folder):
    (folder / "mine" / "figures").mkdir(parents=True)
    (folder / "mine" / "figures" / "fit.png").write_bytes(MINE)
    with pytest.raises(RefusedRun, match="figures"):
        begin_run(read_study(folder / "piecewise.toml"), folder / "mine")


def test_check_replaces_its_own_pictures_and_no_others(folder, capsys):
    command = ["check", str(folder / "backbone.toml"), "--draws", "2"]
    picture = folder / "backbone-run" / "check" / "points.png"
    assert run(command) == 0 == run(command)
    picture.write_bytes(MINE)
    assert run(command) == 2 and picture.read_bytes() == MINE
    assert "--force" in capsys.readouterr().err
    assert run([*command, "--no-figures"]) == 0 and picture.read_bytes() == MINE
    assert run([*command, "--force"]) == 0 and picture.read_bytes() != MINE


@pytest.mark.parametrize("name", ["record.csv", "tour.toml", "run"])
def test_the_demonstration_replaces_nothing_of_the_user(tmp_path, name, capsys):
    from vibayes import demo

    name = {"record.csv": demo.DATA, "tour.toml": demo.STUDY, "run": f"{demo.RUN}/run.json"}[name]
    path = tmp_path / "out" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(MINE)
    assert run(["demo", "--quick", "--out", str(tmp_path / "out")]) == 2
    assert path.read_bytes() == MINE and "--force" in capsys.readouterr().err
