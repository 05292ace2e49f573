"""The declaration of a structure: masses, elements, damping, inputs, sensors. Declared once, used by every method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from vibayes.errors import InvalidInput
from vibayes.notebook import card
from vibayes.precision import require_double_precision
from vibayes.structure.damping import Damping, ModalDamping
from vibayes.structure.declaration import (
    GROUND,
    named_links,
    placed,
    position,
    require_determined_friction,
    require_ends,
    require_masses,
    require_parameters,
    require_values,
    several,
    shown,
)
from vibayes.structure.element import (
    Element,
    Link,
    Parameter,
    bind,
    initial_stiffness,
    parameter_names,
    raise_if,
    run_checks,
)
from vibayes.structure.frame import Frame
from vibayes.structure.hybrid import HybridSystem, Matrix
from vibayes.structure.inputs import BaseAcceleration, Force, Input
from vibayes.structure.processes import Process
from vibayes.structure.sensors import (
    AbsoluteAcceleration,
    Displacement,
    ElementDeformation,
    ElementForce,
    GroundAcceleration,
    HystereticEnergy,
    Sensor,
    Velocity,
)


class Structure(eqx.Module):
    """Masses joined by elements.

    Args:
        masses: mass by name; each a number or the name of an unknown parameter.
        elements: elements in their places (``Spring("k").between("ground", "m1")``).
        inputs: what each input channel does: `Force` on a mass or `BaseAcceleration`.
        sensors: what is measured; by default displacement, velocity and absolute acceleration of every mass.
        damping: `Rayleigh` or `ModalDamping` on top of the elements.
        frames: linear members that join more than two points, such as `FlexuralCantilever`.

    Examples:
        >>> import vibayes as vb
        >>> two = vb.Structure(
        ...     masses={"m1": 1.0, "m2": "m"},
        ...     elements=[
        ...         vb.Spring(100.0).between("ground", "m1"),
        ...         vb.Spring("k").between("m1", "m2", name="coupling"),
        ...     ],
        ...     inputs=[vb.Force("m1")],
        ... )
        >>> two.parameters
        ('m', 'k')
    """

    masses: tuple[Parameter, ...]
    links: tuple[Link, ...]
    damping: Damping | None
    frames: tuple[Frame, ...]
    processes: tuple[Process | None, ...]
    """What drives each input, where that is a random process; None where it is measured."""
    mass_names: tuple[str, ...] = eqx.field(static=True)
    inputs: tuple[Input, ...] = eqx.field(static=True)
    sensors: tuple[Sensor, ...] = eqx.field(static=True)

    def __init__(
        self,
        masses: Mapping[str, Parameter],
        elements: Sequence[Link],
        inputs: Sequence[Input] = (),
        sensors: Sequence[Sensor] = (),
        damping: Damping | None = None,
        frames: Sequence[Frame] = (),
    ):
        require_masses(masses)
        self.mass_names = tuple(masses)
        self.masses = tuple(masses.values())
        self.links = named_links(elements)
        self.damping = _checked_damping(damping, len(masses))
        self.frames = several(frames, Frame, "Structure.frames", 'FlexuralCantilever("EI")')
        self.inputs = several(inputs, (Force, BaseAcceleration), "Structure.inputs", 'Force("m1")')
        self.inputs = self.inputs or (Force(self.mass_names[0]),)
        self.processes = (None,) * len(self.inputs)
        self.sensors = several(sensors, Sensor, "Structure.sensors", 'Displacement("m1")') or tuple(
            kind(name) for name in self.mass_names for kind in (Displacement, Velocity, AbsoluteAcceleration)
        )
        if not self.links and not self.frames:
            raise InvalidInput(
                "Structure.elements", "at least one element or frame", "none", "say what holds the masses"
            )
        for frame in self.frames:
            require_parameters(frame, type(frame).__name__)
        self._check_declaration()

    @classmethod
    def single_dof(
        cls,
        mass: Parameter,
        elements: Sequence[Element | Link],
        base_acceleration: bool = False,
        sensors: Sequence[Sensor] = (),
        damping: Damping | None = None,
    ) -> Structure:
        """One mass, named "mass", with elements to the ground, driven by a force or by its base.

        Examples:
            >>> import vibayes as vb
            >>> vb.Structure.single_dof("m", [vb.Spring("k"), vb.Damper(0.1)]).parameters
            ('m', 'k')
        """
        elements = several(elements, (Element, Link), "Structure.single_dof.elements", 'Spring("k")')
        links = [placed(element, GROUND, "mass") for element in elements]
        inputs = [BaseAcceleration()] if base_acceleration else [Force("mass")]
        return cls({"mass": mass}, links, inputs, sensors, damping)

    @classmethod
    def chain(
        cls,
        masses: Sequence[Parameter],
        elements: Sequence[Element | Sequence[Element]],
        base_acceleration: bool = True,
        sensors: Sequence[Sensor] = (),
        damping: Damping | None = None,
        frames: Sequence[Frame] = (),
    ) -> Structure:
        """Masses "m1", "m2", … in a row above the ground; ``elements[i]`` (one or several) lies below mass i+1.

        Examples:
            >>> import vibayes as vb
            >>> shear = vb.Structure.chain([1.0, 1.0], [vb.Spring("k1"), [vb.Spring("k2"), vb.Damper(0.3)]])
            >>> shear.parameters
            ('k1', 'k2')
        """
        elements = several(elements, (Element, list, tuple), "Structure.chain.elements", 'Spring("k")')
        if isinstance(masses, Mapping | str) or not isinstance(masses, Iterable):
            raise InvalidInput("Structure.chain.masses", "a list", shown(masses), "list them from the ground up")
        masses = tuple(masses)
        if len(masses) != len(elements):
            raise InvalidInput(
                "Structure.chain.elements",
                f"one entry per mass ({len(masses)})",
                f"{len(elements)}",
                "list what lies below each mass",
            )
        names = [f"m{i + 1}" for i in range(len(masses))]
        links = []
        for below, name, entry in zip([GROUND, *names], names, elements, strict=False):
            links += [placed(e, below, name) for e in ([entry] if isinstance(entry, Element) else entry)]
        inputs = [BaseAcceleration()] if base_acceleration else [Force(names[0])]
        return cls(dict(zip(names, masses, strict=True)), links, inputs, sensors, damping, frames)

    def measuring(self, *sensors: Sensor) -> Structure:
        """The same structure with other sensors."""
        changed = eqx.tree_at(lambda s: s.masses, self, self.masses)
        sensors = several(sensors, Sensor, "Structure.measuring", 'Displacement("m1")')
        if not sensors:
            raise InvalidInput("Structure.measuring", "at least one sensor", "none", "say what is measured")
        object.__setattr__(changed, "sensors", sensors)
        changed._check_declaration()
        return changed

    def driven_by(self, *processes: Process | None) -> Structure:
        """The same structure with random processes for inputs that are not measured.

        Args:
            processes: one per input, in their order; None for an input that is measured.

        Examples:
            >>> import vibayes as vb
            >>> tower = vb.Structure.chain([1.0, 1.0], [vb.Spring("k"), vb.Spring("k")])
            >>> tower.driven_by(vb.KanaiTajimi(10.0, 0.35, density="S0")).parameters
            ('k', 'S0')
        """
        for process in processes:
            if not (process is None or isinstance(process, Process)):
                remedy = "give KanaiTajimi(...), another process, or None for an input that is measured"
                raise InvalidInput("Structure.driven_by", "random processes", shown(process), remedy)
            if process is not None:
                require_parameters(process, type(process).__name__)
        if len(processes) != len(self.inputs):
            expected = f"one process per input ({len(self.inputs)})"
            raise InvalidInput("Structure.driven_by", expected, f"{len(processes)}", "give None for measured inputs")
        changed = eqx.tree_at(lambda s: s.masses, self, self.masses)
        object.__setattr__(changed, "processes", tuple(processes))
        return changed

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the unknown parameters."""
        return parameter_names(self)

    def _repr_html_(self) -> str:
        rows = [(name, "mass", mass, "") for name, mass in zip(self.mass_names, self.masses, strict=True)]
        rows += [
            (link.name, type(link.element).__name__, ", ".join(parameter_names(link.element)) or "known",
             f"{link.start} – {link.stop}")
            for link in self.links
        ]  # fmt: skip
        unknowns = ", ".join(self.parameters) or "none"
        notes = [f"Unknowns: {unknowns}", f"Sensors: {', '.join(sensor.name for sensor in self.sensors)}"]
        return card("Structure", ("part", "kind", "value or unknowns", "between"), rows, notes)

    def mass_index(self, name: str) -> int:
        """Position of a mass."""
        return position(name, self.mass_names, "a mass", "Structure")

    def element_index(self, name: str) -> int:
        """Position of an element."""
        return position(name, self.element_names, "an element", "Structure")

    @property
    def element_names(self) -> tuple[str, ...]:
        """Names of the elements."""
        return tuple(str(link.name) for link in self.links)

    # ---- values -----------------------------------------------------------------------------------------------

    def bind(self, values: Mapping[str, Any] | None = None) -> Structure:
        """The structure with its unknowns replaced by values (numbers, or arrays with one entry per parameter set)."""
        bound = bind(self, require_values({} if values is None else values, self.parameters))
        bound._check_values()
        return bound

    def _check_values(self) -> None:
        for name, mass in zip(self.mass_names, self.masses, strict=True):
            if not isinstance(mass, Tracer):
                fails = ~(np.asarray(mass) > 0)
                raise_if(fails, f"mass of {name!r}", "a positive number", "check sign and units", mass)
        for where, part in self.parts():
            run_checks(part, where)

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Everything that has requirements on its values (`Element.checks`), and what it is called in messages."""
        yield from ((str(link.name), link.element) for link in self.links)
        drives = [part for p in self.processes if p is not None for part in (p, getattr(p, "envelope", None))]
        for part in (*self.frames, self.damping, *drives):
            if part is not None:
                yield type(part).__name__, part

    def compile(self) -> HybridSystem:
        """The hybrid dynamical system of a bound structure."""
        require_double_precision("Structure")
        stiffness = self._frame_matrix()
        damping = None
        if self.damping is not None:
            damping = _rows(
                self.damping.matrix(jnp.stack([jnp.asarray(m) for m in self.masses]), self.initial_stiffness())
            )
        metered = {self.element_index(s.on) for s in self.sensors if isinstance(s, HystereticEnergy)}
        return HybridSystem(
            inverse_masses=tuple(1.0 / jnp.asarray(m, float) for m in self.masses),
            elements=tuple(link.element.prepare() for link in self.links),
            stiffness=None if stiffness is None else _rows(stiffness),
            damping=damping,
            ends=self._ends(),
            forced_masses=tuple(self.mass_index(i.on) if isinstance(i, Force) else None for i in self.inputs),
            metered=tuple(sorted(metered)),
        )

    def initial_stiffness(self) -> Any:
        """Stiffness matrix of a bound structure at rest."""
        frame = self._frame_matrix()
        matrix = jnp.zeros((len(self.masses),) * 2) if frame is None else frame
        for link, (start, stop) in zip(self.links, self._ends(), strict=True):
            k = initial_stiffness(link.element.prepare())
            for i, si in ((start, -1.0), (stop, 1.0)):
                for j, sj in ((start, -1.0), (stop, 1.0)):
                    if i >= 0 and j >= 0:
                        matrix = matrix.at[i, j].add(si * sj * k)
        return matrix

    def _frame_matrix(self) -> Any:
        if not self.frames:
            return None
        return sum(frame.stiffness_matrix(len(self.masses)) for frame in self.frames)

    def _ends(self) -> tuple[tuple[int, int], ...]:
        position = {GROUND: -1, **{name: i for i, name in enumerate(self.mass_names)}}
        return tuple((position[link.start], position[link.stop]) for link in self.links)

    # ---- declaration ------------------------------------------------------------------------------------------

    def _check_declaration(self) -> None:
        require_ends(self.links, self.mass_names)
        for channel in self.inputs:
            if isinstance(channel, Force):
                position(channel.on, self.mass_names, "a mass", "Structure.inputs")
        for sensor in self.sensors:
            if isinstance(sensor, GroundAcceleration):
                continue
            on_element = isinstance(sensor, ElementForce | ElementDeformation | HystereticEnergy)
            names, what = (self.element_names, "an element") if on_element else (self.mass_names, "a mass")
            position(sensor.on, names, what, f"Structure.sensors[{type(sensor).__name__}]")
        require_determined_friction(self.links, self._ends(), len(self.masses))


def _checked_damping(damping: Any, masses: int) -> Damping | None:
    if damping is None:
        return None
    if not isinstance(damping, Damping):
        raise InvalidInput(
            "Structure.damping", "Rayleigh(...) or ModalDamping(...)", shown(damping), "give such an object"
        )
    require_parameters(damping, type(damping).__name__)
    ratio = damping.ratio if isinstance(damping, ModalDamping) else 0.0
    if isinstance(ratio, list) or (isinstance(ratio, tuple) and len(ratio) != masses):
        raise InvalidInput(
            "ModalDamping.ratio", f"one ratio, or a tuple of {masses}", shown(ratio), "give one, or one per mass"
        )
    return damping


def _rows(matrix: Any) -> Matrix:
    return tuple(tuple(matrix[i, j] for j in range(matrix.shape[1])) for i in range(matrix.shape[0]))
