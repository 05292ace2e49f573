"""On hysteretic structures: against a particle filter, over refined steps, over a million samples, and bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb
from vibayes.filters.transforms import SigmaPoints
from vibayes.filters.verb import log_likelihoods

DENSITY, DAMPING, RATE, SAMPLES = 0.3, 0.25, 25.0, 250
TRUE = {"k": 6.14, "y": 0.4, "a": 0.1}


VELOCITY = (vb.Velocity("mass"),)


def oscillator(sensors=VELOCITY, process=None, base_acceleration=False):
    elements = [vb.Damper(DAMPING), vb.BilinearHysteresis("k", "y", "a").between("ground", "mass", name="brace")]
    structure = vb.Structure.single_dof(1.0, elements, base_acceleration, sensors)
    # Particle filters begin at rest.
    return structure.driven_by(vb.WhiteNoise(DENSITY) if process is None else process, start="rest")


@pytest.fixture(scope="module")
def measured():
    force = vb.realise(3, oscillator(), TRUE, rate=RATE, samples=SAMPLES, refinement=20)
    velocity = np.asarray(vb.simulate(oscillator(), force, TRUE, states=False).outputs)[::20, 0]
    sigma = 0.1 * velocity.std()
    noise = sigma * np.random.default_rng(0).standard_normal(SAMPLES)
    return vb.Record.from_arrays(rate=RATE, output=velocity + noise), float(sigma)


GROUND = vb.KanaiTajimi(6.0, 0.4, 2.0 * DENSITY)
OTHER = {"k": 4.0, "y": 0.8, "a": 0.4}


def particle_filter(record, sigma, values, particles, seed, ground=False, substeps=8):
    """The bootstrap filter: an unbiased estimate of the likelihood, whatever the law. A force and the velocity, or a
    ground that moves and the acceleration.
    """
    rng = np.random.default_rng(seed)
    k, y, a = (values[name] for name in ("k", "y", "a"))
    omega, ratio, density = GROUND.frequency, GROUND.damping, GROUND.density
    h, total, pushed = 1.0 / record.rate / substeps, 0.0, 4 if ground else 1
    state = np.zeros((5, particles))  # displacement, velocity, memory, ground displacement and velocity
    if ground:
        steady = np.pi * density / (2.0 * ratio * omega)
        state[3:] = np.sqrt([[steady / omega**2], [steady]]) * rng.standard_normal((2, particles))
    kick = np.sqrt(2 * np.pi * (density if ground else DENSITY) * h)

    def resisting(x, v, z, *_):
        return DAMPING * v + k * (a * x + (1 - a) * np.clip(z, -y, y))

    def flow(state):
        pull = omega**2 * state[3] + 2.0 * ratio * omega * state[4]
        return np.stack([state[1], -resisting(*state) - pull, state[1], state[4], -pull])

    def moved(state, rates, h, noise):
        state = state + h * rates
        state[pushed] += noise
        state[2] = np.clip(state[2], -y, y)
        return state

    for reading in record.output[:, 0]:
        expected = -resisting(*state) if ground else state[1]
        logs = -0.5 * ((reading - expected) / sigma) ** 2 - np.log(sigma * np.sqrt(2 * np.pi))
        weights = np.exp(logs - logs.max())
        total += logs.max() + np.log(weights.mean())
        chosen = np.searchsorted(np.cumsum(weights) / weights.sum(), (np.arange(particles) + rng.random()) / particles)
        state = state[:, np.minimum(chosen, particles - 1)]
        for _ in range(substeps):
            noise = kick * rng.standard_normal(particles)
            state = moved(state, flow(moved(state, flow(state), 0.5 * h, 0.5 * noise)), h, noise)
    return total


@pytest.fixture(scope="module", params=["force", "ground"])
def compared(request, measured):
    """A structure, a record, and what particle filters say of it for two parameter sets."""
    ground = request.param == "ground"
    record, sigma, structure = measured[0].segment(0, 150), measured[1], oscillator()
    if ground:
        structure = oscillator([vb.AbsoluteAcceleration("mass")], GROUND, base_acceleration=True)
        force = vb.realise(1, structure, TRUE, rate=RATE, samples=100, refinement=20)
        output = np.asarray(vb.simulate(structure, force, TRUE, states=False).outputs)[::20, 0]
        sigma = float(0.2 * output.std())
        noise = sigma * np.random.default_rng(1).standard_normal(len(output))
        record = vb.Record.from_arrays(rate=RATE, output=output + noise)
    runs = [[particle_filter(record, sigma, v, 15_000, seed, ground) for seed in range(6)] for v in (TRUE, OTHER)]
    return structure, record, sigma, runs


@pytest.mark.slow
@pytest.mark.parametrize("method", [vb.UnscentedFilter(), vb.ExtendedFilter()], ids=str)
def test_differences_of_log_likelihood_are_those_of_a_particle_filter(method, compared):
    """The filters approximate; what counts is how likelihoods of two parameter sets compare."""
    structure, record, sigma, runs = compared
    prepared = vb.filtering(structure, record, sigma, method)
    reference = np.mean(runs[0]) - np.mean(runs[1])
    error = np.sqrt(sum(np.var(r, ddof=1) / len(r) for r in runs))
    ours = [float(prepared.log_likelihood(v)) for v in (TRUE, OTHER)]
    assert error < 0.2
    assert abs(reference) > 1.0 + 4.0 * error, "the two sets are told apart"
    # Gaussian filters of a kinked law are not exact; half a unit is small against the scatter over data, which is √2.
    assert abs(ours[0] - ours[1] - reference) < 3.0 * error + 0.5
    assert abs(ours[0] - np.mean(runs[0])) < 3.0 * error + 1.0


@pytest.mark.slow
def test_finer_steps_change_less_and_less(measured):
    record, sigma = measured
    values = []
    for refinement in (1, 2, 4, 8):
        output = np.full(((SAMPLES - 1) * refinement + 1, 1), np.nan)
        output[::refinement] = record.output
        finer = vb.Record.from_arrays(rate=RATE * refinement, output=output)
        values.append(float(vb.filtering(oscillator(), finer, sigma).log_likelihood(TRUE)))
    changes = np.abs(np.diff(values))
    assert changes[-1] < 0.02
    assert changes[-1] < 0.7 * changes[0]


@pytest.mark.slow
def test_white_noise_goes_through_the_law_within_an_interval():
    """With twelve samples per period: a spring that yields does not pass on what pushes it. Were the noise added after
    the law, the two numbers were 1.6 apart, and yield displacements of long records were found too large.
    """
    samples, rate, slopes = 301, 5.0, []
    force = vb.realise(1, oscillator(), TRUE, rate=rate, samples=samples, refinement=40)
    velocity = np.asarray(vb.simulate(oscillator(), force, TRUE, states=False).outputs)[::40]
    velocity = velocity + 0.1 * np.random.default_rng(1).standard_normal(velocity.shape)
    for refinement in (1, 8):
        output = np.full(((samples - 1) * refinement + 1, 1), np.nan)
        output[::refinement] = velocity
        prepared = vb.filtering(oscillator(), vb.Record.from_arrays(rate=rate * refinement, output=output), 0.1)
        low, high = log_likelihoods(
            prepared, {"k": jnp.full(2, 6.14), "y": jnp.array([0.34, 0.46]), "a": jnp.full(2, 0.1)}
        )
        slopes.append(float(high - low))
    assert abs(slopes[0] - slopes[1]) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("method", [vb.UnscentedFilter(), vb.UnscentedFilter(steps=3), vb.ExtendedFilter()], ids=str)
def test_a_law_that_never_yields_is_linear(method, measured):
    """So the parts of the noise that go through the law and the rest that does not are exactly the whole."""
    record, sigma = measured
    process = vb.WhiteNoise(DENSITY, envelope=vb.JenningsHousnerTsai(2.0, 5.0, 0.5))
    spring = [vb.Damper(DAMPING), vb.Spring("k")]
    linear = vb.Structure.single_dof(1.0, spring, sensors=VELOCITY).driven_by(process)
    expected = float(vb.filtering(linear, record, sigma, vb.KalmanFilter()).log_likelihood({"k": 6.14}))
    never = {"k": 6.14, "y": 1e3, "a": 0.1}
    found = float(vb.filtering(oscillator(process=process), record, sigma, method).log_likelihood(never))
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
def test_a_smoother_does_not_run_away():
    """Three storeys that yield almost always, far from what the record says: filtered estimates were fine, and smoothed
    ones grew to 1e31.
    """
    storeys = [vb.BilinearHysteresis(5850.0, 0.01, 0.2) for _ in range(3)]
    sensors = [vb.AbsoluteAcceleration("m1")]
    building = vb.Structure.chain([2.0, 2.0, 1.5], storeys, sensors=sensors, damping=vb.ModalDamping(0.2))
    building = building.driven_by(vb.KanaiTajimi(12.0, 0.6, 50.0), start="rest")
    rng = np.random.default_rng(0)
    record = vb.Record.from_arrays(
        rate=25.0, output=np.convolve(rng.standard_normal(400) * 60.0, np.ones(5) / 5, "same")
    )
    prepared = vb.filtering(building, record, 0.04)
    top = [vb.AbsoluteAcceleration("m3")]
    filtered, smoothed = (vb.estimate(prepared, {}, top, smoothed=each) for each in (False, True))
    assert np.abs(smoothed.mean).max() < 3.0 * np.abs(filtered.mean).max()
    assert smoothed.deviation.max() < 1.5 * filtered.deviation.max()


@pytest.mark.slow
def test_the_memory_stays_within_its_bounds(measured):
    record, sigma = measured
    prepared = vb.filtering(oscillator(), record, sigma)
    for smoothed in (False, True):
        moments = prepared.moments(TRUE, smoothed)[3]
        assert np.max(np.abs(moments.mean[:, 2])) <= TRUE["y"] * (1.0 + 1e-6)
    assert np.max(np.abs(prepared.moments(TRUE, False)[3].mean[:, 2])) > 0.9 * TRUE["y"], "it yields"


@pytest.mark.slow
def test_states_that_were_not_measured_are_within_their_deviations():
    """Errors of a displacement last for long: many records are needed to tell whether 95 % bands hold it at their rate.
    Gaussians pass badly backwards through a kink, so a little less is asked of smoothed ones.
    """
    wanted, samples, rate, records = [vb.Displacement("mass"), vb.ElementForce("brace")], 401, 10.0, 16
    weak = oscillator(process=vb.WhiteNoise(0.05 * DENSITY))
    inside, spread = np.zeros((3, records, 2)), np.zeros((2, records, 2))
    for seed in range(records):
        force = vb.realise(seed, oscillator(), TRUE, rate=rate, samples=samples, refinement=20)
        both = oscillator((*VELOCITY, *wanted))
        truth = np.asarray(vb.simulate(both, force, TRUE, states=False).outputs)[::20]
        velocity = truth[:, :1] + 0.1 * np.random.default_rng(seed).standard_normal((samples, 1))
        record = vb.Record.from_arrays(rate=rate, output=velocity)
        for case, (structure, smoothed) in enumerate([(oscillator(), False), (oscillator(), True), (weak, False)]):
            found = vb.estimate(vb.filtering(structure, record, 0.1), TRUE, wanted, smoothed=smoothed)
            off = (found.mean - truth[:, 1:]) / np.maximum(found.deviation, 1e-9)
            inside[case, seed] = np.mean(np.abs(off[10:]) < 1.96, axis=0)
            if case < 2:
                spread[case, seed] = found.deviation[10:-10].mean(axis=0)
    share, error = inside.mean(axis=1), inside.std(axis=1, ddof=1) / np.sqrt(records)
    assert np.all(share[0] + 2.0 * error[0] > 0.95)
    assert np.all(share[1] + 2.0 * error[1] > 0.9)
    assert np.all(share[2] + 2.0 * error[2] < 0.9), "with an excitation that is too weak the bands are too narrow"
    assert np.all(spread[1].mean(axis=0) < spread[0].mean(axis=0))


@pytest.mark.slow
def test_an_average_over_draws_is_wider_than_each(measured):
    record, sigma = measured
    prepared = vb.filtering(oscillator(), record, sigma)
    sensors = [vb.Displacement("mass")]
    draws = {**TRUE, "k": np.array([5.0, 7.0])}
    both = vb.estimate(prepared, draws, sensors)
    each = [vb.estimate(prepared, {**TRUE, "k": k}, sensors) for k in (5.0, 7.0)]
    np.testing.assert_allclose(both.mean[10:], 0.5 * (each[0].mean + each[1].mean)[10:], rtol=2e-3, atol=1e-5)
    squares = 0.5 * (each[0].deviation ** 2 + each[1].deviation ** 2) + 0.25 * (each[0].mean - each[1].mean) ** 2
    # At first the spring has not yielded, its memory is its deformation, and what each adds to the other is rounding.
    np.testing.assert_allclose(both.deviation[10:], np.sqrt(squares)[10:], rtol=2e-3)


@pytest.mark.slow
def test_a_million_samples_leave_the_covariance_positive():
    sigma, samples = 0.05, 1_000_000
    rng = np.random.default_rng(1)
    output = np.convolve(rng.standard_normal(samples), np.ones(9) / 9, "same")
    record = vb.Record.from_arrays(rate=RATE, output=output)
    prepared = vb.filtering(oscillator(process=vb.KanaiTajimi(5.0, 0.3, DENSITY)), record, sigma)

    @jax.jit
    def run(k):
        increments, moments = prepared.moments({**TRUE, "k": k}, False)[2:]
        covariance = jnp.einsum("tij,tkj->tik", moments.lower[::1000], moments.lower[::1000])
        scale = jnp.sqrt(jnp.diagonal(covariance, axis1=1, axis2=2))
        return increments.log_likelihood, jnp.linalg.eigvalsh(covariance / scale[:, None] / scale[:, :, None])

    increments, eigenvalues = run(TRUE["k"])
    assert np.isfinite(increments).all()
    assert eigenvalues.min() > 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(noise=0.0), "positive standard deviations"),
        (dict(noise=[0.1, 0.1]), "one per output"),
        (dict(method="UKF"), "UnscentedFilter"),
        (dict(method=vb.KalmanFilter()), "a linear law for KalmanFilter"),
        (dict(structure=oscillator((vb.RelativeAcceleration("mass"),))), "infinite"),
        (dict(structure=oscillator((vb.Velocity("mass"), vb.Displacement("mass")))), "2 outputs"),
        (
            dict(structure=vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.CoulombFriction("f")],
                 sensors=[vb.Velocity("mass")]).driven_by(vb.WhiteNoise(1.0))),
            "dry friction",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_filtered_is_refused_in_words(change, words, measured):
    record, sigma = measured
    arguments = {"structure": oscillator(), "record": record, "noise": sigma, "method": None} | change
    with pytest.raises(vb.InvalidInput, match=words):
        vb.filtering(**arguments)


@pytest.mark.parametrize("size", [2, 5], ids=["a point in the middle", "none"])
def test_columns_along_and_beside_are_the_moments_of_the_sigma_points(size):
    """Held to the weighted sums of textbooks, with a function that bends what it is given."""
    rng = np.random.default_rng(size)
    mean, root, reach = rng.normal(size=size), rng.normal(size=(size, size)), max(3, size)

    def bent(points):
        return jnp.stack([jnp.sin(points[0]) + points[1] ** 2, points[0] * points[-1]])

    found = SigmaPoints()(bent, jnp.asarray(mean), jnp.asarray(root), lambda points: points)
    steps = np.sqrt(reach) * root
    points = mean[:, None] + np.concatenate([np.zeros((size, 1)), steps, -steps], axis=1)
    weights = np.concatenate([[1.0 - size / reach], np.full(2 * size, 0.5 / reach)])
    images = np.asarray(bent(points))
    away = images - (images @ weights)[:, None]
    np.testing.assert_allclose(found.mean, images @ weights)
    covariance = found.along @ found.along.T + found.beside @ found.beside.T
    np.testing.assert_allclose(covariance, (away * weights) @ away.T, atol=1e-12)
    np.testing.assert_allclose(root @ found.along.T, ((points - mean[:, None]) * weights) @ away.T, atol=1e-12)
