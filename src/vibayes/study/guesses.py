"""What a record looks like: what its channels measure, how large they are, and the frequency they move at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vibayes.record import Record
from vibayes.units import convert_values

_WORDS = {
    "displacement": ("disp", "x", "d", "u", "y", "pos", "defl", "gap"),
    "velocity": ("vel", "v", "speed"),
    "acceleration": ("acc", "a", "g", "ddx", "xdd"),
}
_UNITS = {"displacement": "m", "velocity": "m/s", "acceleration": "m/s^2"}


@dataclass(frozen=True)
class Guess:
    """Numbers from which priors are made, in the units of the record.

    Attributes:
        masses: one per output.
        quantity: what outputs are: displacement, velocity or acceleration.
        drive: "a force" or "the acceleration of the base".
        frequency: at which the first output moves most, Hz.
        mass: the size that input and output suggest; one where the base is shaken.
        output: standard deviation of the outputs, the mean of all.
        displacement: standard deviation of the displacement, as output and frequency tell it.
    """

    masses: int
    quantity: str
    drive: str
    frequency: float
    mass: float
    output: float
    displacement: float

    @property
    def omega(self) -> float:
        """Radians per second."""
        return 2.0 * np.pi * self.frequency

    @property
    def by_base(self) -> bool:
        """Whether the base is shaken."""
        return self.drive != "a force"


def guess_of(record: Record) -> Guess:
    """What a record looks like.

    Examples:
        >>> import numpy as np
        >>> time = np.arange(1000) / 100.0
        >>> x = 0.02 * np.sin(2 * np.pi * 3.0 * time)
        >>> record = Record.from_arrays(rate=100.0, input={"force": 50.0 * x}, output={"disp": x}, units={"disp": "m"})
        >>> guess = guess_of(record)
        >>> guess.quantity, guess.drive, round(guess.frequency, 2)
        ('displacement', 'a force', 3.0)
    """
    quantity = _quantity(record.output_names[0], record.output_units[0])
    first = np.nan_to_num(record.output[:, 0] - np.nanmean(record.output[:, 0]))
    frequency = _dominant(first, record.rate)
    deviation = float(np.mean(np.nanstd(record.output, axis=0))) or 1.0
    power = {"displacement": 2, "velocity": 1, "acceleration": 0}[quantity]
    acceleration = deviation * (2.0 * np.pi * frequency) ** power
    base = bool(record.input_names) and _quantity(record.input_names[0], record.input_units[0], "force") != "force"
    drive = "the acceleration of the base" if base or not record.input_names else "a force"
    pushed = float(np.mean(record.input.std(axis=0))) if record.input_names else 0.0
    mass = pushed / acceleration if drive == "a force" and pushed > 0 else 1.0
    displacement = acceleration / (2.0 * np.pi * frequency) ** 2
    return Guess(record.output.shape[1], quantity, drive, frequency, mass, deviation, displacement)


def _quantity(name: str, unit: str, otherwise: str = "acceleration") -> str:
    """What a channel measures, by its unit, or else by its name."""
    for quantity, si in _UNITS.items():
        if unit:
            try:
                convert_values("unit", np.ones(1), unit, si)
                return quantity
            except ValueError:
                continue
    if unit:
        return otherwise
    word = name.lower().replace("-", "_").split("_")[0].split(" ")[0].rstrip("0123456789")
    if word.startswith(("ground", "base")):
        return "acceleration"
    for quantity, words in _WORDS.items():
        if word in words or (len(word) > 2 and any(len(each) > 2 and word.startswith(each) for each in words)):
            return quantity
    return otherwise


def _dominant(values: np.ndarray, rate: float) -> float:
    """The frequency of most power, from a smoothed spectrum; not the drift of a few periods in all the record."""
    spectrum = np.abs(np.fft.rfft(values * np.hanning(len(values)))) ** 2
    frequencies = np.fft.rfftfreq(len(values), 1.0 / rate)
    width = max(1, len(spectrum) // 200)
    smooth = np.convolve(spectrum, np.ones(width) / width, mode="same")
    smooth[: min(3, len(smooth) - 1)] = 0.0
    return float(frequencies[int(np.argmax(smooth))]) or rate / 10.0
