"""What the documentation shows of study files can be read, and the commands that it shows run."""

import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from tests import shown
from tests.shown import DOCS

from vibayes.cli.app import run
from vibayes.study import Surroundings
from vibayes.study.simulation import _order
from vibayes.study.study import _study
from vibayes.study.trust import Trust

sys.path.insert(0, str(Path(__file__).parent))
from example_studies import FOLDER

BLOCKS = [
    tomllib.loads(block)
    for block in re.findall(r"^```toml\n(.*?)^```", (DOCS / "study-files.md").read_text(encoding="utf-8"), re.M | re.S)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    shutil.copy(FOLDER / "flag_joint.py", folder / "joints.py")
    rng = np.random.default_rng(0)
    times = np.arange(120) / 40.0
    columns = np.column_stack([times, rng.standard_normal(120), np.sin(30.0 * times) + 0.1 * rng.standard_normal(120)])
    np.savetxt(folder / "test.csv", columns, delimiter=",", header="time,force,acceleration", comments="", fmt="%.9g")
    points = np.column_stack([np.linspace(3.1, 3.4, 9), np.linspace(0.01, 0.1, 9)])
    np.savetxt(folder / "points.csv", points, delimiter=",", header="frequency,amplitude", comments="")
    return folder


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_part_of_a_study_in_the_documentation_can_be_read_with_the_first(folder, number):
    part = BLOCKS[number]
    tables = BLOCKS[0] | part
    if "data" in part and "file" not in part["data"]:
        tables["data"] = BLOCKS[0]["data"] | part["data"]
    if "simulation" in part:
        assert _order(part["simulation"], Surroundings(folder)).seconds == 10.0
    around = Surroundings(folder, trust=Trust(("joints",)))
    assert _study(folder / "any.toml", "", tables, around).problems


@pytest.mark.slow
def test_every_command_in_the_documentation_runs(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    lines = shown.of_the_tool("docs/command-line.md")
    assert len(lines) >= 5
    for line in lines:
        assert run(shlex.split(line)) == 0, f"vibayes {line}\n{capsys.readouterr().err}"
    assert (folder / "response.csv").exists() and (folder / "test-run" / "check" / "prior_3.png").exists()
