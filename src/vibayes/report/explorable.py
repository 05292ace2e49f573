"""Figures to explore: drawings as Plotly understands them. Colours are names of the stylesheet's, found by the page."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from vibayes.report.drawing import Band, Bars, Dots, Drawing, Mark

_LOOKS: dict[str, tuple[str, float, float]] = {
    "measured": ("--measured", 1.3, 1.0),
    "model": ("--blue", 1.6, 1.0),
    "other": ("--orange", 1.6, 1.0),
    "third": ("--green", 1.6, 1.0),
    "fourth": ("--pink", 1.6, 1.0),
    "faint": ("--blue", 0.8, 0.25),
    "guide": ("--soft", 1.0, 0.9),
}
"""Colour, width and opacity."""
_GAP = 0.07


def figure_of(drawing: Drawing) -> dict[str, Any]:
    """Data and layout of a figure."""
    count = len(drawing.panels)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "height": _height(drawing), "margin": {"l": 62, "r": 12, "t": 10, "b": 48}, "hovermode": "closest",
        "showlegend": False, "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0.0},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "--soft", "activecolor": "--link"},
        "font": {"color": "--ink", "family": "system-ui, sans-serif", "size": 13}, "dragmode": "zoom",
    }  # fmt: skip
    named: set[str] = set()
    for place, (panel, domain) in enumerate(zip(drawing.panels, _domains(drawing), strict=True), 1):
        suffix = "" if place == 1 else str(place)
        lowest = place == count
        x, y = (
            _axis(panel.x if lowest or not drawing.shared else "", "x" in panel.log),
            _axis(panel.y, "y" in panel.log),
        )
        x |= {"anchor": f"y{suffix}", "showticklabels": lowest or not drawing.shared}
        y |= {"anchor": f"x{suffix}", "domain": domain}
        if drawing.shared and place > 1:
            x["matches"] = "x"
        for mark in panel.marks:
            for trace in _traces(mark):
                trace |= {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
                name = trace.get("name", "")
                trace["showlegend"] = bool(name) and name not in named and trace.pop("told", True)
                trace.pop("told", None)
                named |= {name} if trace["showlegend"] else set()
                data.append(trace)
            if isinstance(mark, Bars):
                y |= {"autorange": "reversed", "automargin": True, "type": "category"}
                x |= {"range": [0.0, 1.05 * max(float(np.nanmax(np.asarray(mark.values) + mark.errors)), 1e-9)]}
        layout |= {f"xaxis{suffix}": x, f"yaxis{suffix}": y}
    if drawing.choices:
        _marginals(data, layout)
    layout["showlegend"] = bool(named)
    if named:
        layout["margin"]["t"] = 44
    return {"data": data, "layout": layout, "linked": drawing.linked}


def _marginals(data: list[dict[str, Any]], layout: dict[str, Any]) -> None:
    """Histograms of both parameters of a pair, above and beside."""
    bars = {"type": "histogram", "marker": {"color": "--blue"}, "opacity": 0.7, "showlegend": False, "nbinsx": 40}
    bars |= {"nbinsy": 40, "hoverinfo": "skip"}
    data.append(bars | {"x": data[0]["x"], "xaxis": "x", "yaxis": "y2"})
    data.append(bars | {"y": data[0]["y"], "xaxis": "x2", "yaxis": "y"})
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False, "domain": [0.84, 1.0], "fixedrange": True}
    layout["xaxis"]["domain"] = layout["yaxis"]["domain"] = [0.0, 0.82]
    layout |= {"xaxis2": bare | {"anchor": "y"}, "yaxis2": bare | {"anchor": "x"}, "bargap": 0.05}


def _height(drawing: Drawing) -> int:
    if drawing.square:
        return 430
    bars = max((len(m.names) for p in drawing.panels for m in p.marks if isinstance(m, Bars)), default=0)
    return 90 + int(sum(170 * panel.height for panel in drawing.panels)) + 12 * max(bars - 4, 0)


def _domains(drawing: Drawing) -> list[list[float]]:
    """Vertical places of the panels, the first on top."""
    heights = np.array([panel.height for panel in drawing.panels], float)
    gap = (_GAP if drawing.shared else 2.0 * _GAP) if len(heights) > 1 else 0.0
    heights *= (1.0 - gap * (len(heights) - 1)) / heights.sum()
    found, top = [], 1.0
    for height in heights:
        found.append([max(top - height, 0.0), top])
        top -= height + gap
    return found


def _axis(title: str, log: bool) -> dict[str, Any]:
    return {
        "title": {"text": _plain(title).replace("\n", "<br>"), "standoff": 8}, "nticks": 6,
        "type": "log" if log else "-", "gridcolor": "--line",
        "zeroline": False, "linecolor": "--line", "automargin": True,
    }  # fmt: skip


def _traces(mark: Mark) -> list[dict[str, Any]]:
    if isinstance(mark, Bars):
        blue = {"color": "--blue"}
        errors = {"type": "data", "array": [float(e) for e in mark.errors], "color": "--ink"}
        return [
            {
                "type": "bar", "orientation": "h", "y": [_plain(name) for name in mark.names],
                "x": [float(v) for v in mark.values],
                "error_x": errors, "marker": blue, "hovertemplate": "%{y}: %{x:.3f}<extra></extra>",
            }
        ]  # fmt: skip
    colour, width, opacity = _LOOKS[mark.look]
    if isinstance(mark, Band):
        x = np.concatenate([mark.x, np.asarray(mark.x)[::-1]])
        y = np.concatenate([mark.high, np.asarray(mark.low)[::-1]])
        return [
            {
                "type": "scatter", "x": packed(x), "y": packed(y), "mode": "lines", "fill": "toself",
                "line": {"width": 0}, "fillcolor": f"{colour}-band", "name": _plain(mark.name), "hoverinfo": "skip",
            }
        ]  # fmt: skip
    trace = {"type": "scatter", "x": packed(mark.x), "y": packed(mark.y), "name": _plain(mark.name), "opacity": opacity}
    trace["hovertemplate"] = f"%{{x:.6~g}}, %{{y:.6~g}}<extra>{_plain(mark.name)}</extra>"
    if isinstance(mark, Dots):
        size = 3 if mark.small else 6
        return [trace | {"mode": "markers", "marker": {"color": colour, "size": size}}]
    line = {"color": colour, "width": width, "dash": "dash" if mark.dashed else "solid"}
    if mark.steps:
        line["shape"] = "hv"
    return [trace | {"mode": "lines", "line": line}]


def _plain(text: str) -> str:
    """A name without what Plotly would take for markup."""
    return text.replace("<", "‹").replace(">", "›")


def packed(values: Any) -> dict[str, str]:
    """Numbers as Plotly reads them from text, in single precision: four bytes each.

    Examples:
        >>> packed([1.0, 2.0])
        {'dtype': 'f4', 'bdata': 'AACAPwAAAEA='}
    """
    array = np.asarray(values, "<f4")
    return {"dtype": "f4", "bdata": base64.b64encode(array.tobytes()).decode("ascii")}
