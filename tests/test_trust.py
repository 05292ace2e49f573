"""Text in a study file runs no code but that of modules which the user has named."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import vibayes as vb
from vibayes.cli.app import run
from vibayes.errors import InvalidInput
from vibayes.io.stored_results import read_results
from vibayes.runs import RefusedRun, begin_run, identify_run, open_run
from vibayes.study import InvalidStudy, Limits, read_study

sys.path.insert(0, str(Path(__file__).parent))
from example_studies import laid_out

TRAP = "from pathlib import Path\nPath(__file__).with_name('sprung').touch()\ndef model(k):\n    return [k] * 60\n"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("VIBAYES_CONFIG", str(tmp_path / "config.toml"))
    folder = tmp_path / "studies"
    folder.mkdir()
    return laid_out(folder)


def study(folder: Path, model: str, top: str = "", data: str = "", priors: str = "") -> Path:
    """A study with one unknown, and lines of one's choice in its tables."""
    path = folder / "written.toml"
    path.write_text(
        f'{top}\n[data]\nfile = "simulator.csv"\noutput = "angle"\ntime = "time"\n{data}\n[model.priors]\n{priors}\n'
        f'k = {{ type = "Uniform", low = 0.0, high = 1.0 }}\n[model]\n{model}\n'
    )
    return path


COMMAND = '{ type = "os:system", command = "touch sprung" }'
SIMULATOR = 'simulator = "math:sin"'
WAYS = {
    "method": {"top": f"method = {COMMAND}"},
    "step": {"data": f"condition = [{COMMAND}]"},
    "hold": {"model": f"hold = {COMMAND}"},
    "noise": {"model": f"noise = {COMMAND}"},
    "distance": {"model": f"distance = {COMMAND}"},
    "constraint": {"model": f"constraints = [{COMMAND}]"},
    "journal": {"model": 'noise = { type = "Journal", path = "sprung" }'},
    "priors": {"priors": 'c = { type = "builtins:open", file = "sprung", mode = "w" }'},
    "simulator": {"model": 'simulator = { type = "builtins:open", file = "sprung", mode = "w" }'},
}


@pytest.mark.parametrize("way", WAYS)
def test_no_word_of_a_study_runs_a_command_or_writes_a_file(folder, monkeypatch, way):
    monkeypatch.chdir(folder)
    parts = dict(WAYS[way])
    own = parts.pop("model", "")
    path = study(folder, own if "simulator" in own else f"{SIMULATOR}\n{own}", **parts)
    for trust in ((), ("os", "math", "builtins")):
        with pytest.raises(InvalidInput):
            read_study(path, trust=trust)
        assert not (folder / "sprung").exists()


def test_a_module_beside_the_study_is_not_imported_unless_it_is_named(folder):
    (folder / "trap.py").write_text(TRAP)
    path = study(folder, 'simulator = "trap:model"')
    with pytest.raises(InvalidInput, match=r"model.simulator: expected .*trust.*trap\.py.*--trust trap"):
        read_study(path)
    assert not (folder / "sprung").exists()
    assert read_study(path, trust=["trap"]).problems and (folder / "sprung").exists()


