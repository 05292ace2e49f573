"""Texts of study files, one for each kind of question, with priors around what a record looks like."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from vibayes.record import Record
from vibayes.study.guesses import Guess

_SENSORS = {"displacement": "Displacement", "velocity": "Velocity", "acceleration": "AbsoluteAcceleration"}


def header(title: str, file: str, record: Record, timing: dict[str, Any], guess: Guess) -> str:
    """Everything up to the models."""
    columns = [f"file = {json.dumps(file)}"]
    if record.input_names:
        columns.append(f"input = {_names(record.input_names)}  # CHECK: what drove the structure ({guess.drive})")
    columns.append(f"output = {_names(record.output_names)}  # CHECK: what it answered with ({guess.quantity})")
    columns += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in timing.items()]
    stated = {name: unit for name, unit in record.units.items() if unit}
    listed = ", ".join(f"{_key(name)} = {json.dumps(unit)}" for name, unit in stated.items())
    unstated = [name for name in record.names if name not in stated]
    if listed:
        columns.append(f"units = {{ {listed} }}")
    if unstated:
        example = ", ".join(f'{_key(name)} = "..."' for name in unstated)
        columns.append(f"# CHECK: no unit was found; state it, as units = {{ {example} }}")
    return f"""\
# A study for vibayes. Lines with CHECK are guesses: look at them. Everything else works as it is.
#   vibayes check STUDY       validates, and shows what the priors expect
#   vibayes identify STUDY    runs it
title = {json.dumps(title)}
seed = 1

[data]
{chr(10).join(columns)}

# Steps that are applied before anything else, in their order; take the "#" away to use one.
# [[data.condition]]
# type = "Detrend"
# kind = "constant"

"""


def pwl(guess: Guess) -> str:
    """Springs of one, two and three regions."""
    laws = [
        ("linear", '{ type = "Spring", stiffness = "k0" }', []),
        ("bilinear", _pieces(1), [1]),
        ("trilinear", _pieces(2), [1, 2]),
    ]
    reach = 3.0 * guess.displacement
    priors = [_prior("k0", _stiffness(guess), 30.0, "central stiffness")]
    for i in (1, 2):
        priors.append(_prior(f"k{i}", _stiffness(guess), 100.0, "stiffness of another region"))
        priors.append(f'd{i} = {{ type = "Uniform", low = {-reach:.3g}, high = {reach:.3g} }}  # CHECK: break point')
    models = [_model(name, guess, law, constraint=bool(breaks)) for name, law, breaks in laws]
    return _without_likelihood("Which spring is it: one, two or three regions of stiffness?", guess, priors, models)


def hysteresis(guess: Guess) -> str:
    """A spring, a yielding spring, and Bouc–Wen hysteresis."""
    bilinear = '{ type = "BilinearHysteresis", stiffness = "k0", yield_displacement = "y", ratio = "alpha" }'
    wen = '{ type = "BoucWen", A = "k0", beta = "beta", gamma = "gamma" }'
    rate = 1.0 / max(guess.displacement, 1e-300)
    priors = [
        _prior("k0", _stiffness(guess), 30.0, "initial stiffness"),
        _prior("y", guess.displacement, 30.0, "yield displacement"),
        'alpha = { type = "Uniform", low = 0.0, high = 0.9 }  # stiffness after yielding over that before',
        _prior("beta", 0.5 * rate, 30.0, "shape of the loop"),
        _prior("gamma", 0.5 * rate, 30.0, "width of the loop"),
    ]
    models = [
        _model("linear", guess, '{ type = "Spring", stiffness = "k0" }'),
        _model("bilinear", guess, bilinear),
        _model("Bouc-Wen", guess, wen),
    ]
    return _without_likelihood("Does it yield, and how?", guess, priors, models)


def output_only(guess: Guess) -> str:
    """A spring and a yielding spring under white noise that nobody measured."""
    ratio = 0.05
    density = 2.0 * ratio * (guess.displacement * guess.omega**2) ** 2 / (np.pi * guess.omega)
    bilinear = '{ type = "BilinearHysteresis", stiffness = "k0", yield_displacement = "y", ratio = "alpha" }'
    priors = [
        _prior("k0", _stiffness(guess), 10.0, "initial stiffness, per mass"),
        _prior("y", guess.displacement, 10.0, "yield displacement"),
        'alpha = { type = "Uniform", low = 0.0, high = 0.9 }  # stiffness after yielding over that before',
        _prior("S0", density, 100.0, "spectral density of the acceleration of the base, two-sided, per rad/s"),
    ]
    drive = 'driven_by = { type = "WhiteNoise", density = "S0" }\n'
    drive += (
        '# start = "rest"  # for a record that begins at rest; without it, one that was cut from ongoing vibration\n'
    )
    models = [
        _model("linear", guess, '{ type = "Spring", stiffness = "k0" }', drive, noise=True),
        _model("bilinear", guess, bilinear, drive, noise=True),
    ]
    return _with_likelihood("Which law, where the input is white noise that nobody measured?", guess, priors, models)


def solver(guess: Guess) -> str:
    """A linear and a cubic spring, the error of the solver in the likelihood."""
    cubic = _stiffness(guess) / max(guess.displacement, 1e-300) ** 2
    priors = [
        _prior("k0", _stiffness(guess), 30.0, "stiffness"),
        _prior("k3", cubic, 100.0, "cubic stiffness"),
    ]
    filter_line = 'filter = { type = "ODEFilter", order = 3 }\n'
    models = [
        _model("linear", guess, '{ type = "Spring", stiffness = "k0" }', noise=True, extra=filter_line),
        _model("cubic", guess, '{ type = "Duffing", stiffness = "k0", cubic = "k3" }', noise=True, extra=filter_line),
    ]
    return _with_likelihood("Is the spring linear? The error of the solver counts.", guess, priors, models)


def backbone(
    title: str, file: str, frequency: str, amplitude: str, frequencies: np.ndarray, amplitudes: np.ndarray
) -> str:
    """A cubic spring from points of a backbone."""
    known = np.isfinite(frequencies) & np.isfinite(amplitudes)
    omega, reach = (
        float(frequencies[known][np.argmin(np.abs(amplitudes[known]))]),
        float(np.abs(amplitudes[known]).max()),
    )
    stiffness, level, cubic = omega**2, omega**2 * reach, (omega / reach) ** 2
    return f"""\
