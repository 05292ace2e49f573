"""The declaration of a structure: masses, elements, damping, inputs, sensors. Declared once, used by every method."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.structure.damping import Damping
from vibayes.structure.element import (
    Element,
    Link,
    Parameter,
    bind,
    initial_stiffness,
    is_name,
    parameter_names,
    raise_if,
    run_checks,
)
from vibayes.structure.frame import Frame
from vibayes.structure.hybrid import HybridSystem, Matrix
from vibayes.structure.inputs import BaseAcceleration, Force, Input
from vibayes.structure.sensors import (
    AbsoluteAcceleration,
    Displacement,
    ElementDeformation,
    ElementForce,
    HystereticEnergy,
    Sensor,
    Velocity,
)

GROUND = "ground"


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
        if not masses:
            raise InvalidInput("Structure.masses", "at least one mass", "none", "give masses by name")
        if GROUND in masses:
            raise InvalidInput(
                "Structure.masses", "names other than 'ground'", "'ground'", "rename the mass; the ground is fixed"
            )
        self.mass_names = tuple(masses)
        self.masses = tuple(_parameter(value, f"Structure.masses[{name!r}]") for name, value in masses.items())
        self.links = tuple(_named_links(elements))
        self.damping = damping
        self.frames = tuple(frames)
        self.inputs = tuple(inputs) or (Force(self.mass_names[0]),)
        self.sensors = tuple(sensors) or tuple(
            kind(name)
            for name in self.mass_names
            for kind in (Displacement, Velocity, AbsoluteAcceleration)
        )
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
        links = [e if isinstance(e, Link) else e.between(GROUND, "mass") for e in elements]
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
        if len(masses) != len(elements):
            raise InvalidInput(
                "Structure.chain", f"one entry of elements per mass ({len(masses)})", f"{len(elements)}",
                "list what lies below each mass",
            )
        names = [f"m{i + 1}" for i in range(len(masses))]
        links = []
        for below, name, entry in zip([GROUND, *names], names, elements, strict=False):
            links += [e.between(below, name) for e in ([entry] if isinstance(entry, Element) else entry)]
        inputs = [BaseAcceleration()] if base_acceleration else [Force(names[0])]
        return cls(dict(zip(names, masses, strict=True)), links, inputs, sensors, damping, frames)

    def measuring(self, *sensors: Sensor) -> Structure:
        """The same structure with other sensors."""
        changed = eqx.tree_at(lambda s: s.masses, self, self.masses)
        object.__setattr__(changed, "sensors", tuple(sensors))
        changed._check_declaration()
        return changed

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the unknown parameters."""
        return parameter_names(self)

    def mass_index(self, name: str) -> int:
        """Position of a mass."""
        return _index(name, self.mass_names, "mass")

    def element_index(self, name: str) -> int:
        """Position of an element."""
        return _index(name, tuple(str(link.name) for link in self.links), "element")

    # ---- values -----------------------------------------------------------------------------------------------

    def bind(self, values: Mapping[str, Any] | None = None) -> Structure:
        """The structure with its unknowns replaced by values (numbers, or arrays with one entry per parameter set)."""
        values = dict(values or {})
        unknown = [name for name in values if name not in self.parameters]
        if unknown:
            raise InvalidInput(
                "parameters", f"only the structure's unknowns {list(self.parameters)}", f"{unknown[0]!r}",
                _suggest(unknown[0], self.parameters),
            )
        missing = [name for name in self.parameters if name not in values]
        if missing:
            raise InvalidInput(
                "parameters", f"a value for each of {list(self.parameters)}", f"none for {missing}",
                "add the missing names",
            )
        bound = bind(self, {name: _value(name, value) for name, value in values.items()})
        bound._check_values()
        return bound

    def _check_values(self) -> None:
        for name, mass in zip(self.mass_names, self.masses, strict=True):
            if not isinstance(mass, jax.core.Tracer):
                raise_if(~(np.asarray(mass) > 0), f"mass of {name!r}", "a positive number", "check sign and units")
        for link in self.links:
            run_checks(link.element, f"{link.name}")
        for part in (*self.frames, *([self.damping] if self.damping is not None else [])):
            run_checks(part, type(part).__name__)

    def compile(self) -> HybridSystem:
        """The hybrid dynamical system of a bound structure."""
        stiffness = self._frame_matrix()
        damping = None
        if self.damping is not None:
            damping = _rows(self.damping.matrix(jnp.stack([jnp.asarray(m) for m in self.masses]), self.initial_stiffness()))
        metered = {self.element_index(s.on) for s in self.sensors if isinstance(s, HystereticEnergy)}
        return HybridSystem(
            inverse_masses=tuple(1.0 / jnp.asarray(m, float) for m in self.masses),
            elements=tuple(link.element.prepare() for link in self.links),
            stiffness=None if stiffness is None else _rows(stiffness),
            damping=damping,
            ends=self._ends(),
            forced_masses=tuple(
                self.mass_index(i.on) if isinstance(i, Force) else None for i in self.inputs
            ),
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

    def _frame_matrix(self):
        if not self.frames:
            return None
        return sum(frame.stiffness_matrix(len(self.masses)) for frame in self.frames)

    def _ends(self) -> tuple[tuple[int, int], ...]:
        position = {GROUND: -1, **{name: i for i, name in enumerate(self.mass_names)}}
        return tuple((position[link.start], position[link.stop]) for link in self.links)

    # ---- declaration ------------------------------------------------------------------------------------------

    def _check_declaration(self) -> None:
        points = (GROUND, *self.mass_names)
        for link in self.links:
            for point in (link.start, link.stop):
                if point not in points:
                    raise InvalidInput(
                        f"Structure.elements[{link.name!r}]", f"a point among {list(points)}", f"{point!r}",
                        _suggest(point, points),
                    )
            if link.start == link.stop:
                raise InvalidInput(
                    f"Structure.elements[{link.name!r}]", "two different points", f"{link.start!r} twice",
                    "join it to another mass or to the ground",
                )
        for channel in self.inputs:
            if isinstance(channel, Force):
                self.mass_index(channel.on)
        for sensor in self.sensors:
            if isinstance(sensor, ElementForce | ElementDeformation | HystereticEnergy):
                self.element_index(sensor.on)
            else:
                self.mass_index(sensor.on)
        self._check_friction()

    def _check_friction(self) -> None:
        """Sliders in a closed loop share their load in a way the model does not determine."""
        rows = []
        for link, ends in zip(self.links, self._ends(), strict=True):
            if link.element.sticks:
                row = np.zeros(len(self.masses))
                for point, sign in zip(ends, (-1.0, 1.0), strict=True):
                    if point >= 0:
                        row[point] = sign
                rows.append(row)
        if rows and np.linalg.matrix_rank(np.array(rows)) < len(rows):
            raise InvalidInput(
                "Structure.elements", "friction elements whose sticking forces are determined",
                "several that act in parallel or close a loop", "merge those that lie between the same masses",
            )


def _named_links(elements: Sequence[Link]) -> list[Link]:
    """Give every link a unique name: its own, or its element's kind and a running number."""
    links, taken = [], {link.name for link in elements if isinstance(link, Link) and link.name}
    for link in elements:
        if not isinstance(link, Link):
            raise InvalidInput(
                "Structure.elements", "elements in their places", f"a bare {type(link).__name__}",
                'say where it lies: element.between("ground", "m1")',
            )
        name = link.name
        if name is None:
            kind = "".join("_" + c.lower() if c.isupper() else c for c in type(link.element).__name__).strip("_")
            number = 1
            while (name := f"{kind}_{number}") in taken:
                number += 1
            taken.add(name)
        links.append(Link(_checked_parameters(link.element, name), link.start, link.stop, name))
    names = [link.name for link in links]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise InvalidInput("Structure.elements", "different names", f"{twice!r} twice", "rename one of them")
    return links


def _checked_parameters(element: Element, name: str) -> Element:
    for leaf in jax.tree.leaves(element):
        _parameter(leaf, name)
    return element


def _parameter(value: Any, where: str) -> Any:
    if is_name(value) or isinstance(value, jax.core.Tracer):
        return value
    if isinstance(value, bool) or not np.issubdtype(np.asarray(value).dtype, np.number):
        raise InvalidInput(where, "a number or the name of an unknown", repr(value), "give one of the two")
    return value


def _value(name: str, value: Any) -> Any:
    if isinstance(value, jax.core.Tracer):
        return value
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(f"parameters[{name!r}]", "numbers", repr(value), "give a number or an array") from None
    if array.ndim > 1:
        raise InvalidInput(
            f"parameters[{name!r}]", "a number or a one-dimensional array (one entry per parameter set)",
            f"shape {array.shape}", "flatten it",
        )
    raise_if(~np.isfinite(array), f"parameters[{name!r}]", "finite values", "remove NaN and infinity")
    return jnp.asarray(array)


def _index(name: str, names: Sequence[str], what: str) -> int:
    if name not in names:
        raise InvalidInput("Structure", f"a {what} among {list(names)}", f"{name!r}", _suggest(name, names))
    return list(names).index(name)


def _suggest(word: str, words: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else "check the spelling"


def _rows(matrix: Any) -> Matrix:
    return tuple(tuple(matrix[i, j] for j in range(matrix.shape[1])) for i in range(matrix.shape[0]))
