"""The verb: a report of an identification, in one file that can be forwarded."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.findings import Finding, Residuals, diagnose, residuals_of
from vibayes.findings.verb import chosen
from vibayes.interval import PROB
from vibayes.io.files import whole_file
from vibayes.posterior import ModelPosterior, Posterior
from vibayes.prediction import Prediction, predict
from vibayes.record import Record
from vibayes.report import belief_drawings, document, force_drawings, record_drawings, run_drawings
from vibayes.report.drawing import Drawing
from vibayes.report.figures import save
from vibayes.report.pairs import figure_of_pairs
from vibayes.report.parameter_units import units_of
from vibayes.report.picture import picture_of
from vibayes.report.verdict import findings_of, models, parameters, verdict
from vibayes.report.words import number, table

_DRAWS = 200
_OF_RANDOM = 32
"""Draws with inputs of their own, from which only the size of the motion is taken."""
_MOST_PAIRS = 8
"""Parameters of which all pairs are shown at once."""
_PACKAGES = "vibayes", "jax", "numpy", "scipy"
Sections = list[tuple[str, str, str]]


def write_report(
    posterior: Posterior,
    path: str | Path,
    *,
    title: str = "Identification",
    intro: str = "",
    reproduce: str = "",
    facts: Mapping[str, str] | None = None,
    prediction: Prediction | None = None,
    predictions: Mapping[str, Prediction] | Iterable[Prediction] = (),
    units: Mapping[str, str] | None = None,
    prob: float = PROB,
    figures: str | Path | None = None,
) -> Path:
    """Write what was found as one HTML file that opens without a network.

    The verdict comes first: which model, how sure, its parameters, and what to distrust. Then the data, the fit, what
    the elements do, the parameters in pairs, predictions, the comparison of models, the diagnostics, how the run went
    and how to do it again. Figures can be explored; on paper and without scripts they are still pictures.

    Args:
        posterior: of all models.
        path: of the file to write or replace.
        title: of the page.
        intro: what was measured and asked, as plain text; a blank line begins another paragraph.
        reproduce: the command that makes the result again.
        facts: what else belongs to a record of the run, as the seed and the files of data, by name.
        prediction: of the record that was learnt from, by `vibayes.predict`, if there is one already.
        predictions: of other records, by name.
        units: of parameters by name; those that follow from the record's units need not be given.
        prob: posterior probability of intervals and bands.
        figures: a folder for the figures as PNG files as well.

    Returns:
        The path of the page.

    Examples:
        >>> import tempfile
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report import write_report
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
        >>> def line(slope):
        ...     return slope * np.arange(20.0)
        >>> problem = vb.Problem(line, record, {"slope": vb.Uniform(0.0, 3.0)})
        >>> posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=50, draws=100, threshold=1.0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     text = write_report(posterior, folder + "/report.html").read_text(encoding="utf-8")
        >>> text.index('id="verdict"') < text.index('id="data"') < text.index('id="again"')
        True
    """
    if not isinstance(posterior, Posterior):
        raise InvalidInput("write_report.posterior", "a Posterior", type(posterior).__name__, "give what infer returns")
    if not 0.0 < prob < 1.0:
        raise InvalidInput("write_report.prob", "a number between 0 and 1", repr(prob), "write 0.95 for 95 %")
    path = Path(path)
    if not path.parent.is_dir():  # before the work, not after it
        raise InvalidInput("write_report.path", "an existing folder", f"'{path.parent}'", "create it first")
    model = chosen(posterior)
    residuals = None
    if model is not None:
        prediction = prediction if prediction is not None else _predicted(model)
        residuals = residuals_of(model, prediction)
    findings = diagnose(posterior, prediction=prediction, residuals=residuals)
    drawings: list[Drawing] = []

    def shown(*each: Drawing | None) -> str:
        known = [drawing for drawing in each if drawing is not None]
        drawings.extend(known)
        return "".join(document.figure(drawing) for drawing in known)

    named = (
        predictions
        if isinstance(predictions, Mapping)
        else {f"prediction {i}": p for i, p in enumerate(predictions, 1)}
    )
    told = (units_of(model) if model is not None else {}) | dict(units or {})
    sections: Sections = [("verdict", "Verdict", _verdict(posterior, model, findings, told, prob))]
    sections += [("data", "Data", _data(posterior, shown))]
    if model is not None:
        sections += _of_model(model, prediction, residuals, prob, shown)
    for number_, (name, each) in enumerate(named.items(), 1):
        content = shown(record_drawings.of_fit(each, model, prob, f"prediction-{number_}"))
        sections.append((f"prediction-{number_}", f"Prediction: {name}", content))
    if len(posterior.models) > 1:
        sections.append(("models", "Models", shown(belief_drawings.of_models(posterior)) + models(posterior)))
    sections.append(("diagnostics", "Diagnostics", _diagnostics(model, residuals, shown)))
    sections.append(("run", "How the run went", shown(run_drawings.of_trace(posterior)) + _cost(posterior)))
    sections.append(("again", "How to do it again", _again(reproduce, facts)))
    lead = "".join(f'<p class="lead">{escape(p)}</p>' for p in intro.split("\n\n") if p.strip())
    page = document.document(title, lead, sections, f"Written by vibayes {_version('vibayes')}.")
    with whole_file("write_report", path) as file:
        file.write(page.encode("utf-8", "backslashreplace"))  # paths may have bytes that are no text
    if figures is not None:
        folder = Path(figures)
        folder.mkdir(parents=True, exist_ok=True)
        for drawing in drawings:
            save(picture_of(drawing), folder / f"{drawing.name}.png")
    return path


def _predicted(model: ModelPosterior) -> Prediction | None:
    """Draws simulated, where that is possible: points of backbones have no motion in time."""
    if model.problem.of_backbones:
        return None
    try:
        return predict(0, model, draws=_OF_RANDOM if model.problem.random else _DRAWS)
    except InvalidInput:
        return None


def _verdict(
    posterior: Posterior,
    model: ModelPosterior | None,
    findings: tuple[Finding, ...],
    units: Mapping[str, str],
    prob: float,
) -> str:
    parts = [verdict(posterior, findings)]
    if model is not None:
        parts += ["<h3>Parameters</h3>", parameters(model, units, prob)]
    parts += ['<h3 id="distrust">What to distrust</h3>', findings_of(findings)]
    others = [m for m in posterior if m is not model and len(m.weights)]
    for each in sorted(others, key=lambda m: -np.nan_to_num(m.probability)):
        words = f"Parameters of {each.name}, which is less probable"
        parts.append(f"<details><summary>{escape(words)}</summary>{parameters(each, units_of(each), prob)}</details>")
    return "".join(parts)


def _data(posterior: Posterior, shown: Any) -> str:
    record = posterior.models[0].problem.record
    if not isinstance(record, Record):
        return shown(belief_drawings.of_points(record))
    steps = record.metadata.get("conditioning", [])
    listed = ""
    if isinstance(steps, list) and steps:
        items = "".join(f"<li><code>{escape(_step(step))}</code></li>" for step in steps)
        listed = f"<h3>What was done to the data</h3><ol>{items}</ol>"
    said = {model.problem.beginning for model in posterior.models} - {""}
    start = "".join(f"<p>Inputs were not measured; {escape(each)}.</p>" for each in sorted(said))
    return shown(record_drawings.of_record(record)) + start + listed


def _step(step: Any) -> str:
    """One step of conditioning, as its fields."""
    return ", ".join(f"{name} = {value}" for name, value in step.items()) if isinstance(step, Mapping) else str(step)


def _of_model(
    model: ModelPosterior, prediction: Prediction | None, residuals: Residuals | None, prob: float, shown: Any
) -> Sections:
    sections: Sections = []
    if model.problem.of_backbones:
        fit = belief_drawings.of_backbones(model, prob)
    elif prediction is not None and not prediction.random:
        fit = record_drawings.of_fit(prediction, model, prob)
    elif residuals is not None and residuals.innovations:
        fit = record_drawings.of_innovations(residuals, model.problem.motions, prob)
    else:
        fit = None
    content = shown(fit) if fit is not None else "<p>Draws could not be simulated, so there is no fit to show.</p>"
    sections.append(("fit", "Fit", content))
    forces = force_drawings.of_forces(model)
    if forces:
        sections.append(("forces", "What the elements do", shown(*forces)))
    if len(model.draws) > 1:
        content = shown(belief_drawings.of_pairs(model))
        if len(model.draws) <= _MOST_PAIRS:
            says = "All pairs of parameters: lines hold 50 % and 95 % of the belief in a pair."
            picture = document.still(figure_of_pairs(model), says)
            content += f"<details><summary>All pairs at once</summary>{picture}</details>"
        sections.append(("pairs", "Parameters in pairs", content))
    return sections


def _diagnostics(model: ModelPosterior | None, residuals: Residuals | None, shown: Any) -> str:
    parts = []
    if residuals is not None:
        parts.append(shown(record_drawings.of_correlations(residuals)))
    if model is not None:
        rows = [
            (
                p.name,
                number(p.mcse, 2),
                _whole(p.ess_bulk),
                _whole(p.ess_tail),
                number(p.rhat, 3),
                number(p.information, 3),
            )
            for p in model.diagnostics()
        ]
        head = ("parameter", "error of the mean", "effective draws", "of the tails", "R-hat", "bits learnt")
        parts.append(table(f"Draws of {model.name}", head, rows))
        parts.append(
            '<p class="soft">R-hat near 1: chains agree. Effective draws: independent ones that would tell as much. '
            "Bits: one for every time that the record halved the uncertainty. A dash: the method does not tell.</p>"
        )
    return "".join(parts) or "<p>There are no draws to judge.</p>"


def _whole(value: float) -> str:
    return f"{value:,.0f}" if np.isfinite(value) else number(value)


def _cost(posterior: Posterior) -> str:
    cost = f"{posterior.simulations:,} simulations in {posterior.seconds:.1f} s"
    what = "distances that count are up to" if posterior.white_noise else "threshold of distance"
    threshold = f"; {what} {number(posterior.threshold)}" if np.isfinite(posterior.threshold) else ""
    return f"<p>{cost}{threshold}.</p>"


def _again(reproduce: str, facts: Mapping[str, str] | None) -> str:
    parts = []
    if reproduce:
        parts.append(f'<pre tabindex="0"><code>{escape(reproduce)}</code></pre>')
    rows = [(name, str(value)) for name, value in (facts or {}).items()]
    rows += [(name, _version(name)) for name in _PACKAGES]
    rows.append(("Python", platform.python_version()))
    return "".join(parts) + table("What it was made with", ("name", "value"), rows)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
