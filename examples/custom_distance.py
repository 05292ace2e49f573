"""A distance of your own: compare spectra instead of histories, when the phase of the response does not matter.

Run it with ``python examples/custom_distance.py``; it draws both spectra into custom_distance.png.
"""

import matplotlib.pyplot as plt
import numpy as np

import vibayes as vb

rate, samples = 50.0, 400
time = np.arange(samples) / rate
rng = np.random.default_rng(0)


def response(frequency, damping):
    """Free decay of an oscillator, of unknown phase."""
    turns = 2.0 * np.pi * frequency
    return np.exp(-damping * turns * time) * np.cos(turns * time)


shifted = np.exp(-0.02 * 2 * np.pi * 3.0 * time) * np.cos(2 * np.pi * 3.0 * time + 1.0)
record = vb.Record.from_arrays(rate=rate, output={"x": shifted + 0.02 * rng.standard_normal(samples)})


def spectral(measured, simulated):
    """Relative squared difference of the amplitude spectra, in percent."""
    one, other = (np.abs(np.fft.rfft(y[:, 0])) for y in (measured, simulated))
    return 100.0 * np.sum((one - other) ** 2) / np.sum(one**2)


problem = vb.Problem(
    response, record, {"frequency": vb.Uniform(1.0, 6.0), "damping": vb.LogUniform(0.005, 0.1)}, distance=spectral
)
posterior = vb.infer(0, problem, vb.FollowAndWeigh(particles=200, draws=500, rounds=2))
print({name: round(value, 3) for name, value in posterior.selected.mean().items()})

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
frequencies, found = np.fft.rfftfreq(samples, 1.0 / rate), response(**posterior.selected.mean())
axes.plot(frequencies, np.abs(np.fft.rfft(record.output[:, 0])), "o", color="#555555", markersize=4, label="measured")
axes.plot(frequencies, np.abs(np.fft.rfft(found)), color="#0072B2", label="mean of the posterior")
axes.set(xlabel="frequency (Hz)", ylabel="amplitude", xlim=(0.0, 8.0))
axes.legend(frameon=False)
figure.savefig("custom_distance.png", dpi=150)
