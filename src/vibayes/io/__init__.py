"""Records in files: comma-separated text to look at and exchange, NumPy archives to store. Posteriors in netCDF.

What is written is read back exactly, names, units and metadata included.
"""

from vibayes.io.arviz import from_arviz, to_arviz
from vibayes.io.csv import read_csv, write_csv
from vibayes.io.npz import read_npz, write_npz
from vibayes.io.posterior import read_posterior, write_posterior
from vibayes.io.record import read_record, write_record

__all__ = [
    "from_arviz",
    "read_csv",
    "read_npz",
    "read_posterior",
    "read_record",
    "to_arviz",
    "write_csv",
    "write_npz",
    "write_posterior",
    "write_record",
]
