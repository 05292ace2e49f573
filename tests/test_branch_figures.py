"""Figures of branches show what the branches are."""

import numpy as np
import pytest

import vibayes as vb
from vibayes import report
from vibayes.periodic import IsolaLevels

OSCILLATOR = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "k3"), vb.Damper(0.05)])


@pytest.fixture(scope="module")
def branch():
    return vb.forced_response(OSCILLATOR, {"k3": 0.1}, {"mass": 0.1}, (0.5, 1.6))


def test_unstable_parts_are_left_out_of_the_full_line(branch):
    (axes,) = report.figure_of_branches({"response": branch}, "mass").axes
    whole, stable = axes.lines[:2]
    assert not np.isnan(whole.get_xdata()).any()
    assert np.array_equal(np.isnan(stable.get_xdata()), ~branch.stable)


def test_every_fold_has_a_mark(branch):
    (axes,) = report.figure_of_branches({"response": branch}, "mass").axes
    marks = [float(line.get_xdata()[0]) for line in axes.lines[2:]]
    assert marks == [special.frequency for special in branch.specials]


def test_every_draw_is_a_line(branch):
    draws = vb.response_draws(OSCILLATOR, {"k3": np.array([0.09, 0.1, 0.11])}, {"mass": 0.1}, (0.5, 1.6))
    (axes,) = report.figure_of_branches({"response": branch}, "mass", {"response": draws}).axes
    assert len(axes.lines) == 3 + 2 + len(branch.specials)
    assert {line.get_color() for line in axes.lines[:4]} == {axes.lines[0].get_color()}


def test_what_is_compared_with_lies_beneath(branch):
    (axes,) = report.figure_of_branches({"found": branch}, "mass", beneath={"true": branch}).axes
    pale, *others = axes.lines
    assert pale.get_label() == "true" and all(pale.get_zorder() < other.get_zorder() for other in others)


def test_no_branches_are_refused():
    with pytest.raises(vb.InvalidInput, match="at least one branch"):
        report.figure_of_branches({}, "mass")


def test_an_isola_that_does_not_merge_has_no_such_mark():
    curve = np.array([1.0, 1.1, 1.2]), np.array([0.7, 0.6, 0.7])
    levels = IsolaLevels(0.6, 1.1, np.inf, np.nan, *curve, (vb.BranchStatus.RANGE_LEFT,) * 2)
    (axes,) = report.figure_of_isola_levels(levels).axes
    assert [line.get_label() for line in axes.lines] == ["folds", "birth"]


def test_a_page_to_explore_has_every_branch_and_needs_no_network(branch, tmp_path):
    pytest.importorskip("plotly")
    path = report.page_of_branches({"forced": branch}, tmp_path / "page.html", points={"measured": ([1.0], [0.2])})
    text = path.read_text()
    assert "forced" in text and "measured" in text and "largest multiplier" in text
    assert "cdn.plot.ly" not in text.split("Plotly.newPlot")[-1] and len(text) > 1_000_000
