"""The unscented transform is the weighted sums of the textbooks, whatever the signs of the weights."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb
from vibayes.filters.discrete import discretise
from vibayes.filters.recursion import Moments, correct, predict
from vibayes.filters.triangular import downdated
from vibayes.structure.element import as_arrays

SETTINGS = {
    "default": {},
    "narrow": dict(spread=0.6),
    "three minus n": dict(spread=3.0),
    "kappa": dict(kappa=0.4),
    "scaled": dict(alpha=0.5, beta=2.0, kappa=0.0),
    "negative beta": dict(alpha=0.9, beta=-0.5, kappa=1.0),
    "tiny": dict(alpha=1e-3, beta=2.0, kappa=0.0),
}


def textbook(mean, covariance, function, settings, root=None):
    """Mean, covariance and cross-covariance by sums over 2n + 1 points (Julier and Uhlmann 2004; Wan and van der Merwe
    2000), with a Cholesky factor unless a root is given."""
    n = len(mean)
    alpha, beta, kappa = (settings.get(name, default) for name, default in (("alpha", 1), ("beta", 0), ("kappa", 0)))
    lam = alpha**2 * (n + kappa) - n
    if "spread" in settings or not settings:
        lam = settings.get("spread", max(3, n)) - n
    root = np.linalg.cholesky(covariance) if root is None else root
    points = [mean, *(mean + np.sqrt(n + lam) * c for c in root.T), *(mean - np.sqrt(n + lam) * c for c in root.T)]
    images = [np.asarray(function(p[:, None]))[:, 0] for p in points]
    in_mean = [lam / (n + lam)] + [0.5 / (n + lam)] * (2 * n)
    in_covariance = [in_mean[0] + 1.0 - alpha**2 + beta, *in_mean[1:]]
    expected = sum(w * y for w, y in zip(in_mean, images, strict=True))
    spread = sum(w * np.outer(y - expected, y - expected) for w, y in zip(in_covariance, images, strict=True))
    cross = sum(w * np.outer(p - mean, y - expected) for w, p, y in zip(in_covariance, points, images, strict=True))
    return expected, spread, cross


def bent(points):
    return np.stack([np.sin(points[0]) + points[-1] ** 2, points[0] * points[-1], np.cos(points).sum(axis=0)])


def gaussian(n):
    rng = np.random.default_rng(n)
    root = np.tril(rng.normal(size=(n, n)))
    return rng.normal(size=n), root * np.sign(np.diag(root))


def transformed(function, mean, root, settings):
    """With NumPy behind the transform's interface, so that nothing is compiled."""
    found = vb.UnscentedFilter(**settings).transform(
        lambda p: jnp.asarray(function(np.asarray(p))), jnp.asarray(mean), jnp.asarray(root), lambda points: points
    )
    mean, along, beside, less = (np.asarray(each) for each in found)
    return SimpleNamespace(mean=mean, along=along, covariance=along @ along.T + beside @ beside.T - less @ less.T)


@pytest.mark.parametrize("name", SETTINGS)
def test_mean_and_covariance_are_the_sums_of_textbooks_for_one_to_eight_coordinates(name):
    signs = set()
    for n in range(1, 9):
        mean, root = gaussian(n)
        expected, spread, cross = textbook(mean, root @ root.T, bent, SETTINGS[name])
        found = transformed(bent, mean, root, SETTINGS[name])
        # Textbook sums with α = 0.001 cancel six digits.
        near = 1e-6 if name == "tiny" else 1e-10
        np.testing.assert_allclose(found.mean, expected, rtol=near, atol=near)
        np.testing.assert_allclose(found.covariance, spread, rtol=near, atol=near)
        np.testing.assert_allclose(root @ found.along.T, cross, rtol=near, atol=near)
        signs.add(np.sign(vb.UnscentedFilter(**SETTINGS[name]).transform.reach(n)[1]))
    assert name != "three minus n" or signs == {1.0, 0.0, -1.0}, "both signs are met"


