"""The figure of a piecewise-linear law as it was identified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vibayes.constraints import slopes_from_left
from vibayes.errors import InvalidInput
from vibayes.posterior import ModelPosterior
from vibayes.report.style import COLOURS, GREY, pyplot, tidy
from vibayes.structure import PiecewiseLinearDamper, PiecewiseLinearSpring, Structure

_POINTS = 401
PiecewiseLinear = PiecewiseLinearSpring | PiecewiseLinearDamper
Truth = Callable[[np.ndarray], Any] | tuple[Any, Any]


def figure_of_force_map(
    model: ModelPosterior,
    element: str | PiecewiseLinear,
    truth: Truth | None = None,
    span: tuple[float, float] | None = None,
    realisations: int = 100,
    units: Mapping[str, str] | None = None,
    title: str = "",
    seed: int = 0,
) -> Any:
    """Restoring force of a piecewise-linear element: realisations from the posterior, and their mean.

    Args:
        model: with draws.
        element: its name in the structure, or the element itself as it was declared.
        truth: the true law where it is known, as a function of deformation (of velocity, for a damper) or as a pair
            of arrays.
        span: of the horizontal axis, best what the structure went through; by default well around the break points.
        realisations: to draw. The mean is that of all draws, by their weights.
        units: of "deformation" (or "velocity") and "force".
        title: above the figure.
        seed: to choose the realisations.

    Returns:
        A Matplotlib figure.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> from vibayes.report import figure_of_force_map
        >>> record = vb.Record.from_arrays(rate=10.0, output={"x": np.linspace(-1.0, 1.0, 20)})
        >>> def line(slope):
        ...     return slope * np.linspace(-1.0, 1.0, 20)
        >>> problem = vb.Problem(line, record, {"slope": vb.Uniform(0.0, 3.0)})
        >>> posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=50, draws=100, threshold=1.0))
        >>> spring = vb.PiecewiseLinearSpring(("slope",), ())
        >>> figure_of_force_map(posterior.selected, spring, truth=lambda x: x).axes[0].get_xlabel()
        'deformation'
    """
    law = _law(model, element)
    shown = model.resampled(seed, realisations)
    low, high = _span(law, shown) if span is None else span
    points = np.linspace(low, high, _POINTS)
    figure, axes = pyplot().subplots(figsize=(5.4, 4.4), layout="constrained")
    lines = axes.plot(
        points, _forces(law, shown, points), color=GREY, alpha=max(0.05, 6.0 / realisations), linewidth=0.8
    )
    lines[0].set_label("realisations")
    mean = _forces(law, model.draws, points) @ model.weights
    axes.plot(points, mean, color=COLOURS[0], linewidth=1.6, label="mean")
    if truth is not None:
        x, force = (points, truth(points)) if callable(truth) else truth
        axes.plot(x, force, color=COLOURS[1], linewidth=1.4, linestyle="--", label="truth")
    along = "velocity" if isinstance(law, PiecewiseLinearDamper) else "deformation"
    labels = (f"{name} ({units[name]})" if units and units.get(name) else name for name in (along, "force"))
    tidy(axes, *labels, title=title)
    axes.set_xlim(low, high)
    legend = axes.legend(fontsize=8, frameon=False, loc="upper left")
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)
    return figure


def _law(model: ModelPosterior, element: str | PiecewiseLinear) -> PiecewiseLinear:
    """The element itself, looked up in the structure if it is named."""
    where, structure = "figure_of_force_map.element", model.problem.model
    if isinstance(element, str):
        if not isinstance(structure, Structure):
            raise InvalidInput(where, "an element", repr(element), "give the element itself: the model is a function")
        element = structure.links[structure.element_index(element)].element  # pyright: ignore[reportAssignmentType]
    if not isinstance(element, PiecewiseLinear):
        remedy = "give a PiecewiseLinearSpring or PiecewiseLinearDamper"
        raise InvalidInput(where, "a piecewise-linear element", type(element).__name__, remedy)
    return element


def _forces(law: PiecewiseLinear, values: Mapping[str, np.ndarray], points: np.ndarray) -> np.ndarray:
    """At all points for all sets, of shape (points, sets): what every region adds on the way from zero."""
    slopes = slopes_from_left(law, values)
    sets = len(next(iter(values.values())))
    edges = [np.full(sets, -np.inf), *_breaks(law, values), np.full(sets, np.inf)]
    total = np.zeros((len(points), sets)) + _value(law.offset, values)
    for slope, left, right in zip(slopes, edges[:-1], edges[1:], strict=True):
        total += slope * (np.clip(points[:, None], left, right) - np.clip(0.0, left, right))
    return total


def _breaks(law: PiecewiseLinear, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    sets = len(next(iter(values.values())))
    return [np.broadcast_to(_value(point, values), (sets,)) for point in law.breaks]


def _value(parameter: Any, values: Mapping[str, np.ndarray]) -> Any:
    return values[parameter] if isinstance(parameter, str) else parameter


def _span(law: PiecewiseLinear, values: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """Zero and the break points, and as much again on either side."""
    if not law.breaks:
        return -1.0, 1.0
    edges = np.quantile(np.stack(_breaks(law, values)), [0.02, 0.98])
    low, high = min(0.0, edges[0]), max(0.0, edges[1])
    return float(low - (high - low)), float(high + (high - low))
