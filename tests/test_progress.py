"""The line that a person watches."""

from dataclasses import replace

from vibayes.posterior import Level
from vibayes.progress import line_of

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
