"""Figures: what they show, not how they look."""

import sys

import numpy as np
import pytest

import vibayes as vb
from vibayes.accuracy import accuracy
from vibayes.errors import InvalidInput

pytest.importorskip("matplotlib")
from vibayes.report import figure_of_accuracy, figure_of_event_times, figure_of_history, figure_of_loop, save

pytestmark = pytest.mark.slow

FORCE = vb.Sine(amplitude=0.8, frequency_hz=0.1)


@pytest.fixture(scope="module")
def oscillator():
    spring = vb.BilinearHysteresis(1.0, 0.75, 0.3).between("ground", "mass", name="spring")
    return vb.Structure.single_dof(1.0, [spring], sensors=[vb.Displacement("mass"), vb.ElementForce("spring")])


@pytest.fixture(scope="module")
def solution(oscillator):
    return vb.simulate(oscillator, FORCE, rate=20.0, samples=401)


@pytest.fixture(scope="module")
def studies(oscillator):
    settings = {"duration": 20.0, "tolerances": [1e-3, 1e-5, 1e-7], "repeats": 1}
    located = accuracy(oscillator, FORCE, **settings)
    ignored = accuracy(oscillator, FORCE, method=vb.EventLocated(events=False), **settings)
    return {"located": located, "ignored": ignored}


def marked(axes):
    """Points drawn as events: everything but the first curve."""
    return np.concatenate([np.column_stack(line.get_data()) for line in axes.lines[1:]])


def test_history_marks_every_event_on_its_curve(solution):
    axes = figure_of_history(solution).axes
    assert [a.get_ylabel() for a in axes] == ["displacement\nof mass", "element force\nof spring"]
    for panel, name in zip(axes, solution.output_names, strict=True):
        points = marked(panel)
        assert sorted(points[:, 0]) == sorted(solution.events.time)
        assert np.allclose(points[:, 1], np.interp(points[:, 0], solution.times, solution[name]))


def test_history_shows_the_excitation_on_top_with_its_unit(solution):
    panel = figure_of_history(solution, excitation=FORCE, units={"excitation": "N"}).axes[0]
    assert panel.get_ylabel() == "excitation (N)"
    assert panel.lines[0].get_ydata()[25] == pytest.approx(0.8 * np.sin(2 * np.pi * 0.1 * 1.25))


def test_history_of_a_simulation_without_events_is_a_plain_curve(oscillator):
    free = vb.Structure.single_dof(1.0, [vb.Spring(1.0)])
    figure = figure_of_history(vb.simulate(free, FORCE, rate=10.0, samples=11), ["displacement of mass"])
    assert len(figure.axes) == 1 and len(figure.axes[0].lines) == 1


def test_loop_marks_every_event(solution):
    (axes,) = figure_of_loop(solution, "displacement of mass", "element force of spring").axes
    assert len(marked(axes)) == len(solution.events)
    assert axes.get_xlabel() == "displacement of mass"


def test_a_kind_of_event_looks_the_same_in_all_figures(solution):
    history = figure_of_history(solution).axes[0]
    (loop,) = figure_of_loop(solution, "displacement of mass", "element force of spring").axes
    looks = [{line.get_label(): line.get_color() for line in axes.lines[1:]} for axes in (history, loop)]
    assert looks[0] == looks[1] and len(set(looks[0].values())) == len(looks[0]) > 1


def test_accuracy_figure_draws_the_line_whose_slope_it_names(studies):
    figure = figure_of_accuracy(studies, "title")
    points, line = figure.axes[0].lines[:2]
    slope = np.diff(np.log(line.get_ydata()))[0] / np.diff(np.log(line.get_xdata()))[0]
    assert slope == pytest.approx(studies["located"].tp_slope)
    assert f"located (slope {studies['located'].tp_slope:.3f})" == points.get_label()
    assert [axes.get_ylabel() for axes in figure.axes[1:]] == [
        "elapsed time (ms)", "evaluations, kept", "evaluations, rejected",
    ]  # fmt: skip


def test_accuracy_figure_takes_a_single_study(studies):
    assert len(figure_of_accuracy(studies["located"]).axes) == 4


def test_event_figure_shows_all_events_at_all_tolerances(studies):
    study = studies["located"]
    counts, times, errors = figure_of_event_times(study).axes
    assert counts.lines[0].get_ydata().tolist() == study.event_counts.tolist()
    assert sum(len(line.get_xdata()) for line in times.lines) == study.event_counts.sum()
    assert sum(len(line.get_xdata()) for line in errors.lines) == study.event_counts.sum()


def test_event_figure_needs_events(studies):
    with pytest.raises(InvalidInput, match="locates events"):
        figure_of_event_times(studies["ignored"])


def test_a_batch_cannot_be_drawn():
    batch = vb.simulate(vb.Structure.single_dof(1.0, [vb.Spring("k")]), FORCE, {"k": [1.0, 2.0]}, rate=1.0, samples=3)
    with pytest.raises(InvalidInput, match="one parameter set, got 2 sets"):
        figure_of_history(batch)


def test_save_writes_a_picture(solution, tmp_path):
    path = save(figure_of_history(solution), tmp_path / "history.png")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_error_names_the_extra(solution, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InvalidInput, match=r"matplotlib installed.*install vibayes\[plot\]"):
        figure_of_history(solution)
