"""A bilinear hysteretic oscillator under white noise that nobody measured (section 5.1).

m = 1 kg, k = 6.14 N/m, yield displacement 0.4 m, post-yield ratio 0.1, damping ratio 5 %; its velocity is measured
with noise of 10 % of its root mean square. The paper gives neither the strength of the white noise nor the length of
the record: here S0 = 0.2 N² s/rad, which drives the oscillator to about five times its yield displacement, over 20
minutes at 5 Hz, twelve samples per period. Shorter records give intervals as wide as the paper's, and errors of that
size.
"""

import numpy as np
from output_only import measure, options, run

import vibayes as vb

TRUTH = {"D_y": 0.4, "alpha": 0.1, "k": 6.14}
DENSITY, RATE, SAMPLES = 0.2, 5.0, 6001
PRIORS = {"D_y": vb.Uniform(0.0, 1.0), "alpha": vb.Uniform(0.0, 1.0), "k": vb.Normal(10.0, 2.0, low=0.0)}
RESPONSES = [vb.Displacement("mass"), vb.ElementForce("spring")]


def oscillator() -> vb.Structure:
    """With names for what is unknown."""
    spring = vb.BilinearHysteresis("k", "D_y", "alpha").between("ground", "mass", name="spring")
    damper = vb.Damper(2.0 * 0.05 * np.sqrt(TRUTH["k"]))
    structure = vb.Structure.single_dof(1.0, [damper, spring], sensors=[vb.Velocity("mass")])
    return structure.driven_by(vb.WhiteNoise(DENSITY))


if __name__ == "__main__":
    chosen = options(__doc__)
    measured = measure(
        oscillator(), TRUTH, chosen.seed, RATE, 301 if chosen.quick else SAMPLES, RESPONSES, refinement=40
    )
    problem = vb.Problem(oscillator(), measured.record, PRIORS, "bilinear", noise=measured.noise)
    method = vb.AdaptiveMetropolis(draws=20, chains=32, warmup=20, particles=100) if chosen.quick else (
        vb.AdaptiveMetropolis(draws=100, chains=32, warmup=20, particles=100)
    )  # fmt: skip
    run("Bilinear oscillator, outputs alone", problem, measured, TRUTH, RESPONSES, method, chosen)
