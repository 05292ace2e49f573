"""A constraint of your own, and piecewise-linear stiffness and damping in one structure.

Run it with ``python examples/custom_constraint.py``; it draws the parameters into custom_constraint.png.
"""

import numpy as np

import vibayes as vb
from vibayes import report

spring = vb.PiecewiseLinearSpring.around_zero("k0", ("k1",), ("d1",))
damper = vb.PiecewiseLinearDamper.around_zero("c0", ("c1",), ("v1",))
oscillator = vb.Structure.single_dof(1.0, [spring, damper], sensors=[vb.Displacement("mass")])
truth = {"k0": 800.0, "k1": 3000.0, "d1": 1e-3, "c0": 2.0, "c1": 6.0, "v1": 0.02}

force = vb.band_limited_noise(1, 100.0, 300, 2.0, high_hz=20.0, hold=vb.StraightLines())
clean = np.asarray(vb.simulate(oscillator, force, truth).outputs)
noise = 0.02 * clean.std() * np.random.default_rng(1).standard_normal(clean.shape)
record = vb.Record.from_arrays(rate=100.0, input=np.asarray(force.values), output=clean + noise)


def stiffening(values):
    """The spring is stiffer beyond its break point than before it; arrays, one entry per set."""
    return values["k1"] > values["k0"]


priors = {
    "k0": vb.LogUniform(200.0, 2000.0), "k1": vb.LogUniform(200.0, 1e4), "d1": vb.Uniform(0.0, 5e-3),
    "c0": vb.LogUniform(0.5, 10.0), "c1": vb.LogUniform(0.5, 10.0), "v1": vb.Uniform(0.0, 0.1),
}  # fmt: skip
problem = vb.Problem(oscillator, record, priors, "both", [stiffening, vb.distinct_slopes(damper, 0.05)])
posterior = vb.infer(0, problem, vb.FollowAndWeigh(fits=40, particles=300, draws=1000, rounds=2))
print(posterior.summary())
report.save(report.figure_of_parameters(posterior.selected, truth), "custom_constraint.png")
