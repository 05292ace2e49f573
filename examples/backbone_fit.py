"""Springs from a backbone: a mass is shaken to resonance, let go, and its decay tells how the spring hardens.

No force is measured. Run it with ``python examples/backbone_fit.py``; it draws the fit into backbone_fit.png.
"""

import numpy as np

import vibayes as vb
from vibayes import report


def oscillator(cubic):
    return vb.Structure.single_dof(1.0, [vb.Damper(0.004), vb.Duffing(1.0, cubic)])


# The test is simulated here: a sine swept upwards, the release where the motion is largest, and the noisy decay.
truth = 0.5
sweep = vb.Chirp(1.0, 0.98 / (2 * np.pi), 1.20 / (2 * np.pi), 8000.0)
test = vb.released_decay(0, oscillator(truth), sweep, (0.0022,), seconds=1000.0, rate=4.0, noise=5e-4)
points = vb.decay_points(test.decay, vb.linear_modes(oscillator(truth)), backbone="the only backbone")

priors = {"cubic": vb.Uniform(-1.0, 3.0), "scatter": vb.LogUniform(1e-5, 0.5)}
method = vb.BackboneResidual(order=2, scatter=vb.MeasuredScatter())
problem = vb.Problem(oscillator("cubic"), points, priors, "hardening", noise="scatter", filter=method)
posterior = vb.infer(0, problem, vb.AdaptiveMetropolis(draws=60, chains=64))
low, high = posterior.selected.interval("cubic")
print(f"{points.samples} points; cubic stiffness {low:.4f} to {high:.4f} with 95 % probability; the truth is {truth}")
report.save(report.figure_of_backbone_fit(posterior.selected), "backbone_fit.png")
