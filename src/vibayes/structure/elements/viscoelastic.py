"""Linear viscoelastic elements: springs and dampers joined in series and in parallel, to any depth.

The internal states and their equations are derived from the way the parts are joined; `viscoelastic_network`
says how, and `viscoelastic_models` lists the models that have names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.structure.element import Check, Element, Local, Scalar
from vibayes.structure.elements.linear import Damper, Spring
from vibayes.structure.elements.linear_form import Form
from vibayes.structure.elements.viscoelastic_network import (
    Law,
    Network,
    Parallel,
    Series,
    derive,
    labels,
    leaves,
)


class Viscoelastic(Element):
    """A network of springs and dampers, made by `series`, `parallel` or one of the named models.

    Examples:
        >>> import vibayes as vb
        >>> rubber = vb.parallel(vb.Spring("k"), vb.series(vb.Spring("k_1"), vb.Damper("c_1")))
        >>> rubber.notation, rubber.states
        ('k|k_1+c_1', ('e(k_1)',))
        >>> vb.Structure.single_dof(1.0, [rubber]).parameters
        ('k', 'k_1', 'c_1')
    """

    network: Network
    coefficients: tuple[Form, tuple[Form, ...]] | None
    """Force and rates as linear forms, once `prepare` has been called on known parameters."""
    leaf_names: tuple[str, ...] = eqx.field(static=True)
    states: tuple[str, ...] = eqx.field(static=True)
    """Names of the internal states: ``e(part)`` is the deformation of that part."""
    notation: str = eqx.field(static=True)
    """The network in one line: ``|`` joins in parallel, ``+`` in series and binds tighter."""
    affine = True

    def __init__(self, network: Network):
        self.network = network
        self.coefficients = None
        self.leaf_names = labels(network)
        law = derive(jax.tree.map(lambda _: 1.0, network), iter(self.leaf_names))
        self.states = tuple(law.rates)  # type: ignore[override]  # they depend on the network
        self.notation = law.notation

    def law(self) -> Law:
        """Force, rates and inner quantities as linear forms in deformation "d", rate "v" and the states.

        Examples:
            >>> import vibayes as vb
            >>> law = vb.maxwell(6.0, 2.0).law()
            >>> law.force, law.rates
            ({'e(k1)': 6.0}, {'e(k1)': {'v': 1.0, 'e(k1)': -3.0}})
        """
        return derive(self.network, iter(self.leaf_names))

    def prepare(self) -> Viscoelastic:
        """The same network with its coefficients computed."""
        law = self.law()
        coefficients = law.force, tuple(law.rates.values())
        return eqx.tree_at(lambda e: e.coefficients, self, coefficients, is_leaf=lambda x: x is None)

    def force(self, local: Local) -> Scalar:
        """Force that the network transmits."""
        return self._evaluated(local, self._prepared()[0])

    def rates(self, local: Local) -> tuple[Scalar, ...]:
        """Rates of the internal deformations."""
        return tuple(self._evaluated(local, form) for form in self._prepared()[1])

    def _prepared(self) -> tuple[Form, tuple[Form, ...]]:
        if self.coefficients is not None:
            return self.coefficients
        law = self.law()
        return law.force, tuple(law.rates.values())

    def _evaluated(self, local: Local, form: Form) -> Scalar:
        values = {
            "d": local.deformation,
            "v": local.velocity,
            **dict(zip(self.states, local.states, strict=True)),
        }
        return sum((coefficient * values[name] for name, coefficient in form.items()), 0.0)

    def start(self, deformation: Scalar = None) -> tuple[Scalar, ...]:
        """States at the beginning: all zero, or those that fit a ``deformation`` held for a long time.

        Zero means a network that never carried a load. With a deformation that is not zero that is a sudden
        pull on a chain, whose Kelvin parts then creep.

        Examples:
            >>> import vibayes as vb
            >>> vb.standard_solid_1(3.0, 1.0, 0.2).start()
            (0.0,)
            >>> [float(e) for e in vb.standard_solid_1(3.0, 1.0, 0.2).start(4.0)]
            [3.0]
        """
        if deformation is None or not self.states:
            return (0.0,) * len(self.states)
        rates = self._prepared()[1]
        matrix = jnp.array([[form.get(name, 0.0) for name in self.states] for form in rates])
        drive = jnp.array([form.get("d", 0.0) for form in rates])
        return tuple(-jnp.linalg.solve(matrix, drive) * deformation)

    def checks(self) -> Iterator[Check]:
        """Inside a chain every stiffness and damping is positive, elsewhere none is negative."""
        for (leaf, in_chain), name in zip(leaves(self.network), self.leaf_names, strict=True):
            value = np.asarray(leaf.stiffness if isinstance(leaf, Spring) else leaf.coefficient)
            if in_chain:
                remedy = "check the sign, or leave the part out of the network if it is absent"
                yield Check(~(value > 0), name, "a positive value (the part lies in a chain)", remedy, value)
            else:
                yield Check(~(value >= 0), name, "a value ≥ 0", "check the sign", value)


def series(*parts: Spring | Damper | Viscoelastic) -> Viscoelastic:
    """Parts one behind the other: one force, deformations add.

    Examples:
        >>> import vibayes as vb
        >>> burgers = vb.series(vb.maxwell("k", "c"), vb.kelvin("k_1", "c_1"))
        >>> burgers.notation, burgers.states
        ('k+c+(k_1|c_1)', ('e(k)', 'e(k_1|c_1)'))
    """
    return _joined(Series, parts)


def parallel(*parts: Spring | Damper | Viscoelastic) -> Viscoelastic:
    """Parts side by side: one deformation, forces add.

    Examples:
        >>> import vibayes as vb
        >>> vb.parallel(vb.Spring(1.0), vb.maxwell(2.0, 0.1), vb.maxwell(3.0, 0.2)).states
        ('e(k2)', 'e(k3)')
    """
    return _joined(Parallel, parts)


def _joined(kind: type[Series] | type[Parallel], parts: Sequence[Element]) -> Viscoelastic:
    where, inside = kind.__name__.lower(), []
    for part in parts:
        if not isinstance(part, Spring | Damper | Viscoelastic):
            raise InvalidInput(
                where,
                "springs, dampers and what series and parallel make of them",
                f"{type(part).__name__}",
                "put other elements beside the network in the structure, between the same points",
            )
        network = part.network if isinstance(part, Viscoelastic) else part
        inside += network.parts if isinstance(network, kind) else [network]
    if not inside:
        raise InvalidInput(where, "at least one part", "none", "give springs, dampers or networks of them")
    return Viscoelastic(inside[0] if len(inside) == 1 else kind(tuple(inside)))
