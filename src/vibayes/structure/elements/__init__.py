"""The constitutive laws, one per file."""

from vibayes.structure.elements.bilinear import BilinearHysteresis, BilinearHysteresisFlow
from vibayes.structure.elements.bingham import Bingham
from vibayes.structure.elements.bouc_wen import BoucWen, BoucWenBenchmark
from vibayes.structure.elements.bwbn import BoucWenBaberNoori
from vibayes.structure.elements.friction import CoulombFriction
from vibayes.structure.elements.linear import Damper, Spring
from vibayes.structure.elements.piecewise_linear import PiecewiseLinearDamper, PiecewiseLinearSpring, gap
from vibayes.structure.elements.polynomial import Duffing, PolynomialDamper, PolynomialSpring
from vibayes.structure.elements.ramberg_osgood import RambergOsgood
from vibayes.structure.elements.viscoelastic import Viscoelastic, parallel, series
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

__all__ = [
    "BilinearHysteresis",
    "BilinearHysteresisFlow",
    "Bingham",
    "BoucWen",
    "BoucWenBaberNoori",
    "BoucWenBenchmark",
    "CoulombFriction",
    "Damper",
    "Duffing",
    "PiecewiseLinearDamper",
    "PiecewiseLinearSpring",
    "PolynomialDamper",
    "PolynomialSpring",
    "RambergOsgood",
    "Spring",
    "Viscoelastic",
    "gap",
    "generalised_kelvin",
    "generalised_maxwell",
    "kelvin",
    "maxwell",
    "parallel",
    "series",
    "standard_fluid_1",
    "standard_fluid_2",
    "standard_solid_1",
    "standard_solid_2",
]
