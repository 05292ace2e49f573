"""A simulated experiment: sweep a sine slowly up (or down) to a backbone, release, and record the decay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vibayes.errors import InvalidInput
from vibayes.excitation import Chirp, Sine
from vibayes.record import Record
from vibayes.simulation import simulate
from vibayes.structure import Displacement, Force, Structure, Velocity


@dataclass(frozen=True)
class ReleasedDecay:
    """What was recorded before and after a release; by `released_decay`.

    Attributes:
        sweep: forces and displacements until the release, without noise.
        decay: displacements from the release on, with noise.
        released_at: frequency of the force at the release, radians per second.
    """

    sweep: Record
    decay: Record
    released_at: float


def released_decay(
    key: Any,
    structure: Structure,
    sweep: Chirp,
    forces: Sequence[float],
    *,
    seconds: float,
    rate: float,
    noise: float,
    values: Mapping[str, Any] | None = None,
    release: float | None = None,
) -> ReleasedDecay:
    """Simulate a resonant-decay test.

    Args:
        key: a whole number; the same gives the same noise.
        structure: whose inputs are forces.
        sweep: the force in time; slow against the decay of the structure, lest it never arrives at the backbone.
        forces: factors of the sweep at each input of the structure, as a shaker at each would have.
        seconds: of decay.
        rate: samples per second.
        noise: standard deviation of the displacements' sensors.
        values: of the structure's unknowns.
        release: second of the release; by default when displacements are largest, next to the backbone.

    Examples:
        >>> import vibayes as vb
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.5), vb.Damper(0.02)])
        >>> sweep = vb.Chirp(0.01, 0.15, 0.18, 600.0)
        >>> test = vb.released_decay(0, oscillator, sweep, [1.0], seconds=100.0, rate=10.0, noise=1e-3)
        >>> test.decay.samples, bool(abs(test.decay.output[:63]).max() > 0.3)
        (1000, True)
    """
    if not all(isinstance(channel, Force) for channel in structure.inputs) or len(forces) != len(structure.inputs):
        expected = f"a factor for each of {len(structure.inputs)} forces"
        raise InvalidInput("released_decay.forces", expected, repr(forces), "give one per input of the structure")
    names, count = structure.mass_names, len(structure.mass_names)
    sensors = [kind(name) for kind in (Displacement, Velocity) for name in names]
    measured = structure.measuring(*sensors)
    driven = [Chirp(f * sweep.amplitude, sweep.start_hz, sweep.stop_hz, sweep.duration, sweep.phase) for f in forces]
    samples = max(int(float(sweep.duration) * rate), 2)
    moved = _outputs(measured, driven, values, rate, samples)
    at = int(np.argmax(np.abs(moved[:, :count]).max(axis=1))) if release is None else round(release * rate)
    if not 0 < at < samples:
        raise InvalidInput("released_decay.release", "a second within the sweep", repr(release), "choose another")
    still = [Sine(0.0, 1.0)] * len(forces)
    free = _outputs(
        measured, still, values, rate, max(int(seconds * rate), 2), displacement=moved[at, :count],
        velocity=moved[at, count:],
    )[:, :count]  # fmt: skip
    noisy = free + noise * np.random.default_rng(key).standard_normal(free.shape)
    times = jnp.arange(at + 1) / rate
    pushed = np.stack([np.asarray(jax.vmap(each.value)(times)) for each in driven], axis=1)
    share = at / rate / float(sweep.duration)
    frequency = 2.0 * np.pi * float(sweep.start_hz + share * (sweep.stop_hz - sweep.start_hz))
    outputs = tuple(sensor.name for sensor in sensors[:count])
    return ReleasedDecay(
        sweep=Record.from_arrays(rate=rate, input=pushed, output=moved[: at + 1, :count], output_names=outputs),
        decay=Record.from_arrays(rate=rate, output=noisy, output_names=outputs),
        released_at=frequency,
    )


def _outputs(structure: Structure, signals: Any, values: Any, rate: float, samples: int, **start: Any) -> np.ndarray:
    solution = simulate(structure, signals, values, rate=rate, samples=samples, states=False, **start)
    if not np.all(solution.successful):
        raise InvalidInput("released_decay", "a motion that can be simulated", solution.summary(), "change the sweep")
    return np.asarray(solution.outputs)
