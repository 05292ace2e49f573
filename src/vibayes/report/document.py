"""One HTML file that needs nothing else: text, stylesheet, figures, and the library that lets them be explored.

Plotly goes in once, packed; the browser unpacks it. Where it cannot, or where scripts are off, and on paper, every
figure is the still picture that stands in its place.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from io import BytesIO
from typing import Any

from vibayes.errors import InvalidInput
from vibayes.io.files import MARK
from vibayes.report.drawing import Drawing
from vibayes.report.explorable import figure_of, packed
from vibayes.report.picture import picture_of
from vibayes.report.style import pyplot
from vibayes.report.stylesheet import STYLE

_DPI = 110
_SCRIPT = """
(async () => {
  const figures = [...document.querySelectorAll("figure[data-figure]")];
  const unpacked = async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };
  try {
    const script = document.createElement("script");
    script.textContent = await unpacked(document.getElementById("plotly").textContent.trim());
    document.head.append(script);
  } catch (error) { return; }  // the still pictures stay
  const coloured = (text) => {
    const css = getComputedStyle(document.documentElement);
    return text.replace(/"(--[a-z-]+)"/g, (all, name) => JSON.stringify(css.getPropertyValue(name).trim()));
  };
  const touch = matchMedia("(pointer: coarse)").matches;  // a finger scrolls the page; the bar zooms
  const config = { responsive: true, displaylogo: false, scrollZoom: false,
    modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]] };
  let busy = false;
  const follow = (figure, change) => {
    const group = figure.dataset.linked;
    if (busy || !group) return;
    const range = change["xaxis.range"] || [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    const reset = change["xaxis.autorange"];
    if (range[0] === undefined && !reset) return;
    busy = true;
    const others = figures.filter((each) => each !== figure && each.dataset.linked === group);
    const update = reset ? { "xaxis.autorange": true } : { "xaxis.range": [...range] };
    const moved = others.map((each) => Plotly.relayout(each.querySelector(".plot"), update));
    Promise.all(moved).finally(() => { busy = false; });
  };
  const chosen = (figure, made) => {
    const choices = JSON.parse(figure.querySelector("script.choices").textContent);
    const [x, y] = [...figure.querySelectorAll("select")].map((each) => each.value);
    Object.assign(made.data[0], { x: choices[x], y: choices[y] });
    Object.assign(made.data[1], { x: choices[x] });
    Object.assign(made.data[2], { y: choices[y] });
    made.layout.xaxis.title.text = x; made.layout.yaxis.title.text = y;
  };
  const draw = async (figure) => {
    const made = JSON.parse(coloured(figure.querySelector("script.figure").textContent));
    const place = figure.querySelector(".plot");
    if (touch) made.layout.dragmode = false;
    if (figure.querySelector("select")) chosen(figure, made);
    figure.classList.add("live");
    await Plotly.react(place, made.data, made.layout, config);
    if (!place.dataset.heard) {
      place.dataset.heard = "yes";
      place.on("plotly_relayout", (change) => follow(figure, change));
      figure.querySelectorAll("select").forEach((each) => each.addEventListener("change", () => draw(figure)));
    }
  };
  for (const figure of figures) { await draw(figure); await new Promise((next) => setTimeout(next)); }
  document.documentElement.dataset.ready = "yes";
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figures.forEach(draw));
  document.querySelectorAll("details").forEach((each) => each.addEventListener("toggle", () => {
    each.querySelectorAll("figure.live .plot").forEach((plot) => Plotly.Plots.resize(plot));
  }));
})();
addEventListener("beforeprint", () => document.querySelectorAll("details:not([open])").forEach((each) => {
  each.open = true; each.dataset.shut = "yes";
}));
addEventListener("afterprint", () => document.querySelectorAll("details[data-shut]").forEach((each) => {
  each.open = false; delete each.dataset.shut;
}));
"""


def document(title: str, lead: str, sections: Sequence[tuple[str, str, str]], footer: str) -> str:
    """The whole page.

    Args:
        title: in plain text.
        lead: below the title, as HTML.
        sections: an anchor, a title in plain text and the content as HTML each.
        footer: as HTML.
    """
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head += f'<meta name="generator" content="{MARK}">'
    contents = "".join(f'<li><a href="#{anchor}">{escape(name)}</a></li>' for anchor, name, _ in sections)
    body = "\n".join(
        f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{escape(name)}</h2>\n{content}</section>'
        for anchor, name, content in sections
    )
    scripts = ""
    if "data-figure" in body:
        scripts = f'<script type="text/plain" id="plotly">{_packed_plotly()}</script>\n<script>{_SCRIPT}</script>'
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style></head>\n"
        f'<body>\n<a class="skip" href="#content">Skip to the verdict</a>\n'
        f"<header><h1>{escape(title)}</h1>\n{lead}\n"
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav></header>\n'
        f'<main id="content">\n{body}\n</main>\n<footer>{footer}</footer>\n{scripts}\n</body>\n</html>\n'
    )


def figure(drawing: Drawing) -> str:
    """A figure to explore, with the still picture that stands in for it."""
    words = escape(drawing.says, quote=True)
    chooser = _chooser(drawing.choices) if drawing.choices else ""
    return (
        f'<figure id="figure-{drawing.name}" data-figure data-linked="{drawing.linked}">{chooser}'
        f'<div class="plot" role="group" aria-label="{escape(drawing.title, quote=True)}"></div>'
        f'<img class="still" alt="{words}" src="{embedded(picture_of(drawing))}">'
        f"<figcaption>{words}</figcaption>{_data('figure', figure_of(drawing))}</figure>"
    )


def still(picture: Any, says: str) -> str:
    """A Matplotlib figure that is not for exploring."""
    words = escape(says, quote=True)
    return (
        f'<figure><img class="still" alt="{words}" src="{embedded(picture)}"><figcaption>{words}</figcaption></figure>'
    )


def embedded(picture: Any) -> str:
    """A Matplotlib figure as an address that holds the picture itself; it is closed."""
    stream = BytesIO()
    picture.savefig(stream, format="png", dpi=_DPI)
    pyplot().close(picture)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")


def _chooser(choices: dict[str, Any]) -> str:
    names = list(choices)
    lists = []
    for label, selected in (("Across", names[0]), ("Up", names[min(1, len(names) - 1)])):
        options = "".join(f"<option{' selected' * (name == selected)}>{escape(name)}</option>" for name in names)
        lists.append(f"<label>{label} <select>{options}</select></label>")
    arrays = {name: packed(values) for name, values in choices.items()}
    return f'<div class="chooser">{"".join(lists)}</div>{_data("choices", arrays)}'


def _data(kind: str, content: Any) -> str:
    """Data that no text within can end early."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return f'<script type="application/json" class="{kind}">{text.replace("<", chr(92) + "u003c")}</script>'


@cache
def _packed_plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ModuleNotFoundError:
        raise InvalidInput("vibayes.report", "plotly installed", "no such package", "install vibayes[report]") from None
    return base64.b64encode(gzip.compress(get_plotlyjs().encode("utf-8"), 9, mtime=0)).decode("ascii")
