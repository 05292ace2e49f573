"""`vibayes new` writes studies that can be read as they are, whose priors hold the truth, and overwrites nothing."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.signal import lsim

import vibayes as vb
from vibayes.cli.app import run
from vibayes.errors import InvalidInput
from vibayes.study import read_study
from vibayes.study.fresh import fresh_study

MASS, STIFFNESS, DAMPING = 3.0, 1200.0, 4.0


def looked(path, inputs, outputs, time: Any = "time", columns=()):
    """What a look at a file tells."""
    names = columns or (*([time] if time else []), *inputs, *outputs)
    suggestion = SimpleNamespace(input=tuple(inputs), output=tuple(outputs), time=time, rate=None)
    return SimpleNamespace(
        path=path, columns=[SimpleNamespace(name=name) for name in names], time=time, rate=None,
        suggested=lambda: suggestion,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A mass on a spring under a random force, solved by another program, in columns of odd names."""
    folder = tmp_path_factory.mktemp("new")
    times = np.arange(1000) / 100.0
    force = np.convolve(np.random.default_rng(1).standard_normal(1000), np.ones(4) / 4, mode="same")
    A, B = [[0.0, 1.0], [-STIFFNESS / MASS, -DAMPING / MASS]], [[0.0], [1.0 / MASS]]
    C, D = [[1.0, 0.0], [-STIFFNESS / MASS, -DAMPING / MASS]], [[0.0], [1.0 / MASS]]
    _, response, _ = lsim((A, B, C, D), force, times)
    header = "time,Kraft (N),acc_1 (m/s^2),weg [mm]"
    columns = np.column_stack([times, force, response[:, 1], 1e3 * response[:, 0]])
    np.savetxt(
        folder / "prüfung 07.csv", columns, delimiter=",", header=header, comments="", fmt="%.12g", encoding="utf-8"
    )
    amplitude = np.linspace(0.01, 0.1, 15)
    points = np.column_stack([np.sqrt(400.0 + 0.75 * 1e4 * amplitude**2), amplitude])
    np.savetxt(folder / "points.csv", points, delimiter=",", header="frequency,amplitude", comments="")
    return folder


@pytest.mark.parametrize("method", ["pwl", "hysteresis", "output-only", "solver"])
def test_a_new_study_can_be_read_as_it_is(folder, method):
    data, target = folder / "prüfung 07.csv", folder / f"{method}.toml"
    made = fresh_study(data, target, method, look=lambda path: looked(path, ["Kraft"], ["acc_1"]))
    target.write_text(made.text, encoding="utf-8")
    study = read_study(target)
    assert made.method == method and len(study.problems) >= 2 and "CHECK" in made.text
    truth = {"k0": STIFFNESS, "c": DAMPING, "m": MASS} if method != "output-only" else {"k0": STIFFNESS / MASS}
    for name, value in truth.items():
        prior: Any = study.problems[0].priors[name]
        assert prior.low < value < prior.high, name


def test_a_new_study_of_a_backbone_holds_the_truth(folder):
    target = folder / "bone.toml"
    look = lambda path: looked(path, [], [], None, ("frequency", "amplitude"))  # noqa: E731
    target.write_text(fresh_study(folder / "points.csv", target, look=look).text)
    priors: Any = read_study(target).problems[0].priors
    assert priors["k"].low < 400.0 < priors["k"].high
    assert priors["k3"].low < 1e4 < priors["k3"].high


def test_a_new_study_of_several_outputs_is_a_chain(folder):
    data, target = folder / "prüfung 07.csv", folder / "chain.toml"
    look = lambda path: looked(path, ["Kraft"], ["acc_1", "weg"])  # noqa: E731
    target.write_text(fresh_study(data, target, "pwl", look=look).text, encoding="utf-8")
    model: Any = read_study(target).problems[0].model
    assert model.mass_names == ("m1", "m2")


def test_what_cannot_be_guessed_is_asked_for(folder):
    data, target = folder / "prüfung 07.csv", folder / "x.toml"
    nothing = lambda path: looked(path, [], [])  # noqa: E731
    with pytest.raises(InvalidInput, match="--output"):
        fresh_study(data, target, look=nothing)
    with pytest.raises(InvalidInput, match="--input"):
        fresh_study(data, target, "pwl", look=lambda path: looked(path, [], ["acc_1"]))
    with pytest.raises(InvalidInput, match="did you mean 'acc_1'"):
        fresh_study(data, target, "pwl", outputs=["acc1"], look=lambda path: looked(path, ["Kraft"], ["acc_1"]))
    with pytest.raises(InvalidInput, match="--rate"):
        fresh_study(data, target, "pwl", look=lambda path: looked(path, ["Kraft"], ["acc_1"], None))


def test_a_study_that_is_there_stays_unless_forced(folder, monkeypatch, capsys):
    monkeypatch.setattr(vb.io, "look", lambda path: looked(path, ["Kraft"], ["acc_1"]), raising=False)
    data, target = str(folder / "prüfung 07.csv"), folder / "mine.toml"
    target.write_text("mine")
    assert run(["new", data, str(target)]) == 2 and target.read_text() == "mine"
    assert run(["new", data, str(target), "--force"]) == 0 and read_study(target).problems[0].name == "linear"
    assert "vibayes check" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(vb.io, "look", lambda path: vb.read_record(path), raising=False)
    assert run(["new", str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_guesses_are_data(folder):
    made = fresh_study(
        folder / "prüfung 07.csv", folder / "y.toml", look=lambda path: looked(path, ["Kraft"], ["acc_1"])
    )
    assert dataclasses.is_dataclass(made) and any("dominant frequency: 3" in each for each in made.guesses)
