"""Number of regions and parameters of a piecewise-linear damping (section 4.2).

As the study of stiffness, with a linear spring and a trilinear damper, and the priors of table 2.
"""

from piecewise import NAMES, Case, names_of, run

import vibayes as vb

TRUTH = {"m": 1.0, "k0": 1e3, "c0": 2.0, "c1": 0.5, "c2": 0.2, "v1": -0.05, "v2": 0.025}
SENSORS = [vb.RelativeAcceleration("mass")]
TRUE = vb.Structure.single_dof(
    1.0, [vb.Spring(1e3), vb.PiecewiseLinearDamper.around_zero(2.0, (0.5, 0.2), (-0.05, 0.025))], sensors=SENSORS
)


def candidate(record: vb.Record, breaks: int) -> vb.Problem:
    """A damper with this many break points."""
    slopes, points = names_of("c", breaks), names_of("v", breaks)
    damper = vb.PiecewiseLinearDamper.around_zero("c0", slopes, points)
    priors = {
        "m": vb.LogUniform(0.5, 1.5),
        "k0": vb.LogUniform(500.0, 1500.0),
        "c0": vb.LogUniform(0.1, 4.0),
        **dict.fromkeys(slopes, vb.LogUniform(0.1, 4.0)),
        **dict.fromkeys(points, vb.Uniform(-0.5, 0.5)),
    }
    structure = vb.Structure.single_dof("m", [vb.Spring("k0"), damper], sensors=SENSORS)
    return vb.Problem(structure, record, priors, NAMES[breaks], [vb.distinct_slopes(damper, 0.05)])


if __name__ == "__main__":
    run(Case("Piecewise-linear damping", TRUE, candidate, TRUTH), __doc__)
