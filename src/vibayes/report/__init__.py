"""Pictures for people; nothing imports this."""

from vibayes.report.figures import (
    figure_of_accuracy,
    figure_of_event_times,
    figure_of_history,
    figure_of_loop,
    save,
)

__all__ = ["figure_of_accuracy", "figure_of_event_times", "figure_of_history", "figure_of_loop", "save"]
