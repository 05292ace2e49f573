"""A static piecewise-linear map of measured dampers (section 5): force over velocity, y = f(v - v0).

Two measured dampers stand in for the shock absorber of the paper, which cannot be had: `mr_damper`, a
magneto-rheological damper under random motion, with a training and a test part of its own; and `shock_absorber`, a
damper on a dynamometer, whose velocity is the derivative of its measured displacement, the first five sevenths for
training and the rest for the test. Both forces are taken positive along the velocity. Priors are those of table 3; the
paper gives none for the offset v0, which has that of the break points here.

Neither damper is a static map: both have hysteresis, which is most of what is left over. That is no white noise, so its
likelihood does not tell what to believe: all maps within 1.05 times the smallest distance count alike (`--excess`).
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from baselines import ahead_of, nmse, rmse, told
from piecewise import NAMES, figures_of, method_of, names_of, options
from scipy.io import loadmat
from scipy.signal import savgol_filter

import vibayes as vb
from vibayes import report
from vibayes.constraints import slopes_from_left

VELOCITY = vb.Uniform(-0.5, 0.8)
COEFFICIENT = vb.LogUniform(1e2, 1e4)
TOLERANCE = 1.05
"""Times the smallest distance: a choice of ours, which decides between models (`--excess`)."""


def mr_damper(data: Path) -> tuple[vb.Record, vb.Record]:
    """Training and test part; velocity in m/s."""
    table = loadmat(data / "mr_damper" / "mrdamper.mat")
    return tuple(
        _record(200.0, table[u].ravel() / 100.0, -table[y].ravel()) for u, y in (("U", "Y"), ("U_val", "Y_val"))
    )


def shock_absorber(data: Path) -> tuple[vb.Record, vb.Record]:
    """The faster run, velocity by a smoothing derivative."""
    with open(data / "shock_absorber" / "t1_2_2_24_24_s5_n10_100psi.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    time = np.array([datetime.fromisoformat(row["Timestamp"]).timestamp() for row in rows])
    force, travel = (np.array([float(row[name]) for row in rows]) for name in ("Force (N)", "Displacement (mm)"))
    rate = (len(time) - 1) / (time[-1] - time[0])
    velocity = savgol_filter(travel / 1000.0, 11, 2, deriv=1, delta=1.0 / rate)
    force = force * np.sign(np.corrcoef(force, velocity)[0, 1])
    cut = len(time) * 5 // 7
    return _record(rate, velocity[:cut], force[:cut]), _record(rate, velocity[cut:], force[cut:])


def _record(rate: float, velocity: np.ndarray, force: np.ndarray) -> vb.Record:
    units = {"velocity": "m/s", "force": "N"}
    return vb.Record.from_arrays(rate=rate, input={"velocity": velocity}, output={"force": force}, units=units)


def force_of(velocity: np.ndarray, slopes: np.ndarray, points: list[np.ndarray]) -> np.ndarray:
    """Continuous piecewise-linear force through zero, of shape (sets, samples).

    From zero outwards, each break point changes the slope on its far side.
    """
    rising = [point >= 0 for point in points]
    central = np.sum([~side for side in rising], axis=0) if points else np.zeros(slopes.shape[1], int)
    force = np.take_along_axis(slopes, np.broadcast_to(central, (1, slopes.shape[1])), axis=0)[0][:, None] * velocity
    for i, (point, right) in enumerate(zip(points, rising, strict=True)):
        away = velocity - point[:, None]
        beyond = np.where(right[:, None], np.maximum(away, 0.0), -np.minimum(away, 0.0))
        force += (slopes[i + 1] - slopes[i])[:, None] * beyond
    return force


@dataclass(frozen=True)
class StaticMap:
    """Force of a piecewise-linear damper over a measured velocity."""

    damper: vb.PiecewiseLinearDamper
    velocity: np.ndarray

    def __call__(self, v0: np.ndarray, **values: np.ndarray) -> np.ndarray:
        """Forces of all sets, (sets, samples)."""
        points = [values[point] for point in self.damper.breaks]
        return force_of(self.velocity - v0[:, None], slopes_from_left(self.damper, values), points)

    def regions_visited(self, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Regions between the least and the largest velocity that was measured, (sets, regions)."""
        points = np.array([values[point] for point in self.damper.breaks]).reshape(len(self.damper.breaks), -1)
        low, high = ((points < end - values["v0"]).sum(axis=0) for end in (self.velocity.min(), self.velocity.max()))
        numbers = np.arange(len(points) + 1)
        return {"damper": (low[:, None] <= numbers) & (numbers <= high[:, None])}


