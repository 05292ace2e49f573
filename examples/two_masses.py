"""Two storeys on shaking ground: does the upper one stiffen? Two sensors, one of which counts double.

Run it with ``python examples/two_masses.py``; it draws the law of the upper storey into two_masses.png.
"""

import numpy as np

import vibayes as vb
from vibayes import report


def frame(upper):
    """Two storeys, the upper with a law of its own."""
    storeys = [[vb.Spring("k1"), vb.Damper(2.0)], [upper, vb.Damper(1.0)]]
    sensors = [vb.Displacement("m1"), vb.Displacement("m2")]
    return vb.Structure.chain([1.0, 0.5], storeys, sensors=sensors)


stiffening = vb.PiecewiseLinearSpring.around_zero("k2", ("k3",), ("d",))
truth = {"k1": 2000.0, "k2": 800.0, "k3": 4000.0, "d": 1.5e-3}
ground = vb.band_limited_noise(3, 100.0, 300, 3.0, high_hz=20.0, hold=vb.StraightLines())
clean = np.asarray(vb.simulate(frame(stiffening), ground, truth).outputs)
noise = 0.03 * clean.std(axis=0) * np.random.default_rng(3).standard_normal(clean.shape)
record = vb.Record.from_arrays(
    rate=100.0, input=np.asarray(ground.values), output=clean + noise, output_names=["lower", "upper"]
)
stiffness, distance = vb.LogUniform(300.0, 1e4), vb.NMSE({"lower": 1.0, "upper": 2.0})
problems = [
    vb.Problem(frame(vb.Spring("k2")), record, {"k1": stiffness, "k2": stiffness}, "linear", distance=distance),
    vb.Problem(
        frame(stiffening), record,
        {"k1": stiffness, "k2": stiffness, "k3": stiffness, "d": vb.Uniform(-10e-3, 10e-3)}, "stop", distance=distance,
    ),
]  # fmt: skip
posterior = vb.infer(0, problems, vb.FollowAndWeigh(fits=30, searches=2, particles=200, draws=600, rounds=2))
print(posterior.summary())
real = vb.PiecewiseLinearSpring.around_zero(truth["k2"], (truth["k3"],), (truth["d"],))
figure = report.figure_of_force_map(
    posterior["stop"], stiffening, truth=lambda drift: vb.static_force(real, deformation=drift)
)
report.save(figure, "two_masses.png")
