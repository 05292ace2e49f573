"""Networks of springs and dampers, and the smallest set of states that follows from their tree.

Every part of a network, from a single spring to the whole, is one linear law between its deformation d, its
rate v and its states q,

    f = κ d + c v + γᵀ q,        dq/dt = A q + a d + b v,

and such laws compose. In *parallel* the deformation is common and the forces add. In *series* the force is
common and the deformations e_i add, which asks two questions of each part:

- Is it *resistive* (c ≠ 0)? Then the force gives its rate, v_i = (f − rest_i)/c_i. If not it is *compliant*:
  its force follows from what is already there, and its rate is free. With one compliant part, that part sets
  the force and takes the rate the others leave, v − Σ v_i. With none, Σ (f − rest_i)/c_i = v gives the force.
  Of several, equal in force at all times, each follows from the others: they are merged into one first.
- Is it *solid* (κ ≠ 0)? Then its deformation matters and is a state, except that in a chain of solids one has
  what the others leave, d − Σ e_i. If not it is *fluid*, and only its rate matters.

So a Maxwell model keeps the deformation of its spring, a spring in series with Kelvin models the deformations
of these, and a chain of n Kelvin models n − 1 deformations. States are named after the part they belong to:
``e(k2|c2)`` is the deformation of k2 beside c2, where ``|`` means in parallel and ``+`` in series.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import equinox as eqx

from vibayes.structure.element import Scalar
from vibayes.structure.elements.linear import Damper, Spring
from vibayes.structure.elements.linear_form import Form, insert, insert_all, split, weighted_sum


class Series(eqx.Module):
    """Parts one behind the other."""

    parts: tuple[Any, ...]


class Parallel(eqx.Module):
    """Parts side by side."""

    parts: tuple[Any, ...]


Network = Spring | Damper | Series | Parallel


class Law(NamedTuple):
    """What a part does, as linear forms in "d", "v" and the names of its states."""

    notation: str
    force: Form
    rates: dict[str, Form]
    derived: dict[str, Form]
    """Deformations e(…) and forces f(…) inside the part that are not states."""
    support: str = "d"
    """What a compliant part's force surely depends on: its deformation, or in a fluid one of its states."""
    branched: bool = False
    """Whether the outermost joint is a parallel one, so that the notation needs brackets inside a chain."""

    @property
    def solid(self) -> bool:
        """Whether the part holds a force at rest."""
        return "d" in self.force

    @property
    def resistive(self) -> bool:
        """Whether the force depends on the part's own rate."""
        return "v" in self.force

    @property
    def deformation(self) -> str:
        """Name of the part's deformation among other parts."""
        return f"e({self.notation})"

    @property
    def rate(self) -> str:
        """Name of the part's rate among other parts."""
        return f"v({self.notation})"

    def placed(self) -> Law:
        """The same law with its own names for d and v, for use among other parts."""
        own: dict[str, Form] = {"d": {self.deformation: 1.0}, "v": {self.rate: 1.0}}
        support = self.deformation if self.support == "d" else self.support
        return self._replace(
            force=insert(self.force, own),
            rates=insert_all(self.rates, own),
            derived=insert_all(self.derived, own),
            support=support,
        )


def leaves(network: Network, below_series: bool = False) -> Iterator[tuple[Spring | Damper, bool]]:
    """Springs and dampers in the order of declaration, each with whether it lies somewhere inside a chain."""
    if isinstance(network, Spring | Damper):
        yield network, below_series
    else:
        for part in network.parts:
            yield from leaves(part, below_series or isinstance(network, Series))


def labels(network: Network) -> tuple[str, ...]:
    """What each leaf is called: the name of its unknown, or k or c and a number; never two alike."""
    taken: list[str] = []
    for leaf, _ in leaves(network):
        spring = isinstance(leaf, Spring)
        value = leaf.stiffness if spring else leaf.coefficient
        label, stem = (value, f"{value}_") if isinstance(value, str) else (None, "k" if spring else "c")
        number = 1
        while label is None or label in taken:
            label, number = f"{stem}{number}", number + 1
        taken.append(label)
    return tuple(taken)


def derive(network: Network, names: Iterator[str]) -> Law:
    """The law of a network, from those of its parts."""
    if isinstance(network, Spring):
        return Law(next(names), {"d": network.stiffness}, {}, {})
    if isinstance(network, Damper):
        return Law(next(names), {"v": network.coefficient}, {}, {})
    laws = [derive(part, names) for part in network.parts]
    return _parallel(laws) if isinstance(network, Parallel) else _series(laws)


def _parallel(laws: list[Law]) -> Law:
    forces = {f"f({law.notation})": law.force for law in laws}
    return Law(
        notation="|".join(law.notation for law in laws),
        force=weighted_sum(*((1.0, law.force) for law in laws)),
        rates={name: form for law in laws for name, form in law.rates.items()},
        derived={name: form for law in laws for name, form in law.derived.items()} | forces,
        support="d" if any(law.solid for law in laws) else laws[0].support,
        branched=True,
    )


