r"""The first order in the published matrix form: monomials of u_p and u_m, and which of them resonate.

With u_n = u_np + u_nm, u_np = (a_n/2) e^{j r_n Ω t} and u_nm its conjugate, the nonlinear terms are N_q(u) = [n_q] u*,

    u*_ℓ = Π_k u_kp^{s_kℓp} u_km^{s_kℓm},        ω_ℓ = Σ_k (s_kℓp − s_kℓm) r_k Ω,        β_nℓ = ω_ℓ² − (r_n Ω)²,

and [n_u] keeps the entries of [n_q] where β is zero. Equal to what `vibayes.backbone.expansion` computes by sampling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial
from typing import Any

import numpy as np

from vibayes.backbone.form import NormalForm
from vibayes.errors import InvalidInput


@dataclass(frozen=True)
class MonomialTable:
    """Monomials of the nonlinear terms of a normal form; by `monomials`.

    Attributes:
        plus: exponents s_p of every monomial, (monomials, modes of the subset).
        minus: exponents s_m.
        coefficients: [n_q], (modes of the subset, monomials).
        multiples: ω_ℓ / Ω, (monomials,).
        ratios: r of the modes.
    """

    plus: np.ndarray
    minus: np.ndarray
    coefficients: np.ndarray
    multiples: np.ndarray
    ratios: np.ndarray

    @property
    def beta(self) -> np.ndarray:
        """β / Ω², (modes, monomials)."""
        return self.multiples[None] ** 2 - self.ratios[:, None] ** 2

    @property
    def resonant(self) -> np.ndarray:
        """[n_u]: coefficients of monomials at the frequency of the mode, and zeros."""
        return np.where(self.beta == 0, self.coefficients, 0.0)

    def values(self, plus: Any, minus: Any) -> np.ndarray:
        """u*, given u_p and u_m of every mode (modes,)."""
        return np.prod(np.asarray(plus) ** self.plus * np.asarray(minus) ** self.minus, axis=1)

    def __str__(self) -> str:
        lines = []
        for n, row in enumerate(self.resonant):
            parts = [f"{c:+.6g} {self._monomial(i)}" for i, c in enumerate(row) if c != 0.0]
            lines.append(f"N_u{n + 1} = " + (" ".join(parts) or "0"))
        return "\n".join(lines)

    def _monomial(self, number: int) -> str:
        factors = []
        for k in range(len(self.ratios)):
            for sign, exponent in (("p", self.plus[number, k]), ("m", self.minus[number, k])):
                if exponent:
                    factors.append(f"u{k + 1}{sign}" + (f"^{exponent}" if exponent > 1 else ""))
        return " ".join(factors)


def monomials(form: NormalForm, values: Mapping[str, Any] | None = None) -> MonomialTable:
    """Sort the nonlinear terms of a normal form by monomials.

    Args:
        form: without damping.
        values: of the unknowns.

    Examples:
        >>> import vibayes as vb
        >>> form = vb.normal_form(vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "a")]))
        >>> print(vb.monomials(form, {"a": 2.0}))
        N_u1 = +6 u1p^2 u1m +6 u1p u1m^2
    """
    if form.damped:
        raise InvalidInput("monomials.form", "one without damping", "damped=True", "leave the damping out")
    equations, modes = form.equations(values), list(form.subset.modes)
    directions, masses = np.asarray(equations.directions)[:, modes], np.asarray(equations.masses)[modes]
    count = len(modes)
    table: dict[tuple[int, ...], np.ndarray] = {}
    for strength, direction, power in zip(
        np.asarray(equations.coefficients), directions, equations.powers, strict=True
    ):
        for chosen in combinations_with_replacement(range(2 * count), power):
            exponents = tuple(chosen.count(i) for i in range(2 * count))
            ways = factorial(power) / np.prod([factorial(s) for s in exponents])
            product = np.prod([direction[i % count] for i in chosen])
            row = table.setdefault(exponents, np.zeros(count))
            table[exponents] = row + strength * ways * product * direction / masses
    exponents = np.array(list(table), int).reshape(len(table), 2 * count)
    plus, minus, ratios = exponents[:, :count], exponents[:, count:], np.array(form.subset.ratios)
    coefficients = np.array(list(table.values())).reshape(len(table), count).T
    return MonomialTable(plus, minus, coefficients, (plus - minus) @ ratios, ratios)
