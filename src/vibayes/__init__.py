"""vibayes: Bayesian identification of nonlinear vibrating structures."""

import jax

# A posterior in single precision is a wrong posterior.
jax.config.update("jax_enable_x64", True)

from vibayes.compilation import keep_compiled_programs  # noqa: E402

keep_compiled_programs()

from vibayes.forking import notice_forks  # noqa: E402

notice_forks()

from vibayes import (  # noqa: E402
    backbone,
    conditioning,
    excitation,
    filters,
    io,
    periodic,
    samplers,
    simulation,
    solvers,
    structure,
)
from vibayes.backbone import *  # noqa: E402, F403
from vibayes.calibration import Calibration, calibrate  # noqa: E402
from vibayes.conditioning import *  # noqa: E402, F403
from vibayes.constraints import Increasing, distinct_slopes  # noqa: E402
from vibayes.distance import NMSE  # noqa: E402
from vibayes.errors import IdentifiabilityWarning, InvalidInput  # noqa: E402
from vibayes.excitation import *  # noqa: E402, F403
from vibayes.filters import *  # noqa: E402, F403
from vibayes.findings import Finding, diagnose  # noqa: E402
from vibayes.inference import infer  # noqa: E402
from vibayes.io import *  # noqa: E402, F403
from vibayes.journal import Journal  # noqa: E402
from vibayes.periodic import *  # noqa: E402, F403
from vibayes.posterior import Posterior  # noqa: E402
from vibayes.prediction import predict  # noqa: E402
from vibayes.priors import LogNormal, LogUniform, Normal, Uniform  # noqa: E402
from vibayes.problem import Problem  # noqa: E402
from vibayes.record import Record  # noqa: E402
from vibayes.samplers import *  # noqa: E402, F403
from vibayes.simulation import *  # noqa: E402, F403
from vibayes.solvers import *  # noqa: E402, F403
from vibayes.streaming import update  # noqa: E402
from vibayes.structure import *  # noqa: E402, F403

__all__ = [
    "NMSE",
    "Calibration",
    "Finding",
    "IdentifiabilityWarning",
    "Increasing",
    "InvalidInput",
    "Journal",
    "LogNormal",
    "LogUniform",
    "Normal",
    "Posterior",
    "Problem",
    "Record",
    "Uniform",
    "calibrate",
    "diagnose",
    "distinct_slopes",
    "infer",
    "predict",
    "update",
    *backbone.__all__,
    *conditioning.__all__,
    *excitation.__all__,
    *filters.__all__,
    *solvers.__all__,
    *io.__all__,
    *periodic.__all__,
    *samplers.__all__,
    *simulation.__all__,
    *structure.__all__,
]