def candidate(record: vb.Record, breaks: int) -> vb.Problem:
    """A map with this many break points."""
    slopes, points = names_of("c", breaks), names_of("v", breaks)
    damper = vb.PiecewiseLinearDamper.around_zero("c0", slopes, points)
    priors = {
        "v0": VELOCITY, "c0": COEFFICIENT, **dict.fromkeys(slopes, COEFFICIENT), **dict.fromkeys(points, VELOCITY),
    }  # fmt: skip
    constraints = [vb.distinct_slopes(damper, 0.05)]
    if breaks > 1:
        constraints.append(vb.Increasing(points, slopes))
    return vb.Problem(
        StaticMap(damper, record.input[:, 0]),
        record,
        priors,
        NAMES[breaks],
        constraints,
        sequential=False,
        vectorised=True,
    )


def identify(name: str, parts: tuple[vb.Record, vb.Record], chosen: Any) -> dict[str, Any]:
    """One damper: infer on the training part, check on the test part."""
    train, test = parts
    posterior = vb.infer(
        chosen.seed,
        [candidate(train, breaks) for breaks in range(4)],
        method_of(chosen, {"excess": chosen.excess}, particles=2000, first=100.0),
        progress=not chosen.json,
    )
    print(f"{name}, seed {chosen.seed}\n{posterior.summary()}")
    errors: dict[str, float] = {}
    naive = naive_of(train, test)
    told(naive)
    for model in posterior:
        if len(model.weights):
            again = candidate(test, NAMES.index(model.name))
            draws = model.resampled(chosen.seed, 200)
            errors[model.name] = vb.NMSE().between(test, again.model(**draws).mean(axis=0)[:, None])
            print(f"  {model.name}: NMSE of the mean prediction on the test part {errors[model.name]:.3f}")
    if chosen.out:
        folder = chosen.out / name
        folder.mkdir(parents=True, exist_ok=True)
        report.save(report.figure_of_trace(posterior), folder / "trace.png")
        report.save(report.figure_of_parameters(posterior.selected), folder / "parameters.png")
        report.save(report.figure_of_prediction(vb.predict(chosen.seed, posterior)), folder / "prediction.png")
    return figures_of(posterior) | {"test_nmse": errors, "naive": naive}


def naive_of(train: vb.Record, test: vb.Record) -> dict[str, float]:
    """NMSE on the test part of the last value and a parabola, a sample ahead, and of a straight line over velocity."""
    force = test.output[:, 0]
    line = np.polyfit(train.input[:, 0], train.output[:, 0], 1)
    errors = {**ahead_of(force), "linear_model": rmse(np.polyval(line, test.input[:, 0]), force)}
    return {name: nmse(error, force) for name, error in errors.items()}


def main() -> None:
    """Both dampers; the JSON has the first at its top."""
    chosen = options(
        __doc__, excess={"type": float, "default": TOLERANCE, "help": "tolerance, times the smallest distance"}
    )
    dampers = {"mr_damper": mr_damper, "shock_absorber": shock_absorber}
    results = {name: identify(name, read(chosen.data), chosen) for name, read in dampers.items()}
    if chosen.json:
        print(json.dumps({**results["mr_damper"], "shock_absorber": results["shock_absorber"]}))


if __name__ == "__main__":
    main()
