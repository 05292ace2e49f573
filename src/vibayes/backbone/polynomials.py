"""A structure of polynomial elements as one list of terms: powers of deformations and of their rates.

    f(x, v) = Σ_e b_e c_e (b_eᵀ x)^p_e      or      b_e c_e (b_eᵀ v)^p_e

with b_e the signs of the element at its two ends. Terms of first power are the stiffness and the damping matrix, to
which frames and the structure's damping add; the others are what is nonlinear.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.structure.elements.linear import Damper, Spring
from vibayes.structure.elements.polynomial import PolynomialDamper, PolynomialSpring
from vibayes.structure.structure import Structure

Array = Any


class Term(NamedTuple):
    """One power of one element."""

    signs: np.ndarray
    """b: −1 at the mass where the element begins, +1 where it ends."""
    coefficient: Any
    """A number, the name of an unknown, or what is being traced."""
    power: int
    of_rate: bool
    """Of the rate of the deformation instead of the deformation."""


def terms_of(structure: Structure) -> tuple[Term, ...]:
    """All terms of a structure; refuses elements that are no polynomials.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.backbone.polynomials import terms_of
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(4.0, "a"), vb.Damper(0.1)])
        >>> [(term.coefficient, term.power, term.of_rate) for term in terms_of(oscillator)]
        [(4.0, 1, False), ('a', 3, False), (0.1, 1, True)]
    """
    place = {name: i for i, name in enumerate(structure.mass_names)}
    found = []
    for link in structure.links:
        signs = np.zeros(len(place))
        for end, sign in ((link.start, -1.0), (link.stop, 1.0)):
            if end in place:
                signs[place[end]] += sign
        for coefficient, power, of_rate in _powers(link.element, str(link.name)):
            found.append(Term(signs, coefficient, power, of_rate))
    return tuple(found)


def _powers(element: Any, name: str) -> Iterator[tuple[Any, int, bool]]:
    where = f"Structure.elements[{name!r}]"
    if isinstance(element, Spring):
        yield element.stiffness, 1, False
    elif isinstance(element, Damper):
        yield element.coefficient, 1, True
    elif isinstance(element, PolynomialSpring | PolynomialDamper):
        for coefficient, power in zip(element.coefficients, element.powers, strict=True):
            if power != int(power) or power < 1:
                expected, remedy = "whole powers from 1 on", "fit a polynomial to the law, or use harmonic balance"
                raise InvalidInput(where, expected, f"the power {power:g}", remedy)
            yield coefficient, int(power), isinstance(element, PolynomialDamper)
    else:
        expected = "springs and dampers whose law is a polynomial"
        remedy = "use PolynomialSpring or PolynomialDamper, or find periodic motions numerically"
        raise InvalidInput(where, expected, type(element).__name__, remedy)


def matrix_of(terms: tuple[Term, ...], size: int, of_rate: bool) -> Array:
    """Σ c b bᵀ over the terms of first power, of deformations or of rates."""
    matrix = np.zeros((size, size))
    for term in terms:
        if term.power == 1 and term.of_rate is of_rate:
            matrix = matrix + term.coefficient * np.outer(term.signs, term.signs)
    return matrix


def stiffness_of(structure: Structure) -> Array:
    """Linear stiffness matrix of a bound structure."""
    frames = sum((frame.stiffness_matrix(len(structure.masses)) for frame in structure.frames), 0.0)
    return matrix_of(terms_of(structure), len(structure.masses), False) + frames


def damping_of(structure: Structure) -> Array:
    """Linear damping matrix of a bound structure."""
    matrix = matrix_of(terms_of(structure), len(structure.masses), True)
    if structure.damping is None:
        return matrix
    masses = jnp.stack([jnp.asarray(mass, float) for mass in structure.masses])
    return matrix + structure.damping.matrix(masses, stiffness_of(structure))
