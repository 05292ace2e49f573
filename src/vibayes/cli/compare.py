"""`vibayes compare`: several runs beside one another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from vibayes.cli.speech import Data, Json, Quiet, Speech, Trust


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    out: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("comparison"),
    figures: Annotated[bool, typer.Option(help="Draw parameters and predictions.")] = True,
    draws: Annotated[int, typer.Option(help="Of each prediction.")] = 100,
    force: Annotated[bool, typer.Option("--force", help="Replace figures that are there.")] = False,
    data: Data = None,
    trust: Trust = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare runs: evidence of their models, parameters and predictions overlaid.

    Evidence can be compared between runs of the same data, by methods with a likelihood or with the same threshold.

    Where code of a study is not trusted, stored results are put side by side, without figures and without probabilities
    over all runs.

    Example: vibayes compare linear-run trilinear-run --out comparison
    """
    from vibayes.cli.untrusted import UntrustedRuns, open_trusted
    from vibayes.errors import InvalidInput

    targets = {name: out / f"{name}.png" for name in ("parameters", "predictions")}
    if len(runs) < 2:
        raise InvalidInput(
            "vibayes compare", "two run folders or more", str(len(runs)), "name them one after the other"
        )
    for path in targets.values():
        if figures and path.exists() and not force:
            raise InvalidInput("vibayes compare", "a new file", f"'{path}'", "add --force to replace it, or use --out")
    speech = Speech(quiet, json)
    try:
        opened = open_trusted(labels(runs), trust, data)
    except UntrustedRuns as untrusted:
        _show_stored(untrusted, runs, speech)
        raise
    posteriors = {label: each.posterior() for label, each in opened.items()}
    incomplete = {label: each.incomplete for label, each in opened.items() if each.incomplete}
    for label, why in incomplete.items():
        speech.warn(f"{label}: {why}")
    hindrance = hindrance_to_comparison(posteriors)
    shares = None if hindrance else probabilities(posteriors)
    for line in table(posteriors, shares):
        speech.say(line)
    if hindrance:
        speech.say(f"note: {hindrance}")
    written = _figures(posteriors, targets, draws, out, speech) if figures else {}
    numbers = _numbers(posteriors, shares)
    speech.result({"runs": numbers, "hindrance": hindrance, "figures": written, "incomplete": incomplete})


def _show_stored(untrusted: Any, runs: list[Path], speech: Speech) -> None:
    """Stored results side by side, and what is missing."""
    results = untrusted.results(speech)
    for line in table(results, None) if results else ():
        speech.say(line)
    what = "Probabilities of the models of all runs, regions visited and figures need"
    sentence = untrusted.missing(what, f"vibayes compare {' '.join(map(str, runs))}", results)
    speech.warn(sentence)
    speech.result({"runs": _numbers(results, None), "missing": sentence, "untrusted": list(untrusted.modules)})


