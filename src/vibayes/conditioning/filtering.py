r"""Steps that take something out of all channels: a trend, or all that lies outside a band of frequencies.

A filter that is applied to the output alone changes what the structure seems to be: its own gain and delay become part
of what is identified. Applied to inputs and outputs alike it cancels out of every linear relation between them,

.. math:: F(s)\,Y(s) = H(s)\,F(s)\,U(s) \quad\text{wherever}\quad Y(s) = H(s)\,U(s),

so `BandPass` always takes both. A nonlinear structure does not commute with a filter: harmonics that it makes of what
is kept, and the answer to what was cut from its input, are lost. Keep the band wide enough to hold them, and cut what
is no motion of the structure: drift below its frequencies, noise above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vibayes.conditioning.gaps import bridged, require_whole
from vibayes.conditioning.step import Step
from vibayes.errors import InvalidInput
from vibayes.naming import nearest
from vibayes.record import Record

_KINDS = ("constant", "linear")


@dataclass(frozen=True)
class Detrend(Step):
    """Without the mean, or without the straight line that fits best.

    Missing values do not count and stay missing.

    Attributes:
        kind: ``constant`` for the mean, ``linear`` for the line.
        channels: names of those that it is done to; all if left out.

    Examples:
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=2.0, output={"gap": [1.0, 2.0, 3.0]})
        >>> vb.Detrend().apply(record).channel("gap")
        array([-1.,  0.,  1.])
    """

    kind: str = "constant"
    channels: str | Sequence[str] = ()

    def apply(self, record: Record) -> Record:
        """The record without trends."""
        if self.kind not in _KINDS:
            raise InvalidInput(
                "Detrend.kind", "'constant' or 'linear'", repr(self.kind), nearest(str(self.kind), _KINDS)
            )
        wanted = [self.channels] if isinstance(self.channels, str) else list(self.channels)
        for name in wanted:
            if name not in record.names:
                raise InvalidInput("Detrend", "the name of a channel", repr(name), nearest(str(name), record.names))
        changed = {}
        for kind in ("input", "output"):
            values = np.array(getattr(record, kind))
            for column, name in zip(values.T, getattr(record, f"{kind}_names"), strict=True):
                if not wanted or name in wanted:
                    self._take_out(column)
            values.setflags(write=False)
            changed[kind] = values
        return replace(record, **changed)

    def _take_out(self, column: np.ndarray) -> None:
        present = np.isfinite(column)
        if not present.any():
            return
        time = np.linspace(-1.0, 1.0, column.size)
        if self.kind == "constant" or present.sum() < 2:
            column -= column[present].mean()
        else:
            column -= np.polynomial.Polynomial.fit(time[present], column[present], 1)(time)


@dataclass(frozen=True)
class BandPass(Step):
    r"""What lies between two frequencies, of inputs and outputs alike, without delay.

    A Butterworth filter runs forth and back, so that nothing is shifted in time. A sine of frequency :math:`f` keeps
    the part

    .. math:: \frac{1}{1 + \Omega^{2n}}, \qquad
        \Omega = \left|\frac{w(f)^2 - w(f_1)\,w(f_2)}{w(f)\,(w(f_2) - w(f_1))}\right|, \quad w(f) = \tan(\pi f/f_s),

    of its amplitude: half at the edges :math:`f_1, f_2`. With one edge, :math:`\Omega` is :math:`w(f)/w(f_2)` or
    :math:`w(f_1)/w(f)`. The first and the last few periods of the lower edge are not to be trusted: take a `Segment`
    afterwards. Why both sides are filtered, and what that cannot do for nonlinear structures, is explained in the
    documentation of data.

    Attributes:
        low: lower edge, in Hz; none to keep everything below `high`.
        high: upper edge, in Hz; none to keep everything above `low`.
        order: n, of the filter that runs twice.
        across_gaps: whether missing values are bridged by straight lines for the filter, and missing again afterwards;
            if not, they are refused.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> time = np.arange(4000) / 200.0
        >>> slow, fast = np.sin(2 * np.pi * 2.0 * time), np.sin(2 * np.pi * 50.0 * time)
        >>> record = vb.Record.from_arrays(time=time, output={"acc": slow + fast})
        >>> kept = vb.BandPass(high=10.0).apply(record).channel("acc")
        >>> bool(np.abs(kept - slow)[400:-400].max() < 1e-4)
        True
    """

    low: float | None = None
    high: float | None = None
    order: int = 4
    across_gaps: bool = False

    def apply(self, record: Record) -> Record:
        """The record within the band."""
        from scipy.signal import sosfiltfilt  # here, for it takes long to import

        sections = self._sections(record.rate)
        require_whole("BandPass", record, self.across_gaps)
        # As many samples as the longest memory of the filter are mirrored at each end.
        slowest = min(edge for edge in (self.low, self.high) if edge is not None)
        padding = min(record.samples - 1, max(3 * (2 * len(sections) + 1), int(3 * record.rate / slowest)))
        if record.samples < 3 * (2 * len(sections) + 1):
            expected = f"at least {3 * (2 * len(sections) + 1)} samples for this filter"
            raise InvalidInput("BandPass", expected, f"{record.samples}", "filter a longer part, or lower the order")
        changed = {}
        for kind in ("input", "output"):
            values = np.asarray(getattr(record, kind))
            if values.shape[1]:
                kept = sosfiltfilt(sections, bridged(values), axis=0, padlen=padding)
                values = np.where(np.isnan(values), np.nan, kept)
            values.setflags(write=False)
            changed[kind] = values
        return replace(record, **changed)

    def _sections(self, rate: float) -> np.ndarray:
        from scipy.signal import butter  # here, for it takes long to import

        edges = [edge for edge in (self.low, self.high) if edge is not None]
        if not edges or not all(0 < edge < rate / 2 for edge in edges) or (len(edges) == 2 and edges[0] >= edges[1]):
            raise InvalidInput(
                "BandPass",
                f"0 < low < high < {rate / 2:g} Hz, half the sampling rate",
                f"low={self.low}, high={self.high}",
                "leave out an edge that is not needed",
            )
        if not isinstance(self.order, int) or not 1 <= self.order <= 20:
            raise InvalidInput("BandPass.order", "a whole number from 1 to 20", repr(self.order), "take 4")
        kind = "bandpass" if len(edges) == 2 else "lowpass" if self.low is None else "highpass"
        return np.asarray(butter(self.order, edges if len(edges) == 2 else edges[0], kind, fs=rate, output="sos"))
