"""What must hold between parameters.

A constraint is a function of the parameters' values by name, arrays with one entry per parameter set, that says which
sets are allowed. The prior is one of the sets that are allowed; order among parameters of one prior is a labelling, and
costs nothing (`prior_space`). `Problem.constrained_prior` has the other convention, in which a constraint costs a model
prior mass, as in the published algorithm, where a draw that breaks one is a draw lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.errors import InvalidInput
from vibayes.structure import PiecewiseLinearDamper, PiecewiseLinearSpring

Values = Mapping[str, np.ndarray]
Constraint = Callable[[Values], Any]


@dataclass(frozen=True)
class Increasing:
    """Parameters in increasing order, each with a companion that belongs to it.

    Parameters of one prior are sorted draws of it: none is lost. Those of different priors are in order by chance, and
    the prior is that of the draws that are.

    Args:
        names: in the order they must have.
        carrying: one companion per name, as the stiffness beyond each break point.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> in_order = vb.Increasing(("d1", "d2"))
        >>> in_order({"d1": np.array([1.0, 3.0]), "d2": np.array([2.0, 2.0])})
        array([ True, False])
    """

    names: tuple[str, ...]
    carrying: tuple[str, ...] = ()

    def __init__(self, names: Sequence[str], carrying: Sequence[str] = ()):
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "carrying", tuple(carrying))
        if self.carrying and len(self.carrying) != len(self.names):
            expected = f"one companion for each of {', '.join(self.names)}"
            raise InvalidInput("Increasing.carrying", expected, ", ".join(self.carrying), "pair them up")

    def __call__(self, values: Values) -> np.ndarray:
        """Whether each set is in order."""
        return np.all([values[a] < values[b] for a, b in zip(self.names[:-1], self.names[1:], strict=True)], axis=0)


def distinct_slopes(element: PiecewiseLinearSpring | PiecewiseLinearDamper, relative: float = 0.05) -> Constraint:
    """The constraint that slopes of neighbouring regions differ by a share of the smaller one, at least.

    Args:
        element: whose slopes and break points are names or numbers.
        relative: the share.

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> spring = vb.PiecewiseLinearSpring(("k1", 100.0), ("d",))
        >>> distinct = vb.distinct_slopes(spring, 0.05)
        >>> distinct({"k1": np.array([101.0, 110.0]), "d": np.zeros(2)})
        array([False,  True])
    """
    if not isinstance(element, PiecewiseLinearSpring | PiecewiseLinearDamper):
        remedy = "give a PiecewiseLinearSpring or PiecewiseLinearDamper"
        raise InvalidInput("distinct_slopes.element", "a piecewise-linear element", type(element).__name__, remedy)

    def holds(values: Values) -> np.ndarray:
        slopes = slopes_from_left(element, values)
        near, far = slopes[:-1], slopes[1:]
        return np.all(np.abs(far - near) >= relative * np.minimum(np.abs(far), np.abs(near)), axis=0)

    return holds


def slopes_from_left(element: PiecewiseLinearSpring | PiecewiseLinearDamper, values: Values) -> np.ndarray:
    """Slopes of the regions from left to right, of shape (regions, sets)."""
    slopes = [np.asarray(_value(slope, values), float) for slope in element.slopes]
    breaks = [np.asarray(_value(point, values), float) for point in element.breaks]
    slopes = np.stack(np.broadcast_arrays(*slopes, *breaks)[: len(slopes)])
    if not element.centred:
        return slopes
    left = np.sum([point < 0 for point in breaks], axis=0) if breaks else 0
    rows = np.arange(len(slopes)).reshape(-1, *[1] * (slopes.ndim - 1))
    order = np.where(rows < left, rows + 1, np.where(rows == left, 0, rows))
    return np.take_along_axis(slopes, np.broadcast_to(order, slopes.shape), axis=0)


def breaks_in_order(elements: Iterable[Any]) -> tuple[Increasing, ...]:
    """What piecewise-linear elements demand of the break points that have names."""
    found = []
    for element in elements:
        if isinstance(element, PiecewiseLinearSpring | PiecewiseLinearDamper):
            breaks = element.breaks
            outer = element.slopes[1:] if element.centred else ()
            if len(breaks) > 1 and all(isinstance(point, str) for point in breaks):
                paired = outer if all(isinstance(slope, str) for slope in outer) else ()
                found.append(Increasing(breaks, paired))
    return tuple(found)


def require_mask(where: str, constraint: Constraint, values: Values, count: int) -> np.ndarray:
    """What a constraint says of every set, checked."""
    try:
        mask = np.asarray(constraint(values))
    except Exception as problem:
        remedy = "write it for arrays, one entry per set, as lambda v: v['a'] < v['b']"
        raise InvalidInput(
            where, "a function of the values by name", f"{type(problem).__name__}: {problem}", remedy
        ) from None
    if mask.dtype != bool or mask.shape not in ((), (count,)):
        got = f"{mask.dtype} of shape {mask.shape}"
        raise InvalidInput(where, f"true or false for each of {count} sets", got, "compare arrays elementwise")
    return np.broadcast_to(mask, (count,))


def _value(parameter: Any, values: Values) -> Any:
    return values[parameter] if isinstance(parameter, str) else parameter
