r"""A record at another rate.

Between the samples, signals are what a band-limited signal is there: a windowed sinc joins them. The window is
Kaiser's, and the filter is declared by what it keeps and what it suppresses: everything up to ``band`` times the lower
of the two Nyquist frequencies passes, everything above that frequency is down by ``attenuation`` decibels and cannot
come back as something slower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from vibayes.conditioning.gaps import bridged, require_whole
from vibayes.conditioning.step import Step
from vibayes.errors import InvalidInput
from vibayes.record import Record

_LARGEST = 1000
_SAME = 1e-9


@dataclass(frozen=True)
class Resample(Step):
    """Inputs and outputs at another rate, through one anti-aliasing filter without delay.

    The new samples begin with the first of the old ones and end before or with the last. About ``5 / (1 - band)``
    samples of the lower rate at either end are made from less than the whole filter; take a `Segment` where that
    matters.

    Attributes:
        rate: samples per second; the old rate times a fraction of whole numbers up to 1000.
        band: part of the lower Nyquist frequency that is kept.
        attenuation: of what is above that Nyquist frequency, in decibels.
        across_gaps: whether missing values are bridged by straight lines for the filter, and what falls between their
            neighbours is missing afterwards; if not, they are refused.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> time = np.arange(1000) / 500.0
        >>> record = vb.Record.from_arrays(time=time, output={"acc": np.sin(2 * np.pi * 5.0 * time)})
        >>> slower = vb.Resample(200.0).apply(record)
        >>> error = slower.channel("acc") - np.sin(2 * np.pi * 5.0 * slower.times)
        >>> slower.samples, bool(np.abs(error)[50:-50].max() < 1e-3)
        (400, True)
    """

    rate: float
    band: float = 0.8
    attenuation: float = 80.0
    across_gaps: bool = False

    def apply(self, record: Record) -> Record:
        """The record at the other rate."""
        from scipy.signal import resample_poly  # here, for it takes long to import

        up, down = self._ratio(record.rate)
        if up == down:
            return record
        require_whole("Resample", record, self.across_gaps)
        filter_ = self._filter(up, down)
        # Later samples than the last old one would be invented.
        samples = (record.samples - 1) * up // down + 1
        changed = {}
        for kind in ("input", "output"):
            values = np.asarray(getattr(record, kind))
            if values.shape[1]:
                moved = resample_poly(bridged(values), up, down, axis=0, window=filter_, padtype="line")[:samples]
                values = np.where(_gaps(values, up, down, samples), np.nan, moved)
            else:
                values = np.empty((samples, 0))
            values.setflags(write=False)
            changed[kind] = values
        return replace(record, rate=float(self.rate), **changed)

    def _ratio(self, old: float) -> tuple[int, int]:
        if not isinstance(self.rate, int | float) or not (math.isfinite(self.rate) and self.rate > 0):
            raise InvalidInput("Resample.rate", "a positive number", repr(self.rate), "give samples per second")
        if not 0.1 <= self.band <= 0.99:
            raise InvalidInput("Resample.band", "a number from 0.1 to 0.99", repr(self.band), "take 0.8")
        if not 30.0 <= self.attenuation <= 200.0:
            raise InvalidInput("Resample.attenuation", "30 to 200 decibels", repr(self.attenuation), "take 80")
        ratio = Fraction(self.rate / old).limit_denominator(_LARGEST)
        if ratio == 0 or ratio.numerator > _LARGEST or abs(float(ratio) * old - self.rate) > _SAME * self.rate:
            near = float(ratio) * old if 0 < ratio and ratio.numerator <= _LARGEST else old
            raise InvalidInput(
                "Resample.rate",
                f"a rate that is to {old:g} Hz as whole numbers up to {_LARGEST} are to one another",
                f"{self.rate!r}",
                f"take one near by, such as {near!r}",
            )
        return ratio.numerator, ratio.denominator

    def _filter(self, up: int, down: int) -> np.ndarray:
        """The low-pass at the common multiple of both rates, whose Nyquist frequency is 1."""
        from scipy.signal import firwin, kaiserord  # here, for it takes long to import

        lower = 1.0 / max(up, down)
        taps, shape = kaiserord(self.attenuation, (1.0 - self.band) * lower)
        window: Any = ("kaiser", shape)  # SciPy's annotation knows names of windows only
        return np.asarray(firwin(taps | 1, 0.5 * (1.0 + self.band) * lower, window=window))


def _gaps(values: np.ndarray, up: int, down: int, samples: int) -> np.ndarray:
    """Where a new sample falls between the neighbours of a gap: any old sample beside it is missing."""
    place = np.arange(samples) * down
    before, exact = place // up, place % up == 0
    after = np.where(exact, before, np.minimum(before + 1, len(values) - 1))
    missing = np.isnan(values)
    return missing[before] | missing[after]
