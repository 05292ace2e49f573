"""What is done to a record before anything is identified from it: declared steps, kept with the record.

Steps are small frozen objects; `condition` takes them one after another, and what was done is in the metadata of the
record under ``conditioning``.
"""

from vibayes.conditioning.channels import Choose, Convert, Drop, Rename, Scale
from vibayes.conditioning.filtering import BandPass, Detrend
from vibayes.conditioning.resampling import Resample
from vibayes.conditioning.segment import Segment
from vibayes.conditioning.step import Step, condition

__all__ = [
    "BandPass",
    "Choose",
    "Convert",
    "Detrend",
    "Drop",
    "Rename",
    "Resample",
    "Scale",
    "Segment",
    "Step",
    "condition",
]
