"""What verbs on periodic solutions refuse before they compute anything, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.forking import require_usable_jax
from vibayes.naming import quoted
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.method import PeriodicMethod
from vibayes.structure.declaration import GROUND, numbers, position, shown
from vibayes.structure.element import as_arrays
from vibayes.structure.structure import Structure

Values = Mapping[str, Any] | None
Forcing = Mapping[str, complex | Sequence[complex]]
"""Amplitude P by mass, for a force Re(P e^{iΩt}), or one per multiple of Ω; "ground" is an acceleration of it."""


def check_structure(structure: Any, where: str, conservative: bool = False) -> Structure:
    """A structure whose laws can be followed over a period, held by the ground, without random inputs."""
    require_usable_jax(where)
    if not isinstance(structure, Structure):
        raise InvalidInput(f"{where}.structure", "a Structure", shown(structure), "make one")
    for number, process in enumerate(structure.processes):
        if process is not None:
            got = f"a random process at input {number}"
            raise InvalidInput(f"{where}.structure", "no random inputs", got, "use the structure without driven_by")
    for link in structure.links:
        place, element = f"Structure.elements[{link.name!r}]", link.element
        if element.sticks:
            remedy = "use BilinearHysteresis with a stiff elastic part instead"
            raise InvalidInput(place, "a law without true sticking", type(element).__name__, remedy)
        if element.needs_events:
            remedy = "use another form of the law, as BilinearHysteresis for bilinear loops"
            raise InvalidInput(place, "a law with states that move", "one whose memory only events update", remedy)
        if conservative and element.states:
            got, remedy = f"{type(element).__name__}, which has memory", "use phase_resonance"
            raise InvalidInput(place, "laws without memory in a free oscillation", got, remedy)
    _require_held(structure, where)
    return structure


def _require_held(structure: Structure, where: str) -> None:
    """Masses that nothing joins to the ground have no mean displacement."""
    if structure.frames:
        return
    held, names = {GROUND}, set(structure.mass_names)
    while True:
        reached = {p for link in structure.links for p in (link.start, link.stop) if {link.start, link.stop} & held}
        if reached <= held:
            break
        held |= reached
    loose = sorted(names - held)
    if loose:
        got = f"{quoted(loose)} without any, which can move as a rigid body"
        raise InvalidInput(
            f"{where}.structure", "masses that are joined to the ground", got, "add springs to the ground"
        )


def check_bound(structure: Structure, values: Values, where: str) -> Structure:
    """The structure with one value for every unknown, as arrays."""
    for name, value in ({} if values is None else values).items():
        if np.ndim(value):
            got = f"{np.size(value)} values of {name!r}"
            raise InvalidInput(f"{where}.values", "one value per parameter", got, "call it for one set at a time")
    return as_arrays(structure.bind(values))


def check_method(method: Any, structure: Structure, where: str) -> PeriodicMethod:
    """A method with all settings chosen."""
    if not isinstance(method, PeriodicMethod):
        raise InvalidInput(f"{where}.method", "HarmonicBalance(...) or Shooting(...)", shown(method), "give one")
    return method.settled(structure)


def check_balance(method: Any, structure: Structure, where: str) -> HarmonicBalance:
    """Harmonic balance with all settings chosen, by default with its own."""
    if not (method is None or isinstance(method, HarmonicBalance)):
        raise InvalidInput(f"{where}.method", "HarmonicBalance(...)", shown(method), "give one, or leave it out")
    return (HarmonicBalance() if method is None else method).settled(structure)


def check_range(bounds: Any, where: str, field: str = "frequency_range", least: float = 0.0) -> tuple[float, float]:
    """Two numbers in order."""
    given = numbers(bounds)
    expected = f"two increasing numbers ≥ {least:g}" if least else "two increasing positive numbers"
    if given is None or given.shape != (2,) or not np.isfinite(given).all():
        raise InvalidInput(f"{where}.{field}", expected, shown(bounds), "give (low, high)")
    if not (0.0 < given[0] < given[1]):
        raise InvalidInput(f"{where}.{field}", expected, shown(bounds), "give (low, high), in rad/s for frequencies")
    return float(given[0]), float(given[1])


def check_positive(value: Any, where: str, remedy: str) -> float:
    """One positive number."""
    given = numbers(value)
    if given is None or given.ndim or not (np.isfinite(given) and given > 0):
        raise InvalidInput(where, "a positive number", shown(value), remedy)
    return float(given)


def check_mode(mode: Any, structure: Structure, where: str) -> int:
    """Number of a mode, the lowest being 1."""
    count = len(structure.mass_names)
    if not isinstance(mode, int) or isinstance(mode, bool) or not 1 <= mode <= count:
        raise InvalidInput(f"{where}.mode", f"1 … {count}, the lowest being 1", shown(mode), "choose one of them")
    return mode


def check_forcing(forcing: Any, structure: Structure, where: str) -> dict[str, np.ndarray]:
    """Complex amplitudes by mass, one per multiple of the frequency."""
    example = '{"' + structure.mass_names[0] + '": 1.0}'
    if not isinstance(forcing, Mapping) or not forcing:
        raise InvalidInput(f"{where}.forcing", "amplitudes by mass", shown(forcing), f"write it as {example}")
    points = (GROUND, *structure.mass_names)
    amplitudes = {}
    for name, value in forcing.items():
        position(name, points, "a mass or the ground", f"{where}.forcing")
        try:
            given = np.atleast_1d(np.asarray(value, complex))
        except (TypeError, ValueError):
            given = np.array([np.nan])
        if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
            expected = "a finite number, or one per multiple of the frequency"
            raise InvalidInput(f"{where}.forcing[{name!r}]", expected, shown(value), f"write it as {example}")
        amplitudes[str(name)] = given
    if not any(np.any(value != 0) for value in amplitudes.values()):
        raise InvalidInput(f"{where}.forcing", "a force that is not zero", shown(dict(forcing)), "give an amplitude")
    return amplitudes


def force_coefficients(structure: Structure, amplitudes: Mapping[str, np.ndarray]) -> np.ndarray:
    """Fourier coefficients of the forces on a bound structure, (…, 2H + 1, masses)."""
    masses = np.stack(np.broadcast_arrays(*(np.asarray(m) for m in structure.masses)), axis=-1)
    highest = max(len(value) for value in amplitudes.values())
    result = np.zeros((*masses.shape[:-1], 2 * highest + 1, masses.shape[-1]))
    for name, value in amplitudes.items():
        share = -masses if name == GROUND else np.eye(masses.shape[-1])[structure.mass_index(name)]
        for k, amplitude in enumerate(value, start=1):
            result[..., 2 * k - 1, :] += amplitude.real * share
            result[..., 2 * k, :] -= amplitude.imag * share
    return result
