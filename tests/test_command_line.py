"""Commands do what they say, end with the number that fits, and never overwrite or show a traceback."""

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import vibayes as vb
from vibayes.cli.app import run
from vibayes.cli.commands import app
from vibayes.cli.outcome import outcome_of

STUDY = """
title = "A spring"
[data]
file = "test.csv"
input = "force"
output = "displacement"
time = "time"
units = { force = "N", displacement = "m" }
[structure]
mass = 1.0
elements = [{ type = "Spring", stiffness = "k" }, { type = "Damper", coefficient = 0.8 }]
sensors = [{ type = "Displacement", on = "mass" }]
[priors]
k = { type = "LogUniform", low = 20.0, high = 200.0 }
[simulation]
excitation = { type = "Sine", amplitude = 2.0, frequency_hz = 1.0 }
rate = 40.0
seconds = 5.0
values = { k = 80.0 }
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with a study, and its data simulated by its own command."""
    folder = tmp_path_factory.mktemp("line")
    (folder / "spring.toml").write_text(STUDY)
    force = vb.band_limited_noise(0, 40.0, 201, standard_deviation=3.0, high_hz=4.0)
    spring = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.8)], sensors=[vb.Displacement("mass")])
    outputs = np.asarray(vb.simulate(spring, force, {"k": 60.0}, states=False).outputs)
    given, answered = {"force": np.asarray(force.values)[:, 0]}, {"displacement": outputs[:, 0]}
    record = vb.Record.from_arrays(rate=40.0, input=given, output=answered)
    vb.write_record(record, folder / "test.csv")
    return folder


@pytest.fixture
def vibayes(capsys):
    """Run a command: its exit code, what it said and what it complained of."""

    def running(*arguments: object):
        code = run([str(each) for each in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return running


def test_every_command_has_help_with_an_example(vibayes):
    for command in app.registered_commands:
        code, out, _ = vibayes(command.name, "--help")
        assert code == 0 and f"vibayes {command.name}" in out, command.name


@pytest.mark.slow
def test_a_sound_study_is_called_sound_and_drawn(made, vibayes):
    code, out, err = vibayes("check", made / "spring.toml", "--draws", 8)
    assert (code, err) == (0, "")
    assert "Sound." in out and (made / "spring-run" / "check" / "prior_1.png").stat().st_size > 10_000


def test_checking_as_json_is_one_object_with_the_warnings(made, vibayes):
    text = STUDY.replace('displacement = "m"', 'displacement = "mm"').replace(
        "low = 20.0, high = 200.0", "low = 2e5, high = 2e6"
    )
    (made / "stiff.toml").write_text(text)
    code, out, _ = vibayes("check", made / "stiff.toml", "--json", "--no-figures", "--draws", 8)
    told = json.loads(out)
    assert code == 0 and told["figures"] == [] and told["models"][0]["parameters"] == ["k"]
    assert any("natural frequency" in each for each in told["warnings"])
    assert any("check units and priors" in each for each in told["warnings"])


def test_a_broken_study_ends_with_two_and_a_message(made, vibayes):
    (made / "broken.toml").write_text(STUDY.replace("low = 20.0", "lw = 20.0"))
    code, out, err = vibayes("check", made / "broken.toml")
    assert (code, out) == (2, "")
    assert "priors.k.lw" in err and "did you mean 'low'" in err and "Traceback" not in err


def test_bad_usage_ends_with_two(vibayes):
    assert vibayes("chekc")[0] == 2
    assert vibayes("check")[0] == 2
    assert vibayes("check", "a.toml", "--draws", "many")[0] == 2


def test_a_simulation_agrees_with_the_closed_form_and_is_not_overwritten(made, vibayes):
    """Long after the start, a linear oscillator under a sine has the amplitude F / |k − m ω² + i c ω|."""
    out = made / "sine.csv"
    code, said, _ = vibayes("simulate", made / "spring.toml", "--set", "k=100", "--out", out)
    assert code == 0 and "k = 100" in said and out.with_suffix(".png").exists()
    record = vb.read_record(out)
    omega = 2.0 * np.pi
    late = record.channel("displacement of mass")[-81:]
    # The transient has died to exp(-0.4 · 3) of itself at worst; fit sine, cosine and the transient's own decay.
    times = record.times[-81:]
    decay = np.exp(-0.4 * times) * np.exp(1j * np.sqrt(100.0 - 0.16) * times)
    columns = np.stack([np.sin(omega * times), np.cos(omega * times), decay.real, decay.imag], axis=1)
    found = np.linalg.lstsq(columns, late, rcond=None)[0]
    assert np.hypot(*found[:2]) == pytest.approx(2.0 / abs(100.0 - omega**2 + 0.8j * omega), rel=1e-6)
    before = out.read_bytes()
    code, _, err = vibayes("simulate", made / "spring.toml", "--out", out)
    assert code == 2 and "--force" in err and out.read_bytes() == before


def test_a_wrong_value_is_told(made, vibayes):
    code, _, err = vibayes("simulate", made / "spring.toml", "--set", "kk=1", "--out", made / "no.csv")
    assert code == 2 and "'kk'" in err and "'k'" in err and not (made / "no.csv").exists()
    assert vibayes("simulate", made / "spring.toml", "--set", "k", "--out", made / "no.csv")[0] == 2


def test_quiet_says_nothing(made, vibayes):
    code, out, err = vibayes("check", made / "spring.toml", "--quiet", "--no-figures", "--draws", 8)
    assert (code, out, err) == (0, "", "")


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (vb.InvalidInput("here", "a", "b", "do c"), 2),
        (KeyboardInterrupt(), 3),
        (PermissionError(13, "Permission denied", "/there"), 4),
        (OSError(28, "No space left on device"), 4),
        (MemoryError(), 1),
        (RuntimeError("what"), 1),
    ],
)  # fmt: skip
def test_every_end_has_its_number_and_a_line(problem, code, capsys):
    def command():
        raise problem

    assert outcome_of(command) == code
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "Traceback" not in err


