"""Piecewise-linear models of a cubic stiffness (section 4.3).

No candidate is true here: the spring is k0 z + k3 z³. The record has no noise; what is left is the error of the
model. The paper does not say which priors it has here. The cubic spring is about 18,000 N/m stiff where the motion is
largest, so the stiffnesses of the regions go up to 30,000 N/m; the other priors are those of the study of stiffness.
With ``--stiffest 1e4`` all of them are those of table 1.

Parameters that trade against one another lie on a bent set, so thin that the mean of draws from all of it is off it. As
the paper has it, the mean-parameter model is that of one place: draws are taken near the best fit.
"""

from piecewise import Case, run
from pwl_stiffness import SENSORS, candidate

import vibayes as vb

TRUE = vb.Structure.single_dof(1.0, [vb.Damper(2.0), vb.Duffing(1e3, 1e8)], sensors=SENSORS)


if __name__ == "__main__":
    largest = {"type": float, "default": 3e4, "help": "largest stiffness of a region in its prior; table 1 has 1e4"}
    case = Case("Cubic stiffness", TRUE, candidate, None, noise=0.0, settings={"one_place": True})
    run(case, __doc__, stiffest=largest)
