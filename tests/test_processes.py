"""Random excitations: spectra against their formulas, realisations against their spectra, envelopes."""

import numpy as np
import pytest
from scipy.integrate import quad

import vibayes as vb

KANAI_TAJIMI = vb.KanaiTajimi(10.0, 0.35, 2.0)
CLOUGH_PENZIEN = vb.CloughPenzien(10.0, 0.35, 1.5, 0.6, 2.0)


def kanai_tajimi(omega, frequency=10.0, damping=0.35, density=2.0):
    r = omega / frequency
    return density * (1 + 4 * damping**2 * r**2) / ((1 - r**2) ** 2 + 4 * damping**2 * r**2)


def clough_penzien(omega):
    r = omega / 1.5
    return kanai_tajimi(omega) * r**4 / ((1 - r**2) ** 2 + 4 * 0.6**2 * r**2)


def lorentz(omega):
    return 3.0 * 4.0 / (omega**2 + 0.5**2)


FORMULAS = {
    "Kanai-Tajimi": (KANAI_TAJIMI, kanai_tajimi),
    "Clough-Penzien": (CLOUGH_PENZIEN, clough_penzien),
    "first order": (vb.RationalFilter((2.0,), (0.5,), 3.0), lorentz),
    "Kanai-Tajimi as a rational filter": (vb.RationalFilter((7.0, 100.0), (7.0, 100.0), 2.0), kanai_tajimi),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULAS)
def test_the_spectrum_is_that_of_the_formula(name):
    process, formula = FORMULAS[name]
    omega = np.geomspace(0.01, 300.0, 50)
    np.testing.assert_allclose(process.spectrum(omega), formula(omega), rtol=1e-10)


def driven(process):
    return vb.Structure.single_dof(1.0, [vb.Spring(1.0)], base_acceleration=True).driven_by(process, start="rest")


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULAS)
def test_the_variance_of_realisations_is_the_area_below_the_spectrum(name):
    process, formula = FORMULAS[name]
    area = 2.0 * sum(quad(formula, a, b, limit=200)[0] for a, b in ((0, 1), (1, 10), (10, 100), (100, np.inf)))
    values = np.asarray(vb.realise(1, driven(process), rate=20.0, samples=20_001, refinement=1).values)[:, 0]
    blocks = np.mean(values[:20_000].reshape(100, -1) ** 2, axis=1)
    error = blocks.std(ddof=1) / 10.0
    assert abs(blocks.mean() - area) < 4.0 * error
    assert error < 0.1 * area
    assert abs(1.3 * blocks.mean() - area) > 4.0 * error, "a factor of 1.3 would be noticed"


def test_white_noise_has_the_intensity_of_its_density():
    force = vb.realise(2, driven(vb.WhiteNoise(0.3)), rate=10.0, samples=4001, refinement=5)
    variance = float(np.var(force.values)) / force.rate
    assert variance == pytest.approx(2 * np.pi * 0.3, rel=4.0 * np.sqrt(2.0 / 20_000))


def test_realisations_depend_on_the_key_alone():
    one, same, other = (vb.realise(k, driven(KANAI_TAJIMI), rate=10.0, samples=50).values for k in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


def test_an_envelope_multiplies_a_realisation():
    envelope = vb.Trapezoid(1.0, 2.0, 4.0)
    plain = vb.realise(1, driven(KANAI_TAJIMI), rate=10.0, samples=41, refinement=2)
    shaped = vb.realise(
        1, driven(vb.KanaiTajimi(10.0, 0.35, 2.0, envelope=envelope)), rate=10.0, samples=41, refinement=2
    )
    times = np.arange(81) / 20.0
    expected = np.interp(times, [0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 1.0, 0.0])
    np.testing.assert_allclose(shaped.values[:, 0], expected * np.asarray(plain.values)[:, 0], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "envelope",
    [
        vb.Steady(), vb.Trapezoid(2.0, 5.0, 9.0), vb.JenningsHousnerTsai(2.0, 5.0, 0.3), vb.ShinozukaSato(0.3, 0.9),
        vb.GammaEnvelope(4.0, 2.0), vb.SampledEnvelope([0.0, 1.0, 0.2], 0.25),
    ],
    ids=lambda e: type(e).__name__,
)  # fmt: skip
def test_every_envelope_has_a_peak_of_one_and_is_never_negative(envelope):
    values = np.array([float(envelope.value(t)) for t in np.linspace(0.0, 40.0, 8001)])
    assert values.min() >= 0.0
    assert values.max() == pytest.approx(1.0, abs=1e-5)


def test_known_inputs_stay_beside_the_random_ones():
    structure = vb.Structure(
        {"m": 1.0}, [vb.Spring(1.0).between("ground", "m")], inputs=[vb.BaseAcceleration(), vb.Force("m")]
    ).driven_by(KANAI_TAJIMI, None, start="rest")
    given = np.arange(11.0)
    both = vb.realise(0, structure, rate=10.0, samples=11, refinement=2, given=given)
    np.testing.assert_allclose(both.values[::2, 1], given)
    with pytest.raises(vb.InvalidInput, match="1 measured inputs"):
        vb.realise(0, structure, rate=10.0, samples=11)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: driven("noise"), "random processes"),
        (lambda: vb.Structure.single_dof(1.0, [vb.Spring(1.0)]).driven_by(), "one process per input"),
        (lambda: driven(vb.WhiteNoise(-1.0)).bind(), "positive spectral density"),
        (lambda: driven(vb.KanaiTajimi(10.0, -0.1, 1.0)).bind(), "positive ratio"),
        (lambda: driven(vb.RationalFilter((1.0,), (-0.5,), 1.0)).bind(), "left half plane"),
        (lambda: driven(vb.RationalFilter((1.0, 2.0), (0.5,), 1.0)).bind(), "coefficients"),
        (lambda: driven(vb.WhiteNoise(1.0, envelope=vb.Trapezoid(3.0, 2.0, 1.0))).bind(), "strong_from"),
        (lambda: vb.SampledEnvelope([1.0], 1.0), "at least two"),
        (lambda: vb.realise(0, vb.Structure.single_dof(1.0, [vb.Spring(1.0)]), rate=1.0, samples=9), "random inputs"),
    ],
)
def test_what_makes_no_process_is_refused_in_words(make, words):
    with pytest.raises(vb.InvalidInput, match=words):
        make()
