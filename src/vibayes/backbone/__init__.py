"""Backbone curves: normal forms of polynomial structures, points from decaying vibration, and their likelihoods."""

from vibayes.backbone.curve import BackboneCurve, backbone_curve
from vibayes.backbone.decay import Truncation, decay_points, estimated_modes
from vibayes.backbone.experiment import ReleasedDecay, released_decay
from vibayes.backbone.form import NormalForm, normal_form
from vibayes.backbone.modes import LargestEntry, LinearModes, UnitMass, linear_modes
from vibayes.backbone.points import BackbonePoints, joined
from vibayes.backbone.terms import MonomialTable, monomials
from vibayes.backbone.windows import FittedSinusoid, MovingFourier

__all__ = [
    "BackboneCurve",
    "BackbonePoints",
    "FittedSinusoid",
    "LargestEntry",
    "LinearModes",
    "MonomialTable",
    "MovingFourier",
    "NormalForm",
    "ReleasedDecay",
    "Truncation",
    "UnitMass",
    "backbone_curve",
    "decay_points",
    "estimated_modes",
    "joined",
    "linear_modes",
    "monomials",
    "normal_form",
    "released_decay",
]
