"""Makes report.png beside it: the first screen of a report, as Chromium shows it.

python docs/images/report.py
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import vibayes as vb
from vibayes.report import write_report


def posterior():
    """Which law damps a decay, where one parameter does nothing."""
    time, rng = np.arange(600) / 50.0, np.random.default_rng(0)
    clean = np.exp(-0.35 * time) * np.cos(6.0 * time)
    record = vb.Record.from_arrays(
        rate=50.0, output={"drift": clean + 0.02 * rng.normal(size=600)}, units={"drift": "mm"}
    )

    def viscous(rate, frequency, offset):
        return np.exp(-rate[:, None] * time) * np.cos(frequency[:, None] * time)

    def friction(loss, frequency):
        return np.clip(1.0 - loss[:, None] * time, 0.0, None) * np.cos(frequency[:, None] * time)

    frequency, loss = vb.Uniform(4.0, 8.0), vb.Uniform(0.02, 0.5)
    priors = {"rate": vb.Uniform(0.05, 1.0), "frequency": frequency, "offset": vb.Uniform(0.0, 1.0)}
    problems = [
        vb.Problem(viscous, record, priors, "viscous damping", vectorised=True),
        vb.Problem(friction, record, {"loss": loss, "frequency": frequency}, "friction", vectorised=True),
    ]
    return vb.infer(0, problems, vb.FollowAndWeigh(particles=200, draws=1000))


def main():
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    assert browser, "this needs Chromium"
    picture = Path(__file__).with_suffix(".png")
    with tempfile.TemporaryDirectory() as folder:
        intro = "A release test of a storey: which law damps it?"
        page = write_report(posterior(), f"{folder}/report.html", title="Damping of the storey", intro=intro)
        flags = "--headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=20000"
        places = [f"--user-data-dir={folder}/profile", "--window-size=1000,1250", f"--screenshot={picture}"]
        subprocess.run([browser, *flags.split(), *places, page.as_uri()], check=True, timeout=120)


if __name__ == "__main__":
    main()
