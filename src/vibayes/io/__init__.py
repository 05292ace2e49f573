"""Records in files: comma-separated text to look at and exchange, NumPy archives to store.

What is written is read back exactly, names, units and metadata included.
"""

from vibayes.io.csv import read_csv, write_csv
from vibayes.io.npz import read_npz, write_npz
from vibayes.io.record import read_record, write_record

__all__ = ["read_csv", "read_npz", "read_record", "write_csv", "write_npz", "write_record"]
