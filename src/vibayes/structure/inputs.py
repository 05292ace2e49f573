"""What an input channel does to a structure."""

from __future__ import annotations

from typing import NamedTuple


class Force(NamedTuple):
    """A force that pushes one mass in its positive direction."""

    on: str


class BaseAcceleration(NamedTuple):
    """An acceleration of the ground; displacements are then relative to it."""


Input = Force | BaseAcceleration
