"""Periodic solutions of structures, and the branches they form."""

from vibayes.periodic.backbones import nonlinear_mode, phase_resonance
from vibayes.periodic.bands import backbone_draws, response_draws
from vibayes.periodic.branch import Branch, BranchStatus, SpecialPoint
from vibayes.periodic.continuation import Arclength
from vibayes.periodic.draws import BranchDraws
from vibayes.periodic.forced import forced_response
from vibayes.periodic.harmonic_balance import HarmonicBalance
from vibayes.periodic.isolas import ForcedResponses, isolas
from vibayes.periodic.isolated import Backbones, backbones
from vibayes.periodic.levels import IsolaLevels, isola_levels
from vibayes.periodic.method import PeriodicMethod
from vibayes.periodic.probability import IsolaProbability, isola_probability
from vibayes.periodic.shooting import Shooting

__all__ = [
    "Arclength",
    "Backbones",
    "Branch",
    "BranchDraws",
    "BranchStatus",
    "ForcedResponses",
    "HarmonicBalance",
    "IsolaLevels",
    "IsolaProbability",
    "PeriodicMethod",
    "Shooting",
    "SpecialPoint",
    "backbone_draws",
    "backbones",
    "forced_response",
    "isola_levels",
    "isola_probability",
    "isolas",
    "nonlinear_mode",
    "phase_resonance",
    "response_draws",
]
