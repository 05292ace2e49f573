"""What is measured: one scalar per sensor and instant."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import equinox as eqx

from vibayes.structure.element import Scalar
from vibayes.structure.hybrid import HybridSystem, Motion

if TYPE_CHECKING:
    from vibayes.structure.structure import Structure


class Sensor(eqx.Module):
    """Base of every sensor; ``on`` names a mass or an element of the structure."""

    on: str = eqx.field(static=True)

    @property
    def name(self) -> str:
        """Name of the output channel."""
        words = "".join(" " + c.lower() if c.isupper() else c for c in type(self).__name__).strip()
        return f"{words} of {self.on}"

    @abstractmethod
    def measure(self, structure: Structure, system: HybridSystem, motion: Motion) -> Scalar:
        """The reading."""


class Displacement(Sensor):
    """Displacement of a mass, relative to the base."""

    def measure(self, structure, system, motion):
        """The reading."""
        return motion.displacement[structure.mass_index(self.on)]


class Velocity(Sensor):
    """Velocity of a mass, relative to the base."""

    def measure(self, structure, system, motion):
        """The reading."""
        return motion.velocity[structure.mass_index(self.on)]


class RelativeAcceleration(Sensor):
    """Acceleration of a mass relative to the base."""

    def measure(self, structure, system, motion):
        """The reading."""
        return motion.acceleration[structure.mass_index(self.on)]


class AbsoluteAcceleration(Sensor):
    """Acceleration of a mass in space: what an accelerometer feels. Equal to the relative one on a fixed base."""

    def measure(self, structure, system, motion):
        """The reading."""
        return motion.acceleration[structure.mass_index(self.on)] + motion.base_acceleration


class AppliedForce(Sensor):
    """The sum of the forces that the inputs apply to a mass."""

    def measure(self, structure, system, motion):
        """The reading."""
        mass = structure.mass_index(self.on)
        pushes = zip(motion.inputs, system.forced_masses, strict=True)
        return sum((u for u, pushed in pushes if pushed == mass), 0.0 * motion.displacement[mass])


class GroundAcceleration(Sensor):
    """Acceleration of the ground, zero where no input moves it; ``on`` is "ground" in any case."""

    on: str = eqx.field(static=True, default="ground")

    @property
    def name(self) -> str:
        """Name of the output channel."""
        return "ground acceleration"

    def measure(self, structure, system, motion):
        """The reading."""
        return motion.base_acceleration + 0.0 * motion.displacement[0]


class ElementForce(Sensor):
    """Resisting force of an element."""

    def measure(self, structure, system, motion):
        """The reading."""
        return motion.locals[structure.element_index(self.on)].force


class ElementDeformation(Sensor):
    """Deformation of an element: displacement of its stop minus that of its start."""

    def measure(self, structure, system, motion):
        """The reading."""
        return motion.locals[structure.element_index(self.on)].deformation


class HystereticEnergy(Sensor):
    """Energy the hysteretic part of an element has taken up since the start, ∫ f_h v dt."""

    def measure(self, structure, system, motion):
        """The reading."""
        index = structure.element_index(self.on)
        absorbed = motion.energy[system.metered.index(index)]
        return absorbed + system.elements[index].hysteretic_store(motion.locals[index])
