"""Studies in files of text: data, models, priors, method and seed, declared without Python."""

from vibayes.study.declaration import Surroundings, declared
from vibayes.study.mistakes import InvalidStudy
from vibayes.study.study import Limits, Study, read_study

__all__ = ["InvalidStudy", "Limits", "Study", "Surroundings", "declared", "read_study"]
