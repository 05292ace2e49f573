"""The tables of state variables of the literature: which choices are listed for which model.

Each entry holds a network in named parameters and the choices of state variables for a mass on it. The
matrices themselves are derived, by `state_choice`, once the parameters have values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vibayes.errors import InvalidInput
from vibayes.structure.element import bind, parameter_names
from vibayes.structure.elements.viscoelastic import Viscoelastic
from vibayes.structure.elements.viscoelastic_models import (
    generalised_kelvin,
    generalised_maxwell,
    kelvin,
    maxwell,
    standard_fluid_1,
    standard_fluid_2,
    standard_solid_1,
    standard_solid_2,
)
from vibayes.structure.state_choices import LinearChoice, state_choice


@dataclass(frozen=True)
class TabulatedModel:
    """A network, and state variables for a mass on it.

    Attributes:
        network: the network, its parameters by name.
        choices: names of the state variables of each choice.
    """

    network: Viscoelastic
    choices: tuple[tuple[str, ...], ...]

    def derived(self, mass: float, values: Mapping[str, float]) -> tuple[LinearChoice, ...]:
        """The equations of every choice.

        Args:
            mass: the mass.
            values: the parameters of the network by name.

        Returns:
            One `LinearChoice` per entry of ``choices``.

        Examples:
            >>> from vibayes.structure.state_choice_tables import TABLE_1
            >>> choices = TABLE_1["Maxwell"].derived(2.0, {"k": 6.0, "c": 3.0})
            >>> [choice.control for choice in choices]
            ['flow', 'effort', 'mixed', 'mixed']
            >>> choices[3].states, choices[3].A.tolist()
            (('xdot', 'r'), [[0.0, -0.5], [6.0, -2.0]])
        """
        names = parameter_names(self.network)
        if set(names) != set(values):
            raise InvalidInput(
                "TabulatedModel.derived", f"values of {list(names)}", f"{list(values)}", "give each once"
            )
        network = bind(self.network, dict(values))
        return tuple(state_choice(mass, network, choice) for choice in self.choices)


_TWO = (("x", "xdot"), ("p", "r"), ("x", "p"), ("xdot", "r"))
_THREE = (("x", "p", "r"), ("x", "xdot", "r"))
_EFFORT = ("p", "r", "rdot")

TABLE_1: Mapping[str, TabulatedModel] = {
    "Kelvin": TabulatedModel(kelvin("k", "c"), _TWO),
    "Maxwell": TabulatedModel(maxwell("k", "c"), _TWO),
}
"""Two elements: flow-controlled, effort-controlled and two mixed choices."""

TABLE_2: Mapping[str, TabulatedModel] = {
    "standard solid #1": TabulatedModel(
        standard_solid_1("k1", "k2", "c2"),
        (*_THREE, ("x", "xdot", "e(k2|c2)"), _EFFORT),
    ),
    "standard solid #2": TabulatedModel(
        standard_solid_2("k1", "k2", "c2"),
        (*_THREE, ("x", "xdot", "e(k2)"), ("p", "r", "f(k2+c2)"), _EFFORT),
    ),
    "standard fluid #1": TabulatedModel(
        standard_fluid_1("c1", "k2", "c2"),
        (*_TWO, ("xdot", "e(k2|c2)"), ("p", "e(k2|c2)"), *_THREE),
    ),
    "standard fluid #2": TabulatedModel(
        standard_fluid_2("c1", "k2", "c2"),
        (*_TWO, ("xdot", "e(k2)"), ("p", "f(k2+c2)"), *_THREE),
    ),
}
"""Three elements. A fluid has two variables, or three if x is carried along beside ẋ (or p) and r."""

TABLE_3: Mapping[str, TabulatedModel] = {
    "generalised Maxwell": TabulatedModel(
        generalised_maxwell([("k2", "c2")], stiffness="k1", damping="c1"),
        (*_THREE, ("x", "xdot", "e(k2)"), ("p", "r", "f(k2+c2)")),
    ),
    "generalised Kelvin chain": TabulatedModel(
        generalised_kelvin([("k2", "c2")], stiffness="k1", damping="c1"),
        (*_THREE, ("xdot", "r", "e(k2|c2)"), ("p", "r", "e(k2|c2)"), ("xdot", "e(k1)", "e(k2|c2)"), _EFFORT),
    ),
    "two Maxwell in parallel": TabulatedModel(
        generalised_maxwell([("k1", "c1"), ("k2", "c2")]),
        (
            *_THREE,
            ("xdot", "f(k1+c1)", "f(k2+c2)"),
            ("p", "f(k1+c1)", "f(k2+c2)"),
            ("xdot", "e(k1)", "e(k2)"),
            _EFFORT,
        ),
    ),
    "two Kelvin in series": TabulatedModel(
        generalised_kelvin([("k1", "c1"), ("k2", "c2")]),
        (*_THREE, ("x", "xdot", "e(k1|c1)"), ("xdot", "e(k1|c1)", "e(k2|c2)"), ("p", "r", "e(k1|c1)")),
    ),
}
"""Four elements: a Maxwell model beside a spring and a damper, a Kelvin model behind them, two of each."""
