"""The only code that advances time: exact, event-located and fixed-step simulation, in batches of parameter sets."""

from vibayes.simulate.exact import Exact
from vibayes.simulate.method import Method
from vibayes.simulate.runge_kutta import EventLocated, FixedStep
from vibayes.simulate.solution import EventTable, Solution, Work
from vibayes.simulate.status import Status
from vibayes.simulate.verb import simulate

__all__ = ["EventLocated", "EventTable", "Exact", "FixedStep", "Method", "Solution", "Status", "Work", "simulate"]
