r"""The windowed-sinc kernel and its first two derivatives, in closed form.

.. math::
    g(x) = \operatorname{sinc}(x)\, w(x), \qquad w(x) = \frac{I_0(\sqrt q)}{I_0(\beta)}, \qquad
    q = \beta^2\left(1 - x^2/H^2\right), \quad |x| \le H,

with :math:`x` in samples. Written as a function of :math:`q`, the Bessel function is
:math:`I_0(\sqrt q) = {}_0F_1(1; q/4)`, whose derivatives :math:`\tfrac14\,{}_0F_1(2; q/4)` and
:math:`\tfrac1{32}\,{}_0F_1(3; q/4)` stay finite at the window's edge, where
:math:`I_1(\sqrt q)/\sqrt q` is 0/0.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import hyp0f1


def kaiser_shape(half_width: int, band: float) -> float:
    r"""The window's :math:`\beta` by Kaiser's rule, for a kernel accurate up to ``band`` times Nyquist.

    The kernel must go from one to nothing between ``band`` and the image of it at ``2 - band``. A filter of
    length :math:`2H` that does so over :math:`\Delta\omega = 2\pi(1 - \mathrm{band})` attenuates by
    :math:`A = 8 + 2.285 \cdot 2H\,\Delta\omega` decibels, and has :math:`\beta = 0.1102\,(A - 8.7)`.

    Examples:
        >>> from vibayes.excitation.kaiser import kaiser_shape
        >>> round(kaiser_shape(half_width=32, band=0.85), 2)
        15.11
    """
    attenuation = 8.0 + 2.285 * 2.0 * half_width * 2.0 * math.pi * (1.0 - band)
    # Below 50 dB Kaiser's rule has other branches; a kernel that poor is of no use, so they are left out.
    return max(0.1102 * (attenuation - 8.7), 1.0)


def kernel(distance: np.ndarray, half_width: int, shape: float) -> np.ndarray:
    """The windowed sinc and its first two derivatives.

    Args:
        distance: from the sample, in samples, any shape.
        half_width: samples the window reaches on either side; beyond it the kernel is zero.
        shape: the window's beta.

    Returns:
        Value, first and second derivative (per sample, per sample squared) along a new last axis.

    Examples:
        >>> import numpy as np
        >>> from vibayes.excitation.kaiser import kernel
        >>> kernel(np.array([0.0, 1.0]), half_width=32, shape=15.0)[:, 0]
        array([1., 0.])
    """
    inside = np.abs(distance) <= half_width
    q = np.where(inside, shape**2 * (1.0 - (distance / half_width) ** 2), 0.0)
    q_slope, q_bend = -2.0 * shape**2 * distance / half_width**2, -2.0 * shape**2 / half_width**2
    top = hyp0f1(1.0, shape**2 / 4.0)
    first, second = hyp0f1(2.0, q / 4.0) / (4.0 * top), hyp0f1(3.0, q / 4.0) / (32.0 * top)
    window = hyp0f1(1.0, q / 4.0) / top
    window_slope, window_bend = first * q_slope, second * q_slope**2 + first * q_bend

    sinc, sinc_slope, sinc_bend = _sinc(distance)
    value = sinc * window
    slope = sinc_slope * window + sinc * window_slope
    bend = sinc_bend * window + 2.0 * sinc_slope * window_slope + sinc * window_bend
    return np.where(inside[..., None], np.stack([value, slope, bend], axis=-1), 0.0)


def _sinc(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """sin(pi x) / (pi x) and its first two derivatives."""
    centre = x == 0.0
    divisor = np.where(centre, 1.0, x)
    # Exactly zero at the other samples, where rounding in sin(pi k) would leave 1e-17, so that knots are the
    # samples.
    value = np.where(x == np.round(x), np.where(centre, 1.0, 0.0), np.sinc(x))
    slope = np.where(centre, 0.0, (np.cos(np.pi * x) - value) / divisor)
    bend = np.where(centre, -(np.pi**2) / 3.0, -(np.pi**2) * value - 2.0 * slope / divisor)
    return value, slope, bend
