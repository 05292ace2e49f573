"""How a record under random inputs begins: in ongoing vibration, or at rest."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg as sl
from tests.kalman import discrete, kalman

import vibayes as vb
from vibayes.filters.discrete import discretise
from vibayes.filters.stationary import stationary
from vibayes.filters.verb import log_likelihoods
from vibayes.identifiability import doubts
from vibayes.simulation.settling import settling_time
from vibayes.structure.element import as_arrays, bind
from vibayes.targets import ProblemTarget

STIFFNESS, DAMPING, NOISE, RATE = 40.0, 0.8, 0.2, 20.0
ACCELERATION = [vb.AbsoluteAcceleration("m1")]


def shaken(start=None, envelope=None):
    """A storey under a moving ground whose intensity is unknown."""
    storey = vb.Structure.chain([1.0], [[vb.Spring(STIFFNESS), vb.Damper(DAMPING)]], sensors=ACCELERATION)
    more = {} if envelope is None else {"envelope": envelope}
    return storey.driven_by(vb.KanaiTajimi(12.0, 0.4, "S0", **more), start=start)


def matrices(density):
    """Of (x, v, ground displacement, ground velocity), by hand."""
    A = np.zeros((4, 4))
    A[0, 1] = A[2, 3] = 1.0
    A[1, :2] = -STIFFNESS, -DAMPING
    A[1, 2:] = A[3, 2:] = -(12.0**2), -2.0 * 0.4 * 12.0
    B = np.array([0.0, 0.0, 0.0, np.sqrt(2.0 * np.pi * density)])[:, None]
    # Absolute acceleration: what spring and damper give.
    return A, B, np.array([[-STIFFNESS, -DAMPING, 0.0, 0.0]])


def cut_from_ongoing_vibration(seed, density, samples):
    """A record of the exact linear system, long after it began."""
    A, B, H = matrices(density)
    F, Q = discrete(A, B, 1.0 / RATE)
    rng = np.random.default_rng(seed)
    x = np.linalg.cholesky(sl.solve_continuous_lyapunov(A, -B @ B.T)) @ rng.standard_normal(4)
    outputs, root = [], np.real(np.asarray(sl.sqrtm(Q)))
    for _ in range(samples):
        outputs.append(H @ x + NOISE * rng.standard_normal(1))
        x = F @ x + root @ rng.standard_normal(4)
    return vb.Record.from_arrays(rate=RATE, output=np.array(outputs))


def exact(record, density, at_rest):
    A, B, H = matrices(density)
    P = sl.solve_continuous_lyapunov(A, -B @ B.T)
    if at_rest:
        P[:2], P[:, :2] = 0.0, 0.0
    return kalman(*discrete(A, B, 1.0 / RATE), H, np.array([[NOISE**2]]), np.zeros(4), P, record.output)[0]


@pytest.fixture(scope="module")
def likelihoods():
    """Of records under intensities, (records, intensities), by default and at rest."""
    grid, records = jnp.geomspace(0.05, 5.0, 81), 40
    found = {}
    for start in (None, "rest"):
        rows = []
        for seed in range(records):
            prepared = vb.filtering(shaken(start), cut_from_ongoing_vibration(seed, 0.5, 30), NOISE)
            rows.append(np.asarray(log_likelihoods(prepared, {"S0": grid})))
        found[start] = np.array(rows)
    return np.asarray(grid), found


@pytest.mark.parametrize("start", [None, "stationary", "rest"])
def test_likelihood_is_that_of_an_exact_kalman_filter_with_that_start(start):
    record = cut_from_ongoing_vibration(3, 0.5, 30)
    found = vb.filtering(shaken(start), record, NOISE).log_likelihood({"S0": 0.7})
    assert float(found) == pytest.approx(exact(record, 0.7, start == "rest"), rel=1e-9)
    assert abs(exact(record, 0.7, True) - exact(record, 0.7, False)) > 1.0, "the two are told apart"


def test_intensities_of_records_cut_from_ongoing_vibration_are_not_biased(likelihoods):
    """Maxima and 90 % intervals by the likelihood ratio over forty short records; taken for records that begin at rest
    they give an intensity that is too large."""
    grid, found = likelihoods
    bias, error, covered = {}, {}, {}
    for start, rows in found.items():
        best = np.log(grid[np.argmax(rows, axis=1)] / 0.5)
        bias[start], error[start] = best.mean(), best.std(ddof=1) / np.sqrt(len(best))
        at_truth = np.array([np.interp(np.log(0.5), np.log(grid), row) for row in rows])
        covered[start] = np.mean(2.0 * (rows.max(axis=1) - at_truth) < 2.71)
    assert abs(bias[None]) < 3.0 * error[None]
    assert covered[None] > 0.9 - 3.0 * np.sqrt(0.9 * 0.1 / 40)
    assert bias["rest"] > 3.0 * error["rest"], "at rest they are biased"
    assert covered["rest"] < 0.9 - 3.0 * np.sqrt(0.9 * 0.1 / 40), "and too sure"


def test_processes_without_an_envelope_have_been_going_on_and_others_begin():
    trapezoid = vb.Trapezoid(1.0, 5.0, 9.0)
    assert shaken().stationary
    assert not shaken(envelope=trapezoid).stationary
    assert not shaken("rest").stationary
    assert shaken("stationary", trapezoid).stationary
    assert "in stationary vibration" in shaken()._repr_html_()
    assert "at rest" in shaken("rest")._repr_html_()
    with pytest.raises(vb.InvalidInput, match='"stationary" or "rest"'):
        shaken("moving")
    record = cut_from_ongoing_vibration(0, 0.5, 12)
    with pytest.raises(vb.InvalidInput, match="leave the deviations out"):
        vb.filtering(shaken("stationary"), record, NOISE, vb.UnscentedFilter(start_velocity=0.1))
    assert not vb.filtering(shaken(), record, NOISE, vb.UnscentedFilter(start_velocity=0.1)).stationary


def oscillator(elements, density=0.2, **start):
    structure = vb.Structure.single_dof(1.0, elements, sensors=[vb.Velocity("mass")])
    return structure.driven_by(vb.WhiteNoise(density), **start)


def deviations(structure, interval=0.2):
    """Of the stationary state."""
    _, lower = jax.jit(lambda: stationary(discretise(as_arrays(structure), interval, 1)))()
    return np.sqrt(np.sum(np.asarray(lower) ** 2, axis=1))


def test_a_nonlinear_spring_has_the_deviations_of_its_stationary_density():
    """Of an oscillator under white noise, p(x, v) ∝ exp(−c (v²/2 + U(x)) / (π S₀)): velocities are Gaussian, and
    displacements follow by quadrature. Statistical linearisation is known to be a few per cent off."""
    c, k, cubic = 0.25, 6.14, 5.0
    x = np.linspace(-4.0, 4.0, 4001)
    density = np.exp(-c * (0.5 * k * x**2 + 0.25 * cubic * x**4) / (np.pi * 0.2))
    true = np.sqrt([np.sum(x**2 * density) / np.sum(density), np.pi * 0.2 / c])
    found = deviations(oscillator([vb.Damper(c), vb.Duffing(k, cubic)]))
    assert found[0] == pytest.approx(true[0], rel=0.1)
    assert found[1] == pytest.approx(true[1], rel=1e-3)
    linear = np.sqrt(np.pi * 0.2 / c * np.array([1.0 / k, 1.0]))
    assert abs(linear[0] / true[0] - 1.0) > 0.2, "the cubic part is felt"


@pytest.mark.parametrize("density", [0.02, 0.2])
def test_a_yielding_spring_has_about_the_deviations_of_a_long_simulation(density):
    """Memory included, which is never beyond the yield displacement."""
    structure = oscillator([vb.Damper(0.25), vb.BilinearHysteresis(6.14, 0.4, 0.1)], density)
    force = vb.realise(0, structure, rate=5.0, samples=6000, refinement=8)
    simulated = vb.simulate(structure, force, method=vb.FixedStep(1), events=False)
    true = np.sqrt(np.mean(np.asarray(simulated.states) ** 2, axis=0))
    np.testing.assert_allclose(deviations(structure), true, rtol=0.25)


NO_STATE = {
    "undamped": [vb.Spring(9.0)],
    "free": [vb.Damper(0.3)],
    "plastic": [vb.Damper(0.3), vb.BilinearHysteresis(6.0, 0.4, 0.0)],
}


@pytest.mark.parametrize("name", NO_STATE)
def test_what_has_no_stationary_state_is_not_given_one(name):
    assert np.isnan(deviations(oscillator(NO_STATE[name]))).all()


def test_before_sampling_it_is_said_that_there_is_no_stationary_state():
    """And that the structure can begin at rest."""
    record, priors = cut_from_ongoing_vibration(0, 0.5, 60), {"k": vb.Uniform(5.0, 9.0)}
    for elements, endless in (([vb.Spring("k")], True), ([vb.Spring("k"), vb.Damper(0.3)], False)):
        problem = vb.Problem(oscillator(elements), record, priors, noise=NOISE)
        assert problem.beginning.endswith("in stationary vibration")
        assert any("no stationary state" in each for each in doubts(ProblemTarget(problem))) == endless
    rest = vb.Problem(oscillator([vb.Spring("k")], start="rest"), record, priors, noise=NOISE)
    assert rest.beginning.endswith("at rest")
    assert not any("no stationary state" in each for each in doubts(ProblemTarget(rest)))


def test_an_estimate_without_a_stationary_state_is_refused():
    prepared = vb.filtering(oscillator(NO_STATE["free"]), cut_from_ongoing_vibration(0, 0.5, 12), NOISE)
    with pytest.raises(vb.InvalidInput, match='start="rest"'):
        vb.estimate(prepared, {}, [vb.Displacement("mass")])


def test_realisations_go_on_before_the_record_and_responses_are_in_motion():
    """The exact variance at the first sample, over many realisations; the record's own part is as it was."""
    structure = oscillator([vb.Spring("k"), vb.Damper(0.6)]).measuring(vb.Displacement("mass"), vb.Velocity("mass"))
    still = structure.driven_by(vb.WhiteNoise(0.2), start="rest")
    assert settling_time(structure, {"k": 9.0}) == pytest.approx(5.0 * 2.0 / 0.6)
    drawn = [vb.realise(seed, structure, {"k": 9.0}, rate=10.0, samples=5, refinement=2) for seed in range(64)]
    assert drawn[0].lead == 2 * 167
    alone = vb.realise(0, still, {"k": 9.0}, rate=10.0, samples=5, refinement=2)
    assert alone.lead == 0
    np.testing.assert_array_equal(alone.values, drawn[0].values)
    together = type(alone)(*(jnp.stack([each.values for each in drawn]), alone.rate, alone.hold),
                           jnp.stack([each.before for each in drawn]))  # fmt: skip
    first = np.asarray(vb.simulate(structure, together, {"k": np.full(64, 9.0)}).outputs)[:, 0]
    scale = np.sqrt(np.pi * 0.2 / 0.6 * np.array([1.0 / 9.0, 1.0]))
    np.testing.assert_allclose(np.std(first, axis=0) / scale, 1.0, atol=4.0 / np.sqrt(2 * 64))
    assert np.all(np.asarray(vb.simulate(still, alone, {"k": 9.0}).outputs)[0] == 0.0)
    displaced = vb.simulate(structure, drawn[0], {"k": 9.0}, displacement=0.3)
    assert displaced.outputs[0, 0] == 0.3, "a start of one's own is the start"
    with pytest.raises(vb.InvalidInput, match="nothing draws back"):
        vb.realise(0, structure, {"k": 0.0}, rate=10.0, samples=5)


