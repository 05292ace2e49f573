"""Whether posteriors are right on average: simulation-based calibration of the whole way from priors to intervals."""

from vibayes.calibration.calibrate import calibrate
from vibayes.calibration.replication import Replication
from vibayes.calibration.result import Calibration

__all__ = ["Calibration", "Replication", "calibrate"]
