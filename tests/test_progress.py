"""The line that a person watches."""

import io
import sys
from dataclasses import replace

import numpy as np
import pytest

import vibayes as vb
from vibayes import inference
from vibayes.posterior import Level
from vibayes.progress import Progress, line_of, watched

NAN = float("nan")
LEVEL = Level("follow", "trilinear", 0.25, 0.4, NAN, (0, 0), (NAN, NAN), 12_000, 30.0, 0.5)
NAMES = ("linear", "trilinear")


def test_the_line_says_where_it_is_and_what_remains():
    line = line_of(LEVEL, NAMES)
    assert "trilinear: follows 40 % within 0.25" in line and "12,000 simulations, about 30 s left" in line
    assert "about 10 min left" in line_of(replace(LEVEL, seconds=200.0, done=0.25), NAMES)


def test_nothing_is_said_of_the_rest_too_early_or_where_nothing_is_known():
    for done in (0.01, NAN, 1.0):
        assert "left" not in line_of(replace(LEVEL, done=done), NAMES)


def test_models_that_are_alive_are_named():
    line = line_of(replace(LEVEL, stage="weigh", followed=1.0, probabilities=(0.0, 1.0)), NAMES)
    assert "trilinear 1.00" in line and "linear 0.00" not in line and "threshold 0.25" in line


def test_the_line_tells_whether_chains_agree():
    assert "R-hat 1.02" in line_of(replace(LEVEL, rhat=1.02), NAMES) and "R-hat" not in line_of(LEVEL, NAMES)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def pictured(level, names=NAMES):
    console = pytest.importorskip("rich.console")
    stream = io.StringIO()
    from vibayes.live import picture

    console.Console(file=stream, width=90).print(picture(level, names))
    return stream.getvalue()


def test_the_picture_says_what_it_is_doing_how_far_and_how_long_still():
    shown = pictured(LEVEL)
    assert "follows the record  (trilinear)" in shown and "50 %" in shown and "0:30" in shown
    assert "about 30 s left" in shown and "12,000 simulations, threshold 0.25, follows 40 % of the record" in shown
    assert "2:46:40" in pictured(replace(LEVEL, seconds=10_000.0))
    assert "left" not in pictured(replace(LEVEL, done=NAN))  # nobody knows


def test_the_picture_orders_models_by_probability_and_says_whether_chains_agree():
    shown = pictured(replace(LEVEL, probabilities=(0.1, 0.9), rhat=1.3))
    assert shown.index("0.90") < shown.index("0.10") and "R-hat 1.300: chains do not agree yet" in shown
    assert "chains agree" in pictured(replace(LEVEL, rhat=1.001))
    assert "1.00" not in pictured(replace(LEVEL, probabilities=(1.0,)), ["only"])  # no choice


@pytest.mark.parametrize("rich", [True, False])
def test_a_terminal_gets_a_picture_if_there_is_rich_and_a_file_gets_lines(monkeypatch, rich):
    problem = vb.Problem(lambda a: a * np.arange(9.0), vb.Record.from_arrays(rate=1.0, output=np.arange(9.0)),
                         {"a": vb.Uniform(0.0, 2.0)}, "line")  # fmt: skip
    if not rich:
        monkeypatch.setattr(inference, "find_spec", lambda name: None)
    else:
        pytest.importorskip("rich")
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        show = inference.listener(True, [problem])
        assert isinstance(show, Progress) == (not rich or not stream.isatty())
        levels = [
            replace(LEVEL, model="line", particles=(1,), probabilities=(1.0,), stage=s) for s in ("follow", "done")
        ]
        trace, ended = watched(iter(levels), show, lambda level: "")
        assert trace == levels and ended == "" and "12,000 simulations" in stream.getvalue()


@pytest.mark.slow
def test_chains_have_an_r_hat_in_the_trace_once_they_draw():
    springs = [vb.Spring("k"), vb.Damper(0.3)]
    oscillator = vb.Structure.single_dof(1.0, springs, sensors=[vb.Velocity("mass")]).driven_by(vb.WhiteNoise(0.1))
    record = vb.Record.from_arrays(rate=10.0, output=np.sin(3.0 * np.arange(30) / 10.0))
    problem = vb.Problem(oscillator, record, {"k": vb.LogNormal(8.0, 1.5)}, noise=0.05)
    posterior = vb.infer(0, problem, vb.Metropolis(draws=40, chains=3))
    known = [level.rhat for level in posterior.trace if level.rhat == level.rhat]
    assert known and all(level.rhat != level.rhat for level in posterior.trace if level.stage == "warm up")
    assert known[-1] == pytest.approx(max(each.rhat for each in posterior.selected.diagnostics()))
