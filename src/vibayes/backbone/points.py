"""Points of measured backbones: frequencies, amplitudes with signs, and how well each is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.naming import quoted


@dataclass(frozen=True)
class BackbonePoints:
    """What was measured of backbones, of one or of several.

    Args:
        frequency: Ω, radians per second, (points,).
        amplitudes: of the modes, (points, modes): of mode n at r_n Ω, positive where it is in phase with the leading
            mode and negative where it is in anti-phase.
        frequency_errors: standard errors of the frequencies; NaN where nothing is known of them.
        amplitude_errors: standard errors of the amplitudes.
        backbone: the backbone that each point is of, by name.
        modes: that the amplitudes are of, the lowest being 1; by default all in order.
        ratios: r of each mode; by default all respond at Ω.
        decay_rates: −d log|V|/dt of the leading mode, in 1/s, known as well as the frequency; NaN by default. Over Ω it
            is the damping ratio.

    Examples:
        >>> import vibayes as vb
        >>> points = vb.BackbonePoints([1.0, 1.1], [[0.2, -0.01], [0.4, -0.03]])
        >>> points.samples, points.output_names
        (2, ('frequency', 'amplitude of mode 1', 'amplitude of mode 2'))
    """

    frequency: Any
    amplitudes: Any
    frequency_errors: Any = None
    amplitude_errors: Any = None
    backbone: Any = None
    modes: Any = None
    ratios: Any = None
    decay_rates: Any = None

    def __post_init__(self) -> None:
        frequency = np.atleast_1d(np.asarray(self.frequency, float))
        amplitudes = np.asarray(self.amplitudes, float)
        if amplitudes.ndim == 1 and frequency.ndim == 1:
            amplitudes = amplitudes[:, None]
        if frequency.ndim != 1 or amplitudes.ndim != 2 or len(amplitudes) != len(frequency) or not len(frequency):
            expected = "shapes (points,) and (points, modes)"
            got = f"{np.shape(self.frequency)} and {np.shape(self.amplitudes)}"
            raise InvalidInput("BackbonePoints.amplitudes", expected, got, "give one row per frequency")
        if not (np.isfinite(frequency).all() and (frequency > 0).all() and np.isfinite(amplitudes).all()):
            remedy = "leave out points that were not found"
            raise InvalidInput("BackbonePoints", "positive frequencies and finite amplitudes", "others", remedy)
        count, width = amplitudes.shape
        missing = np.full(amplitudes.shape, np.nan)
        errors = missing[:, 0] if self.frequency_errors is None else np.asarray(self.frequency_errors, float)
        spread = missing if self.amplitude_errors is None else np.asarray(self.amplitude_errors, float)
        if errors.shape != frequency.shape or spread.shape != amplitudes.shape:
            got = f"{errors.shape} and {spread.shape}"
            raise InvalidInput("BackbonePoints.amplitude_errors", "one error per number", got, "give as many")
        settled = {
            "frequency": frequency,
            "amplitudes": amplitudes,
            "frequency_errors": errors,
            "amplitude_errors": spread,
            "backbone": ("S",) * count if self.backbone is None else tuple(self.backbone),
            "modes": tuple(range(1, width + 1)) if self.modes is None else tuple(self.modes),
            "ratios": (1,) * width if self.ratios is None else tuple(self.ratios),
            "decay_rates": missing[:, 0] if self.decay_rates is None else np.asarray(self.decay_rates, float),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        per_point, per_mode = ("decay_rates", "backbone"), ("modes", "ratios")
        wrong = any(len(settled[name]) != count for name in per_point)
        if wrong or any(len(settled[name]) != width for name in per_mode):
            expected = (
                f"one backbone and one decay rate per point ({count}), a mode and a ratio per amplitude ({width})"
            )
            raise InvalidInput("BackbonePoints", expected, "other numbers of them", "give as many")

    @property
    def samples(self) -> int:
        """Number of points."""
        return len(self.frequency)

    @property
    def output(self) -> np.ndarray:
        """All that was measured, (points, 1 + modes)."""
        return np.column_stack([self.frequency, self.amplitudes])

    @property
    def output_names(self) -> tuple[str, ...]:
        """What the columns of the output are."""
        return ("frequency", *(f"amplitude of mode {mode}" for mode in self.modes))

    def of(self, backbone: str) -> BackbonePoints:
        """Points of one backbone.

        Examples:
            >>> import vibayes as vb
            >>> points = vb.BackbonePoints([1.0, 1.1], [0.2, 0.4], backbone=("S1", "S2"))
            >>> points.of("S2").frequency.tolist()
            [1.1]
        """
        chosen = [i for i, name in enumerate(self.backbone) if name == backbone]
        if not chosen:
            names = list(dict.fromkeys(self.backbone))
            raise InvalidInput("BackbonePoints.of", f"one of {quoted(names)}", repr(backbone), "choose one of them")
        return self.chosen(chosen)

    def chosen(self, which: Any) -> BackbonePoints:
        """Some of the points, by number."""
        return BackbonePoints(
            self.frequency[which],
            self.amplitudes[which],
            self.frequency_errors[which],
            self.amplitude_errors[which],
            tuple(np.array(self.backbone)[which].tolist()),
            self.modes,
            self.ratios,
            self.decay_rates[which],
        )


def joined(points: Sequence[BackbonePoints]) -> BackbonePoints:
    """Points of several backbones as one set of data.

    Examples:
        >>> import vibayes as vb
        >>> one = vb.BackbonePoints([1.0], [0.2], backbone=("S1",))
        >>> vb.joined([one, vb.BackbonePoints([2.0], [0.1], backbone=("S2",))]).backbone
        ('S1', 'S2')
    """
    first = points[0]
    if any(each.modes != first.modes or each.ratios != first.ratios for each in points):
        remedy = "take the amplitudes of the same modes from every decay"
        raise InvalidInput("joined", "points of the same modes at the same ratios", "others", remedy)
    names = "frequency", "amplitudes", "frequency_errors", "amplitude_errors", "decay_rates"
    columns = {name: np.concatenate([getattr(each, name) for each in points]) for name in names}
    backbone = tuple(name for each in points for name in each.backbone)
    return BackbonePoints(**columns, backbone=backbone, modes=first.modes, ratios=first.ratios)
