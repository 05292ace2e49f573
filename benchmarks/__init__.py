"""Speed and accuracy beside other solvers; start with `run.py`."""