def test_an_error_may_bring_its_own_number(capsys):
    problem = vb.InvalidInput("run", "a folder of this version", "a newer one", "update vibayes")
    problem.exit_code = 4  # type: ignore[attr-defined]

    def command():
        raise problem

    assert outcome_of(command) == 4 and "newer" in capsys.readouterr().err


def test_data_sets_are_listed_and_exported(monkeypatch, tmp_path, vibayes):
    silver = types.SimpleNamespace(name="silverbox", title="an electronic Duffing oscillator")
    record = vb.Record.from_arrays(rate=2.0, output={"x": np.arange(3.0)})
    monkeypatch.setattr(vb.io, "datasets", lambda: [silver], raising=False)
    loaded = {"test one": record, "test/two": record}
    monkeypatch.setattr(vb.io, "load_dataset", lambda name, folder=None, download=False: loaded, raising=False)
    code, out, _ = vibayes("datasets")
    assert code == 0 and "silverbox" in out and "Duffing" in out
    assert vibayes("datasets", "silverbox", "--out", tmp_path / "s.csv")[0] == 0
    np.testing.assert_array_equal(vb.read_record(tmp_path / "s_test_two.csv").channel("x"), np.arange(3.0))
    assert vibayes("datasets", "silverbox", "--out", tmp_path / "s.csv")[0] == 2


def process(*arguments: str, **settings):
    environment = os.environ | {"PYTHONPATH": str(Path(vb.__file__).parents[1]), "COLUMNS": "100"}
    command = [sys.executable, "-m", "vibayes.cli.app", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, **settings)


@pytest.mark.slow
def test_a_process_ends_with_the_number_and_nothing_on_the_wrong_stream(tmp_path):
    (tmp_path / "broken.toml").write_text("seed = ")
    ended = process("check", str(tmp_path / "broken.toml"))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1 and "broken.toml: expected TOML" in ended.stderr


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error():
    environment = os.environ | {"PYTHONPATH": str(Path(vb.__file__).parents[1])}
    line = f"{sys.executable} -m vibayes.cli.app --help | head -n 1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, timeout=300)
    assert ended.stderr == "" and len(ended.stdout.splitlines()) == 2


@pytest.mark.slow
def test_a_parameter_that_nothing_depends_on_is_told(made, vibayes):
    """A stop that is never reached, whose stiffness is therefore felt by nobody."""
    stop = '{ type = "gap", stiffness = "k_stop", contact = 1e6 }, { type = "Damper"'
    prior = 'k_stop = { type = "Uniform", low = 1.0, high = 2.0 }'
    text = STUDY.replace('{ type = "Damper"', stop).replace("[simulation]", f"{prior}\n[simulation]")
    (made / "stop.toml").write_text(text)
    code, out, _ = vibayes("check", made / "stop.toml", "--json", "--no-figures", "--draws", 8)
    assert code == 0 and [each for each in json.loads(out)["warnings"] if "depends on 'k_stop'" in each]


def test_points_of_backbones_are_described_and_drawn(tmp_path, vibayes):
    points = np.column_stack([np.linspace(20.0, 21.0, 6), np.linspace(0.01, 0.1, 6)])
    np.savetxt(tmp_path / "points.csv", points, delimiter=",", header="frequency,amplitude", comments="")
    (tmp_path / "bone.toml").write_text("""
[data]
file = "points.csv"
frequency = "frequency"
amplitudes = ["amplitude"]
[model]
noise = 0.1
[model.structure]
mass = 1.0
elements = [{ type = "Duffing", stiffness = 400.0, cubic = "k3" }]
[model.priors]
k3 = { type = "Uniform", low = -1e5, high = 1e5 }
""")
    code, out, _ = vibayes("check", tmp_path / "bone.toml")
    assert code == 0 and "6 points of backbones, 20 to 21 rad/s; modes 1" in out
    assert (tmp_path / "bone-run" / "check" / "points.png").exists()
