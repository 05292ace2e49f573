"""Linear spring and viscous damper: f = k d and f = c v."""

from __future__ import annotations

from vibayes.structure.element import Element, Local, Parameter, Scalar


class Spring(Element):
    """Linear spring, f = k d.

    Examples:
        >>> import vibayes as vb
        >>> vb.Spring(100.0).force(vb.Local(0.5, 0.0))
        50.0
    """

    stiffness: Parameter
    affine = True

    def force(self, local: Local) -> Scalar:
        """Resisting force."""
        return self.stiffness * local.deformation


class Damper(Element):
    """Viscous damper, f = c v.

    Examples:
        >>> import vibayes as vb
        >>> vb.Damper(2.0).force(vb.Local(0.0, 3.0))
        6.0
    """

    coefficient: Parameter
    affine = True

    def force(self, local: Local) -> Scalar:
        """Resisting force."""
        return self.coefficient * local.velocity
