"""Points of backbones from decays: known signals, simulated tests, truncation and refusals."""

import numpy as np
import pytest
from scipy.stats import norm
from tests.balance import balanced

import vibayes as vb
from vibayes.backbone.windows import Layout

RATE, SAMPLES = 20.0, 640
TIME = (np.arange(SAMPLES) - 0.5 * (SAMPLES - 1)) / RATE


def known_signal(third=0.05):
    """Two modes with a common frequency of 1 rad/s at the middle: decaying, slowing down, the first with a harmonic."""
    phase = TIME - 0.0004 * TIME**2
    first = np.exp(-0.002 * TIME) * np.cos(phase + 0.4) + third * np.cos(3.0 * (phase + 0.4))
    return np.stack([first, -0.1 * np.exp(-0.004 * TIME) * np.cos(phase + 0.4)], axis=1)


def standard_scores(estimator, seeds=400, noise=0.02):
    """Errors over stated standard errors: of frequency and amplitude of the leading mode, (seeds, 2)."""
    clean, scores = known_signal(), []
    for seed in range(seeds):
        noisy = clean + noise * np.random.default_rng(seed).standard_normal(clean.shape)
        found = estimator.fit(noisy, RATE, 1.02, Layout(0, (1, 1)))
        errors = found.frequency - 1.0, abs(found.amplitudes[0]) - 1.0
        scores.append(np.array(errors) / (found.frequency_error, found.amplitude_errors[0]))
    return np.array(scores)


def test_the_fitted_sinusoid_is_unbiased_and_as_sure_as_it_says():
    scores = standard_scores(vb.FittedSinusoid())
    count = len(scores)
    assert np.all(np.abs(scores.mean(axis=0)) < 4.0 / np.sqrt(count))
    within = np.mean(np.abs(scores) < norm.ppf(0.975), axis=0)
    assert np.all(np.abs(within - 0.95) < 4.0 * np.sqrt(0.95 * 0.05 / count))


def test_rates_of_decay_are_found_by_both_estimators():
    for estimator, tolerance in ((vb.FittedSinusoid(), 1e-5), (vb.MovingFourier(), 5e-4)):
        assert abs(estimator.fit(known_signal(), RATE, 1.02, Layout(0, (1, 1))).decay - 0.002) < tolerance


def test_the_moving_fourier_transform_is_biased_by_what_moves_within_a_window():
    # The negative control: the same test on the published estimator, which takes the motion for steady.
    scores = standard_scores(vb.MovingFourier())
    assert np.any(np.abs(scores.mean(axis=0)) > 4.0 / np.sqrt(len(scores)))


def test_signs_tell_modes_in_phase_from_those_in_anti_phase():
    modes = vb.linear_modes(vb.Structure.chain([1.0, 1.0], [vb.Spring(1.0), vb.Spring(1.0)]))
    outputs = known_signal() @ np.asarray(modes.shapes).T
    points = vb.decay_points(vb.Record.from_arrays(rate=RATE, output=outputs), modes)
    np.testing.assert_allclose(points.amplitudes[:, 0], 1.0, atol=0.05)
    np.testing.assert_allclose(points.amplitudes[:, 1] / points.amplitudes[:, 0], -0.1, atol=0.02)


def test_a_mode_at_three_times_the_frequency_has_its_sign_too():
    modes = vb.LinearModes(np.array([1.0, 3.0]), np.eye(2), np.ones(2))
    outputs = np.stack([np.cos(TIME + 0.4), -0.2 * np.cos(3.0 * (TIME + 0.4))], axis=1)
    record = vb.Record.from_arrays(rate=RATE, output=outputs)
    points = vb.decay_points(record, modes, ratios=(1, 3))
    np.testing.assert_allclose(points.amplitudes, [[1.0, -0.2]] * points.samples, rtol=1e-6)


def test_accelerations_give_the_points_of_displacements():
    modes = vb.LinearModes(np.ones(1), np.eye(1), np.ones(1))
    angular = 1.3
    records = [vb.Record.from_arrays(rate=RATE, output=f * np.cos(angular * TIME)) for f in (1.0, -(angular**2))]
    places = [vb.decay_points(r, modes, derivative=d) for r, d in zip(records, (0, 2), strict=True)]
    np.testing.assert_allclose(places[0].amplitudes, places[1].amplitudes, rtol=1e-9)


@pytest.fixture(scope="module")
def duffing():
    """A released Duffing oscillator."""
    structure = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.5), vb.Damper(0.004)])
    sweep = vb.Chirp(0.004, 0.155, 0.2, 3000.0)
    test = vb.released_decay(1, structure, sweep, [1.0], seconds=900.0, rate=5.0, noise=0.003)
    return structure, test


