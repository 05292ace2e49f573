"""The viscoelastic models that have names, as networks.

    Kelvin               k | c                  Maxwell              k + c
    standard solid #1    k1 + (k2 | c2)         standard solid #2    k1 | (k2 + c2)
    standard fluid #1    c1 + (k2 | c2)         standard fluid #2    c1 | (k2 + c2)
    generalised Kelvin   any number of Kelvin models, a spring and a damper in series
    generalised Maxwell  any number of Maxwell models, a spring and a damper in parallel

with ``|`` for parallel and ``+`` for series. Those side by side follow from each other by exchanging the two.
The standard solids are one material in two sets of parameters, and so are the standard fluids.
"""

from __future__ import annotations

from collections.abc import Sequence

from vibayes.structure.element import Parameter
from vibayes.structure.elements.linear import Damper, Spring
from vibayes.structure.elements.viscoelastic import Viscoelastic, parallel, series


def kelvin(stiffness: Parameter, damping: Parameter) -> Viscoelastic:
    """Kelvin (Kelvin–Voigt) model: a spring beside a damper.

    Examples:
        >>> import vibayes as vb
        >>> vb.kelvin(2.0, 0.5).force(vb.Local(1.0, 4.0))
        4.0
    """
    return parallel(Spring(stiffness), Damper(damping))


def maxwell(stiffness: Parameter, damping: Parameter) -> Viscoelastic:
    """Maxwell model: a spring behind a damper; its state is the deformation of the spring.

    Examples:
        >>> import vibayes as vb
        >>> vb.maxwell(6.0, 2.0).rates(vb.Local(0.0, 1.0, states=(0.5,)))  # v − k e / c
        (-0.5,)
    """
    return series(Spring(stiffness), Damper(damping))


def standard_solid_1(k1: Parameter, k2: Parameter, c2: Parameter) -> Viscoelastic:
    """Spring k1 in series with a Kelvin model (k2, c2).

    Examples:
        >>> import vibayes as vb
        >>> vb.standard_solid_1("k1", "k2", "c2").states
        ('e(k2|c2)',)
    """
    return series(Spring(k1), kelvin(k2, c2))


def standard_solid_2(k1: Parameter, k2: Parameter, c2: Parameter) -> Viscoelastic:
    """Spring k1 in parallel with a Maxwell model (k2, c2), also known as the Zener model.

    Examples:
        >>> import vibayes as vb
        >>> vb.standard_solid_2("k1", "k2", "c2").states
        ('e(k2)',)
    """
    return parallel(Spring(k1), maxwell(k2, c2))


def standard_fluid_1(c1: Parameter, k2: Parameter, c2: Parameter) -> Viscoelastic:
    """Damper c1 in series with a Kelvin model (k2, c2), also known as the Jeffreys model.

    Examples:
        >>> import vibayes as vb
        >>> vb.standard_fluid_1("c1", "k2", "c2").states
        ('e(k2|c2)',)
    """
    return series(Damper(c1), kelvin(k2, c2))


def standard_fluid_2(c1: Parameter, k2: Parameter, c2: Parameter) -> Viscoelastic:
    """Damper c1 in parallel with a Maxwell model (k2, c2).

    Examples:
        >>> import vibayes as vb
        >>> vb.standard_fluid_2("c1", "k2", "c2").states
        ('e(k2)',)
    """
    return parallel(Damper(c1), maxwell(k2, c2))


def generalised_maxwell(
    branches: Sequence[tuple[Parameter, Parameter]],
    stiffness: Parameter | None = None,
    damping: Parameter | None = None,
) -> Viscoelastic:
    """Maxwell models in parallel, beside a spring and a damper if these are given.

    Args:
        branches: (stiffness, damping) of each Maxwell model, any number of them.
        stiffness: of the spring, which carries the load in the long run.
        damping: of the damper.

    Examples:
        >>> import vibayes as vb
        >>> vb.generalised_maxwell([("k1", "c1"), ("k2", "c2")], stiffness="k0").notation
        'k0|k1+c1|k2+c2'
    """
    return parallel(*_alone(stiffness, damping), *(maxwell(*branch) for branch in branches))


def generalised_kelvin(
    units: Sequence[tuple[Parameter, Parameter]],
    stiffness: Parameter | None = None,
    damping: Parameter | None = None,
) -> Viscoelastic:
    """Kelvin models in series (a Kelvin chain), behind a spring and a damper if these are given.

    Args:
        units: (stiffness, damping) of each Kelvin model, any number of them.
        stiffness: of the spring, which gives way at once.
        damping: of the damper, which lets the chain flow.

    Examples:
        >>> import vibayes as vb
        >>> vb.generalised_kelvin([("k1", "c1"), ("k2", "c2")], stiffness="k0").notation
        'k0+(k1|c1)+(k2|c2)'
    """
    return series(*_alone(stiffness, damping), *(kelvin(*unit) for unit in units))


def _alone(stiffness: Parameter | None, damping: Parameter | None) -> list[Spring | Damper]:
    spring = [] if stiffness is None else [Spring(stiffness)]
    return [*spring, *([] if damping is None else [Damper(damping)])]
