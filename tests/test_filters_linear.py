"""On linear structures all filters are the Kalman filter."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg as sl
from tests.kalman import discrete, kalman, rauch_tung_striebel

import vibayes as vb
from vibayes.filters.recursion import absorb

RATE, SAMPLES = 100.0, 300
OMEGA, ZETA, DENSITY = 10.0, 0.35, 0.05
NOISE = np.array([0.3, 0.002])
STIFFNESS, MASSES, FORCE = (1000.0, 950.0, 850.0), (1.0, 1.2, 0.9), 5.0


def structure(envelope=None):
    shaken = vb.Structure(
        {"m1": MASSES[0], "m2": MASSES[1], "m3": MASSES[2]},
        [
            vb.Spring("k").between("ground", "m1"),
            vb.Spring(STIFFNESS[1]).between("m1", "m2"),
            vb.Spring(STIFFNESS[2]).between("m2", "m3"),
        ],
        inputs=[vb.BaseAcceleration(), vb.Force("m2")],
        sensors=[vb.AbsoluteAcceleration("m1"), vb.Displacement("m3")],
        damping=vb.ModalDamping(0.05),
    )
    process = vb.KanaiTajimi(OMEGA, ZETA, DENSITY, **({} if envelope is None else {"envelope": envelope}))
    return shaken.driven_by(process, None, start="rest")


def matrices():
    """By hand: state (q, v, u_g, v_g)."""
    k1, k2, k3 = STIFFNESS
    K = np.array([[k1 + k2, -k2, 0], [-k2, k2 + k3, -k3], [0, -k3, k3]])
    M = np.diag(MASSES)
    squares, shapes = sl.eigh(K, M)
    C = M @ shapes @ np.diag(0.1 * np.sqrt(squares)) @ shapes.T @ M
    passed = np.array([OMEGA**2, 2 * ZETA * OMEGA])
    A = np.zeros((8, 8))
    A[:3, 3:6], A[3:6, :3], A[3:6, 3:6] = np.eye(3), -np.linalg.solve(M, K), -np.linalg.solve(M, C)
    A[3:6, 6:], A[6, 7], A[7, 6:] = -passed, 1.0, -passed
    B = np.zeros((8, 1))
    B[7] = np.sqrt(2 * np.pi * DENSITY)
    H = np.zeros((2, 8))
    H[0] = A[3]
    H[0, 6:] += passed
    H[1, 2] = 1.0
    P = np.zeros((8, 8))
    P[6:, 6:] = sl.solve_continuous_lyapunov(A[6:, 6:], -B[6:] @ B[6:].T)
    push = np.zeros(8)
    push[4] = 1.0 / MASSES[1]
    return A, B, H, P, push


def record():
    rng = np.random.default_rng(0)
    output = rng.normal(size=(SAMPLES, 2)) * [1.0, 0.01]
    output[100:120, 0] = np.nan
    output[50] = np.nan
    output[1::3, 1] = np.nan  # a slower channel
    return vb.Record.from_arrays(rate=RATE, input=FORCE * rng.normal(size=SAMPLES), output=output)


@pytest.fixture(scope="module")
def exact():
    return {started: oracle(started) for started in (False, True)}


def oracle(started):
    A, B, H, P, _ = matrices()
    if started:
        P[:6, :6] = np.diag([START[0] ** 2] * 3 + [START[1] ** 2] * 3)
    F, Q = discrete(A, B, 1.0 / RATE)
    drive = oracle_drive()
    total, means, covariances = kalman(F, Q, H, np.diag(NOISE**2), np.zeros(8), P, record().output, drive)
    return total, means, covariances, rauch_tung_striebel(F, Q, means, covariances, drive)


def oracle_drive():
    """A force that goes straight from sample to sample, by quadrature of its convolution."""
    A, *_, push = matrices()
    nodes, weights = np.polynomial.legendre.leggauss(20)
    shares = 0.5 * (nodes + 1.0)
    force = record().input[:, 0]
    after = np.append(force[1:], force[-1])
    responses = np.array([sl.expm(A * (1.0 - s) / RATE) @ push for s in shares]) * (0.5 / RATE * weights)[:, None]
    return np.outer(force, (1.0 - shares) @ responses) + np.outer(after, shares @ responses)


START = 0.01, 0.3
"""Standard deviations of displacement and velocity at the beginning, where it is not at rest."""
FILTERS = {
    "unscented": vb.UnscentedFilter,
    "wide": lambda **start: vb.UnscentedFilter(spread=12.0, **start),
    "three steps": lambda **start: vb.UnscentedFilter(steps=3, **start),
    "extended": vb.ExtendedFilter,
    "exact": vb.KalmanFilter,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILTERS)
def test_log_likelihood_is_that_of_the_kalman_filter(name, exact):
    prepared = vb.filtering(structure(), record(), NOISE, FILTERS[name]())
    total = float(jax.jit(prepared.log_likelihood)({"k": STIFFNESS[0]}))
    assert total == pytest.approx(exact[False][0], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILTERS)
def test_moments_are_those_of_the_kalman_filter_and_smoother(name, exact):
    method = FILTERS[name](start_displacement=START[0], start_velocity=START[1])
    prepared = vb.filtering(structure(), record(), NOISE, method)
    for smoothed, (means, covariances) in ((False, exact[True][1:3]), (True, exact[True][3])):
        moments = jax.jit(lambda k: prepared.moments({"k": k}, smoothed)[3])(STIFFNESS[0])  # noqa: B023
        ours = np.asarray(moments.lower) @ np.swapaxes(moments.lower, 1, 2)
        scale = np.sqrt(np.max(np.diagonal(covariances, axis1=1, axis2=2), axis=0))
        np.testing.assert_allclose(np.asarray(moments.mean) / scale, means / scale, atol=1e-7 if smoothed else 1e-9)
        atol = 1e-7 if smoothed else 1e-9
        np.testing.assert_allclose(ours / np.outer(scale, scale), covariances / np.outer(scale, scale), atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "smoothed"), [({}, False), ({"smoothed": True}, True)], ids=["default", "on request"]
)
def test_estimates_are_filtered_by_default_and_smoothed_on_request(exact, asked, smoothed):
    method = vb.KalmanFilter(start_displacement=START[0], start_velocity=START[1])
    prepared = vb.filtering(structure(), record(), NOISE, method)
    found = vb.estimate(prepared, {"k": STIFFNESS[0]}, [vb.Displacement("m3")], **asked)
    _, filtered, covariances, (smooth, _) = exact[True]
    scale = np.sqrt(covariances[:, 2, 2].max())
    right, wrong = (smooth, filtered) if smoothed else (filtered, smooth)
    np.testing.assert_allclose(found.mean[:, 0] / scale, right[:, 2] / scale, atol=1e-7)
    assert np.abs(found.mean[:, 0] - wrong[:, 2]).max() > 0.1 * scale, "the two are told apart"
    assert found.smoothed is smoothed


def test_one_percent_less_process_noise_is_noticed(exact):
    A, B, H, P, _ = matrices()
    F, Q = discrete(A, B, 1.0 / RATE)
    wrong, *_ = kalman(F, 0.99 * Q, H, np.diag(NOISE**2), np.zeros(8), P, record().output, oracle_drive())
    assert wrong != pytest.approx(exact[False][0], rel=1e-9)


@pytest.mark.slow
def test_the_gradient_is_the_slope():
    prepared = vb.filtering(structure(), record(), NOISE)
    function = jax.jit(lambda k: prepared.log_likelihood({"k": k}))
    slope = (function(1000.0 + 0.01) - function(1000.0 - 0.01)) / 0.02
    assert float(jax.grad(function)(1000.0)) == pytest.approx(float(slope), rel=1e-5)


@pytest.mark.slow
def test_an_envelope_of_one_changes_nothing_and_one_of_two_doubles_the_motion():
    prepared = [vb.filtering(structure(e), record(), NOISE) for e in (None, vb.SampledEnvelope([1.0, 1.0], 1.0))]
    first, second = (float(each.log_likelihood({"k": 1000.0})) for each in prepared)
    assert first == pytest.approx(second, rel=1e-12)
    twice = vb.filtering(structure(vb.SampledEnvelope([2.0, 2.0], 1.0)), record(), NOISE)
    stronger = structure()
    stronger = stronger.driven_by(vb.KanaiTajimi(OMEGA, ZETA, 4.0 * DENSITY), None, start="rest")
    expected = vb.filtering(stronger, record(), NOISE).log_likelihood({"k": 1000.0})
    assert float(twice.log_likelihood({"k": 1000.0})) == pytest.approx(float(expected), rel=1e-10)


def test_many_sets_at_once_are_as_one_by_one():
    prepared = vb.filtering(structure(), record(), NOISE)
    stiffness = jnp.array([800.0, 1000.0, 1300.0])
    together = jax.vmap(lambda k: prepared.log_likelihood({"k": k}))(stiffness)
    apart = [float(prepared.log_likelihood({"k": k})) for k in stiffness]
    np.testing.assert_allclose(together, apart, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [None, 1])
def test_what_scatters_beside_the_state_is_noise_that_outputs_share(missing):
    """The correction against the Gaussian of state and outputs written out, for outputs whose errors go together."""
    rng = np.random.default_rng(4)
    root, along, beside = rng.normal(size=(4, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 6))
    mean, expected, y, noise = rng.normal(size=4), rng.normal(size=3), rng.normal(size=3), np.array([0.3, 0.5, 0.2])
    there = np.arange(3) != missing
    found = absorb(*map(jnp.asarray, (along, root, mean, np.where(there, y, np.nan), expected, noise, beside)))
    total = along @ along.T + beside @ beside.T + np.diag(noise**2)
    np.testing.assert_allclose(found.increment.deviation[there], np.sqrt(np.diag(total))[there])
    total, off = total[np.ix_(there, there)], (y - expected)[there]
    gain = root @ along[there].T @ np.linalg.inv(total)
    np.testing.assert_allclose(found.mean, mean + gain @ off)
    np.testing.assert_allclose(found.columns @ found.columns.T, root @ root.T - gain @ total @ gain.T, atol=1e-12)
    density = -0.5 * (off @ np.linalg.solve(total, off) + np.linalg.slogdet(2.0 * np.pi * total)[1])
    assert float(found.increment.log_likelihood) == pytest.approx(density)
