"""What a structure is: masses, elements, connectivity, inputs, sensors; compiles to a hybrid dynamical system."""

from vibayes.structure.damping import Damping, ModalDamping, Rayleigh
from vibayes.structure.element import Check, Element, Link, Local, choose, sign_of
from vibayes.structure.elements import *  # noqa: F403
from vibayes.structure.elements import __all__ as _elements
from vibayes.structure.envelopes import (
    Envelope,
    GammaEnvelope,
    JenningsHousnerTsai,
    SampledEnvelope,
    ShinozukaSato,
    Steady,
    Trapezoid,
)
from vibayes.structure.frame import FlexuralCantilever, Frame
from vibayes.structure.hybrid import HybridSystem
from vibayes.structure.inputs import BaseAcceleration, Force
from vibayes.structure.processes import CloughPenzien, KanaiTajimi, Process, RationalFilter, WhiteNoise
from vibayes.structure.sensors import (
    AbsoluteAcceleration,
    AppliedForce,
    Displacement,
    ElementDeformation,
    ElementForce,
    GroundAcceleration,
    HystereticEnergy,
    RelativeAcceleration,
    Sensor,
    Velocity,
)
from vibayes.structure.state_choice_tables import TABLE_1, TABLE_2, TABLE_3
from vibayes.structure.state_choices import LinearChoice, state_choice
from vibayes.structure.static import static_force
from vibayes.structure.structure import Structure

__all__ = [
    "AbsoluteAcceleration",
    "AppliedForce",
    "BaseAcceleration",
    "Check",
    "CloughPenzien",
    "Damping",
    "Displacement",
    "Element",
    "ElementDeformation",
    "ElementForce",
    "Envelope",
    "FlexuralCantilever",
    "Force",
    "Frame",
    "GammaEnvelope",
    "GroundAcceleration",
    "HybridSystem",
    "HystereticEnergy",
    "JenningsHousnerTsai",
    "KanaiTajimi",
    "LinearChoice",
    "Link",
    "Local",
    "ModalDamping",
    "Process",
    "RationalFilter",
    "Rayleigh",
    "RelativeAcceleration",
    "SampledEnvelope",
    "Sensor",
    "ShinozukaSato",
    "Steady",
    "Structure",
    "TABLE_1",
    "TABLE_2",
    "TABLE_3",
    "Trapezoid",
    "Velocity",
    "WhiteNoise",
    "choose",
    "sign_of",
    "state_choice",
    "static_force",
    *_elements,
]