# A study for vibayes: a spring from points of a backbone. Lines with CHECK are guesses: look at them.
title = {json.dumps(title)}
seed = 1

[data]
file = {file}
frequency = {json.dumps(frequency, ensure_ascii=False)}  # CHECK: the column of frequencies
amplitudes = [{json.dumps(amplitude, ensure_ascii=False)}]  # CHECK: one column per mode
unit = "rad/s"  # CHECK: or "Hz"

[method]
type = "AdaptiveMetropolis"

[model]
name = "cubic"
noise = "sigma"  # standard deviation of the errors of the equation
filter = {{ type = "BackboneResidual", order = 2 }}
[model.structure]
mass = 1.0  # stiffnesses are per mass: CHECK
elements = [{{ type = "Duffing", stiffness = "k", cubic = "k3", name = "spring" }}]
[model.priors]
{_prior("k", stiffness, 1.5, "linear stiffness")}
k3 = {{ type = "Uniform", low = {-cubic:.3g}, high = {cubic:.3g} }}  # CHECK: cubic stiffness
sigma = {{ type = "LogUniform", low = {1e-6 * level:.3g}, high = {0.1 * level:.3g} }}
"""


TEMPLATES: dict[str, Callable[[Guess], str]] = {
    "pwl": pwl, "hysteresis": hysteresis, "output-only": output_only, "solver": solver,
}  # fmt: skip


def _without_likelihood(question: str, guess: Guess, priors: list[str], models: list[str]) -> str:
    return f"""\
# {question}
# Errors of the outputs are taken to be white noise of unknown size, which is integrated out.
[method]
type = "DataAnnealedSMC"

# [limits]
# max_seconds = 3600

# What is believed before; models take those of their own unknowns.
[priors]
{_common(guess)}{chr(10).join(priors)}

