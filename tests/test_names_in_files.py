"""Names of models, parameters and channels: whatever they are, results are written and read back."""

import json
from itertools import combinations
from typing import Any

import arviz
import h5py
import numpy as np
import pytest

import vibayes as vb
from vibayes.cli.app import run
from vibayes.io.stored_names import stored_name
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.runs import identify as identifies

CHANNELS = (
    "rig/left/acc", "rig%2Fleft%2Facc", "rig∕left∕acc", "time", "%74ime", "point", "draw", "chain", ".", "..", "...",
    "%", "é", "e\u0301", "Größe", "a b", "加速度", "x" * 300, "x" * 299 + "y", "_nc4_non_coord_k", "_Netcdf4Dimid",
)  # fmt: skip
"""What a record accepts."""
NAMES = (*CHANNELS, "", " ", "k ", " k", "a\0b", "a\nb", "\udce4", "/", "//", "a/", "/a", "x" * 70_000)
"""What else a parameter or a model may be called."""

FEWER = ("a/b", "a%2Fb", "time", "..", ".", "", "a\0b", "\udce4", "é", "e\u0301", "/", "x" * 300, "x" * 299 + "y")


def beliefs(names=NAMES, channels=CHANNELS, models=NAMES) -> Posterior:
    """Draws of parameters of every name, in models of every name, of a record with channels of every name."""
    rng = np.random.default_rng(0)
    record = vb.Record.from_arrays(rate=10.0, output={name: rng.normal(size=5) for name in channels})
    priors = {name: vb.Uniform(-9.0, 9.0) for name in names}

    def model(name):
        problem = vb.Problem(lambda **values: np.zeros((5, len(channels))), record, priors, name or "?")
        object.__setattr__(problem, "name", name)
        draws = {each: rng.normal(size=4) for each in names}
        return ModelPosterior(
            problem, 0.1, 0.0, -1.0, 0.1, draws, np.full(4, 0.25), np.ones(4), 9, 1, "\0 is no number: \udce4"
        )

    return Posterior(tuple(map(model, models)), 1.0, (), 0.0, ("a\0b",))


def same_draws(one: ModelPosterior, other: ModelPosterior) -> bool:
    return list(one.draws) == list(other.draws) and all(
        np.array_equal(one.draws[name], other.draws[name]) for name in one.draws
    )


def test_two_names_are_never_stored_under_one():
    assert all(stored_name(one) != stored_name(other) for one, other in combinations(NAMES, 2))
    lowest = [stored_name(name) for name in NAMES]
    assert max(len(name.encode()) for name in lowest) < 256 and not any("/" in name or "\0" in name for name in lowest)
    assert [stored_name(name) for name in ("k", "c 1", "Größe", "m_1.x")] == ["k", "c 1", "Größe", "m_1.x"]


@pytest.mark.parametrize("kind", ["names", "models"])
def test_a_posterior_comes_back_from_its_file_whatever_names_it_has(tmp_path, kind):
    posterior = beliefs(models=("..",)) if kind == "names" else beliefs(("/",), CHANNELS[:1], FEWER)
    vb.write_posterior(posterior, tmp_path / "run.nc")
    again = vb.read_posterior(tmp_path / "run.nc", [model.problem for model in posterior])
    assert [model.name for model in again] == [model.name for model in posterior] and again.notes == posterior.notes
    assert all(same_draws(one, other) for one, other in zip(posterior, again, strict=True))


def test_arviz_has_and_keeps_every_name(tmp_path):
    model = beliefs(models=("..",)).models[0]
    data = vb.to_arviz(model)
    assert same_draws(model, vb.from_arviz(data, model.problem))
    data.to_netcdf(str(tmp_path / "model.nc"))
    assert same_draws(model, vb.from_arviz(arviz.from_netcdf(str(tmp_path / "model.nc")), model.problem))
    named = {stored_name(name): data.posterior[stored_name(name)].attrs.get("long_name", name) for name in CHANNELS}
    assert tuple(named.values()) == CHANNELS, "what a name stands for is told beside it"


def test_draws_of_another_program_are_found_under_the_names_it_gave_them():
    model = beliefs(names=("a/b", "a%2Fb", "k"), channels=("x",), models=("m",)).models[0]
    chains = {name: values.reshape(1, -1) for name, values in model.draws.items()}
    assert same_draws(model, vb.from_arviz(arviz.from_dict(chains), model.problem))


