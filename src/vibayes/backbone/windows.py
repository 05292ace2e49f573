r"""Instantaneous frequency and amplitudes of a decaying motion, window by window.

`MovingFourier`, as published: Fourier coefficients of whole periods. The frequency is that at which the coefficient of
the leading mode has the same phase one period later, for which a period of the window is held back. Within a window
the motion is taken for steady.

`FittedSinusoid`: by least squares

    q_n(t) = Re[(A_n + B_n s + C_n s²) e^{j r_n θ}] + Σ_{k ≠ r_n} Re[D_nk e^{j k θ}],        θ = Ω t + Ω' t²/2,

with −1 ≤ s ≤ 1 along the window: a fundamental whose amplitude and frequency move, besides steady harmonics and an
offset. Ω and Ω' are what leaves the leading mode without any drift of phase, Im(B/A) = Im(C/A) = 0. Residuals say how
well A and Ω are known, if noise is white and windows do not overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from vibayes.errors import InvalidInput

_ROUNDS, _SETTLED = 20, 1e-12
_PADDING = 8
"""Times the length of a window to which it is padded where its spectrum's peak is sought."""


class Layout(NamedTuple):
    """Which column leads, and at which multiple of Ω each column responds."""

    lead: int
    ratios: tuple[int, ...]


class WindowFit(NamedTuple):
    """What one window says."""

    frequency: float
    amplitudes: np.ndarray
    """Complex: q_n = Re(A_n e^{j r_n Ω t}), t from the middle of the window."""
    frequency_error: float
    amplitude_errors: np.ndarray
    misfit: float
    """Standard deviation of what is left, of the leading mode."""
    decay: float
    """Rate at which the leading amplitude decays, −d log|A| / dt; it is known as well as the frequency."""


@runtime_checkable
class Estimator(Protocol):
    """A method: settings, and what it makes of a window."""

    @property
    def periods(self) -> float:
        """Length of a window."""
        ...

    @property
    def hop(self) -> float:
        """Periods from one window to the next."""
        ...

    def fit(self, window: np.ndarray, rate: float, guess: float, layout: Layout) -> WindowFit:
        """Of samples (samples, modes), given about what the frequency is (radians per second)."""
        ...


@dataclass(frozen=True)
class MovingFourier:
    """Moving-window Fourier transform, as published.

    Args:
        periods: length of a window.
        hop: periods from one window to the next; below ``periods`` windows overlap, and errors of points are no longer
            independent of each other.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.backbone.windows import Layout
        >>> time = (np.arange(600) - 299.5) / 50.0
        >>> found = vb.MovingFourier().fit(np.cos(3.0 * time)[:, None], 50.0, 3.1, Layout(0, (1,)))
        >>> bool(abs(found.frequency - 3.0) < 0.01), bool(abs(abs(found.amplitudes[0]) - 1.0) < 0.02)
        (True, True)
    """

    periods: float = 5.0
    hop: float = 5.0

    def __post_init__(self) -> None:
        _require_windows(self)

    def fit(self, window: np.ndarray, rate: float, guess: float, layout: Layout) -> WindowFit:
        """Coefficients at the frequency at which that of the leading mode does not turn."""
        ratio, frequency, times = layout.ratios[layout.lead], guess, _times(len(window), rate)
        first, length, shift = 0, len(window), 1
        before = after = np.ones(window.shape[1])
        for _ in range(_ROUNDS):
            period = 2.0 * np.pi / frequency * rate
            length = round((np.floor(min(self.periods, len(window) / period) + 1e-9) - 1.0) * period)
            first, shift = (len(window) - length - round(period)) // 2, round(period)
            early, late = (slice(begin, begin + length) for begin in (first, first + shift))
            waves = np.exp(-1j * np.outer(times, np.array(layout.ratios) * frequency))
            before, after = (2.0 * np.mean(window[part] * waves[part], axis=0) for part in (early, late))
            turned = float(np.angle(after[layout.lead] / before[layout.lead]))
            step = turned / (shift / rate) / ratio
            frequency = frequency + step
            if abs(step) < _SETTLED * guess:
                break
        used = slice(first, first + length + shift)
        waves = np.exp(-1j * np.outer(times[used], np.array(layout.ratios) * frequency))
        amplitudes = 2.0 * np.mean(window[used] * waves, axis=0)
        deviations = (window[used] - (amplitudes * waves.conj()).real).std(axis=0)
        errors = deviations * np.sqrt(2.0 / (length + shift))
        size, deviation = abs(amplitudes[layout.lead]), float(deviations[layout.lead])
        drift = 2.0 * deviation * np.sqrt(shift) / (length * size) / (shift / rate) / ratio
        decay = float(np.log(abs(before[layout.lead] / after[layout.lead]))) / (shift / rate)
        return WindowFit(frequency, amplitudes, float(drift), errors, deviation, decay)


