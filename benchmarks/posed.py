"""The problem every sampler is given: which trilinear oscillator of the study of stiffness made a noisy record?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import vibayes as vb

sys.path.insert(0, str(Path(__file__).parents[1] / "studies"))

import piecewise
import pwl_stiffness

DISTINCT = 0.05
"""Share by which neighbouring slopes of the study differ at least."""


def trilinear(seed: int) -> vb.Problem:
    """The candidate with two break points, on a record with 5 % noise: NMSE of the truth about 0.25."""
    record, _ = piecewise.measure(pwl_stiffness.TRUE, seed, piecewise.NOISE, piecewise.SAMPLES)
    return pwl_stiffness.candidate(record, 2)


def arrays(problem: vb.Problem) -> dict[str, Any]:
    """The same for a peer that does not know this library."""
    priors, record = list(problem.priors.values()), problem.record
    assert all(isinstance(prior, vb.Uniform | vb.LogUniform) for prior in priors)
    return {
        "input": record.input[:, 0],
        "output": record.output[:, 0],
        "interval": 1.0 / record.rate,
        "low": [prior.low for prior in priors],
        "high": [prior.high for prior in priors],
        "log": [isinstance(prior, vb.LogUniform) for prior in priors],
        "distinct": DISTINCT,
    }