def test_nothing_is_imported_before_the_rest_of_the_study_is_sound(folder):
    (folder / "trap.py").write_text(TRAP)
    for wrong in ('seed = "one"', 'method = { type = "NoSuch" }', "limits.max_seconds = -1"):
        with pytest.raises(InvalidInput, match=wrong.split()[0].split(".")[0]):
            read_study(study(folder, 'simulator = "trap:model"', wrong), trust=["trap"])
    for wrong in ('hold = { type = "NoSuch" }', 'distance = "absent:it"'):
        with pytest.raises(InvalidInput, match=wrong.split()[0]):
            read_study(study(folder, f'simulator = "trap:model"\n{wrong}'), trust=["trap"])
    with pytest.raises(InvalidInput, match=r"model\.priors\.b"):
        read_study(study(folder, 'simulator = "trap:model"', priors='b = { type = "Unifrom" }'), trust=["trap"])
    shared = 'priors.b = { type = "Unifrom" }\npriors.c = "Uniform"'
    with pytest.raises(InvalidInput, match=r"priors\.b"):
        read_study(study(folder, 'simulator = "trap:model"', shared), trust=["trap"])
    assert not (folder / "sprung").exists()


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ('type = "trap:model", k = 1.0', "a class"),
        ('type = "trap:Path"', "something such as"),
        ('type = "trap:os.system", command = "touch sprung"', "a name"),
        ('type = "trap:nothing"', "a name in trap"),
    ],
)
def test_of_a_trusted_module_only_classes_of_the_right_kind_are_called(folder, element, message):
    (folder / "trap.py").write_text("import os\nfrom pathlib import Path\ndef model(k):\n    Path('sprung').touch()\n")
    sensors = 'sensors = [{ type = "Displacement", on = "mass" }]'
    body = f"[model.structure]\nmass = 1.0\nelements = [{{ {element} }}]\n{sensors}"
    with pytest.raises(InvalidInput, match=rf"elements\[0\].*{message}"):
        read_study(study(folder, body), trust=["trap"])


def test_the_configuration_trusts_installed_modules_and_folders(folder, tmp_path):
    (folder / "colorsys.py").write_text(TRAP)
    path, settings = study(folder, 'simulator = "colorsys:model"'), tmp_path / "config.toml"
    settings.write_text('[trust]\nmodules = ["colorsys"]\n')  # the one of Python, not a file of that name in a folder
    with pytest.raises(InvalidInput, match=r"colorsys\.py"):
        read_study(path)
    assert not (folder / "sprung").exists()
    settings.write_text(f'[trust]\nfolders = ["{folder.parent}"]\n')
    assert read_study(path).problems and (folder / "sprung").exists()
    settings.write_text('[trust]\nmodules = ["colorsys"]\n')
    (folder / "colorsys.py").unlink()
    more = "".join(f'{name} = {{ type = "Uniform", low = 0.0, high = 1.0 }}\n' for name in "rgb")
    made = study(folder, 'simulator = "colorsys:rgb_to_hls"', priors=more)
    made.write_text(made.read_text().replace("k = {", "# k = {"))
    assert read_study(made).problems
    settings.write_text("[trust]\nmodles = 3\n")
    with pytest.raises(InvalidInput, match=r"config\.toml.*modles"):
        read_study(path)


def test_commands_take_the_module_that_is_trusted_and_say_which(folder, capsys):
    path = str(folder / "simulator.toml")
    assert run(["check", path, "--no-figures", "--draws", "2"]) == 2
    assert "--trust pendulum" in capsys.readouterr().err
    assert run(["check", path, "--no-figures", "--draws", "2", "--trust", "pendulum"]) == 0
    assert "vibayes identify" in (out := capsys.readouterr().out) and "--trust pendulum" in out
    assert run(["check", path, "--no-figures", "--trust", "pendulum.py"]) == 2
    assert "--trust pendulum" in capsys.readouterr().err


def test_a_run_folder_of_somebody_else_runs_no_code(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "trap.py").write_text(TRAP)
    made = begin_run(read_study(study(folder, 'simulator = "trap:model"'), trust=["trap"]), folder / "run")
    (folder / "sprung").unlink()
    for command in (["report"], ["predict"], ["resume"], ["compare", str(made.folder)]):
        assert run([*command, str(made.folder)]) == 2
        assert "--trust trap" in capsys.readouterr().err
        assert not (folder / "sprung").exists()
    assert open_run(made.folder, trust=["trap"]).study.problems


MODELS = f"{TRAP}def other(k):\n    return [2.0 * k] * 60\n"
TWO = """method = { type = "ABCRejection", threshold = 1000.0, particles = 25 }
[data]
file = "simulator.csv"
output = "angle"
time = "time"
[priors]
k = { type = "Uniform", low = 0.0, high = 1.0 }
[[model]]
name = "one"
simulator = "trap:model"
[[model]]
name = "two"
simulator = "trap:other"
"""


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """A run that is done, in a folder of somebody else; its posterior as the run gave it."""
    folder = laid_out(tmp_path_factory.mktemp("stranger"))
    (folder / "trap.py").write_text(MODELS)
    (folder / "two.toml").write_text(TWO)
    made = begin_run(read_study(folder / "two.toml", trust=["trap"]), folder / "run")
    identify_run(made)
    posterior = made.posterior()
    (folder / "sprung").unlink()
    return made.folder, posterior


