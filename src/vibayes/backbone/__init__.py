"""Backbone curves: normal forms of polynomial structures, points from decaying vibration, and their likelihoods."""

from vibayes.backbone.closed_form import LinearPosterior, linear_posterior, student_posterior
from vibayes.backbone.curve import BackboneCurve, backbone_curve
from vibayes.backbone.decay import Truncation, decay_points, estimated_modes
from vibayes.backbone.experiment import ReleasedDecay, released_decay
from vibayes.backbone.form import NormalForm, normal_form
from vibayes.backbone.likelihood import BackboneLikelihood, fitting
from vibayes.backbone.method import BackboneAmplitudes, BackboneMethod, BackboneResidual
from vibayes.backbone.modes import LargestEntry, LinearModes, UnitMass, linear_modes
from vibayes.backbone.points import BackbonePoints, joined
from vibayes.backbone.scatter import AmplitudeScatter, ConstantScatter, MeasuredScatter
from vibayes.backbone.terms import MonomialTable, monomials
from vibayes.backbone.validity import ExpansionErrors, expansion_errors
from vibayes.backbone.windows import FittedSinusoid, MovingFourier

__all__ = [
    "AmplitudeScatter",
    "BackboneAmplitudes",
    "BackboneCurve",
    "BackboneLikelihood",
    "BackboneMethod",
    "BackbonePoints",
    "BackboneResidual",
    "ConstantScatter",
    "ExpansionErrors",
    "FittedSinusoid",
    "LargestEntry",
    "LinearModes",
    "LinearPosterior",
    "MeasuredScatter",
    "MonomialTable",
    "MovingFourier",
    "NormalForm",
    "ReleasedDecay",
    "Truncation",
    "UnitMass",
    "backbone_curve",
    "decay_points",
    "estimated_modes",
    "expansion_errors",
    "fitting",
    "joined",
    "linear_modes",
    "linear_posterior",
    "monomials",
    "normal_form",
    "released_decay",
    "student_posterior",
]