def test_a_file_that_was_written_before_names_were_escaped_is_read(tmp_path):
    posterior, file = beliefs(("k", "zeta%"), ("x",), ("a∕b", "m")), tmp_path / "run.nc"
    vb.write_posterior(posterior, file)
    opened: Any
    with h5py.File(file, "r+") as opened:  # as it was then: names as they are, no mark, format 1, no checksum
        opened.attrs["vibayes_posterior"] = 1
        opened.attrs["models"] = json.dumps(["a/b", "m"])
        for model in ("a∕b", "m"):
            for group in ("posterior", "prior"):
                opened[f"{model}/{group}"].move("zeta%25", "zeta%")
            for group in opened[model].values():
                group.attrs.pop("names", None)
    object.__setattr__(posterior.models[0].problem, "name", "a/b")
    with pytest.warns(UserWarning, match="no checksum"):
        again = vb.read_posterior(file, [model.problem for model in posterior])
    assert all(same_draws(one, other) for one, other in zip(posterior, again, strict=True))


STUDY = """
seed = 7
[data]
file = "data.h5"
input = "rig/point"
output = ["rig/time", "rig/chain"]
rate = 20.0
[structure]
mass = 1.0
elements = [{ type = "Spring", stiffness = "draw" }, { type = "Damper", coefficient = "a/b" }]
sensors = [{ type = "Displacement", on = "mass" }, { type = "Velocity", on = "mass" }]
[method]
type = "ABCRejection"
threshold = 200.0
particles = 20
[priors]
draw = { type = "LogUniform", low = 20.0, high = 80.0 }
"a/b" = { type = "LogUniform", low = 0.2, high = 2.0 }
[[model]]
name = ".."
[[model]]
name = "a/b"
"""


@pytest.fixture
def study(tmp_path):
    force = np.random.default_rng(0).normal(size=40)
    sensors = [vb.Displacement("mass"), vb.Velocity("mass")]
    truth = vb.Structure.single_dof(1.0, [vb.Spring(40.0), vb.Damper(0.5)], sensors=sensors)
    outputs = np.asarray(vb.simulate(truth, vb.Sampled(force, 20.0, vb.StraightLines())).outputs)
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["rig/point"], file["rig/time"], file["rig/chain"] = force, outputs[:, 0], outputs[:, 1]
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


@pytest.mark.slow
def test_a_study_with_such_names_goes_from_identify_to_report_prediction_and_comparison(study, capsys):
    folder, other = str(study.parent / "run"), str(study.parent / "other")
    for each in (folder, other):
        assert run(["identify", str(study), "-f", each, "-q", "--no-report"]) == 0, capsys.readouterr().err
    assert run(["resume", folder, "-q"]) == 0
    assert run(["report", folder, "-q"]) == 0
    page = (study.parent / "run" / "report.html").read_text()
    assert "rig/time" in page and ".." in page
    assert run(["predict", folder, "--draws", "5", "-q"]) == 0, capsys.readouterr().err
    written = vb.read_record(study.parent / "run" / "prediction-data.csv")
    assert written.output_names[0] == "rig/time_mean"
    assert run(["compare", folder, other, "--out", str(study.parent / "both"), "--draws", "5", "-q"]) == 0


def test_what_cannot_be_written_is_said_before_anything_is_computed(study, monkeypatch, capsys):
    def unwritable(*_: Any):
        raise RuntimeError("the name '..' is none for a group")

    monkeypatch.setattr("vibayes.io.posterior.datasets", unwritable)
    monkeypatch.setattr(identifies, "infer", lambda *_, **__: pytest.fail("it was computed"))
    assert run(["identify", str(study), "-f", str(study.parent / "run"), "-q"]) == 4
    said = capsys.readouterr().err
    assert "a posterior that can be written" in said and "the name '..' is none" in said
    assert not [each.name for each in (study.parent / "run").iterdir() if "tmp" in each.name or ".nc" in each.name]
    monkeypatch.undo()
    assert run(["resume", str(study.parent / "run"), "-q", "--no-report"]) == 0
