"""Solvers of the equations of motion inside a likelihood: with an error that is known, or taken at their word."""

from vibayes.solvers.method import Euler, Global, ODEFilter, RungeKutta, Running, Solver
from vibayes.solvers.solve import Solutions, solve
from vibayes.solvers.verb import Solving, solving

__all__ = [
    "Euler",
    "Global",
    "ODEFilter",
    "RungeKutta",
    "Running",
    "Solutions",
    "Solver",
    "Solving",
    "solve",
    "solving",
]