def labels(folders: list[Path]) -> dict[str, Path]:
    """Folders by the shortest names that tell them apart.

    Examples:
        >>> list(labels([Path("a/run"), Path("b/run")]))
        ['a/run', 'b/run']
        >>> list(labels([Path("a/one"), Path("b/two")]))
        ['one', 'two']
    """
    names = [folder.absolute().name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
    return dict(zip(names, folders, strict=True))


def hindrance_to_comparison(posteriors: Mapping[str, Any]) -> str:
    """Why the evidence of these runs cannot be compared; empty if it can."""
    first, *others = posteriors.values()
    outputs = [each.models[0].problem.record.output for each in (first, *others)]
    if any(not np.array_equal(outputs[0], each, equal_nan=True) for each in outputs[1:]):
        return "evidence is not compared, for the runs are of different data"
    if len({each.white_noise for each in (first, *others)}) > 1:
        return "evidence is not compared, for the runs weigh distances differently"
    thresholds = [each.threshold for each in (first, *others)]
    if not first.white_noise and not np.isnan(thresholds).all() and len(set(thresholds)) > 1:
        return "evidence is not compared, for the runs have different thresholds"
    return ""


def probabilities(posteriors: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Of every model of every run, given that one of them is right; by run and model. NaN if one is unknown."""
    keys = [(label, model.name) for label, posterior in posteriors.items() for model in posterior]
    logs = np.array([
        model.log_evidence + np.log(model.problem.prior_probability)
        for posterior in posteriors.values() for model in posterior
    ])  # fmt: skip
    if np.isnan(logs).any() or not np.isfinite(logs).any():
        return dict.fromkeys(keys, float("nan"))
    shares = np.exp(logs - logs.max())
    return dict(zip(keys, (shares / shares.sum()).tolist(), strict=True))


def table(posteriors: Mapping[str, Any], shares: Mapping[tuple[str, str], float] | None) -> list[str]:
    """Lines of evidence and parameters."""
    rows = [("run", "model", "log evidence", "in its run", "of all", "regions visited")]
    for label, posterior in posteriors.items():
        for model in posterior:
            evidence = _known(model.log_evidence, ".2f")
            evidence += f" ± {model.log_evidence_error:.2f}" if np.isfinite(model.log_evidence) else ""
            of_all = "" if shares is None else _known(shares[label, model.name], ".3f")
            in_run, seen = _known(model.probability, ".3f"), model.regions_visited.words()
            rows.append((label, model.name, evidence, in_run, of_all, seen))
    if not any(row[-1] for row in rows[1:]):
        rows = [row[:-1] for row in rows]
    lines = _aligned(rows)
    for label, posterior in posteriors.items():
        for model in _with_draws(posterior):
            means, deviations = model.mean(), model.standard_deviation()
            values = ", ".join(f"{name} {means[name]:.5g} ± {deviations[name]:.2g}" for name in means)
            lines.append(f"{label}, {model.name}: {values}")
    return lines


def _known(value: float, digits: str) -> str:
    """A number, or words where it is not known."""
    return "not known" if np.isnan(value) else format(value, digits)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _with_draws(posterior: Any) -> list[Any]:
    return [model for model in posterior if len(model.weights)]


def _best(posterior: Any) -> Any:
    """The most probable model with draws; the first where probabilities are unknown."""
    return max(_with_draws(posterior), key=lambda model: np.nan_to_num(model.probability, nan=-1.0), default=None)


def _figures(posteriors, targets: Mapping[str, Path], draws: int, out: Path, speech: Speech) -> dict[str, str]:
    from vibayes.errors import InvalidInput
    from vibayes.prediction import predict
    from vibayes.report import save
    from vibayes.report.overlay import figure_of_compared_parameters, figure_of_predictions

    best = {label: model for label, model in ((each, _best(p)) for each, p in posteriors.items()) if model is not None}
    best = {f"{label}: {model.name}": model for label, model in best.items()}
    if not best:
        return {}
    out.mkdir(parents=True, exist_ok=True)
    written = {"parameters": str(save(figure_of_compared_parameters(best), targets["parameters"]))}
    predictions = {}
    for label, model in best.items():
        try:
            predictions[label] = predict(0, model, draws=draws)
        except InvalidInput as trouble:
            speech.warn(f"{label} predicts nothing: {trouble}")
    first = next(iter(predictions.values()), None)
    same = {label: each for label, each in predictions.items() if first is not None and _alike(first, each)}
    if len(same) < len(predictions):
        speech.warn("predictions of other data than the first run's are left out")
    if same:
        written["predictions"] = str(save(figure_of_predictions(same), targets["predictions"]))
    for path in written.values():
        speech.say(f"Written: {path}")
    return written


def _alike(one: Any, other: Any) -> bool:
    return one.record.output_names == other.record.output_names and np.array_equal(
        one.record.output, other.record.output, equal_nan=True
    )


def _numbers(posteriors: Mapping[str, Any], shares: Mapping[tuple[str, str], float] | None) -> dict[str, Any]:
    from vibayes.cli.results import number, results_of

    found = {label: results_of(posterior) for label, posterior in posteriors.items()}
    for label, each in found.items():
        for model in each["models"]:
            model["probability_of_all"] = None if shares is None else number(shares[label, model["name"]])
    return found
