"""Linear forms in named quantities, the few operations that deriving a network's equations takes.

A form is a dictionary of coefficients. What is absent is zero whatever the values of the parameters, so what
does not depend on a quantity never computes with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from vibayes.structure.element import Scalar

Form = dict[str, Scalar]
"""Coefficients by the name of what they multiply."""


def weighted_sum(*terms: tuple[Scalar, Form]) -> Form:
    """Σ factor · form."""
    total: Form = {}
    for factor, form in terms:
        for name, coefficient in form.items():
            term = factor * coefficient
            total[name] = total[name] + term if name in total else term
    return total


def split(form: Form, name: str) -> tuple[Scalar, Form]:
    """The coefficient of one name, and the form without it."""
    return form[name], {other: coefficient for other, coefficient in form.items() if other != name}


def insert(form: Form, known: Mapping[str, Form]) -> Form:
    """Replace names by what they are known to be."""
    return weighted_sum(*((coefficient, known.get(name, {name: 1.0})) for name, coefficient in form.items()))


def insert_all(forms: Mapping[str, Form], known: Mapping[str, Form]) -> dict[str, Form]:
    """The same in several forms."""
    return {name: insert(form, known) for name, form in forms.items()}
