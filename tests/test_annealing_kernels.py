"""Kernels and proposals of data-annealed SMC against exact masses and densities."""

from __future__ import annotations

import numpy as np
import pytest

import vibayes as vb
from vibayes.likelihood import DistanceTarget
from vibayes.samplers.embedded_proposal import Embedding, WithEmbedded
from vibayes.samplers.pieces import Pieces, one_piece, pieces_of

X = np.linspace(-1.0, 1.0, 60)
QUICK = vb.DataAnnealedABC(chains=60, max_sweeps=80)


def record_of(values: np.ndarray) -> vb.Record:
    return vb.Record.from_arrays(rate=10.0, output={"y": values})


def curved(rng: np.random.Generator, count: int) -> np.ndarray:
    """A thin, curved posterior."""
    z = rng.standard_normal((count, 2))
    return np.column_stack([z[:, 0], 0.3 * z[:, 1] + 0.8 * z[:, 0] ** 2])


def test_steps_near_a_point_leave_the_mixture_invariant():
    rng = np.random.default_rng(0)
    fitted = pieces_of(curved(rng, 2000), np.full(2000, 1.0 / 2000))
    before = fitted.draw(rng, 20_000)
    after = fitted.walk(rng, before, np.full(len(before), 0.4))
    assert np.mean(np.any(after != before, axis=1)) > 0.99
    moments = [np.column_stack([z, z**2, z[:, :1] * z[:, 1:]]) for z in (np.clip(before, -8, 8), np.clip(after, -8, 8))]
    difference = moments[1] - moments[0]
    error = difference.std(axis=0) / np.sqrt(len(before))
    assert np.all(np.abs(difference.mean(axis=0)) < 4.0 * error)
    # Shorter steps without the factor √(1 − β²) would spread the draws: the control.
    spread = before + 0.4 * rng.standard_normal(before.shape)
    assert np.mean(spread[:, 0] ** 2) > np.mean(before[:, 0] ** 2) + 4.0 * error[2]


def springs(regions: int) -> vb.Problem:
    """Springs of which the larger contains the smaller."""
    slopes, points = tuple(f"k{i}" for i in range(1, regions)), tuple(f"d{i}" for i in range(1, regions))
    spring = vb.PiecewiseLinearSpring.around_zero("k0", slopes, points)
    structure = vb.Structure.single_dof(1.0, [vb.Damper(1.0), spring], sensors=[vb.Displacement("mass")])
    record = vb.Record.from_arrays(rate=10.0, input={"f": X}, output={"x": X})
    priors = {"k0": vb.LogUniform(50.0, 150.0), **dict.fromkeys(slopes, vb.LogUniform(50.0, 1000.0))}
    return vb.Problem(structure, record, priors | dict.fromkeys(points, vb.Uniform(-1.0, 1.0)), f"{regions}")


@pytest.fixture(scope="module")
def embedding() -> Embedding:
    small, large = (DistanceTarget(springs(regions)) for regions in (2, 3))
    points = np.array([0.3, -0.5, 0.8]) + 0.4 * np.random.default_rng(1).standard_normal((500, 3))
    return Embedding(np.empty((0, 5)), one_piece(points, np.full(500, 1.0 / 500)), small, large)


@pytest.mark.parametrize("half", [False, True])
def test_embedded_proposals_have_the_density_that_is_said(embedding, half):
    rng = np.random.default_rng(2)
    wide = Pieces(*one_piece(rng.standard_normal((500, 5)), np.full(500, 1.0 / 500)))
    proposal = WithEmbedded(wide, embedding) if half else embedding
    # The share of the prior in any region, by importance sampling from a wide density, is that of the draws in it.
    drawn, prior = proposal.draw(rng, 20_000), rng.standard_normal((200_000, 5))
    log_prior = -0.5 * np.sum(prior**2, axis=1) - 2.5 * np.log(2.0 * np.pi)
    ratio = np.exp(proposal.log_density(prior) - log_prior)
    for column, at in ((0, 0.3), (1, 0.0), (2, 0.5), (3, -0.2), (4, 0.4)):
        inside, weight = np.mean(drawn[:, column] < at), ratio * (prior[:, column] < at)
        error = np.hypot(np.sqrt(inside * (1 - inside) / len(drawn)), weight.std() / np.sqrt(len(prior)))
        assert abs(weight.mean() - inside) < 4.0 * error
    assert ratio.mean() == pytest.approx(1.0, abs=4.0 * ratio.std() / np.sqrt(len(prior)))


