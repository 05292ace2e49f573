"""The only code that advances time: exact, event-located and fixed-step simulation, in batches of parameter sets."""

from vibayes.simulation.exact import Exact
from vibayes.simulation.method import Method
from vibayes.simulation.realise import realise
from vibayes.simulation.runge_kutta import EventLocated, FixedStep
from vibayes.simulation.solution import EventTable, Solution, Work
from vibayes.simulation.status import Status
from vibayes.simulation.verb import simulate

__all__ = [
    "EventLocated",
    "EventTable",
    "Exact",
    "FixedStep",
    "Method",
    "Solution",
    "Status",
    "Work",
    "realise",
    "simulate",
]
