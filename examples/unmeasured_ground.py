"""Outputs alone: a storey that yields in an earthquake of which nothing was measured but the floor's acceleration.

Stiffness and yield displacement come from that acceleration, and with them the loop of the column that no sensor saw.
Run it with ``python examples/unmeasured_ground.py``; it draws the loop into unmeasured_ground.png.
"""

import numpy as np

import vibayes as vb
from vibayes import report

column = vb.BilinearHysteresis("stiffness", "yielding", ratio=0.1).between("ground", "floor", name="column")
storey = vb.Structure(
    masses={"floor": 1.0},
    elements=[vb.Damper(0.6).between("ground", "floor"), column],
    inputs=[vb.BaseAcceleration()],
    sensors=[vb.AbsoluteAcceleration("floor")],
).driven_by(vb.KanaiTajimi(frequency=10.0, damping=0.35, density=0.05))
unmeasured = [vb.ElementDeformation("column"), vb.ElementForce("column")]

# The earthquake and its record are simulated here, with located events; the identification sees 8 s of one floor.
truth, fine = {"stiffness": 40.0, "yielding": 0.05}, 10
ground = vb.realise(0, storey, truth, rate=50.0, samples=400, refinement=fine)
response = vb.simulate(storey.measuring(*storey.sensors, *unmeasured), ground, truth)
motion = np.asarray(response.outputs)[::fine]
noise = 0.1 * motion[:, 0].std()
measured = motion[:, 0] + noise * np.random.default_rng(0).standard_normal(len(motion))
record = vb.Record.from_arrays(rate=50.0, output={"acceleration": measured}, units={"acceleration": "m/s^2"})

priors = {"stiffness": vb.LogNormal(60.0, 1.5), "yielding": vb.Uniform(0.0, 0.3)}
problem = vb.Problem(storey, record, priors, "bilinear", noise=float(noise))
posterior = vb.infer(0, problem, vb.AdaptiveMetropolis(draws=25, chains=32, warmup=20, particles=100))
model = posterior.selected
for name, value in truth.items():
    low, high = model.interval(name)
    print(f"{name}: {low:.3g} to {high:.3g} with 95 % probability; the truth is {value:g}")

found = vb.estimate(problem.filtering(), model.resampled(0, 32), unmeasured)
real = dict(zip(found.names, motion[:, 1:].T, strict=True))
report.save(report.figure_of_estimated_loop(found, *found.names, real), "unmeasured_ground.png")