@dataclass(frozen=True)
class FittedSinusoid:
    """Least squares of a sinusoid that moves, with harmonics.

    Args:
        periods: length of a window.
        hop: periods from one window to the next; below ``periods`` windows overlap, and errors of points are no longer
            independent of each other.
        harmonics: highest multiple of Ω that is fitted.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.backbone.windows import Layout
        >>> time = (np.arange(600) - 299.5) / 50.0
        >>> decay = np.exp(-0.05 * time) * np.cos(3.0 * time + 0.01 * time**2)
        >>> found = vb.FittedSinusoid().fit(decay[:, None], 50.0, 3.1, Layout(0, (1,)))
        >>> bool(abs(found.frequency - 3.0) < 1e-3), bool(abs(abs(found.amplitudes[0]) - 1.0) < 1e-3)
        (True, True)
    """

    periods: float = 5.0
    hop: float = 5.0
    harmonics: int = 3

    def __post_init__(self) -> None:
        _require_windows(self)
        if not (isinstance(self.harmonics, int) and self.harmonics >= 0):
            remedy = "give the highest that may be there"
            raise InvalidInput("FittedSinusoid.harmonics", "a whole number", repr(self.harmonics), remedy)

    def fit(self, window: np.ndarray, rate: float, guess: float, layout: Layout) -> WindowFit:
        """Fit all columns at the frequency that leaves the leading one without drift."""
        time = _times(len(window), rate)
        half, lead, ratio = time[-1], layout.lead, layout.ratios[layout.lead]
        frequency, sweep = guess, 0.0
        for _ in range(_ROUNDS):
            matrix = self._matrix(time, frequency * time + 0.5 * sweep * time**2, ratio)
            found = np.linalg.lstsq(matrix, window[:, lead], rcond=None)[0]
            drift, bend = (_across(found[:2], found[i : i + 2]) for i in (2, 4))
            step = drift / half / ratio
            frequency = frequency + float(np.clip(step, -0.1 * guess, 0.1 * guess))
            sweep = sweep + 2.0 * bend / half**2 / ratio
            if abs(step) < _SETTLED * guess:
                break
        phase = frequency * time + 0.5 * sweep * time**2
        amplitudes, errors = np.zeros(window.shape[1], complex), np.zeros(window.shape[1])
        frequency_error = misfit = decay = np.nan
        for n, own in enumerate(layout.ratios):
            matrix = self._matrix(time, phase, own)
            found = np.linalg.lstsq(matrix, window[:, n], rcond=None)[0]
            left = window[:, n] - matrix @ found
            variance = left @ left / max(len(time) - matrix.shape[1], 1)
            covariance = variance * np.linalg.pinv(matrix.T @ matrix)
            amplitudes[n] = found[0] - 1j * found[1]
            errors[n] = np.sqrt(0.5 * (covariance[0, 0] + covariance[1, 1]))
            if n == lead:
                across = np.array([found[1], -found[0]]) / abs(amplitudes[n]) ** 2 / half / own
                frequency_error = float(np.sqrt(across @ covariance[2:4, 2:4] @ across))
                misfit = float(np.sqrt(variance))
                decay = -float(found[:2] @ found[2:4]) / abs(amplitudes[n]) ** 2 / half
        return WindowFit(frequency, amplitudes, frequency_error, errors, misfit, decay)

    def _matrix(self, time: np.ndarray, phase: np.ndarray, own: int) -> np.ndarray:
        """Columns: cosine and sine at the own multiple, times powers of s; then harmonics and an offset."""
        share, waves = time / time[-1], (np.cos(own * phase), np.sin(own * phase))
        columns = [share**power * wave for power in range(3) for wave in waves]
        columns.append(np.ones_like(time))
        for k in range(1, self.harmonics + 1):
            if k != own:
                columns += [np.cos(k * phase), np.sin(k * phase)]
        return np.stack(columns, axis=1)


def _across(amplitude: np.ndarray, change: np.ndarray) -> float:
    """Im(B/A) of coefficients of cosine and sine."""
    (c, s), (slope_c, slope_s) = amplitude, change
    return float((slope_c * s - slope_s * c) / (c**2 + s**2))


def _times(samples: int, rate: float) -> np.ndarray:
    return (np.arange(samples) - 0.5 * (samples - 1)) / rate


def rough_frequency(signal: np.ndarray, rate: float) -> float:
    """Where the spectrum of a signal is highest, radians per second."""
    tapered = (signal - signal.mean()) * np.hanning(len(signal))
    spectrum = np.abs(np.fft.rfft(tapered, _PADDING * len(signal)))
    peak = max(int(np.argmax(spectrum[1:])) + 1, 1)
    return 2.0 * np.pi * peak * rate / (_PADDING * len(signal))


def _require_windows(method: MovingFourier | FittedSinusoid) -> None:
    where = type(method).__name__
    for name in ("periods", "hop"):
        value = getattr(method, name)
        if not (np.isfinite(value) and value > 0):
            raise InvalidInput(f"{where}.{name}", "a positive number of periods", repr(value), "give some")
    if method.periods < 2:
        raise InvalidInput(f"{where}.periods", "at least 2", repr(method.periods), "take longer windows")
