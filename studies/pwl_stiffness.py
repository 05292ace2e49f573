"""Number of regions and parameters of a piecewise-linear stiffness (section 4.1).

A mass of 1 kg on a damper and a trilinear spring, driven by band-limited noise; the acceleration is measured with 5 %
noise. Candidates are linear to quadlinear springs with the priors of table 1.
"""

from piecewise import NAMES, Case, names_of, run

import vibayes as vb

TRUTH = {"m": 1.0, "c0": 2.0, "k0": 1e3, "k1": 3e3, "k2": 7e3, "d1": -1e-3, "d2": 0.5e-3}
SENSORS = [vb.RelativeAcceleration("mass")]
TRUE = vb.Structure.single_dof(
    1.0, [vb.Damper(2.0), vb.PiecewiseLinearSpring.around_zero(1e3, (3e3, 7e3), (-1e-3, 0.5e-3))], sensors=SENSORS
)


def candidate(record: vb.Record, breaks: int, stiffest: float = 1e4) -> vb.Problem:
    """A spring with this many break points."""
    slopes, points = names_of("k", breaks), names_of("d", breaks)
    spring = vb.PiecewiseLinearSpring.around_zero("k0", slopes, points)
    priors = {
        "m": vb.LogUniform(0.5, 1.5),
        "c0": vb.LogUniform(0.1, 4.0),
        "k0": vb.LogUniform(500.0, 1500.0),
        **dict.fromkeys(slopes, vb.LogUniform(500.0, stiffest)),
        **dict.fromkeys(points, vb.Uniform(-10e-3, 10e-3)),
    }
    structure = vb.Structure.single_dof("m", [vb.Damper("c0"), spring], sensors=SENSORS)
    return vb.Problem(structure, record, priors, NAMES[breaks], [vb.distinct_slopes(spring, 0.05)])


if __name__ == "__main__":
    run(Case("Piecewise-linear stiffness", TRUE, candidate, TRUTH), __doc__)
