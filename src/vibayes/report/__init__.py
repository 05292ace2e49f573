"""Pictures and pages for people; nothing imports this."""

from vibayes.report.backbones import figure_of_backbone_fit, figure_of_decay
from vibayes.report.branches import figure_of_branches, figure_of_isola_levels
from vibayes.report.calibration_drawings import figure_of_calibration
from vibayes.report.estimates import figure_of_estimate, figure_of_estimated_loop
from vibayes.report.figures import (
    figure_of_accuracy,
    figure_of_event_times,
    figure_of_history,
    figure_of_loop,
    save,
)
from vibayes.report.force_map import figure_of_force_map
from vibayes.report.identification import figure_of_parameters, figure_of_prediction
from vibayes.report.interactive import page_of_branches
from vibayes.report.pairs import figure_of_pairs
from vibayes.report.trace import figure_of_trace
from vibayes.report.uncertainties import figure_of_particles, figure_of_uncertainties
from vibayes.report.write import write_report

__all__ = [
    "figure_of_accuracy",
    "figure_of_backbone_fit",
    "figure_of_branches",
    "figure_of_calibration",
    "figure_of_decay",
    "figure_of_estimate",
    "figure_of_estimated_loop",
    "figure_of_event_times",
    "figure_of_force_map",
    "figure_of_history",
    "figure_of_isola_levels",
    "figure_of_loop",
    "figure_of_pairs",
    "figure_of_parameters",
    "figure_of_particles",
    "figure_of_prediction",
    "figure_of_trace",
    "figure_of_uncertainties",
    "page_of_branches",
    "save",
    "write_report",
]