def test_the_mass_within_a_threshold_is_that_of_quadrature():
    record = record_of(0.8 * X + 0.1 * np.random.default_rng(3).standard_normal(len(X)))

    def line(a, b):
        return np.asarray(a)[:, None] * X + np.asarray(b)[:, None]

    def slope(a):
        return np.asarray(a)[:, None] * X

    priors = {"a": vb.Uniform(0.0, 2.0), "b": vb.Uniform(-1.0, 1.0)}
    problems = [vb.Problem(slope, record, {"a": priors["a"]}, vectorised=True),
                vb.Problem(line, record, priors, vectorised=True)]  # fmt: skip
    posterior = vb.infer(5, problems, QUICK)
    a, b = (each.ravel() for each in np.meshgrid(np.linspace(0, 2, 2001), np.linspace(-1, 1, 2001)))
    y, v = record.output[:, 0], record.output[:, 0].var()
    # Sums of squares of a line in closed form: the grid has four million points.
    squares = y @ y - 2 * a * (X @ y) - 2 * b * y.sum() + a**2 * (X @ X) + 2 * a * b * X.sum() + b**2 * len(X)
    distances = 100.0 * squares / (len(X) * v)
    within = {"line": np.mean(distances <= posterior.threshold),
              "slope": np.mean(distances[b == 0.0] <= posterior.threshold)}  # fmt: skip
    # The threshold is a little above the smallest distance, by three times the unknowns per sample.
    assert posterior.threshold == pytest.approx(distances.min() * (1 + 3 * 2 / len(X)), rel=0.02)
    for name, mass in within.items():
        model = posterior[name]
        assert abs(model.log_evidence - np.log(mass)) < 4.0 * model.log_evidence_error + 0.02
        assert model.distances.max() <= posterior.threshold * (1 + 1e-9)
    found = posterior["line"].draws["a"]
    exact = a[distances <= posterior.threshold]
    assert found.std() == pytest.approx(exact.std(), rel=4.0 / np.sqrt(2 * 400))


def test_a_distance_of_ones_own_has_its_threshold():
    record = record_of(np.full(60, 0.5) + 1e-9 * X)
    problem = vb.Problem(
        lambda a: np.full(60, a), record, {"a": vb.Uniform(0.0, 1.0)}, "mean",
        distance=lambda measured, simulated: float(abs(np.mean(simulated) - np.mean(measured)) + 0.01),
    )  # fmt: skip
    model = vb.infer(0, problem, vb.DataAnnealedABC(chains=40, threshold=0.05))["mean"]
    # All within 0.04 of the middle of the prior count alike.
    assert abs(model.log_evidence - np.log(0.08)) < 4.0 * model.log_evidence_error + 0.02
    assert model.standard_deviation()["a"] == pytest.approx(0.08 / np.sqrt(12.0), rel=4.0 / np.sqrt(800))


def test_two_modes_within_a_threshold_are_both_found():
    record = record_of(0.49 * X**2 + 0.05 * np.random.default_rng(1).standard_normal(len(X)))
    problem = vb.Problem(
        lambda a: np.asarray(a)[:, None] ** 2 * X**2, record, {"a": vb.Normal(0.2, 1.0)}, "square", vectorised=True
    )
    draws = vb.infer(0, problem, QUICK)["square"].draws["a"]
    middle = np.abs(draws).mean()
    odds = np.exp(-0.5 * ((-middle - 0.2) ** 2 - (middle - 0.2) ** 2))  # of the prior at the two modes
    assert np.mean(draws < 0) == pytest.approx(odds / (1 + odds), abs=4 * 0.5 / np.sqrt(200))
