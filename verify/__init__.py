"""Attacks that take hours; start with `run.py`."""
