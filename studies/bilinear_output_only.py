"""A bilinear hysteretic oscillator under white noise that nobody measured (section 5.1).

m = 1 kg, k = 6.14 N/m, yield displacement 0.4 m, post-yield ratio 0.1, damping ratio 5 %; its velocity is measured
with noise of 10 % of its root mean square. The paper gives neither the strength of the white noise nor the length of
the record: here S0 = 0.2 N² s/rad, which drives the oscillator to about five times its yield displacement, over 20
minutes at 5 Hz, twelve samples per period. The first 100 s alone give intervals about as wide as the paper's, and a
larger difference to the augmented filter: they are identified too. The record begins at rest.
"""

import numpy as np
from output_only import identified, measure, options, run

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
    return structure.driven_by(vb.WhiteNoise(DENSITY), start="rest")


def posed(record: vb.Record, noise: list[float]) -> vb.Problem:
    """With the paper's priors."""
    return vb.Problem(oscillator(), record, PRIORS, "bilinear", noise=noise)


if __name__ == "__main__":
    chosen = options(__doc__)
    samples, short, draws = (301, 101, 10) if chosen.quick else (SAMPLES, 501, 20)
    measured = measure(oscillator(), TRUTH, chosen.seed, RATE, samples, RESPONSES, refinement=40)
    whole, beginning = (posed(r, measured.noise) for r in (measured.record, measured.record.segment(0, short)))
    method = vb.AdaptiveMetropolis(draws=draws, chains=128, warmup=10, particles=64)
    run(
        "Bilinear oscillator, outputs alone", whole, measured, TRUTH, RESPONSES, method, chosen,
        lambda _: {"short_record": identified(beginning, TRUTH, method, chosen)[1]},
    )  # fmt: skip
