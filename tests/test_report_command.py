"""The command that writes the report of a run."""

import pytest

pytest.importorskip("typer")
pytest.importorskip("plotly")
import numpy as np

import vibayes as vb
from vibayes.cli.app import run

STUDY = """
title = "A storey & more"
seed = 7
[data]
file = "data.csv"
output = "x"
rate = 10.0
[method]
type = "FollowAndWeigh"
particles = 50
draws = 100
[model]
simulator = "decays:decay"
name = "decay"
priors = { rate = { type = "Uniform", low = 0.1, high = 2.0 } }
"""
SIMULATOR = "import numpy as np\n\n\ndef decay(rate):\n    return np.exp(-rate * np.arange(40) / 10.0)\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("reported")
    noise = 0.02 * np.random.default_rng(0).normal(size=40)
    vb.write_record(
        vb.Record.from_arrays(rate=10.0, output={"x": np.exp(-0.07 * np.arange(40)) + noise}), place / "data.csv"
    )
    (place / "decays.py").write_text(SIMULATOR, encoding="utf-8")
    (place / "study.toml").write_text(STUDY, encoding="utf-8")
    assert (
        run(
            [
                "identify",
                str(place / "study.toml"),
                "--trust",
                "decays",
                "--folder",
                str(place / "run"),
                "--no-report",
                "-q",
            ]
        )
        == 0
    )
    assert not (place / "run" / "report.html").exists()
    return place / "run"


@pytest.mark.slow
def test_the_page_of_a_run_tells_its_seed_files_and_versions(folder, capsys):
    assert run(["report", "--trust", "decays", str(folder), "--figures"]) == 0
    assert str(folder / "report.html") in capsys.readouterr().out.replace("\n", "")
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "A storey &amp; more" in text and "data.csv" in text and "jax, when it was run" in text
    assert (folder / "figures" / "fit.png").is_file()


def test_file_and_title_can_be_chosen(folder, tmp_path):
    assert (
        run(["report", "--trust", "decays", str(folder), "--output", str(tmp_path / "page.html"), "--title", "Mine"])
        == 0
    )
    assert "<title>Mine</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")
