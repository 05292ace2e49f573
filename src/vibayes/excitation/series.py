r"""Truncated Taylor series as tuples of scalars, lowest power first.

A series stands for :math:`\sum_k a_k \tau^k` about the present time. Everything is unrolled over the order in
plain Python, so that what reaches the compiler is straight-line scalar arithmetic, which batches and fuses
well.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from vibayes.excitation.concrete import require_count

Series = tuple[jax.Array, ...]


def sine_and_cosine(phase: Sequence[jax.Array], order: int) -> tuple[Series, Series]:
    r"""Series of the sine and the cosine of a polynomial phase.

    With :math:`s = \sin\phi` and :math:`c = \cos\phi`, the identities :math:`s' = \phi' c` and
    :math:`c' = -\phi' s` compared power by power give

    .. math::
        s_k = \frac1k \sum_{j=1}^{k} j\,\phi_j\, c_{k-j}, \qquad
        c_k = -\frac1k \sum_{j=1}^{k} j\,\phi_j\, s_{k-j}.

    Args:
        phase: coefficients of the phase, radians; those beyond the last are zero.
        order: highest power wanted.

    Returns:
        The ``order + 1`` coefficients of the sine, and those of the cosine.

    Examples:
        >>> import jax.numpy as jnp
        >>> from vibayes.excitation.series import sine_and_cosine
        >>> sine, cosine = sine_and_cosine((jnp.asarray(0.0), jnp.asarray(1.0)), order=3)
        >>> [round(float(coefficient), 4) for coefficient in sine]
        [0.0, 1.0, 0.0, -0.1667]
        >>> [round(float(coefficient), 4) + 0.0 for coefficient in cosine]
        [1.0, 0.0, -0.5, 0.0]
    """
    require_count("taylor.order", order, 0, "give the highest power wanted")
    sine, cosine = [jnp.sin(phase[0])], [jnp.cos(phase[0])]
    for k in range(1, order + 1):
        powers = range(1, min(k, len(phase) - 1) + 1)
        next_sine = sum((j * phase[j] * cosine[k - j] for j in powers), start=jnp.zeros_like(sine[0])) / k
        next_cosine = -sum((j * phase[j] * sine[k - j] for j in powers), start=jnp.zeros_like(sine[0])) / k
        sine.append(next_sine)
        cosine.append(next_cosine)
    return tuple(sine), tuple(cosine)


def product(left: Series, right: Series) -> Series:
    r"""Series of a product, :math:`(ab)_k = \sum_{j=0}^{k} a_j b_{k-j}`, to the order both factors have.

    Examples:
        >>> import jax.numpy as jnp
        >>> from vibayes.excitation.series import product
        >>> one_plus_x = (jnp.asarray(1.0), jnp.asarray(1.0), jnp.asarray(0.0))
        >>> [float(coefficient) for coefficient in product(one_plus_x, one_plus_x)]
        [1.0, 2.0, 1.0]
    """
    terms = min(len(left), len(right))
    return tuple(sum((left[j] * right[k - j] for j in range(1, k + 1)), start=left[0] * right[k]) for k in range(terms))