@pytest.mark.slow
def test_a_released_oscillator_decays_along_its_backbone(duffing):
    structure, test = duffing
    points = vb.decay_points(test.decay, vb.linear_modes(structure))
    assert points.samples > 20 and points.amplitudes.max() > 0.7
    scores = []
    for size, frequency, error, spread in zip(
        points.amplitudes[:, 0], points.frequency, points.frequency_errors, points.amplitude_errors[:, 0], strict=True
    ):
        start = np.zeros((10, 1))
        start[1] = size
        exact, slope = (
            balanced(np.ones(1), np.eye(1), lambda x: 0.5 * x**3, lambda s: s[1, 0], each, (1.1, start))[0]
            for each in (size, size + 1e-4)
        )
        scores.append((frequency - exact) / np.hypot(error, (slope - exact) / 1e-4 * spread))
    scores = np.array(scores)
    assert abs(scores.mean()) < 4.0 / np.sqrt(len(scores))
    assert abs(scores.std() - 1.0) < 4.0 * np.sqrt(0.5 / len(scores))


def test_the_release_is_where_displacements_are_largest_unless_told(duffing):
    structure, test = duffing
    assert np.abs(test.sweep.output).max() == np.abs(test.sweep.output[-1]).max()
    sweep = vb.Chirp(0.004, 0.155, 0.2, 3000.0)
    early = vb.released_decay(1, structure, sweep, [1.0], seconds=50.0, rate=5.0, noise=0.0, release=1000.0)
    assert early.sweep.samples == 5001
    np.testing.assert_allclose(early.decay.output[0], early.sweep.output[-1], rtol=1e-9)


def test_noisy_ends_and_transient_beginnings_are_cut():
    modes = vb.LinearModes(np.ones(1), np.eye(1), np.ones(1))
    time = np.arange(20000) / RATE
    decay = np.exp(-0.01 * time) * np.cos(time)
    transient = 0.3 * np.exp(-0.02 * time) * np.cos(1.7 * time)
    noise = 0.01 * np.random.default_rng(0).standard_normal(len(time))
    whole = vb.decay_points(vb.Record.from_arrays(rate=RATE, output=decay + noise), modes)
    cut = vb.decay_points(vb.Record.from_arrays(rate=RATE, output=decay + transient + noise), modes)
    windows = len(time) / RATE / (5.0 * 2.0 * np.pi)
    assert whole.samples < 0.9 * windows and np.all(whole.amplitudes > 5.0 * whole.amplitude_errors)
    assert whole.amplitudes.max() > 0.8 and cut.amplitudes.max() < 0.5


def test_a_decay_that_never_leaves_the_noise_is_refused():
    modes = vb.LinearModes(np.ones(1), np.eye(1), np.ones(1))
    time = np.arange(12000) / RATE
    buried = 0.08 * np.cos(time) + np.random.default_rng(0).standard_normal(len(time))
    with pytest.raises(vb.InvalidInput, match="all modes are 5 times above their errors, got none"):
        vb.decay_points(vb.Record.from_arrays(rate=RATE, output=buried), modes)


def test_a_record_shorter_than_a_window_is_refused():
    modes = vb.LinearModes(np.ones(1), np.eye(1), np.ones(1))
    with pytest.raises(vb.InvalidInput, match="at least one window of 5 periods"):
        vb.decay_points(vb.Record.from_arrays(rate=10.0, output=np.cos(np.arange(100) / 10.0)), modes)


def test_mode_shapes_can_be_estimated_from_small_decays():
    structure = vb.Structure.chain([1.0, 2.0], [vb.Spring(3.0), vb.Spring(1.0)])
    true = vb.linear_modes(structure)
    rng, records = np.random.default_rng(0), []
    for mode in (1, 0):
        motion = np.cos(float(true.frequencies[mode]) * TIME)[:, None] * np.asarray(true.shapes)[:, mode]
        records.append(vb.Record.from_arrays(rate=RATE, output=motion + 0.01 * rng.standard_normal(motion.shape)))
    found = vb.estimated_modes(records, masses=[1.0, 2.0])
    np.testing.assert_allclose(found.shapes, true.shapes, atol=0.01)
    np.testing.assert_allclose(found.frequencies, true.frequencies, rtol=0.05)


def test_points_that_do_not_fit_together_are_refused():
    with pytest.raises(vb.InvalidInput, match=r"shapes \(points,\) and \(points, modes\)"):
        vb.BackbonePoints([1.0, 2.0], [[1.0, 2.0]])
    one, two = vb.BackbonePoints([1.0], [[0.1]]), vb.BackbonePoints([1.0], [[0.1, 0.2]])
    with pytest.raises(vb.InvalidInput, match="points of the same modes"):
        vb.joined([one, two])
