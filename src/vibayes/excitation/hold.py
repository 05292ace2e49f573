r"""What an input does between its samples, said outright.

A simulation needs the input at all times, a record has it at some. Whoever simulates assumes something for
the times between, and that assumption changes the answer, so here it is an object to be chosen. A hold turns
samples into polynomial pieces in *local time* :math:`\tau`, seconds from the start of the piece:

.. math::
    u(t_i + \tau) = \sum_{k=0}^{d} p_{i,k}\, \tau^k, \qquad 0 \le \tau < h.
"""

# No postponed annotations here: equinox reads AbstractVar off the class and cannot see it through a string.
import abc
from typing import TYPE_CHECKING, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

if TYPE_CHECKING:  # A type checker takes only its own ClassVar for one.
    from typing import ClassVar as AbstractClassVar
else:
    from equinox import AbstractClassVar


class Hold(eqx.Module):
    """What an input does between its samples.

    Attributes:
        degree: of the polynomial pieces.
        refinement: pieces in each interval between samples.

    Examples:
        >>> from vibayes.excitation import Hold, StraightLines
        >>> isinstance(StraightLines(), Hold)
        True
    """

    degree: AbstractClassVar[int]
    refinement: eqx.AbstractVar[int]

    @property
    def lookahead(self) -> int | None:
        """Samples after the end of an interval on which its pieces depend; None if any later sample may change them.

        Streaming needs it: what later samples change is not final yet (`vibayes.update`). A hold of your own states it
        if it is finite.
        """
        return None

    @abc.abstractmethod
    def pieces(self, values: jax.Array, rate: float) -> jax.Array:
        """Polynomial pieces through samples.

        Args:
            values: shape ``(..., samples, channels)``.
            rate: samples per second.

        Returns:
            Coefficients in local time, ascending powers, shape
            ``(..., (samples - 1) * refinement, channels, degree + 1)``.
        """


class ZeroOrderHold(Hold):
    """Each sample holds until the next: what a digital-to-analogue converter puts out.

    The last sample has no interval to hold over within the record, so it is never used.

    Examples:
        >>> import jax.numpy as jnp
        >>> from vibayes.excitation import ZeroOrderHold
        >>> ZeroOrderHold().pieces(jnp.array([[1.0], [3.0], [2.0]]), rate=10.0)[:, 0]
        Array([[1.],
               [3.]], dtype=float64)
    """

    degree: ClassVar[int] = 0
    refinement: int = eqx.field(static=True, default=1, init=False)

    @property
    def lookahead(self) -> int:
        """No sample is needed beyond the interval's own ends."""
        return 0

    def pieces(self, values: jax.Array, rate: float) -> jax.Array:
        """Polynomial pieces through samples; see :meth:`Hold.pieces`."""
        del rate  # A constant has no slope to scale by it.
        return values[..., :-1, :, None]


class StraightLines(Hold):
    """The samples joined by straight lines (first-order hold).

    Honest for a signal sampled well above its frequencies. It is a low-pass filter all the same: a sine at
    the fraction x of the Nyquist frequency comes out weaker by the factor sinc(x / 2) squared, 3 % at x = 0.2
    and 19 % at x = 0.5; see :class:`BandLimited` for when that matters.

    Examples:
        >>> import jax.numpy as jnp
        >>> from vibayes.excitation import StraightLines
        >>> StraightLines().pieces(jnp.array([[1.0], [3.0], [2.0]]), rate=10.0)[:, 0]
        Array([[  1.,  20.],
               [  3., -10.]], dtype=float64)
    """

    degree: ClassVar[int] = 1
    refinement: int = eqx.field(static=True, default=1, init=False)

    @property
    def lookahead(self) -> int:
        """No sample is needed beyond the interval's own ends."""
        return 0

    def pieces(self, values: jax.Array, rate: float) -> jax.Array:
        """Polynomial pieces through samples; see :meth:`Hold.pieces`."""
        return jnp.stack([values[..., :-1, :], jnp.diff(values, axis=-2) * rate], axis=-1)