def _series(laws: list[Law]) -> Law:
    notation = _chain_notation(laws)
    compliant = [law for law in laws if not law.resistive]
    while len(compliant) > 1:
        merged = _merge(compliant[0], compliant[1])
        laws = [merged if law is compliant[0] else law for law in laws if law is not compliant[1]]
        compliant = [merged, *compliant[2:]]
    if len(laws) == 1:
        return laws[0]._replace(notation=notation)
    all_solid = all(law.solid for law in laws)
    last = next((i for i, law in enumerate(laws) if not law.resistive), len(laws) - 1)
    parts = [law.placed() for law in laws]
    known: dict[str, Form] = {}
    if all_solid:
        others = [(-1.0, {part.deformation: 1.0}) for i, part in enumerate(parts) if i != last]
        known[parts[last].deformation] = weighted_sum((1.0, {"d": 1.0}), *others)
    if compliant:
        force = _force_of_compliant(parts, last, known)
    else:
        force = _force_of_resistive(parts, known)
    return _assembled(notation, parts, force, known, "d" if all_solid else parts[last].support)


def _force_of_compliant(parts: list[Law], lead: int, known: dict[str, Form]) -> Form:
    """The force that the one compliant part sets; adds all rates to what is known."""
    force = insert(parts[lead].force, known)
    left_over: list[tuple[Scalar, Form]] = [(1.0, {"v": 1.0})]
    for i, part in enumerate(parts):
        if i != lead:
            coefficient, rest = split(part.force, part.rate)
            known[part.rate] = weighted_sum((1.0 / coefficient, force), (-1.0 / coefficient, rest))
            left_over.append((-1.0, known[part.rate]))
    known[parts[lead].rate] = weighted_sum(*left_over)
    return force


def _force_of_resistive(parts: list[Law], known: dict[str, Form]) -> Form:
    """The force at which the rates of resistive parts add up to v; adds these rates to what is known."""
    separated = [split(part.force, part.rate) for part in parts]
    mobility = [1.0 / coefficient for coefficient, _ in separated]
    rest = [insert(form, known) for _, form in separated]
    total = sum(mobility[1:], mobility[0])
    for i, part in enumerate(parts):
        share = mobility[i] / total
        terms = [(share, {"v": 1.0})]
        for j in range(len(parts)):
            if j != i:
                terms += [(share * mobility[j], rest[j]), (-share * mobility[j], rest[i])]
        known[part.rate] = weighted_sum(*terms)
    return weighted_sum((1.0 / total, {"v": 1.0}), *((m / total, form) for m, form in zip(mobility, rest, strict=True)))


def _merge(one: Law, other: Law) -> Law:
    """Two compliant parts in series as one.

    Equal forces at all times give the deformations (beside a fluid, one coordinate of the other part); equal
    rates of force, κ_1 v_1 + h_1 = κ_2 v_2 + h_2 with v_1 + v_2 = v, give the rates.
    """
    if one.solid and not other.solid:
        one, other = other, one  # a fluid keeps its states
    first, second = one.placed(), other.placed()
    known: dict[str, Form] = {}
    stiffness_2, rest_2 = split(second.force, second.support)
    if one.solid:
        stiffness_1, rest_1 = split(first.force, first.support)
        total = stiffness_1 + stiffness_2
        difference = weighted_sum((1.0 / total, rest_2), (-1.0 / total, rest_1))
        known[first.deformation] = weighted_sum((stiffness_2 / total, {"d": 1.0}), (1.0, difference))
        known[second.deformation] = weighted_sum((stiffness_1 / total, {"d": 1.0}), (-1.0, difference))
    else:
        known[second.support] = weighted_sum((1.0 / stiffness_2, first.force), (-1.0 / stiffness_2, rest_2))
    force = insert(first.force, known)
    tangent_1, drift_1 = split(insert(_derivative(first), known), first.rate)
    tangent_2, drift_2 = split(insert(_derivative(second), known), second.rate)
    total = tangent_1 + tangent_2
    difference = weighted_sum((1.0 / total, drift_2), (-1.0 / total, drift_1))
    known[first.rate] = weighted_sum((tangent_2 / total, {"v": 1.0}), (1.0, difference))
    known[second.rate] = weighted_sum((tangent_1 / total, {"v": 1.0}), (-1.0, difference))
    return _assembled(_chain_notation([one, other]), [first, second], force, known, "d" if one.solid else first.support)


def _assembled(notation: str, parts: list[Law], force: Form, known: dict[str, Form], support: str) -> Law:
    """A chain whose force, rates and dependent coordinates have been found."""
    rates: dict[str, Form] = {}
    derived = {name: form for name, form in known.items() if name.startswith("e(")}
    for part in parts:
        if part.deformation in part.force and part.deformation not in known:
            rates[part.deformation] = known[part.rate]
        rates |= {name: insert(form, known) for name, form in part.rates.items() if name not in known}
        derived |= insert_all(part.derived, known)
    return Law(notation, force, rates, derived, support)


def _derivative(part: Law) -> Form:
    """Rate of a compliant part's force, in terms of its rate and states."""
    chain = {part.deformation: {part.rate: 1.0}, **part.rates}
    return weighted_sum(*((coefficient, chain[name]) for name, coefficient in part.force.items()))


def _chain_notation(laws: list[Law]) -> str:
    return "+".join(f"({law.notation})" if law.branched else law.notation for law in laws)
