"""A newcomer who follows the first pages gets what they promise: every command of theirs is run, in order."""

import os
import shlex
from pathlib import Path

import pytest
from tests import shown

pytest.importorskip("plotly")
from vibayes.cli.app import run
from vibayes.runs import open_run

COMPUTES = True

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The folder after all commands, and how each ended."""
    folder, before = tmp_path_factory.mktemp("newcomer"), Path.cwd()
    os.chdir(folder)
    try:
        return folder, {line: run(shlex.split(line)) for line in shown.of_the_tool("docs/getting-started.md")}
    finally:
        os.chdir(before)


def test_every_command_of_the_page_works(followed):
    _, codes = followed
    assert len(codes) == 8 and set(codes.values()) == {0}


def test_the_demonstration_finds_the_spring(followed):
    folder, _ = followed
    posterior = open_run(folder / "tour" / "run").posterior()
    # A quadlinear spring with a region that the motion never reaches is a trilinear one: the visited ones count.
    assert posterior.selected.name in ("trilinear", "quadlinear")
    # Three seconds of record leave a few percent for a fourth region.
    assert [each[3] > 0.9 for each in posterior.regions_visited.probabilities.values()] == [True]
    # The simpler springs cannot follow the record.
    assert max(posterior["linear"].probability, posterior["bilinear"].probability) < 1e-9
    text = (folder / "tour" / "run" / "report.html").read_text(encoding="utf-8")
    assert "True values: m = 1, c0 = 2, k0 = 1000, k1 = 3000, k2 = 7000, d1 = -0.001, d2 = 0.0005." in text


def test_a_study_made_from_a_look_at_the_file_finds_the_same(followed):
    folder, _ = followed
    found = open_run(folder / "test07-run").posterior()
    assert found.selected.name in ("trilinear", "quadlinear")
    assert [each[3] > 0.95 for each in found.regions_visited.probabilities.values()] == [True]
    for name, truth in (("m", 1.0), ("c", 2.0), ("k0", 1e3)):
        assert truth in found.selected.interval(name, 0.99)
    for file in (
        "test07-run/report.html",
        "test07-run/check/prior_1.png",
        "test07-run/figures/fit.png",
        "response.csv",
    ):
        assert (folder / file).is_file()
