"""Draw the figure of the page on choosing a method: questions down the left, and where each answer leads.

It is narrow, so that a phone shows its words at a readable size, and brings its own backgrounds, so that it reads the
same on light and on dark pages. Run it with ``python docs/scripts/decision.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

OUT = Path(__file__).resolve().parents[1] / "figures" / "choosing.svg"
WIDTH, MARGIN, INDENT, SPINE = 410, 4, 72, 32
LINE, PADDING, GAP = 20, 12, 16
QUESTION, ANSWER, LAST = ("#00695c", "#ffffff"), ("#e0f2f1", "#12312e"), ("#fff3e0", "#4a2c00")
CONNECTOR = "#7f8c8d"


class Step(NamedTuple):
    """A question, the answer that ends the search, and what to use then; lines of words each."""

    question: tuple[str, ...]
    answer: str
    use: tuple[str, ...]


STEPS = (
    Step(
        ("Do you know the parameters already?",), "yes",
        ("Simulate, or follow branches", "simulate, forced_response, isolas"),
    ),
    Step(
        ("Did you measure backbone points,", "or decays released near a resonance?"), "yes",
        ("Springs from backbones", "BackboneResidual, AdaptiveMetropolis"),
    ),
    Step(
        ("Was every input measured?",), "no",
        ("Outputs alone", "driven_by(process), TemperedSMC"),
    ),
    Step(
        ("Unsure how many corners the law has,", "wide priors, or your own simulator?"), "yes",
        ("Models compared by simulation", "FollowAndWeigh"),
    ),
    Step(
        ("Do the data arrive as a stream?",), "yes",
        ("A posterior after every sample", "ODEFilter, IBIS, update"),
    ),
)  # fmt: skip
OTHERWISE = ("Likelihood with the solver's error", "ODEFilter, TemperedSMC")


def box(x: float, y: float, lines: tuple[str, ...], colours: tuple[str, str], bold: int) -> tuple[str, float]:
    """A box with lines of words, the first few of them bold; and where it ends."""
    fill, ink = colours
    height = 2 * PADDING + LINE * len(lines) - 4
    parts = [f'<rect x="{x}" y="{y}" width="{WIDTH - x - MARGIN}" height="{height}" rx="9" fill="{fill}"/>']
    for number, words in enumerate(lines):
        weight, family = ("600", "sans") if number < bold else ("400", "mono")
        place = f'x="{x + 14}" y="{y + PADDING + 13 + LINE * number}"'
        parts.append(f'<text {place} class="{family}" font-weight="{weight}" fill="{ink}">{escape(words)}</text>')
    return "\n".join(parts), y + height


def label(y: float, words: str, x: float) -> str:
    """A short word on a line, on a ground of its own."""
    return (
        f'<rect x="{x - 17}" y="{y - 11}" width="34" height="21" rx="10" fill="#37474f"/>\n'
        f'<text x="{x}" y="{y + 4.5}" class="sans small" text-anchor="middle" fill="#ffffff">{words}</text>'
    )


def line(*points: tuple[float, float]) -> str:
    """From point to point, with an arrow at the end."""
    path = " ".join(f"{x},{y}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{CONNECTOR}" stroke-width="2" marker-end="url(#tip)"/>'


def drawn() -> str:
    """The whole figure as SVG."""
    boxes, lines, labels, y = [], [], [], float(MARGIN)
    for step in STEPS:
        part, bottom = box(MARGIN, y, step.question, QUESTION, bold=2)
        boxes.append(part)
        part, end = box(INDENT, bottom + GAP, step.use, ANSWER, bold=1)
        boxes.append(part)
        middle = (bottom + GAP + end) / 2
        lines.append(line((SPINE, bottom), (SPINE, middle), (INDENT - 3, middle)))
        lines.append(line((SPINE, middle), (SPINE, end + GAP - 3)))
        labels.append(label(bottom + GAP / 2 + 3, step.answer, SPINE))
        labels.append(label(end + 1, "no" if step.answer == "yes" else "yes", SPINE))
        y = end + GAP
    part, end = box(MARGIN, y, OTHERWISE, LAST, bold=1)
    described = " ".join(f"{' '.join(s.question)} If {s.answer}: {s.use[0]} ({s.use[1]})." for s in STEPS)
    described += f" Otherwise: {OTHERWISE[0]} ({OTHERWISE[1]})."
    head = f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {end + MARGIN:g}" role="img" aria-labelledby="title words">
<title id="title">Which method to use</title>
<desc id="words">{escape(described)}</desc>
<style>
.sans {{ font-size: 15px; font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }}
.mono {{ font-size: 14px; font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
.small {{ font-size: 13px; }}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="5" markerHeight="5" orient="auto">
<path d="M0 0 8 4 0 8z" fill="{CONNECTOR}"/></marker></defs>"""
    return "\n".join([head, *lines, *boxes, part, *labels, "</svg>\n"])


if __name__ == "__main__":
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(drawn(), encoding="utf-8")
