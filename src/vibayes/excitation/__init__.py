"""What drives a structure: smooth signals known for all time, and signals known only at samples.

A smooth signal (:class:`Sine`, :class:`ModulatedSine`, :class:`Chirp`, :class:`Multisine`) gives its value
and its Taylor coefficients at any time. A :class:`Sampled` signal gives polynomial pieces, and its *hold*
says what the input does between the samples: :class:`ZeroOrderHold`, :class:`StraightLines` or
:class:`BandLimited`.

Examples:
    >>> from vibayes.excitation import Sine, StraightLines
    >>> force = Sine(amplitude=2.0, frequency_hz=5.0)
    >>> force.sampled(rate=100.0, samples=11, hold=StraightLines()).pieces().shape
    (10, 1, 2)
"""

from vibayes.excitation.analytic import Analytic
from vibayes.excitation.band_limited import BandLimited
from vibayes.excitation.chirp import Chirp
from vibayes.excitation.hold import Hold, StraightLines, ZeroOrderHold
from vibayes.excitation.impulse import impulse
from vibayes.excitation.multisine import Multisine, random_phase_multisine
from vibayes.excitation.noise import band_limited_noise
from vibayes.excitation.sampled import Sampled
from vibayes.excitation.sine import ModulatedSine, Sine

__all__ = [
    "Analytic",
    "BandLimited",
    "Chirp",
    "Hold",
    "ModulatedSine",
    "Multisine",
    "Sampled",
    "Sine",
    "StraightLines",
    "ZeroOrderHold",
    "band_limited_noise",
    "impulse",
    "random_phase_multisine",
]
