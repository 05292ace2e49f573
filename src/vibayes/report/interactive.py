"""Branches of periodic solutions on a page to explore: zoom, names that can be switched off, numbers under the pointer.

The page is one file that opens without a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vibayes.atomic_write import write_whole
from vibayes.errors import InvalidInput
from vibayes.periodic import Branch, BranchDraws
from vibayes.report.style import COLOURS, GREY

_SPECIALS = {
    "fold": "circle-open",
    "branch point": "square-open",
    "period doubling": "triangle-up-open",
    "Neimark–Sacker": "diamond-open",
}


def page_of_branches(
    branches: Mapping[str, Branch],
    path: str | Path,
    draws: Mapping[str, BranchDraws] | None = None,
    points: Mapping[str, tuple[Any, Any]] | None = None,
    title: str = "Periodic responses",
    length: str = "m",
) -> Path:
    """Write a page on which branches can be explored; a menu chooses the mass.

    Args:
        branches: by the name that the legend gives them, all of one structure.
        path: of the HTML file.
        draws: branches over draws of a posterior, by name; faint lines in the colour of the branch of that name.
        points: measured frequencies (rad/s) and amplitudes by name; shown with the last mass.
        title: of the page.
        length: unit of displacements.

    Returns:
        The path.

    Examples:
        >>> import tempfile
        >>> import vibayes as vb
        >>> from vibayes.report import page_of_branches
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.1), vb.Damper(0.05)])
        >>> response = vb.forced_response(oscillator, {}, {"mass": 0.1}, (0.5, 1.6))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page_of_branches({"response": response}, folder + "/page.html").name
        'page.html'
    """
    if not branches:
        raise InvalidInput("page_of_branches.branches", "at least one branch", "none", "give some by name")
    graphs = _plotly()
    masses = next(iter(branches.values())).mass_names
    names = list(dict.fromkeys([*branches, *(draws or {})]))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    traces, shown_with = [], []
    for mass in masses:
        own = [t for name, many in (draws or {}).items() for t in _faint(graphs, many, mass, colours[name])]
        own += [trace for name, each in branches.items() for trace in _lines(graphs, each, mass, name, colours[name])]
        if mass == masses[-1]:
            own += [_measured(graphs, name, *each) for name, each in (points or {}).items()]
        traces += own
        shown_with += [mass] * len(own)
    figure = graphs.Figure(traces)
    for trace, mass in zip(figure.data, shown_with, strict=True):
        trace.visible = mass == masses[-1]
    _arrange(figure, masses, shown_with, title, length)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    page = figure.to_html(include_plotlyjs=True, config={"displaylogo": False, "responsive": True})
    write_whole("page_of_branches", path, page.encode("utf-8"))
    return path


def _plotly() -> Any:
    """Plotly's graphs, or a clear word on how to get them."""
    try:
        import plotly.graph_objects as graphs
    except ModuleNotFoundError:
        raise InvalidInput("vibayes.report", "plotly installed", "no such package", "install vibayes[report]") from None
    return graphs


def _lines(graphs: Any, branch: Branch, mass: str, name: str, colour: str) -> list[Any]:
    """The whole of a branch dashed, its stable parts over it, and its special points."""
    frequency, size = branch.frequencies, branch.amplitude(mass)
    largest = np.abs(branch.multipliers).max(axis=1, initial=0.0)
    told = "Ω = %{x:.5f} rad/s<br>amplitude %{y:.5g}<br>largest multiplier %{customdata:.4f}<extra>" + name + "</extra>"
    common = {"customdata": largest, "hovertemplate": told, "legendgroup": name, "mode": "lines"}
    stable = np.where(branch.stable, size, np.nan)
    dashed, solid = ({"color": colour, "width": w, "dash": dash} for w, dash in ((1.2, "dash"), (2.4, "solid")))
    found = [
        graphs.Scatter(x=frequency, y=size, line=dashed, showlegend=False, **common),
        graphs.Scatter(x=frequency, y=stable, line=solid, name=name, **common),
    ]
    column = branch.mass_names.index(mass)
    for special in branch.specials:
        mark = {"symbol": _SPECIALS[special.kind], "color": "black", "size": 9}
        words = f"{special.kind} at {special.frequency:.5f} rad/s<extra>{name}</extra>"
        found.append(
            graphs.Scatter(
                x=[special.frequency],
                y=[special.amplitudes[column]],
                mode="markers",
                marker=mark,
                hovertemplate=words,
                legendgroup=name,
                showlegend=False,
            )
        )
    return found


def _faint(graphs: Any, many: BranchDraws, mass: str, colour: str) -> list[Any]:
    """All draws as one trace, with gaps between them."""
    column, gap = many.mass_names.index(mass), [np.nan]
    x = np.concatenate([np.append(each, gap) for each in many.frequencies])
    y = np.concatenate([np.append(each[:, column], gap) for each in many.amplitudes])
    line = {"color": colour, "width": 0.8}
    return [graphs.Scatter(x=x, y=y, mode="lines", line=line, opacity=0.25, hoverinfo="skip", showlegend=False)]


def _measured(graphs: Any, name: str, frequency: Any, size: Any) -> Any:
    return graphs.Scatter(x=frequency, y=size, mode="markers", marker={"color": GREY, "size": 4}, name=name)


def _arrange(figure: Any, masses: tuple[str, ...], shown_with: list[str], title: str, length: str) -> None:
    """Axes, and a menu of masses if there are several."""
    several, last = len(masses) > 1, masses[-1]
    buttons = [
        {
            "label": mass,
            "method": "update",
            "args": [
                {"visible": [each == mass for each in shown_with]},
                {"yaxis.title.text": f"largest displacement of {mass} ({length})"},
            ],
        }
        for mass in masses
    ]
    menu = [{"buttons": buttons, "active": len(masses) - 1, "x": 1.0, "y": 1.1, "xanchor": "right", "showactive": True}]
    figure.update_layout(
        title=title, template="plotly_white", updatemenus=menu if several else [],
        xaxis_title="frequency (rad/s)", yaxis_title=f"largest displacement of {last} ({length})",
        legend={"orientation": "h", "y": -0.18}, margin={"l": 70, "r": 20, "t": 90, "b": 60},
    )  # fmt: skip
