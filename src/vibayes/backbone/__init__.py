"""Backbone curves: normal forms of polynomial structures, points from decaying vibration, and their likelihoods."""

from vibayes.backbone.curve import BackboneCurve, backbone_curve
from vibayes.backbone.form import NormalForm, normal_form
from vibayes.backbone.modes import LargestEntry, LinearModes, UnitMass, linear_modes
from vibayes.backbone.terms import MonomialTable, monomials

__all__ = [
    "BackboneCurve",
    "LargestEntry",
    "LinearModes",
    "MonomialTable",
    "NormalForm",
    "UnitMass",
    "backbone_curve",
    "linear_modes",
    "monomials",
    "normal_form",
]
