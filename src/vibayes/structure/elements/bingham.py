"""Bingham's law: dry friction beside a dashpot.

    f = offset ± f_c + c v while sliding,     |f − offset| ≤ f_c while sticking (v = 0).

The simplest model of magnetorheological dampers and of lubricated guides.
"""

from __future__ import annotations

from vibayes.structure.element import Parameter, Scalar
from vibayes.structure.elements.friction import Sticking


class Bingham(Sticking):
    """Coulomb friction in parallel with a viscous damper, with true sticking.

    Its hysteretic energy is that of the friction alone; what the dashpot dissipates is viscous.

    Args:
        limit: friction force f_c.
        viscosity: coefficient c of the dashpot; a negative one makes the force fall with speed, as in
            stick-slip.
        offset: constant force added, so that the two directions may differ.

    Examples:
        >>> import vibayes as vb
        >>> damper = vb.Bingham(limit=10.0, viscosity=2.0)
        >>> vb.static_force(damper, velocity=[-1.0, 1.0, 2.0]).tolist()
        [-12.0, 12.0, 14.0]
    """

    limit: Parameter
    viscosity: Parameter
    offset: Parameter = 0.0

    def sliding(self, direction: float, velocity: Scalar) -> Scalar:
        """Offset ± limit + c v."""
        return self.offset + direction * self.limit + self.viscosity * velocity
