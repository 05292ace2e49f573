"""A model after the record as ArviZ has it: named draws by chain, what the sampler said, prior and record."""

from __future__ import annotations

from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.io.packages import package
from vibayes.io.stored_names import stored_name, stored_text
from vibayes.naming import nearest
from vibayes.posterior import ModelPosterior
from vibayes.prior_space import scores_at
from vibayes.problem import Problem
from vibayes.samplers.likely import Sample

_NUMBERS = (
    "probability", "standard_error", "log_evidence", "log_evidence_error", "simulations", "failures", "acceptance",
    "gradients",
)  # fmt: skip
_WORDS = "first_failure", "note"
_PRIOR = 1000
"""Draws of the prior, for pictures."""
_ESCAPED = {"names": "percent-encoded"}
"""Mark of groups whose variables have the names that `stored_name` gives."""


def to_arviz(model: ModelPosterior) -> Any:
    """One model as an ``arviz.InferenceData``, for its plots, tables and comparisons.

    ArviZ takes all draws for equally likely. Where they are not, the group ``posterior`` is drawn from them anew, in
    proportion to their weights, and ``weighted_posterior`` has them as they are.

    Parameters and channels keep their names, but for what a netCDF file cannot hold: ``rig/acc`` becomes ``rig%2Facc``,
    ``draw`` becomes ``%64raw``, and the attribute ``long_name`` has the name as it was.

    Args:
        model: as ``posterior.selected``.

    Returns:
        Groups ``posterior``, ``sample_stats``, ``prior`` and ``observed_data``; the evidence is among the attributes
        of ``sample_stats``.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
        >>> def line(slope):
        ...     return slope * np.arange(20.0)
        >>> problem = vb.Problem(line, record, {"slope": vb.Uniform(0.0, 3.0)})
        >>> posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=50, draws=100, threshold=1.0))
        >>> data = vb.to_arviz(posterior.selected)
        >>> abs(float(data.posterior["slope"].mean()) - 1.0) < 0.1
        True
        >>> vb.from_arviz(data, problem).mean() == posterior.selected.mean()
        True
    """
    arviz = package("arviz", "to_arviz")
    return arviz.InferenceData(**datasets(model))


def from_arviz(data: Any, problem: Problem) -> ModelPosterior:
    """The model that `to_arviz` made, or draws of another program, with the problem they belong to.

    Nothing tells whether such draws are as they were computed: files of ArviZ have no checksum, unlike those of
    `write_posterior`.

    Args:
        data: an ``arviz.InferenceData``, or anything whose groups are read alike.
        problem: as it was posed; the parameters of ``data`` must be its own.

    Returns:
        The model. What ``data`` does not tell, as the evidence of another program's draws, is NaN.

    Raises:
        InvalidInput: there are no draws of the unknowns of the problem, or they have other dimensions than ArviZ has.
    """
    groups = {name: data[name] for name in ("posterior", "weighted_posterior", "sample_stats") if _has(data, name)}
    if "posterior" not in groups:
        raise InvalidInput("from_arviz.data", "a group 'posterior'", "none", "give an InferenceData with draws")
    try:
        return model_of(groups, problem, "from_arviz.data")
    except InvalidInput:
        raise
    except Exception as trouble:  # anything may be wrong with what others wrote
        got, remedy = f"{type(trouble).__name__}: {trouble}", "give groups as ArviZ has them"
        raise InvalidInput("from_arviz.data", "draws with the dimensions chain and draw", got, remedy) from None


