"""A simulator of your own: any Python function of the parameters by name. One that fails now and then is no matter.

Run it with ``python examples/custom_simulator.py``; it draws the fit into custom_simulator.png.
"""

import math

import numpy as np

import vibayes as vb
from vibayes import report

samples, rate, substeps = 60, 20.0, 5


def pendulum(frequency, damping):
    """Free swing by small steps; it has no answer for some values."""
    if damping > 0.9:
        raise ValueError("overdamped")
    angle, speed, step = 1.0, 0.0, 1.0 / (rate * substeps)
    angles = [angle]
    for _ in range(samples - 1):
        for _ in range(substeps):
            speed -= step * ((2 * math.pi * frequency) ** 2 * math.sin(angle) + damping * speed)
            angle += step * speed
        angles.append(angle)
    return angles


measured = np.array(pendulum(0.8, 0.3)) + 0.02 * np.random.default_rng(2).standard_normal(samples)
record = vb.Record.from_arrays(rate=rate, output={"angle": measured}, units={"angle": "rad"})
problem = vb.Problem(pendulum, record, {"frequency": vb.Uniform(0.3, 2.0), "damping": vb.Uniform(0.0, 1.0)})
posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=60, draws=150, rounds=2))
print(posterior.summary())
report.save(report.figure_of_prediction(vb.predict(0, posterior.selected)), "custom_simulator.png")
