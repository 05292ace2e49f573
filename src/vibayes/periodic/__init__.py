"""Periodic solutions of structures, and the branches they form."""

from vibayes.periodic.backbones import nonlinear_mode, phase_resonance
from vibayes.periodic.branch import Branch, BranchStatus, SpecialPoint
from vibayes.periodic.continuation import Arclength
from vibayes.periodic.forced import forced_response
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.isolas import ForcedResponses, isolas
from vibayes.periodic.isolated import Backbones, backbones
from vibayes.periodic.levels import IsolaLevels, isola_levels
from vibayes.periodic.method import PeriodicMethod
from vibayes.periodic.shooting import Shooting

__all__ = [
    "Arclength",
    "Backbones",
    "Branch",
    "BranchStatus",
    "ForcedResponses",
    "HarmonicBalance",
    "IsolaLevels",
    "PeriodicMethod",
    "Shooting",
    "SpecialPoint",
    "backbones",
    "forced_response",
    "isola_levels",
    "isolas",
    "nonlinear_mode",
    "phase_resonance",
]
