"""Commands that work in run folders: identify, resume, compare, predict."""

import dataclasses
import json
import shlex
import shutil
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from tests import shown

import vibayes as vb
from vibayes import study as studies
from vibayes.cli.app import run
from vibayes.cli.compare import compare, hindrance_to_comparison, probabilities
from vibayes.cli.identify import identify
from vibayes.cli.outcome import Interrupted
from vibayes.cli.predict import new_record, predict
from vibayes.cli.resume import resume
from vibayes.runs import RefusedRun
from vibayes.runs import folder as folders
from vibayes.runs import identify as identifies
from vibayes.study import Limits, Study

SAMPLES, RATE = 40, 20.0


def structure():
    members = [vb.Spring("k"), vb.Damper(0.5)]
    return vb.Structure.single_dof(1.0, members, sensors=[vb.Displacement("mass")])


def read_study(path, beside=None, trust=(), data=None):
    """A study whose text is the name of a data file and that of a run folder."""
    beside = Path(path).parent if beside is None else Path(beside)
    text = Path(path).read_text()
    name, output = text.split()
    data = beside / name if data is None else data
    record = vb.read_record(data, input="force", output="x", rate=RATE)
    problem = vb.Problem(structure(), record, {"k": vb.LogUniform(5.0, 200.0)}, "spring")
    return Study(
        Path(path),
        text,
        "spring",
        1,
        beside / output,
        (data,),
        record,
        (problem,),
        vb.ABCRejection(threshold=120.0, particles=30),
        Limits(),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs of one record that are done."""
    place = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(folders, "read_study", read_study)
        patched.setattr(studies, "read_study", read_study)
        force = np.random.default_rng(0).normal(size=SAMPLES)
        signal = vb.Sampled(force, RATE, vb.StraightLines())
        x = np.asarray(vb.simulate(structure(), signal, {"k": 40.0}).outputs)[:, 0]
        np.savetxt(place / "data.csv", np.stack([force, x], 1), delimiter=",", header="force [N],x [m]", comments="")
        for name in ("one", "two"):
            (place / f"{name}.toml").write_text(f"data.csv {name}-run")
            identify(place / f"{name}.toml", quiet=True)
        yield place


def said(capsys) -> dict:
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_identify_says_what_it_found_and_where(folder, capsys):
    identify(folder / "one.toml", folder / "elsewhere")
    printed = capsys.readouterr().out
    assert "spring" in printed and "95 % in" in printed and str(folder / "elsewhere" / "posterior.nc") in printed
    resume(folder / "elsewhere", json=True)
    found = said(capsys)
    assert found["state"] == "done" and found["models"][0]["draws"] >= 30
    k = found["models"][0]["parameters"]["k"]
    assert k["low"] < k["mean"] < k["high"] and found["folder"] == str(folder / "elsewhere")


def test_quiet_is_quiet_and_nothing_is_overwritten(folder, capsys):
    with pytest.raises(RefusedRun, match="a run that is done") as refused:
        identify(folder / "one.toml", quiet=True)
    assert refused.value.exit_code == 4
    resume(folder / "one-run", quiet=True)
    assert capsys.readouterr().out == ""


def test_an_interrupted_run_says_how_to_go_on_and_is_resumed(folder, capsys, monkeypatch):
    def interrupted(level):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(Interrupted, match=f"vibayes resume {folder / 'broken'}"):
        patched.setattr(identifies, "listener", lambda progress, problems: interrupted)
        identify(folder / "one.toml", folder / "broken")
    capsys.readouterr()
    resume(folder / "broken", json=True)
    assert said(capsys)["state"] == "done"


@pytest.mark.slow
def test_a_run_that_ended_at_its_limit_says_how_to_go_on_and_does(folder, capsys, monkeypatch):
    limited = dataclasses.replace(read_study(folder / "one.toml"), limits=Limits(max_simulations=1))
    with monkeypatch.context() as patched:
        patched.setattr(studies, "read_study", lambda path, trust=(): limited)
        patched.setattr(folders, "read_study", lambda path, beside=None, trust=(): limited)
        identify(folder / "one.toml", folder / "limited", quiet=True)
        resume(folder / "limited")
        assert "as max_simulations asked: this is what there was. To go on" in capsys.readouterr().out
        resume(folder / "limited", max_simulations=10**6, json=True)
    found, whole = said(capsys), json.loads(run_json(folder / "one-run", capsys))
    assert found["models"] == whole["models"] and found["notes"] == whole["notes"]


def run_json(folder: Path, capsys) -> str:
    resume(folder, json=True)
    return capsys.readouterr().out


def test_a_run_without_draws_ends_with_1(folder, capsys, monkeypatch):
    with monkeypatch.context() as patched, pytest.raises(typer.Exit) as ended:
        method = vb.ABCRejection(threshold=1e-12, particles=5, max_draws=300)
        whole = identifies.infer
        patched.setattr(identifies, "infer", lambda seed, problems, _, **rest: whole(seed, problems, method, **rest))
        identify(folder / "one.toml", folder / "empty")
    assert ended.value.exit_code == 1 and "There are no draws" in capsys.readouterr().err


def test_compared_runs_share_the_probability_by_their_evidence(folder, capsys, tmp_path):
    compare([folder / "one-run", folder / "two-run"], tmp_path / "figures", json=True, draws=10)
    found = said(capsys)
    assert found["hindrance"] == "" and set(found["runs"]) == {"one-run", "two-run"}
    shares = [run["models"][0]["probability_of_all"] for run in found["runs"].values()]
    assert shares == pytest.approx([0.5, 0.5])  # they are the same run
    for name in ("parameters", "predictions"):
        assert Path(found["figures"][name]).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(vb.InvalidInput, match="--force"):
        compare([folder / "one-run", folder / "two-run"], tmp_path / "figures")
    compare([folder / "one-run", folder / "two-run"], tmp_path / "none", figures=False)
    printed = capsys.readouterr().out
    assert "log evidence" in printed and "k " in printed and not (tmp_path / "none").exists()
    with pytest.raises(vb.InvalidInput, match="two run folders"):
        compare([folder / "one-run"], tmp_path)


def test_evidence_is_compared_only_where_it_can_be(folder):
    def posterior(evidences, threshold=float("nan"), shift=0.0, white_noise=0):
        record = types.SimpleNamespace(output=np.arange(3.0) + shift)
        problem = types.SimpleNamespace(record=record, prior_probability=1.0)
        models = [types.SimpleNamespace(name=n, log_evidence=e, problem=problem) for n, e in evidences.items()]
        told = {"models": models, "threshold": threshold, "white_noise": white_noise}
        named: Any = type("Named", (), told | {"__iter__": lambda s: iter(models)})
        return named()

    one, two = posterior({"a": 0.0, "b": np.log(2.0)}), posterior({"c": 0.0})
    assert hindrance_to_comparison({"1": one, "2": two}) == ""
    shares = probabilities({"1": one, "2": two})
    assert shares == pytest.approx({("1", "a"): 0.25, ("1", "b"): 0.5, ("2", "c"): 0.25})
    assert "different data" in hindrance_to_comparison({"1": one, "2": posterior({"c": 0.0}, shift=1.0)})
    within = posterior({"c": 0.0}, 2.0)
    assert "different thresholds" in hindrance_to_comparison({"1": one, "2": within})
    assert hindrance_to_comparison({"1": within, "2": posterior({"d": 0.0}, 2.0)}) == ""
    by_likelihood = posterior({"c": 0.0}, 2.1, white_noise=50)
    assert "weigh distances differently" in hindrance_to_comparison({"1": within, "2": by_likelihood})
    assert hindrance_to_comparison({"1": by_likelihood, "2": posterior({"d": 0.0}, 2.3, white_noise=50)}) == ""
    assert np.isnan(list(probabilities({"1": one, "2": posterior({"c": np.nan})}).values())).all()


def test_a_new_input_is_predicted_with_bands(folder, capsys, tmp_path):
    force = np.sin(np.arange(30) / 3.0)
    file = tmp_path / "new.csv"
    np.savetxt(file, 1e-3 * force[:, None], header="force [kN]", comments="")
    predict(folder / "one-run", file, rate=RATE, draws=20, out=tmp_path / "out.csv", json=True)
    found = said(capsys)
    assert found["draws"] == 20 and found["nmse"] is None and Path(found["figure"]).exists()
    written = vb.read_record(tmp_path / "out.csv")
    assert written.output_names == ("x_mean", "x_low", "x_high") and written.units["x_low"] == "m"
    mean, low, high = written.output.T
    assert np.all(low <= high) and np.allclose(written.channel("force"), force)
    posterior = vb.read_posterior(folder / "one-run" / "posterior.nc", read_study(folder / "one.toml").problems)
    unknown, units = {"x": np.full(30, np.nan)}, {"force": "N", "x": "m"}
    asked = vb.Record.from_arrays(rate=RATE, input={"force": force}, output=unknown, units=units)
    direct = vb.predict(0, posterior, asked, draws=20)
    np.testing.assert_allclose(mean, direct.mean()[:, 0], rtol=1e-12)
    with pytest.raises(vb.InvalidInput, match="--force"):
        predict(folder / "one-run", file, rate=RATE, out=tmp_path / "out.csv")


def test_without_a_file_the_data_of_the_run_are_predicted_and_compared(folder, capsys, tmp_path):
    predict(folder / "one-run", draws=20, out=tmp_path / "out.csv", figure=False)
    printed = capsys.readouterr().out
    assert "Normalised mean square error" in printed and not (tmp_path / "out.png").exists()


@pytest.mark.slow
def test_the_commands_of_the_page_on_runs_work(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("linear-run", "trilinear-run", "test07-run"):
        shutil.copytree(folder / "one-run", name)
    np.savetxt("storm.csv", np.sin(np.arange(50) / 9.0), header="force [N]", comments="")
    lines = [
        line for line in shown.of_the_tool("docs/runs.md") if line not in shown.of_the_tool("docs/getting-started.md")
    ]
    Path("archive").mkdir()
    shutil.copy(folder / "data.csv", "archive")
    assert len(lines) == 4
    for line in lines:
        assert run(shlex.split(line)) == 0, f"vibayes {line}\n{capsys.readouterr().err}"


def test_columns_that_do_not_fit_are_refused_in_words(folder, tmp_path):
    file = tmp_path / "new.csv"
    file.write_text("a,b\n1,2\n2,3\n3,4\n")
    old = read_study(folder / "one.toml").record
    with pytest.raises(vb.InvalidInput, match="'force'"):
        new_record(file, old, None, None, None, RATE)
    with pytest.raises(vb.InvalidInput, match="1 columns, for force, got 2"):
        new_record(file, old, ["a", "b"], None, None, RATE)
    found = new_record(file, old, ["a"], ["b"], None, RATE)
    assert isinstance(old, vb.Record) and found.units == old.units and found.channel("x").tolist() == [2.0, 3.0, 4.0]
