"""Naive predictions that stand beside those of the studies are what they are called."""

import importlib
import sys
from typing import Any

import numpy as np
import pytest
from tests.studies import ROOT

import vibayes as vb

sys.path.insert(0, str(ROOT / "studies"))
baselines: Any = importlib.import_module("baselines")
TIME = np.arange(200) / 10.0


def test_a_parabola_predicts_a_parabola_however_far_ahead_and_the_last_value_a_constant():
    curve = 3.0 - 2.0 * TIME + 0.5 * TIME**2
    for ahead in (1, 7):
        found = baselines.ahead_of(curve, ahead)
        assert found["parabola"] < 1e-9 < found["last_value"]
        moved = np.diff(curve[2:], ahead) if ahead == 1 else curve[2 + ahead :] - curve[2:-ahead]
        assert found["last_value"] == pytest.approx(np.sqrt(np.mean(moved**2)))
    assert baselines.ahead_of(np.full(20, 4.0))["last_value"] == 0.0
    start = baselines.from_start(curve, curve + 0.1)
    assert start["parabola"] < 1e-9 and start["linear_model"] == pytest.approx(0.1)
    assert start["last_value"] == pytest.approx(np.sqrt(np.mean((curve - 3.0) ** 2)))


def test_a_regression_a_step_ahead_knows_a_linear_oscillator():
    force = np.random.default_rng(0).normal(size=(2, 400))
    oscillator = vb.Structure.single_dof("m", [vb.Spring("k"), vb.Damper("c")], sensors=[vb.Displacement("mass")])
    both = [
        np.asarray(
            vb.simulate(oscillator, vb.Sampled(f, 50.0, vb.StraightLines()), {"m": 1.0, "k": 90.0, "c": 1.0}).outputs
        )
        for f in force
    ]
    learnt, test = (each[:, 0] for each in both)
    found = baselines.ahead_of(test, 1, force[1], (force[0], learnt))
    assert found["linear_model"] < 1e-9 < found["parabola"]
    record = vb.Record.from_arrays(rate=50.0, input=force[0], output=learnt)
    values = baselines.fitted(oscillator, record, {"m": 1.2, "k": 80.0, "c": 0.5})
    assert values == pytest.approx({"m": 1.0, "k": 90.0, "c": 1.0}, rel=1e-6)
    assert baselines.nmse(learnt.std(), learnt) == pytest.approx(100.0)