@pytest.mark.parametrize("name", SETTINGS)
def test_the_identity_returns_mean_and_covariance(name):
    for n in range(1, 9):
        mean, root = gaussian(n)
        found = transformed(lambda points: points, mean, root, SETTINGS[name])
        np.testing.assert_allclose(found.mean, mean, rtol=1e-9)
        np.testing.assert_allclose(found.covariance, root @ root.T, rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def hardening():
    """Two masses on hardening springs under a moving ground, read by accelerometers: n = 6, so λ = 3 − n is negative,
    and neither step nor reading is linear."""
    springs = [[vb.Duffing(40.0, 900.0), vb.Damper(0.5)], [vb.Duffing(30.0, 700.0), vb.Damper(0.4)]]
    sensors = [vb.AbsoluteAcceleration("m1"), vb.AbsoluteAcceleration("m2")]
    structure = vb.Structure.chain([1.0, 1.2], springs, sensors=sensors).driven_by(vb.KanaiTajimi(9.0, 0.4, 0.3))
    model = discretise(as_arrays(structure), 0.05, 1)
    rng = np.random.default_rng(3)
    scale = np.array([0.1, 0.1, 0.5, 0.5, 0.05, 0.5])
    return model, 0.3 * scale * rng.normal(size=6), np.linalg.cholesky(np.diag(scale**2) + 0.1 * np.outer(scale, scale))


@pytest.mark.parametrize("settings", [dict(spread=3.0), dict(alpha=0.7, beta=2.0, kappa=-2.0)], ids=str)
def test_a_step_of_the_filter_with_a_negative_weight_is_the_textbooks(settings, hardening):
    model, mean, lower = hardening
    transform, none = vb.UnscentedFilter(**settings).transform, jnp.zeros(0)
    step, noise = jax.jit(lambda p: model.advance(p, 0, jnp.zeros((2, 0)))), np.asarray(model.noise_of(0))
    expected, spread, _ = textbook(mean, lower @ lower.T, step, settings)
    now = Moments(jnp.asarray(mean), jnp.asarray(lower))
    ahead = jax.jit(lambda now: predict(transform, model, now, 0, none, none))(now)
    np.testing.assert_allclose(ahead.mean, expected, rtol=1e-9)
    np.testing.assert_allclose(ahead.lower @ ahead.lower.T, spread + noise @ noise.T, rtol=1e-8, atol=1e-12)

    y, deviations = np.array([1.0, -2.0]), np.array([1.5, 2.5])
    read = jax.jit(lambda p: model.measure(p, 0, none))
    expected, spread, cross = textbook(mean, lower @ lower.T, read, settings)
    spread = spread + np.diag(deviations**2)
    gain, off = cross @ np.linalg.inv(spread), y - expected
    corrected = jax.jit(lambda now: correct(transform, model, now, 0, jnp.asarray(y), none, jnp.asarray(deviations)))
    after, increment = corrected(now)
    np.testing.assert_allclose(after.mean, mean + gain @ off, rtol=1e-8)
    np.testing.assert_allclose(after.lower @ after.lower.T, lower @ lower.T - gain @ spread @ gain.T, atol=1e-9)
    density = -0.5 * (off @ np.linalg.solve(spread, off) + np.linalg.slogdet(2.0 * np.pi * spread)[1])
    assert float(increment.log_likelihood) == pytest.approx(density, rel=1e-9)


def test_a_downdate_is_the_cholesky_factor_of_the_difference_or_nothing():
    _, root = gaussian(5)
    column = 0.4 * root @ np.array([0.5, -1.0, 0.3, 0.8, 0.2])
    found = jax.jit(downdated)(root, column[:, None])
    expected = np.linalg.cholesky(root @ root.T - np.outer(column, column))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    columns = np.stack([column, 5.0 * column], axis=-1)[:, None]
    side_by_side = jax.jit(downdated)(np.stack([root, root], axis=-1), columns)
    np.testing.assert_allclose(side_by_side[..., 0], expected, rtol=1e-8, atol=1e-10)
    assert np.isnan(side_by_side[..., 1]).all(), "what is no covariance is not made one in silence"


def record():
    return vb.Record.from_arrays(rate=20.0, output=np.sin(np.arange(30) / 6.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: vb.UnscentedFilter(spread=0.0), "spread"),
        (lambda: vb.UnscentedFilter(spread=-1.0), "a positive number"),
        (lambda: vb.UnscentedFilter(spread=float("nan")), "a positive number"),
        (lambda: vb.UnscentedFilter(spread="wide"), "a positive number"),  # type: ignore[arg-type]
        (lambda: vb.UnscentedFilter(alpha=0.0), "alpha"),
        (lambda: vb.UnscentedFilter(beta=float("inf")), "beta"),
        (lambda: vb.UnscentedFilter(spread=3.0, alpha=0.5), "either spread or alpha, beta, kappa"),
        (lambda: vb.filtering(linear(), record(), 0.1, vb.UnscentedFilter(kappa=-2.0)), "κ above −n"),
    ],
)
def test_points_that_cannot_be_are_refused(make, words):
    with pytest.raises(vb.InvalidInput, match=words):
        make()


def linear():
    structure = vb.Structure.single_dof(1.0, [vb.Spring(9.0), vb.Damper(0.3)], sensors=[vb.Velocity("mass")])
    return structure.driven_by(vb.WhiteNoise(0.1))


def test_narrow_points_have_the_likelihood_of_the_kalman_filter_where_all_is_linear():
    prepared = [
        vb.filtering(linear(), record(), 0.1, method)
        for method in (vb.KalmanFilter(), vb.UnscentedFilter(spread=0.5), vb.UnscentedFilter(alpha=0.1, beta=2.0))
    ]
    exact, narrow, scaled = (float(each.log_likelihood({})) for each in prepared)
    assert narrow == pytest.approx(exact, rel=1e-9)
    assert scaled == pytest.approx(exact, rel=1e-9)
