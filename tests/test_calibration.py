"""Simulation-based calibration: parameters drawn from the prior, a record simulated, the posterior found.

Over many such records the rank of the true value among posterior draws is uniform if the whole way is right.
"""

import numpy as np
import pytest
from scipy import stats

import vibayes as vb

COMPUTES = True

RATE, SAMPLES, SETS, DRAWS = 10.0, 120, 60, 31
NOISE = 0.15
LAWS = {
    "linear": ([vb.Spring("k"), vb.Damper("c")], {"k": vb.LogNormal(6.0, 1.5), "c": vb.LogNormal(0.4, 1.6)}),
    "bilinear": (
        [vb.BilinearHysteresis("k", "y", 0.1), vb.Damper(0.3)],
        {"k": vb.LogNormal(6.0, 1.5), "y": vb.LogNormal(0.4, 1.5)},
    ),
}


def ranks(law: str, factor: float = 1.0) -> np.ndarray:
    """Of the true values among draws of the posterior, (sets, parameters); the input is taken for so much stronger."""
    elements, priors = LAWS[law]
    undriven = vb.Structure.single_dof(1.0, elements, sensors=[vb.Velocity("mass")])
    structure, assumed = (undriven.driven_by(vb.WhiteNoise(density)) for density in (0.2, 0.2 * factor))
    rng = np.random.default_rng(7)
    found = []
    for number in range(SETS):
        true = {name: float(prior.icdf(rng.random())) for name, prior in priors.items()}
        force = vb.realise(number, structure, true, rate=RATE, samples=SAMPLES, refinement=10)
        clean = np.asarray(vb.simulate(structure, force, true, states=False).outputs)[::10]
        record = vb.Record.from_arrays(rate=RATE, output=clean + NOISE * rng.standard_normal(clean.shape))
        problem = vb.Problem(assumed, record, priors, law, noise=NOISE)
        model = vb.infer(number, problem, vb.TemperedSMC(particles=160)).selected
        draws = model.resampled(number, DRAWS)
        found.append([int(np.sum(draws[name] < value)) for name, value in true.items()])
    return np.array(found)


def p_values(found: np.ndarray) -> list[float]:
    """That ranks of each parameter are uniform on 0 … DRAWS, by counts in eight bins."""
    counts = [np.bincount(column * 8 // (DRAWS + 1), minlength=8) for column in found.T]
    return [float(stats.chisquare(each).pvalue) for each in counts]


# The linear law is calibrated over 200 records by the study, in `make verify` likewise.
@pytest.mark.parametrize(
    "law", [pytest.param("linear", marks=pytest.mark.verify), pytest.param("bilinear", marks=pytest.mark.slow)]
)
def test_ranks_of_the_truth_are_uniform(law):
    assert min(p_values(ranks(law))) > 0.002


@pytest.mark.slow
def test_an_input_taken_for_four_times_as_strong_is_noticed():
    assert min(p_values(ranks("linear", 4.0))) < 1e-4
