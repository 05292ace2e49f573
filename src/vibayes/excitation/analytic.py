"""What every smooth signal offers: its value, its Taylor coefficients, and samples of itself.

A signal that is known in closed form for all time lets an integrator take steps of any length and any order
without ever interpolating. The fields of these signals are arrays (pytree leaves), so amplitudes, frequencies
and phases may be traced, differentiated and batched.
"""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy.typing as npt
from jax.typing import ArrayLike

from vibayes.errors import InvalidInput
from vibayes.excitation.concrete import require_count, require_positive
from vibayes.excitation.hold import Hold
from vibayes.excitation.sampled import Sampled
from vibayes.excitation.series import Series


def number(value: npt.ArrayLike) -> jax.Array:
    """``value`` as a floating-point array: how every field of a smooth signal is stored.

    Examples:
        >>> from vibayes.excitation.analytic import number
        >>> number(3).shape
        ()
    """
    try:
        return jnp.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput("field of a signal", "a number", repr(value), "write it as one") from None


class Analytic(eqx.Module):
    """A scalar signal that is smooth and known for every time.

    Examples:
        >>> from vibayes.excitation import Analytic, Sine
        >>> isinstance(Sine(amplitude=1.0, frequency_hz=2.0), Analytic)
        True
    """

    @abc.abstractmethod
    def value(self, t: ArrayLike) -> jax.Array:
        """The signal at the time ``t`` (a scalar, seconds).

        Examples:
            >>> import jax, jax.numpy as jnp
            >>> from vibayes.excitation import Sine
            >>> force = Sine(amplitude=2.0, frequency_hz=0.25)
            >>> jax.vmap(force.value)(jnp.array([0.0, 1.0]))
            Array([0., 2.], dtype=float64)
        """

    @abc.abstractmethod
    def taylor(self, t: ArrayLike, order: int) -> Series:
        """The Taylor coefficients (the k-th derivative over k!) at the time ``t``, for k = 0 to ``order``.

        Args:
            t: the time to expand about, a scalar, seconds.
            order: the highest power, a Python int: the code is unrolled over it.

        Returns:
            ``order + 1`` scalars.

        Examples:
            >>> import jax
            >>> from vibayes.excitation import Sine
            >>> force = Sine(amplitude=2.0, frequency_hz=0.25)
            >>> value, slope = force.taylor(0.3, order=1)
            >>> bool(abs(slope - jax.grad(force.value)(0.3)) < 1e-14)
            True
        """

    def sampled(self, rate: float, samples: int, hold: Hold) -> Sampled:
        """The signal at ``samples`` instants from time zero on.

        Args:
            rate: samples per second.
            samples: how many.
            hold: what is to be assumed between the samples.

        Returns:
            One channel of samples.

        Examples:
            >>> from vibayes.excitation import Sine, ZeroOrderHold
            >>> wave = Sine(amplitude=1.0, frequency_hz=1.0).sampled(4.0, 5, hold=ZeroOrderHold())
            >>> wave.values[:, 0].round(12) + 0.0
            Array([ 0.,  1.,  0., -1.,  0.], dtype=float64)
        """
        require_positive("sampled.rate", rate, "give samples per second")
        require_count("sampled.samples", samples, 2, "give at least a beginning and an end")
        values = jax.vmap(self.value)(jnp.arange(samples) / rate)
        return Sampled(values[:, None], rate, hold)
