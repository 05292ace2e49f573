"""An isola: a closed curve of large motions under a force whose ordinary response stays small.

A sweep from rest never meets it, but a knock may. Run it with ``python examples/isola.py``; it draws the branches into
isola.png.
"""

import vibayes as vb
from vibayes import report

springs = (("ground", "m1", 1.0, 0.5, 0.002), ("m1", "m2", 0.105, 0.05, 0.001), ("ground", "m2", 1.0, 0.4, 0.002))
elements = []
for start, stop, linear, cubic, damping in springs:
    elements += [vb.Duffing(linear, cubic).between(start, stop), vb.Damper(damping).between(start, stop)]
structure = vb.Structure({"m1": 1.0, "m2": 1.0}, elements)

found = vb.isolas(structure, {}, {"m1": 0.01, "m2": -0.01}, (0.8, 1.8), amplitude=2.5)
branches = {"from rest": found.main}
print(f"from rest the second mass moves up to {found.main.amplitude('m2').max():.2f}")
for number, isola in enumerate(found.isolas, start=1):
    low, high = isola.frequency_range
    print(f"isola {number}: up to {isola.amplitude('m2').max():.2f}, between {low:.3f} and {high:.3f} rad/s")
    branches[f"isola {number}"] = isola
report.save(report.figure_of_branches(branches, "m2"), "isola.png")