def test_a_spring_that_has_yielded_settles_later():
    """After yielding, αk against the damper: x decays with αk/c, slower than the modes of the structure at rest."""
    structure = oscillator([vb.Damper(0.6), vb.BilinearHysteresis("k", "y", "a")])
    values = {"k": [9.0, 9.0], "y": [0.1, 0.1], "a": [0.5, 0.005]}
    slow = 0.3 - np.sqrt(0.3**2 - 0.005 * 9.0)
    np.testing.assert_allclose(settling_time(structure, values), [5.0 / 0.3, 5.0 / slow])


def test_a_filtered_process_is_one_process_before_and_after_the_first_sample():
    """Covariances over one sample across time zero are those anywhere else."""
    drawn = [vb.realise(seed, shaken(), {"S0": 1.0}, rate=RATE, samples=2, refinement=2) for seed in range(160)]
    values = np.array([np.concatenate([each.before[-2:], each.values[:2]])[:, 0] for each in drawn])
    products = values[:, :-1] * values[:, 1:]
    error = products.std(axis=0) / np.sqrt(len(products))
    assert np.all(np.abs(products[:, :2].mean(axis=0) - products[:, 2].mean()) < 4.0 * error[:2])


def test_the_start_can_be_differentiated_and_batched():
    structure = oscillator([vb.Damper(0.3), vb.BilinearHysteresis("k", 0.4, 0.1)])

    def size(k):
        mean, lower = stationary(discretise(as_arrays(bind(structure, {"k": k})), 0.2, 1))
        return jnp.sum(jnp.log(jnp.sum(lower * lower, axis=1))) + jnp.sum(mean)

    low, middle, high = jax.jit(jax.vmap(size))(jnp.array([6.0 - 1e-4, 6.0, 6.0 + 1e-4]))
    value, slope = jax.jit(jax.value_and_grad(size))(6.0)
    assert float(value) == pytest.approx(float(middle), rel=1e-9)
    assert float(slope) == pytest.approx(float(high - low) / 2e-4, rel=1e-3)


