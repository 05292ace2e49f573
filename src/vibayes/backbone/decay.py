"""Points of a backbone from the decay of a released structure.

A lightly damped structure that is left alone near a backbone decays along it. Modal coordinates q = Φ⁻¹ x are cut into
windows, each of which gives a frequency and amplitudes (`vibayes.backbone.windows`). Both ends are cut by rule: at the
beginning while windows fit worse than later ones, because other motions have not died down yet; at the end where the
smallest of the modes sinks into the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.backbone.modes import LargestEntry, LinearModes, Normalisation
from vibayes.backbone.points import BackbonePoints
from vibayes.backbone.windows import Estimator, FittedSinusoid, Layout, WindowFit, rough_frequency
from vibayes.errors import InvalidInput
from vibayes.record import Record


@dataclass(frozen=True)
class Truncation:
    """Which windows of a decay are kept.

    Args:
        signal: a window is kept while every amplitude is at least so many of its standard errors.
        misfit: the first windows are left out while what the fit leaves is more than so many times the median.

    Examples:
        >>> import vibayes as vb
        >>> vb.Truncation().signal
        5.0
    """

    signal: float = 5.0
    misfit: float = 1.5

    def kept(self, amplitudes: np.ndarray, errors: np.ndarray, misfits: np.ndarray) -> np.ndarray:
        """Numbers of the windows that are kept, one after the other."""
        bad = np.flatnonzero(misfits > self.misfit * np.median(misfits))
        first = 0
        while first in bad:
            first += 1
        clear = np.all(np.abs(amplitudes) >= self.signal * errors, axis=1)
        while first < len(clear) and not clear[first]:
            first += 1
        last = first
        while last < len(clear) and clear[last]:
            last += 1
        return np.arange(first, last)


def decay_points(
    record: Record,
    modes: LinearModes,
    *,
    subset: Sequence[int] | None = None,
    ratios: Sequence[int] | None = None,
    estimator: Estimator | None = None,
    truncation: Truncation | None = None,
    derivative: int = 0,
    backbone: str = "S",
) -> BackbonePoints:
    """Find points of a backbone in the decay of a structure that was released near it.

    Args:
        record: displacements of all points of the mode shapes, in their order, from the release on.
        modes: whose shapes turn displacements into modal coordinates: known (`linear_modes`) or estimated
            (`estimated_modes`).
        subset: modes whose amplitudes are wanted, the lowest being 1; by default all.
        ratios: r of each: the multiple of Ω at which it responds; by default 1.
        estimator: `FittedSinusoid` by default, or `MovingFourier`.
        truncation: which windows are kept.
        derivative: 0 where the record is of displacements, 1 of velocities, 2 of accelerations.
        backbone: name of the points.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.5), vb.Damper(0.01)])
        >>> decay = vb.simulate(oscillator, vb.Sine(0.0, 1.0), rate=10.0, samples=3000, displacement=1.0)
        >>> record = vb.Record.from_arrays(rate=10.0, output=np.asarray(decay.outputs)[:, 0])
        >>> points = vb.decay_points(record, vb.linear_modes(oscillator))
        >>> slope = (points.frequency**2 - 1.0) / points.amplitudes[:, 0] ** 2  # about 3/4 of 0.5
        >>> bool(np.all(np.abs(slope - 0.375) < 0.01))
        True
    """
    estimator = FittedSinusoid() if estimator is None else estimator
    truncation = Truncation() if truncation is None else truncation
    chosen = tuple(range(1, np.shape(modes.shapes)[1] + 1)) if subset is None else tuple(subset)
    multiples = (1,) * len(chosen) if ratios is None else tuple(ratios)
    if record.output.shape[1] != np.shape(modes.shapes)[0]:
        expected = f"one output for each of the {np.shape(modes.shapes)[0]} points of the mode shapes"
        raise InvalidInput("decay_points.record", expected, f"{record.output.shape[1]}", "select the outputs")
    coordinates = modes.coordinates(record.output)[:, [n - 1 for n in chosen]]
    layout = Layout(int(np.argmax(coordinates.std(axis=0))), multiples)
    fits = _windows(coordinates, record.rate, estimator, layout)
    frequency = np.array([fit.frequency for fit in fits])
    turned = np.stack([_in_phase(fit, layout, derivative) for fit in fits])
    size = frequency[:, None] * np.array(multiples)
    errors = np.stack([fit.amplitude_errors for fit in fits]) / size**derivative
    kept = truncation.kept(turned, errors, np.array([fit.misfit for fit in fits]))
    if not len(kept):
        expected = f"a decay with windows in which all modes are {truncation.signal:g} times above their errors"
        best = np.max(np.min(np.abs(turned) / errors, axis=1))
        got = f"none of {len(fits)}, and {best:.2g} times at best"
        remedy = "release at a larger amplitude, leave out a mode that does not respond, or take longer windows"
        raise InvalidInput("decay_points.record", expected, got, remedy)
    drift = np.array([fit.frequency_error for fit in fits])
    decays = np.array([fit.decay for fit in fits])
    names = (backbone,) * len(kept)
    return BackbonePoints(
        frequency[kept], turned[kept], drift[kept], errors[kept], names, chosen, multiples, decays[kept]
    )


def _windows(coordinates: np.ndarray, rate: float, estimator: Estimator, layout: Layout) -> list[WindowFit]:
    """One after the other, each beginning its search at what the last one found."""
    ratio = layout.ratios[layout.lead]
    period = 2.0 * np.pi * ratio / rough_frequency(coordinates[:, layout.lead], rate)
    length, hop = round(estimator.periods * period * rate), max(round(estimator.hop * period * rate), 1)
    if length > len(coordinates) or length < 16:
        expected = f"at least one window of {estimator.periods:g} periods, and 16 samples in it"
        got = f"{len(coordinates)} samples, {period * rate:.3g} per period"
        raise InvalidInput("decay_points.record", expected, got, "record for longer, or at a higher rate")
    fits = []
    for first in range(0, len(coordinates) - length + 1, hop):
        window = coordinates[first : first + length]
        guess = rough_frequency(window[:, layout.lead], rate) / ratio
        fits.append(estimator.fit(window, rate, guess, layout))
    return fits


def _in_phase(fit: WindowFit, layout: Layout, derivative: int) -> np.ndarray:
    """Amplitudes of displacements with signs: their part in phase with the leading mode.

    What is out of phase is due to damping. It changes the size of an amplitude by its square only, whereas noise makes
    every size larger; so the part in phase is the better measure.
    """
    multiples = np.array(layout.ratios)
    complex_amplitudes = fit.amplitudes / (1j * multiples * fit.frequency) ** derivative
    reference = int(np.argmin(multiples)) if multiples[layout.lead] > 1 else layout.lead
    angle = np.angle(complex_amplitudes[reference]) / multiples[reference]
    return (complex_amplitudes * np.exp(-1j * multiples * angle)).real


def estimated_modes(
    records: Sequence[Record], masses: Any = None, normalisation: Normalisation | None = None
) -> LinearModes:
    """Mode shapes from decays in one mode each, small enough to be linear: the direction in which most of it moves.

    Args:
        records: one per mode, displacements (or their derivatives) of the same points.
        masses: at these points; by default one each, which matters for modal masses alone.
        normalisation: of the mode shapes; `LargestEntry` by default.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> time = np.arange(400) / 10.0
        >>> low, high = np.cos(time), np.cos(2.0 * time)
        >>> records = [
        ...     vb.Record.from_arrays(rate=10.0, output=np.stack([0.5 * low, low], axis=1)),
        ...     vb.Record.from_arrays(rate=10.0, output=np.stack([high, -0.5 * high], axis=1)),
        ... ]
        >>> vb.estimated_modes(records).shapes.round(6).tolist()
        [[0.5, 1.0], [1.0, -0.5]]
    """
    normalisation = LargestEntry() if normalisation is None else normalisation
    size = records[0].output.shape[1]
    if len(records) != size or any(record.output.shape[1] != size for record in records):
        expected = f"as many records as there are points ({size}), all of the same points"
        raise InvalidInput("estimated_modes.records", expected, f"{len(records)}", "give one decay per mode")
    shapes, frequencies = [], []
    for record in records:
        moved = record.output - record.output.mean(axis=0)
        direction = np.linalg.svd(moved, full_matrices=False)[2][0]
        shapes.append(direction)
        frequencies.append(rough_frequency(moved @ direction, record.rate))
    weights = np.ones(size) if masses is None else np.asarray(masses, float)
    order = np.argsort(frequencies)
    scaled = normalisation.scaled(np.array(shapes).T[:, order], weights)
    return LinearModes(np.array(frequencies)[order], scaled, np.sum(weights[:, None] * np.asarray(scaled) ** 2, axis=0))
