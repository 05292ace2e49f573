"""Records in files of many formats, read and looked into; public data sets; posteriors in netCDF.

What is written is read back exactly, names, units and metadata included.
"""

from vibayes.io.arviz import from_arviz, to_arviz
from vibayes.io.at2 import read_at2
from vibayes.io.contents import Column, Contents, Suggestion, look
from vibayes.io.csv import read_csv, write_csv
from vibayes.io.hdf5 import read_hdf5, write_hdf5
from vibayes.io.mat import read_mat, write_mat
from vibayes.io.netcdf import read_netcdf
from vibayes.io.npz import read_npz, write_npz
from vibayes.io.posterior import read_posterior, write_posterior
from vibayes.io.public_data import Dataset, datasets, load_dataset
from vibayes.io.record import read_record, write_record
from vibayes.io.uff import read_uff

__all__ = [
    "Column",
    "Contents",
    "Dataset",
    "Suggestion",
    "datasets",
    "from_arviz",
    "load_dataset",
    "look",
    "read_at2",
    "read_csv",
    "read_hdf5",
    "read_mat",
    "read_netcdf",
    "read_npz",
    "read_posterior",
    "read_record",
    "read_uff",
    "to_arviz",
    "write_csv",
    "write_hdf5",
    "write_mat",
    "write_npz",
    "write_posterior",
    "write_record",
]