@pytest.mark.verify
@pytest.mark.parametrize("law", ["bilinear", "duffing"])
def test_intensities_of_nonlinear_records_cut_from_ongoing_vibration_are_covered(law):
    """Over sixty records of long simulations: 90 % intervals by the likelihood ratio hold the intensity at about their
    rate; taken to begin at rest they give one that is too large."""
    spring = vb.BilinearHysteresis(6.14, 0.4, 0.1) if law == "bilinear" else vb.Duffing(6.14, 5.0)
    undriven = vb.Structure.single_dof(1.0, [vb.Damper(0.25), spring], sensors=[vb.Velocity("mass")])
    grid, records, samples, rate, noise = jnp.geomspace(0.02, 2.0, 81), 60, 40, 10.0, 0.05
    found = {start: [] for start in ("stationary", "rest")}
    for seed in range(records):
        drawn = undriven.driven_by(vb.WhiteNoise(0.2))
        force = vb.realise(seed, drawn, rate=rate, samples=samples, refinement=10, settle=80.0)
        clean = np.asarray(vb.simulate(drawn, force, states=False, events=False).outputs)[::10]
        output = clean + noise * np.random.default_rng(seed).standard_normal(clean.shape)
        record = vb.Record.from_arrays(rate=rate, output=output)
        for start, rows in found.items():
            prepared = vb.filtering(undriven.driven_by(vb.WhiteNoise("S0"), start=start), record, noise)
            rows.append(np.asarray(log_likelihoods(prepared, {"S0": grid})))
    covered, bias, error = {}, {}, {}
    for start, rows in found.items():
        rows = np.array(rows)
        best = np.log(np.asarray(grid)[np.argmax(rows, axis=1)] / 0.2)
        at_truth = np.array([np.interp(np.log(0.2), np.log(grid), row) for row in rows])
        covered[start] = np.mean(2.0 * (rows.max(axis=1) - at_truth) < 2.71)
        bias[start], error[start] = best.mean(), best.std(ddof=1) / np.sqrt(records)
    print(law, covered, bias, error)
    binomial = np.sqrt(0.9 * 0.1 / records)
    assert covered["stationary"] > 0.9 - 3.0 * binomial
    assert abs(bias["stationary"]) < 3.0 * error["stationary"]
    assert bias["rest"] > 3.0 * error["rest"], "at rest it is noticed"
    assert covered["rest"] < covered["stationary"]
