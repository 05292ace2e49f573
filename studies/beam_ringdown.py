"""The measured Brake–Reuss beam: a bolted joint whose frequency and damping depend on amplitude.

From the ring-down after a hammer's blow: frequency and damping ratio of the first mode at every amplitude, and a model
of one mode with uncertainty,

    ω(A) = w₀ + w₁ log A,        ζ(A) = z₀ + z₁ √A,

by linear regression with unknown scatter (Student's t). Friction in a joint is no polynomial: a normal form has nothing
to say here, and these two curves are all that a single mode needs. With an effective mass the forced response follows,

    (F/m)² = X² [(ω(A)² − Ω²)² + (2 ζ(A) ω(A) Ω)²],        A = Ω² X.

The effective mass, and the shift of frequency that the shaker brings, are taken from the weakest of the stepped sines;
all others are predicted: the force that holds the measured amplitude at the measured frequency, and the least force.
Amplitudes beyond those of the ring-down are marked: there the joint slips more than any decay has shown, and the model
is wrong about it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from arguments import parser_of
from baselines import told
from output_only import deliver, skip
from scipy.io import loadmat
from scipy.signal import butter, sosfiltfilt

import vibayes as vb

FOLDER = Path("brake_reuss_beam")
BAND, BEGIN, END, THINNED = (60.0, 105.0), 0.1, 4.9, 16
"""Hz around the first mode; seconds after the blow, without the edges of the filter; samples of which one is kept."""


class Regression(NamedTuple):
    """Draws of two coefficients, and the scatter about the line."""

    draws: np.ndarray
    scatter: float

    def at(self, basis: np.ndarray) -> np.ndarray:
        """Of every draw, (draws, places)."""
        return self.draws @ np.stack([np.ones_like(basis), basis])


def regressed(rng: np.random.Generator, basis: np.ndarray, values: np.ndarray, count: int) -> Regression:
    """Posterior draws of a straight line with flat priors of its coefficients and of the logarithm of the scatter."""
    matrix = np.stack([np.ones_like(basis), basis], axis=1)
    mean = np.linalg.lstsq(matrix, values, rcond=None)[0]
    left = values - matrix @ mean
    degrees = len(values) - 2
    variance = left @ left / rng.chisquare(degrees, count)
    root = np.linalg.cholesky(np.linalg.inv(matrix.T @ matrix))
    draws = mean + np.sqrt(variance)[:, None] * (rng.standard_normal((count, 2)) @ root.T)
    return Regression(draws, float(np.sqrt(left @ left / degrees)))


def ring_down(folder: Path) -> vb.BackbonePoints:
    """Points of the first mode from the accelerometer that moves most; amplitudes are displacements."""
    data = loadmat(folder / "HammerImpact.mat", squeeze_me=True, struct_as_record=False)["HIdata"]
    rate = 1.0 / float(data.time[1] - data.time[0])
    filtered = sosfiltfilt(butter(4, BAND, "bandpass", fs=rate, output="sos"), data.acc1)
    kept = filtered[(data.time > BEGIN) & (data.time < END)][::THINNED]
    record = vb.Record.from_arrays(rate=rate / THINNED, output=kept)
    modes = vb.LinearModes(np.ones(1), np.eye(1), np.ones(1))
    estimator = vb.FittedSinusoid(periods=10, hop=10, harmonics=1)
    return vb.decay_points(record, modes, derivative=2, estimator=estimator, backbone="ring-down")


def stepped_sines(folder: Path) -> list[Any]:
    """Stepped sines at constant response, weakest first."""
    data = loadmat(folder / "ForcedFrequencyResponses.mat", squeeze_me=True, struct_as_record=False)["FRdata"]
    return sorted(np.atleast_1d(data.ResponseControl), key=lambda each: float(np.median(each.amplitude)))


def forces(frequency: Regression, damping: Regression, sine: Any, shift: float) -> np.ndarray:
    """Force over effective mass that each draw needs at the measured frequencies and amplitudes, (draws, steps)."""
    size, driven = np.asarray(sine.amplitude, float), 2.0 * np.pi * np.asarray(sine.frequency, float)
    own, ratio = frequency.at(np.log(size)) + shift, damping.at(np.sqrt(size))
    return size / driven**2 * np.hypot(own**2 - driven**2, 2.0 * ratio * own * driven)


def calibrated(frequency: Regression, damping: Regression, sine: Any) -> tuple[float, float]:
    """Effective mass (kg) and shift of frequency (rad/s) at which the weakest sine is explained best."""
    measured, best = np.asarray(sine.force, float), (np.inf, np.nan, 0.0)
    for shift in 2.0 * np.pi * np.linspace(-0.5, 0.5, 401):
        needed = forces(frequency, damping, sine, shift).mean(axis=0)
        mass = float(needed @ measured / (needed @ needed))
        error = float(np.sum((mass * needed - measured) ** 2))
        best = min(best, (error, mass, shift))
    return best[1], best[2]


def predicted(frequency: Regression, damping: Regression, sines: list[Any], largest: float) -> dict[str, Any]:
    """Least forces of all levels, predicted and measured, and errors of whole curves."""
    mass, shift = calibrated(frequency, damping, sines[0])
    levels, sizes = [], [float(np.median(each.amplitude)) for each in sines]
    least_forces = [float(np.min(each.force)) for each in sines]
    for number, sine in enumerate(sines[1:], 1):
        needed, measured = mass * forces(frequency, damping, sine, shift), np.asarray(sine.force, float)
        least = np.percentile(needed.min(axis=1), [2.5, 50.0, 97.5])
        levels.append(
            {
                "within_ring_down": bool(np.median(sine.amplitude) <= largest),
                "amplitude_m_s2": float(np.median(sine.amplitude)),
                "least_force_measured_N": float(measured.min()),
                "least_force_predicted_N": float(least[1]),
                "least_force_interval95_N": [float(least[0]), float(least[2])],
                "least_force_error_percent": 100.0 * float(least[1] / measured.min() - 1.0),
                "naive": naive(sizes[: number + 1], least_forces[: number + 1]),
                "curve_nrmse": float(
                    np.sqrt(np.mean((needed.mean(axis=0) - measured) ** 2)) / np.sqrt(np.mean(measured**2))
                ),
            }
        )
    return {"effective_mass_kg": mass, "shift_hz": shift / (2.0 * np.pi), "levels": levels}


def naive(sizes: list[float], forces: list[float]) -> dict[str, float]:
    """Errors of the last level's least force, in percent: of that of the level before, of a parabola through the three
    before, and of a linear structure, whose force grows with the amplitude from the weakest level on.
    """
    known, *_ = zip(sizes[:-1], forces[:-1], strict=True)
    found = {"last_value": forces[-2], "linear_model": known[1] * sizes[-1] / known[0]}
    if len(sizes) > 3:
        found["parabola"] = float(np.polyval(np.polyfit(sizes[-4:-1], forces[-4:-1], 2), sizes[-1]))
    return {name: 100.0 * (value / forces[-1] - 1.0) for name, value in found.items()}


def main() -> None:
    """Run the study."""
    chosen = parser_of(__doc__, "fewer draws").parse_args()
    for name in ("HammerImpact.mat", "ForcedFrequencyResponses.mat"):
        skip(str(FOLDER / name), chosen)
    points, rng = ring_down(chosen.data / FOLDER), np.random.default_rng(chosen.seed)
    size = points.amplitudes[:, 0] * points.frequency**2
    ratio = points.decay_rates / points.frequency
    count = 200 if chosen.quick else 2000
    frequency = regressed(rng, np.log(size), points.frequency, count)
    damping = regressed(rng, np.sqrt(size), ratio, count)
    result = {
        "points": points.samples,
        "amplitude_m_s2": [float(size.min()), float(size.max())],
        "frequency_hz": [float(each / (2.0 * np.pi)) for each in (points.frequency.min(), points.frequency.max())],
        "damping_ratio_percent": [float(100.0 * each) for each in (ratio.min(), ratio.max())],
        "frequency_scatter_hz": frequency.scatter / (2.0 * np.pi),
        "damping_scatter_percent": 100.0 * damping.scatter,
        "forced": predicted(frequency, damping, stepped_sines(chosen.data / FOLDER), float(size.max())),
    }
    print(
        f"{points.samples} points, {size.max():.1f} … {size.min():.2f} m/s²: "
        f"{result['frequency_hz'][0]:.3f} … {result['frequency_hz'][1]:.3f} Hz, "
        f"{result['damping_ratio_percent'][1]:.3f} … {result['damping_ratio_percent'][0]:.3f} %"
    )
    for level in result["forced"]["levels"]:
        inside = "within" if level["within_ring_down"] else "beyond"
        print(
            f"{level['amplitude_m_s2']:5.1f} m/s², {inside} the ring-down: least force "
            f"{level['least_force_predicted_N']:.3f} N predicted, {level['least_force_measured_N']:.3f} N measured"
        )
        told(level["naive"])
    draw(points, size, ratio, (frequency, damping), chosen)
    deliver(result, chosen)


def draw(
    points: vb.BackbonePoints, size: np.ndarray, ratio: np.ndarray, fits: tuple[Regression, Regression],
    chosen: argparse.Namespace,
) -> None:  # fmt: skip
    """Frequency and damping over amplitude, with bands."""
    if not chosen.out:
        return
    from vibayes import report
    from vibayes.report.style import COLOURS, pyplot, tidy

    chosen.out.mkdir(parents=True, exist_ok=True)
    figure, panels = pyplot().subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
    places = np.geomspace(size.min(), size.max(), 80)
    rows = (
        (points.frequency / (2.0 * np.pi), fits[0].at(np.log(places)) / (2.0 * np.pi), "frequency (Hz)"),
        (100.0 * ratio, 100.0 * fits[1].at(np.sqrt(places)), "damping ratio (%)"),
    )
    for axes, (measured, curves, label) in zip(panels, rows, strict=True):
        low, high = np.percentile(curves, [2.5, 97.5], axis=0)
        axes.fill_between(places, low, high, color=COLOURS[0], alpha=0.3, linewidth=0)
        axes.plot(size, measured, ".", color=COLOURS[1], markersize=4)
        axes.set_xscale("log")
        tidy(axes, "amplitude of acceleration (m/s²)", label)
    report.save(figure, chosen.out / "ring_down.png")


if __name__ == "__main__":
    main()
