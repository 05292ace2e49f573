"""Whether the draws of a model can be believed, and what the record told of each parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.naming import nearest
from vibayes.samplers.diagnostics import effective_bulk, effective_tail, information_gain, mcse_mean, rhat_of_groups
from vibayes.samplers.likely import Sample
from vibayes.samplers.ridges import ridges
from vibayes.samplers.verdicts import Verdict, few_draws, judgeable, verdicts

_RIDGE = 50
"""Effective draws that tell a correlation."""


@dataclass(frozen=True)
class ParameterDiagnosis:
    """One parameter; NaN where a number has no meaning for the method.

    Attributes:
        mean: of the posterior.
        mcse: Monte Carlo standard error of the mean.
        ess_bulk: independent draws that would tell the middle of the posterior as well.
        ess_tail: likewise its 5 % and 95 % quantiles.
        rhat: near 1 if chains agree; with more than 8 chains, if four groups of them do.
        information: what the record told, in bits: one for every time that the uncertainty of the prior was halved.
    """

    name: str
    mean: float
    mcse: float
    ess_bulk: float
    ess_tail: float
    rhat: float
    information: float


@dataclass(frozen=True)
class Diagnosis:
    """All parameters of a model; `ModelPosterior.diagnostics` makes it, and printing shows it as a table.

    Attributes:
        parameters: in their order.
        acceptance: share of proposals that were accepted; NaN for a method without.
        verdicts: what is wrong and what to do about it, in sentences; empty if nothing is.

    Examples:
        >>> import numpy as np
        >>> from vibayes.diagnosis import diagnosis
        >>> from vibayes.samplers.likely import Sample
        >>> points = np.random.default_rng(0).normal(size=(4, 500, 1)) * 0.25
        >>> found = diagnosis(Sample(points, np.zeros((4, 500)), acceptance=0.4), {"k": 100.0 + points.ravel()})
        >>> found["k"].rhat < 1.01, found["k"].ess_bulk > 1000, found.verdicts
        (True, True, ())
        >>> print(found)
                mean     error  draws  tails  R-hat   bits
        k     99.993    0.0056   2003   2056   1.00   1.31
        40 % of moves were made
    """

    parameters: tuple[ParameterDiagnosis, ...]
    acceptance: float
    verdicts: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ParameterDiagnosis:
        for each in self.parameters:
            if each.name == name:
                return each
        names = tuple(each.name for each in self.parameters)
        raise InvalidInput("diagnostics()[...]", "a parameter", repr(name), nearest(name, names))

    def __iter__(self) -> Iterator[ParameterDiagnosis]:
        return iter(self.parameters)

    def __str__(self) -> str:
        wide = max(len(each.name) for each in self.parameters)
        lines = [f"{'':<{wide}}  {'mean':>9} {'error':>9}  draws  tails  R-hat   bits"]
        for p in self.parameters:
            numbers = (
                f"{p.mean:9.5g}", f"{p.mcse:9.2g}", f" {p.ess_bulk:5.0f}", f" {p.ess_tail:5.0f}", f" {p.rhat:5.2f}",
                f" {p.information:5.2f}",
            )  # fmt: skip
            lines.append(f"{p.name:<{wide}}  " + " ".join(n.replace("nan", "  –") for n in numbers))
        if np.isfinite(self.acceptance):
            lines.append(f"{self.acceptance:.0%} of moves were made".replace("%", " %"))
        return "\n".join([*lines, *self.verdicts])

    def line(self) -> str:
        """The worst of all parameters, in one line."""
        fewest = min(min(p.ess_bulk, p.ess_tail) for p in self)
        least = min(self, key=lambda p: p.information)
        parts = [f"R-hat {max(p.rhat for p in self):.2f} at most"] if np.isfinite(least.rhat) else []
        parts.append(f"{fewest:.0f} effective draws at least")
        if np.isfinite(least.information):
            parts.append(f"the record told {least.information:.1f} bits of {least.name}, and no less of others")
        return ", ".join(parts)


def diagnosis(sample: Sample, draws: Mapping[str, np.ndarray]) -> Diagnosis:
    """Of draws as a sampler made them, and the same draws of the parameters, one chain after the other."""
    names, points = tuple(draws), sample.points
    values = np.stack([np.asarray(each, float) for each in draws.values()], axis=-1)
    said = verdicts(sample, names)
    if not judgeable(sample):
        nothing = np.full(len(names), np.nan)
        columns = [nothing] * 5
    else:
        columns = [
            mcse_mean(values.reshape(points.shape)), effective_bulk(points), effective_tail(points),
            rhat_of_groups(points), information_gain(points),
        ]  # fmt: skip
        if np.all(columns[1] > _RIDGE):
            said = (*said, *ridges(sample.flat, values, names))
    table = zip(names, values.mean(axis=0).tolist(), *(column.tolist() for column in columns), strict=True)
    return Diagnosis(tuple(ParameterDiagnosis(*row) for row in table), sample.acceptance, said)


def diagnosis_of_weighted(
    draws: Mapping[str, np.ndarray], weights: np.ndarray, sample: Sample | None = None
) -> Diagnosis:
    """Of independent draws with weights, which have no chains; what was learned is not known of them."""
    effective = float(1.0 / np.sum(weights**2))
    rows = []
    for name, values in draws.items():
        mean = float(weights @ values)
        error = float(np.sqrt(np.sum(weights**2 * (values - mean) ** 2)))
        rows.append(ParameterDiagnosis(name, mean, error, effective, np.nan, np.nan, np.nan))
    said = few_draws(tuple(draws), np.asarray(effective))
    if sample is None:
        return Diagnosis(tuple(rows), np.nan, tuple(said))
    if sample.note:
        said = [Verdict("method", sample.note[0].upper() + sample.note[1:]), *said]
    return Diagnosis(tuple(rows), sample.acceptance, tuple(said))
