"""The command that writes a report, with a stand-in for run folders."""

import json
import sys
import types

import pytest

pytest.importorskip("typer")
pytest.importorskip("plotly")
import typer
from tests.reported import KINDS
from typer.testing import CliRunner

from vibayes.cli.report import report


class Opened:
    """A run as `vibayes.runs.open_run` gives it."""

    study = types.SimpleNamespace(title="A storey & more", seed=7, method="FollowAndWeigh()", files=("data/test.csv",))

    def posterior(self):
        return KINDS["function"]()


@pytest.fixture
def command(monkeypatch):
    stand_in = types.ModuleType("vibayes.runs")
    stand_in.open_run = lambda folder: Opened()  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "vibayes.runs", stand_in)
    app = typer.Typer()
    app.command()(report)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_the_page_of_a_run_tells_its_seed_files_and_versions(command, tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"environment": {"jax": "9.9.9"}}), encoding="utf-8")
    answer = command(tmp_path, "--figures")
    assert answer.exit_code == 0, answer.output
    assert answer.output.strip().replace("\n", "") == str(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "A storey &amp; more" in text and "data/test.csv" in text and "9.9.9" in text
    assert (tmp_path / "figures" / "fit.png").is_file()


def test_file_and_title_can_be_chosen(command, tmp_path):
    answer = command(tmp_path, "--output", tmp_path / "page.html", "--title", "Mine")
    assert answer.exit_code == 0 and "<title>Mine</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")
