"""One page that says what an identification found: a single HTML file that needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.posterior import ModelPosterior, Posterior

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2328; --soft: #5c6670; --line: #d9dee3; --paper: #fff; --tint: #f1f6fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --soft: #9aa5af; --line: #3a434b; --paper: #15191d; --tint: #1f2830; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 3rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
.verdict { background: var(--tint); border-left: 4px solid #0072b2; padding: 0.7rem 1rem; font-size: 1.1rem; }
.notes { border-left: 4px solid #d55e00; padding: 0.1rem 1rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.9rem 0.3rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 6rem; }
figure { margin: 0; }
img { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
summary { cursor: pointer; margin-top: 0.7rem; }
footer { color: var(--soft); margin-top: 2rem; font-size: 0.9rem; }
"""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def page_of(
    posterior: Posterior,
    figures: Mapping[str, Any],
    path: str | Path,
    title: str = "Identification",
    intro: str = "",
) -> Path:
    """Write a page with the verdict, the probabilities, the parameters and some figures.

    Args:
        posterior: of all models.
        figures: Matplotlib figures by the title above each; they are left open.
        path: of the HTML file. Figures are within it.
        title: of the page.
        intro: a paragraph on what was measured and asked, as plain text; a blank line begins another paragraph.

    Returns:
        The path.

    Examples:
        >>> import tempfile
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report import page_of
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.arange(20.0)})
        >>> def line(slope):
        ...     return slope * np.arange(20.0)
        >>> problem = vb.Problem(line, record, {"slope": vb.Uniform(0.0, 3.0)})
        >>> posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=50, draws=100, threshold=1.0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     text = page_of(posterior, {}, folder + "/page.html").read_text(encoding="utf-8")
        >>> "The only model, <strong>line</strong>" in text
        True
    """
    parts = [f"<h1>{escape(title)}</h1>"]
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in intro.split("\n\n") if paragraph.strip()]
    parts += [f'<p class="verdict">{_verdict(posterior)}</p>', _notes(posterior.notes)]
    parts += ["<h2>Models</h2>", _models(posterior), "<h2>Parameters</h2>", *_parameters(posterior)]
    for name, figure in figures.items():
        words = escape(name)
        parts.append(f'<figure><h2>{words}</h2><img alt="{words}" src="{_embedded(figure)}"></figure>')
    cost = f"{posterior.simulations:,} simulations in {posterior.seconds:.1f} s"
    parts.append(f"<footer>Threshold of distance {_number(posterior.threshold)}; {cost}; vibayes.</footer>")
    path = Path(path)
    path.write_text(_document(title, parts), encoding="utf-8")
    return path


def _document(title: str, parts: Sequence[str]) -> str:
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    body = "\n".join(part for part in parts if part)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}<title>{escape(title)}</title><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _verdict(posterior: Posterior) -> str:
    """One sentence: which model, how surely, and which comes next."""
    ranked = sorted((m for m in posterior if m.probability > 0), key=lambda m: m.probability, reverse=True)
    if not ranked:
        return "None of the models has been found to explain the record."
    first, *others = ranked
    within = f"within a threshold of {_number(posterior.threshold)}"
    if len(posterior.models) == 1:
        return f"The only model, <strong>{escape(first.name)}</strong>, explains the record {within}."
    sentence = (
        f"The most probable model is <strong>{escape(first.name)}</strong>, with probability {_probability(first)}"
    )
    if not others:
        return f"{sentence}: no other explains the record {within}."
    return f"{sentence}; next comes {escape(others[0].name)} with {_probability(others[0])}."


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    return '<div class="notes">' + "".join(f"<p>Note: {escape(note)}</p>" for note in notes) + "</div>"


def _models(posterior: Posterior) -> str:
    head = ("model", "probability", "unknowns", "effective draws", "simulations", "of these failed")
    rows = [
        (m.name, _probability(m), str(len(m.problem.parameters)), f"{m.effective_draws:,.0f}", f"{m.simulations:,}",
         f"{m.failures:,}")
        for m in posterior
    ]  # fmt: skip
    return _table(head, rows)


def _parameters(posterior: Posterior) -> list[str]:
    """A table for each model with draws, the most probable first and open."""
    shown = sorted((m for m in posterior if len(m.weights)), key=lambda m: m.probability, reverse=True)
    return [
        f"<details{' open' * (not number)}><summary>{escape(m.name)}</summary>{_parameters_of(m)}</details>"
        for number, m in enumerate(shown)
    ] or ["<p>There are no draws.</p>"]


def _parameters_of(model: ModelPosterior) -> str:
    means, deviations = model.mean(), model.standard_deviation()
    rows = [
        (name, _number(means[name]), _number(deviations[name], 2), *map(_number, model.interval(name)))
        for name in means
    ]
    return _table(("parameter", "mean", "standard deviation", "90 % from", "to"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(each)}</th>" for each in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(each)}</td>" for each in row) + "</tr>" for row in rows)
    return f'<div class="table"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _probability(model: ModelPosterior) -> str:
    if not np.isfinite(model.probability):
        return "not known"
    return f"{model.probability:.3f}" + (f" ± {model.standard_error:.3f}" if model.probability > 0 else "")


def _number(value: float, digits: int = 4) -> str:
    """Some digits of a number, without a power of ten where it is of common size."""
    size = abs(value)
    if not np.isfinite(value) or value == 0:
        words = f"{value:g}"
    elif 1e-4 <= size < 1e6:
        words = f"{value:,.{max(digits - 1 - int(np.floor(np.log10(size))), 0)}f}"
    else:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        words = f"{mantissa} × 10{str(int(power)).translate(_RAISED)}"
    return words.replace("-", "\N{MINUS SIGN}")


def _embedded(figure: Any) -> str:
    """A figure as an address that holds the picture itself."""
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=130)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