@pytest.fixture
def untrusting(tmp_path, monkeypatch):
    monkeypatch.setenv("VIBAYES_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.chdir(tmp_path)


COMMANDS = {"report": ["report"], "predict": ["predict"], "compare": ["compare", "--no-figures"]}


def shown_of(command, folder, *more):
    """Exit code of a command on a run folder; `compare` compares it with a copy of itself."""
    others = []
    if command == "compare":
        others = [str(shutil.copytree(folder, folder.parent / "copy", dirs_exist_ok=True))]
    return run([*COMMANDS[command], str(folder), *others, *more])


@pytest.mark.parametrize("command", COMMANDS)
def test_results_of_a_run_with_untrusted_code_are_shown_from_its_posterior(stranger, untrusting, capsys, command):
    folder, posterior = stranger
    assert shown_of(command, folder) == 2
    printed = capsys.readouterr()
    for model in posterior:
        assert f"{model.name}" in printed.out and f"{model.probability:.3f}" in printed.out
        assert f"{model.mean()['k']:.5g}" in printed.out
    assert "no code was imported" in printed.err and "--trust trap" in printed.err
    assert not (folder.parent / "sprung").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_json_of_a_run_with_untrusted_code_has_its_results_and_says_what_is_missing(
    stranger, untrusting, capsys, command
):
    folder, posterior = stranger
    assert shown_of(command, folder, "--json") == 2
    found = json.loads(capsys.readouterr().out)
    assert found["untrusted"] == ["trap"] and f"vibayes {command} {folder}" in found["missing"]
    models = found["runs"]["run"]["models"] if command == "compare" else found["models"]
    assert [each["name"] for each in models] == ["one", "two"]
    for told, model in zip(models, posterior, strict=True):
        k = told["parameters"]["k"]
        assert told["probability"] == model.probability
        assert k["mean"] == model.mean()["k"] and (k["low"], k["high"]) == model.interval("k")
    assert not (folder.parent / "sprung").exists()


def test_no_page_of_untrusted_code_is_written(stranger, untrusting):
    folder, _ = stranger
    before = sorted(path.name for path in folder.iterdir())
    assert run(["report", str(folder)]) == 2
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(("top", "modules"), [("", ("trap",)), ("seed = -1", ())])
def test_a_study_lacks_trust_alone_where_it_has_no_other_mistake(folder, top, modules):
    (folder / "trap.py").write_text(TRAP)
    with pytest.raises(InvalidStudy) as refused:
        read_study(study(folder, 'simulator = "trap:model"', top))
    assert refused.value.untrusted == modules


def test_names_in_a_posterior_of_somebody_else_cannot_control_the_terminal(tmp_path):
    record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
    problem = vb.Problem(lambda k: k * np.arange(20.0), record, {"k": vb.Uniform(0.0, 3.0)}, "line\x1b[2J")
    vb.write_posterior(vb.infer(0, problem, vb.ABCRejection(particles=20, threshold=10.0)), tmp_path / "run.nc")
    assert "\x1b" not in read_results(tmp_path / "run.nc").summary()


@pytest.mark.parametrize("name", ["log.txt", "journal.bin", "posterior.nc", "run.json", "study.toml", "report.html"])
def test_a_link_in_a_run_folder_is_not_followed(folder, name):
    made = begin_run(read_study(folder / "piecewise.toml"), folder / "run")
    outside = folder / "precious"
    (made.folder / name).unlink(missing_ok=True)
    shutil.copy(folder / "piecewise.toml", outside)
    before = outside.read_bytes()
    (made.folder / name).symlink_to(outside)
    with pytest.raises(RefusedRun, match=rf"{name}.*a link"):
        identify_run(made, limits=Limits(max_seconds=0.1))
    assert outside.read_bytes() == before