{chr(10).join(models)}"""


def _with_likelihood(question: str, guess: Guess, priors: list[str], models: list[str]) -> str:
    noise = f'sigma = {{ type = "LogUniform", low = {1e-4 * guess.output:.3g}, high = {guess.output:.3g} }}'
    return f"""\
# {question}
[method]
type = "TemperedSMC"
particles = 500

# [limits]
# max_seconds = 3600

# What is believed before; models take those of their own unknowns.
[priors]
{_common(guess)}{chr(10).join(priors)}
{noise}  # standard deviation of the noise of the outputs

{chr(10).join(models)}"""


def _model(
    name: str, guess: Guess, law: str, drive: str = "", noise: bool = False, constraint: bool = False, extra: str = ""
) -> str:
    lines = [f'[[model]]\nname = "{name}"']
    if noise:
        lines.append('noise = "sigma"')
    if extra:
        lines.append(extra.rstrip())
    spring = law.replace(" }", ', name = "spring" }')
    if constraint:
        lines.append('constraints = [{ type = "distinct_slopes", element = "spring" }]  # or two regions were one')
    mass = '"m"' if not guess.by_base else "1.0"
    sensor = _SENSORS[guess.quantity]
    damper = '{ type = "Damper", coefficient = "c" }'
    lines.append("[model.structure]")
    if guess.masses == 1:
        lines.append(f"mass = {mass}\nbase_acceleration = {json.dumps(guess.by_base)}")
        lines.append(f'sensors = [{{ type = "{sensor}", on = "mass" }}]')
        lines.append(f"elements = [\n    {damper},\n    {spring},\n]")
    else:
        masses = ", ".join([mass] * guess.masses)
        sensors = ", ".join(f'{{ type = "{sensor}", on = "m{i + 1}" }}' for i in range(guess.masses))
        upper = ['[{ type = "Spring", stiffness = "k" }, ' + damper + "]"] * (guess.masses - 1)
        storeys = ",\n    ".join([f"[{damper}, {spring}]", *upper])
        lines.append(f"masses = [{masses}]  # CHECK: one per output, from the ground up")
        lines.append(f"base_acceleration = {json.dumps(guess.by_base)}\nsensors = [{sensors}]")
        lines.append(f"elements = [\n    {storeys},\n]")
    if drive:
        lines.append(drive.rstrip())
    return "\n".join(lines) + "\n"


def _common(guess: Guess) -> str:
    """Priors of mass, damping and the other storeys."""
    damping = 2.0 * 0.03 * np.sqrt(_stiffness(guess) * guess.mass)
    lines = [] if guess.by_base else [_prior("m", guess.mass, 10.0, "mass, in units of input over acceleration")]
    lines.append(_prior("c", damping, 30.0, "damping"))
    if guess.masses > 1:
        lines.append(_prior("k", _stiffness(guess), 30.0, "stiffness of the other storeys"))
    return "\n".join(lines) + "\n"


def _stiffness(guess: Guess) -> float:
    """Of every storey, so that the lowest mode is at the dominant frequency."""
    share = 2.0 * np.sin(np.pi / (2.0 * (2 * guess.masses + 1)))
    return guess.mass * (guess.omega / share) ** 2


def _pieces(others: int) -> str:
    slopes, breaks = (", ".join(f'"{letter}{i + 1}"' for i in range(others)) for letter in "kd")
    kind = "PiecewiseLinearSpring.around_zero"
    return f'{{ type = "{kind}", central = "k0", others = [{slopes}], breaks = [{breaks}] }}'


def _prior(name: str, middle: float, factor: float, what: str) -> str:
    low, high = middle / factor, middle * factor
    return f'{name} = {{ type = "LogUniform", low = {low:.3g}, high = {high:.3g} }}  # CHECK: {what}'


def _names(names: tuple[str, ...]) -> str:
    listed = [json.dumps(name, ensure_ascii=False) for name in names]
    return listed[0] if len(listed) == 1 else f"[{', '.join(listed)}]"


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else json.dumps(name, ensure_ascii=False)
