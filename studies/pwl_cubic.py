"""Piecewise-linear models of a cubic stiffness (section 4.3).

No candidate is true here: the spring is k0 z + k3 z³. The record has no noise; what is left is the error of the
model. Priors are those of the study of stiffness.
"""

from piecewise import Case, run
from pwl_stiffness import SENSORS, candidate

import vibayes as vb

TRUE = vb.Structure.single_dof(1.0, [vb.Damper(2.0), vb.Duffing(1e3, 1e8)], sensors=SENSORS)

if __name__ == "__main__":
    run(Case("Cubic stiffness", TRUE, candidate, None, noise=0.0), __doc__)
