"""Priors that reach where a structure cannot be: a negative mass, a yield displacement below zero.

What is allowed the parts of the structure know themselves (`Element.checks`). Values of one parameter all over its
prior are put to them, each together with many values of the others: what fails with all of these is out of range, and
what fails with some, as break points that are not in order, is a matter of constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.priors import Prior
from vibayes.structure.element import Check, bind, parameter_names
from vibayes.structure.structure import Structure

_SHARES = np.array([0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
"""Of the belief, at which a prior is tried: its very ends may touch what is impossible, as Uniform(0, 1) does."""
_OTHERS = 16
"""Sets of the other parameters."""
_REMEDY = "cut the prior there, as Normal(mean, deviation, low=0.0), or use LogNormal or LogUniform"


def require_physical(structure: Structure, priors: Mapping[str, Prior], noise: Sequence[str] = ()) -> None:
    """Refuse a prior of which more than a thousandth lies where the structure, or a standard deviation, cannot be.

    Examples:
        >>> import vibayes as vb
        >>> column = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis(40.0, "y", 0.1)])
        >>> require_physical(column, {"y": vb.Uniform(0.0, 0.1)})
        >>> require_physical(column, {"y": vb.Uniform(-0.1, 0.1)})
        Traceback (most recent call last):
        vibayes.errors.InvalidInput: Problem.priors['y']: expected a positive value
        (bilinear_hysteresis_1.yield_displacement), got -0.0998 within Uniform(low=-0.1, high=0.1); cut the prior there,
        as Normal(mean, deviation, low=0.0), or use LogNormal or LogUniform.
    """
    rng = np.random.default_rng(0)
    for name, prior in priors.items():
        tried = np.repeat(_at(prior, _SHARES), _OTHERS)
        if name in noise:
            _refuse(name, prior, tried, ~(tried > 0), "a positive standard deviation")
        if name not in structure.parameters:
            continue
        shares = rng.uniform(_SHARES[0], _SHARES[-1], (len(priors), tried.size))
        values: dict[str, Any] = {n: _at(p, q) for (n, p), q in zip(priors.items(), shares, strict=True)}
        for where, check, alone in _checks(structure, bind(structure, values | {name: tried}), name):
            if alone or np.all(check.fails):
                _refuse(name, prior, tried, check.fails, f"{check.expected} ({where})")


def _checks(structure: Structure, bound: Structure, name: str) -> Iterator[tuple[str, Check, bool]]:
    """All that are about a parameter, with the part and field they are of, and whether no other unknown is in it."""
    for mass, known, value in zip(structure.mass_names, structure.masses, bound.masses, strict=True):
        if known == name:
            yield f"mass of {mass!r}", Check(~(np.asarray(value) > 0), "mass", "a positive number", ""), True
    for (where, unbound), (_, part) in zip(structure.parts(), bound.parts(), strict=True):
        if name in parameter_names(unbound):
            for check in part.checks():
                within = parameter_names(getattr(unbound, check.field, unbound))
                if name in within:
                    yield f"{where}.{check.field}", check, len(within) == 1


def _at(prior: Prior, shares: np.ndarray) -> np.ndarray:
    return np.asarray(prior.icdf(shares), float)


def _refuse(name: str, prior: Prior, tried: np.ndarray, fails: Any, expected: str) -> None:
    always = np.broadcast_to(np.asarray(fails), tried.shape).reshape(-1, _OTHERS).all(axis=1)
    if always.any():
        worst = tried.reshape(-1, _OTHERS)[always, 0]
        got = f"{worst[np.argmax(np.abs(worst))]:.4g} within {prior}"
        raise InvalidInput(f"Problem.priors[{name!r}]", expected, got, _REMEDY)
