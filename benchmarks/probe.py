"""A process of its own, confined to some cores: how long until the first result, and how fast after that."""

import json
import os
import sys
import time

settings = json.loads(sys.argv[1])
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, settings["cores"])  # before JAX counts them

start = time.perf_counter()
import vibayes as vb  # noqa: E402

imported = time.perf_counter() - start

import cases  # noqa: E402
from measure import best, timed  # noqa: E402

case = cases.trilinear(settings["sets"], settings["samples"])
_, first = timed(lambda: case.simulate(vb.Exact()))
warm = best(lambda: case.simulate(vb.Exact()), settings["repeats"])
times = {"import": imported, "first": first.wall, "first_cpu": first.cpu, "wall": warm.wall, "cpu": warm.cpu}
print(json.dumps(times))
