"""Figures of branches of periodic solutions: what is stable, where that changes, and how draws scatter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.periodic import Branch, BranchDraws, IsolaLevels
from vibayes.report.style import COLOURS, GREY, LIGHT, legend_below, pyplot, tidy

_SPECIALS = {"fold": "o", "branch point": "s", "period doubling": "^", "Neimark–Sacker": "D"}


def figure_of_branches(
    branches: Mapping[str, Branch],
    mass: str,
    draws: Mapping[str, BranchDraws] | None = None,
    points: Mapping[str, tuple[Any, Any]] | None = None,
    beneath: Mapping[str, Branch] | None = None,
    length: str = "m",
) -> Any:
    """Amplitudes of a mass over frequency: stable parts as lines, unstable ones dashed, special points as marks.

    Args:
        branches: by the name that the legend gives them.
        mass: whose largest displacement is shown.
        draws: branches over draws, by name; each draw is a faint line in the colour of the branch of that name, and
            where they are dense the posterior is.
        points: measured frequencies (rad/s) and amplitudes by name.
        beneath: branches to compare with, as wide pale lines beneath the others; the legend names the first.
        length: unit of displacements.

    Returns:
        A Matplotlib figure.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_branches
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.1), vb.Damper(0.05)])
        >>> response = vb.forced_response(oscillator, {}, {"mass": 0.1}, (0.5, 1.6))
        >>> len(figure_of_branches({"response": response}, "mass").axes)
        1
    """
    if not branches and not draws:
        raise InvalidInput("figure_of_branches.branches", "at least one branch", "none", "give some by name")
    figure, axes = pyplot().subplots(figsize=(8.4, 5.0), layout="constrained")
    names = list(dict.fromkeys([*(draws or {}), *branches]))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    for name, many in (draws or {}).items():
        column, alpha = many.mass_names.index(mass), float(np.clip(4.0 / max(len(many), 1), 0.03, 0.5))
        for frequency, size in zip(many.frequencies, many.amplitudes, strict=True):
            axes.plot(frequency, size[:, column], color=colours[name], linewidth=0.6, alpha=alpha)
    for number, (name, branch) in enumerate((beneath or {}).items()):
        axes.plot(
            branch.frequencies, branch.amplitude(mass), color=LIGHT, linewidth=6.0, zorder=0.5,
            label=name if number == 0 else None,
        )  # fmt: skip
    for name, branch in branches.items():
        _draw(axes, branch, mass, name, colours[name])
    for name, (frequency, size) in (points or {}).items():
        axes.plot(frequency, size, ".", color=GREY, markersize=4, label=name)
    tidy(axes, "frequency (rad/s)", f"largest displacement of {mass} ({length})")
    legend_below(figure, *axes.get_legend_handles_labels())
    return figure


def _draw(axes: Any, branch: Branch, mass: str, name: str, colour: str) -> None:
    """One branch: the stable part over the dashed whole, and its special points."""
    frequency, size = branch.frequencies, branch.amplitude(mass)
    axes.plot(frequency, size, color=colour, linewidth=1.0, linestyle=(0, (3, 2)))
    # A stretch is stable where both of its ends are.
    both = branch.stable & (np.append(branch.stable[1:], False) | np.append(False, branch.stable[:-1]))
    axes.plot(np.where(both, frequency, np.nan), size, color=colour, linewidth=1.6, label=name)
    known = set(axes.get_legend_handles_labels()[1])
    for special in branch.specials:
        label = special.kind if special.kind not in known else None
        known.add(special.kind)
        column = branch.mass_names.index(mass)
        axes.plot(
            special.frequency, special.amplitudes[column], _SPECIALS[special.kind], color="black", markersize=4,
            markerfacecolor="white", linestyle="none", label=label,
        )  # fmt: skip


def figure_of_isola_levels(levels: IsolaLevels) -> Any:
    """Folds of an isola over frequency and level of the forces, with its birth and, where it merges, its merging.

    Args:
        levels: by `vibayes.isola_levels`.

    Returns:
        A Matplotlib figure; inside the curve, between birth and merging, the isola exists.
    """
    figure, axes = pyplot().subplots(figsize=(8.4, 4.2), layout="constrained")
    axes.plot(levels.fold_frequencies, levels.fold_levels, color=COLOURS[0], linewidth=1.2, label="folds")
    axes.plot(levels.birth_frequency, levels.birth, "o", color=COLOURS[1], label="birth")
    if np.isfinite(levels.merging):
        axes.plot(levels.merging_frequency, levels.merging, "s", color=COLOURS[2], label="merging")
    axes.set_yscale("log")
    tidy(axes, "frequency (rad/s)", "level of the forces")
    legend_below(figure, *axes.get_legend_handles_labels())
    return figure
