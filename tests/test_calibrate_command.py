"""`vibayes calibrate`: what it says, writes and ends with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import vibayes as vb
from vibayes.cli.app import run
from vibayes.runs import begin_run
from vibayes.study import read_study

STUDY = """
seed = 3
[data]
file = "points.csv"
frequency = "frequency"
amplitudes = ["amplitude"]
[method]
type = "TemperedSMC"
particles = 60
max_moves = 5
[model]
name = "cubic"
noise = 0.01
filter = { type = "BackboneResidual", order = 1, remainder = false }
[model.structure]
mass = 1.0
elements = [{ type = "Duffing", stiffness = 1.0, cubic = "k3" }]
[model.priors]
k3 = { type = "Uniform", low = 0.1, high = 1.0 }
"""


@pytest.fixture
def study(tmp_path) -> Path:
    points = np.column_stack([np.linspace(1.0, 1.1, 6), np.linspace(0.1, 0.6, 6)])
    np.savetxt(tmp_path / "points.csv", points, delimiter=",", header="frequency,amplitude", comments="")
    (tmp_path / "bone.toml").write_text(STUDY)
    return tmp_path / "bone.toml"


def told(capsys, *arguments: object) -> tuple[int, str, str]:
    code = run(["calibrate", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.slow
def test_what_it_found_is_one_object_and_a_figure(study, capsys):
    out = study.parent / "found"
    code, said, _ = told(capsys, study, "--records", 3, "--seed", 1, "--json", "--out", out)
    found = json.loads(said)
    assert code == 0 and found["records"] == found["asked"] == 3
    assert found["rank_p"].keys() == {"k3", "log-likelihood"} and found["coverage"].keys() == {"50", "90", "95"}
    assert (out / "calibration.png").stat().st_size > 10_000 and found["figure"] == str(out / "calibration.png")


@pytest.mark.slow
def test_more_records_add_to_those_that_are_kept(study, capsys, monkeypatch):
    assert told(capsys, study, "--records", 3)[0] == 0
    made = []
    monkeypatch.setattr("vibayes.calibration.replication.infer", lambda *a, **m: made.append(1) or vb.infer(*a, **m))
    code, said, err = told(capsys, study, "--records", 4)
    assert code == 0 and "4 of 4 records of cubic" in said and "4 of 4 records" in err
    assert len(made) == 2, "the first that is kept is computed again, to see that it is of this study"


def test_a_run_may_begin_beside_its_calibration(study):
    (study.parent / "bone-run" / "calibration").mkdir(parents=True)
    assert begin_run(read_study(study)).state == "begun"


@pytest.mark.slow
def test_an_interruption_tells_what_there_is_and_ends_with_three(study, capsys, monkeypatch):
    made = []

    def interrupted(*arguments, **more):
        if made:
            raise KeyboardInterrupt
        made.append(1)
        return vb.infer(*arguments, **more)

    monkeypatch.setattr("vibayes.calibration.replication.infer", interrupted)
    code, said, err = told(capsys, study, "--records", 5)
    assert code == 3 and "1 of 5 records" in said and "the same command goes on" in err
    assert (study.parent / "bone-run" / "calibration" / "calibration.png").exists()


def test_a_picture_of_ones_own_is_not_replaced(study, capsys):
    (study.parent / "calibration.png").write_text("mine")
    code, _, err = told(capsys, study, "--records", 2, "--out", study.parent)
    assert code == 2 and "--force" in err and (study.parent / "calibration.png").read_text() == "mine"


def test_nothing_inferred_ends_with_one(study, capsys):
    study.write_text(STUDY.replace("particles = 60", "particles = 1"))
    code, said, _ = told(capsys, study, "--records", 2, "--json")
    found = json.loads(said)
    assert code == 1 and found["failures"] == 2 and found["figure"] is None