def datasets(model: ModelPosterior) -> dict[str, Any]:
    """The groups as xarray has them."""
    xarray = package("xarray", "to_arviz")
    problem, sample, count = model.problem, model.sample, len(model.weights)
    chains = model.chains
    equal = count == 0 or bool(np.all(model.weights == model.weights[0]))
    numbers = {name: getattr(model, name, getattr(sample, name, None)) for name in _NUMBERS}
    words = {name: getattr(model, name, getattr(sample, name, None)) for name in _WORDS}
    words = {name: value if value is None else stored_text(str(value)) for name, value in words.items()}
    attributes: dict[str, Any] = {name: value for name, value in (numbers | words).items() if value is not None}
    common = {"inference_library": "vibayes", "model": stored_text(model.name), **_ESCAPED}
    attributes |= {**common, "sampled": int(sample is not None)}
    if sample is not None and sample.maximum is not None:
        attributes["maximum"] = sample.maximum

    def drawn(values):
        split = _stored(("chain", "draw"), {name: np.reshape(each, (chains, -1)) for name, each in values.items()})
        coordinates = {"chain": np.arange(chains), "draw": np.arange(count // chains)}
        return xarray.Dataset(split, coordinates, common)

    draws = model.draws if equal else model.resampled(0, count)
    told = {name: getattr(model, f"{name}s") for name in ("log_likelihood", "distance")}
    stats = {name: value for name, value in told.items() if len(value) == count > 0} | {"weight": model.weights}
    shares = np.random.default_rng(0).random(_PRIOR)
    prior = {name: np.asarray(each.icdf(shares))[None] for name, each in problem.priors.items()}
    record = problem.record
    along, places = ("point", np.arange(record.samples)) if problem.of_backbones else ("time", problem.motions.times)
    seen = {name: record.output[:, i] for i, name in enumerate(record.output_names)}
    groups = {
        "posterior": drawn(draws),
        "sample_stats": drawn(stats).assign_attrs(attributes),
        "prior": xarray.Dataset(
            _stored(("chain", "draw"), prior), {"chain": [0], "draw": np.arange(_PRIOR)}, dict(_ESCAPED)
        ),
        "observed_data": xarray.Dataset(_stored((along,), seen), {along: places}, dict(_ESCAPED)),
    }
    return groups if equal else groups | {"weighted_posterior": drawn(model.draws)}


def model_of(groups: dict[str, Any], problem: Problem, where: str) -> ModelPosterior:
    """The model of the groups, for the problem it was posed with."""
    ours = "sample_stats" in groups and groups["sample_stats"].attrs.get("inference_library") == "vibayes"
    stats = groups["sample_stats"] if ours else {}
    source = groups.get("weighted_posterior", groups["posterior"]) if ours else groups["posterior"]
    found = {name: variable(source, name) for name in problem.parameters}
    missing = [name for name, each in found.items() if each is None]
    if missing:
        names = tuple(map(str, source))
        raise InvalidInput(
            where, f"draws of {missing[0]!r}", f"those of {', '.join(names)}", nearest(missing[0], names)
        )
    table = {name: np.asarray(each.transpose("chain", "draw"), float) for name, each in found.items()}
    chains, each = next(iter(table.values())).shape
    draws = {name: values.ravel() for name, values in table.items()}
    told = dict(groups["sample_stats"].attrs) if ours else {}

    def statistic(name, otherwise):
        return np.asarray(stats[name], float).ravel() if name in stats else otherwise

    logs = statistic("log_likelihood", np.empty(0))
    weights = statistic("weight", np.full(chains * each, 1.0 / max(chains * each, 1)))
    sample = None
    if not ours or told["sampled"]:
        unknown = np.full((chains, each), np.nan)
        sample = Sample(
            scores_at(problem, table),
            logs.reshape(chains, each) if len(logs) else unknown,
            float(told.get("acceptance", np.nan)),
            float(told.get("log_evidence", np.nan)),
            float(told.get("log_evidence_error", np.nan)),
            str(told.get("note", "")),
            np.atleast_1d(told["maximum"]) if "maximum" in told else None,
            int(told.get("gradients", 0)),
            weights if "weighted_posterior" in groups else None,
        )
    return ModelPosterior(
        problem=problem,
        probability=float(told.get("probability", 1.0)),
        standard_error=float(told.get("standard_error", 0.0)),
        log_evidence=float(told.get("log_evidence", np.nan)),
        log_evidence_error=float(told.get("log_evidence_error", np.nan)),
        draws=draws,
        weights=weights,
        distances=statistic("distance", np.empty(0)),
        simulations=int(told.get("simulations", 0)),
        failures=int(told.get("failures", 0)),
        first_failure=str(told.get("first_failure", "")),
        log_likelihoods=logs,
        chains=chains,
        sample=sample,
    )


def variable(group: Any, name: str) -> Any:
    """What is stored in a group under a name; None if there is nothing.

    Groups of other programs, and those of ours from before names were escaped, have it under the name itself.
    """
    stored = stored_name(name)
    within = getattr(group, "data_vars", group)
    if getattr(group, "attrs", {}).get("names") != _ESCAPED["names"] and name in within:
        return within[name]
    return within[stored] if stored in within else None


def _stored(dimensions: tuple[str, ...], values: dict[str, np.ndarray]) -> dict[str, Any]:
    """Variables under the names they are stored by; those that had to change tell what they were."""
    found = {}
    for name, each in values.items():
        stored = stored_name(name)
        found[stored] = (dimensions, each, {} if stored == name else {"long_name": stored_text(name)})
    return found


def _has(data: Any, name: str) -> bool:
    try:
        return data[name] is not None
    except KeyError:
        return False
