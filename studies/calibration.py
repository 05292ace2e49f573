"""How we know: simulation-based calibration of every route from a record to a posterior (ours).

Parameters are drawn from the priors of a small problem, a record is simulated from them, and the posterior inferred,
again and again. If all is right, the rank of the truth among draws of the posterior is uniform, intervals of 95 % hold
it in 95 % of the records, and a model of probability p is the true one in a share p of them. The control shows what the
test can see: the same posteriors with draws that lie 0.7 times as far from their mean, and with probabilities of models
squared. It must fail.

    trajectory   likelihood of the exact simulator with noise that has a prior, by data-annealed SMC; likewise with
                 noise that is integrated out (integrated)
    abc          progressive fitting and importance sampling by the distance from the record
    filter       a random force that nobody measured: unscented filter, tempered SMC
    ode_filter   the solver's error in the likelihood: EKF1 conditioned on the samples, IBIS; likewise with a force
                 that has corners (straight_lines), for which the solver is not made
    backbone     points of a backbone: first-order normal form, adaptive Metropolis
    models       which of five laws of the spring: data-annealed SMC
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from arguments import parser_of
from output_only import deliver

import vibayes as vb
from vibayes.calibration import Replication
from vibayes.calibration.ranks import ranks_of

RATE, SAMPLES, SHRUNK = 20.0, 120, 0.7
QUICK = 6
K, C, K3 = vb.LogNormal(60.0, 1.2), vb.LogNormal(0.6, 1.4), vb.LogNormal(200.0, 1.5)
NOISE = vb.LogNormal(0.005, 1.5)
SENSORS = [vb.Displacement("mass")]
Route = tuple[list[vb.Problem], Any]


def oscillator(*members: vb.Element) -> vb.Structure:
    """A mass with a damper."""
    return vb.Structure.single_dof(1.0, [vb.Damper("c"), *members], sensors=SENSORS)


def forced(samples: int = SAMPLES, deviation: float = 2.0) -> vb.Record:
    """A random force that was measured. Outputs play no part: they are simulated again and again."""
    force = vb.band_limited_noise(2, RATE, samples, deviation, high_hz=4.0)
    blank = np.sin(np.arange(samples))
    return vb.Record.from_arrays(rate=RATE, input=np.asarray(force.values)[:, 0], output=blank)


def trajectory() -> Route:
    """A Duffing oscillator; its noise has a prior."""
    priors = {"c": C, "k": K, "k3": K3, "s": NOISE}
    problem = vb.Problem(oscillator(vb.Duffing("k", "k3")), forced(), priors, "duffing", noise="s")
    return [problem], vb.DataAnnealedSMC(effective=200, populations=2, chains=40)


def integrated() -> Route:
    """The same with noise that is integrated out: 5 % of the clean output, whatever that is."""
    (problem,), method = trajectory()
    priors = {name: prior for name, prior in problem.priors.items() if name != "s"}
    return [replace(problem, priors=priors, noise=None)], method


def abc() -> Route:
    """The same, by distances."""
    return integrated()[0], vb.FollowAndWeigh(fits=20, searches=1, particles=100, draws=400, rounds=2)


def filtered() -> Route:
    """A linear oscillator under white noise that nobody measured."""
    structure = oscillator(vb.Spring("k")).driven_by(vb.WhiteNoise("S"))
    blank = vb.Record.from_arrays(rate=10.0, output=np.sin(np.arange(150)))
    priors = {"c": vb.LogNormal(1.0, 1.4), "k": vb.LogNormal(40.0, 1.2), "S": vb.LogNormal(1.0, 1.3)}
    problem = vb.Problem(structure, blank, priors, "linear", noise=0.02, filter=vb.UnscentedFilter())
    return [problem], vb.TemperedSMC(particles=400, max_moves=20)


def ode_filter() -> Route:
    """A Duffing oscillator with about sixteen samples, and as many steps, to a period; its force is smooth."""
    structure = oscillator(vb.PolynomialSpring(("k", "k3"), (1, 3)))
    priors, settings = {"c": C, "k": K, "k3": K3}, {"noise": 0.005, "filter": vb.ODEFilter(), "hold": vb.BandLimited()}
    problem = vb.Problem(structure, forced(), priors, "duffing", **settings)
    return [problem], vb.IBIS(particles=400, max_moves=20)


def straight_lines() -> Route:
    """The same with a force that goes straight from sample to sample: its corners are no part of the solver's prior."""
    (problem,), method = ode_filter()
    return [replace(problem, hold=vb.StraightLines())], method


def backbone() -> Route:
    """A Duffing oscillator, from frequencies at fifteen amplitudes."""
    structure = vb.Structure.single_dof(1.0, [vb.Duffing("k", "k3")])
    points = vb.BackbonePoints(np.linspace(1.0, 1.1, 15), np.linspace(0.1, 0.6, 15))
    priors = {"k": vb.LogNormal(1.0, 1.1), "k3": vb.Uniform(0.1, 1.0), "s": vb.LogNormal(0.005, 1.5)}
    method = vb.BackboneResidual(order=1, remainder=False)
    problem = vb.Problem(structure, points, priors, "duffing", noise="s", filter=method)
    return [problem], vb.AdaptiveMetropolis(chains=4, draws=400)


def models() -> Route:
    """Five laws of one oscillator, that differ by little more than the noise."""
    record, noise = forced(60, 6.0), {"s": vb.LogNormal(0.01, 1.5)}
    laws = {
        "linear": ([vb.Spring("k")], {}),
        "cubic": ([vb.Duffing("k", "k3")], {"k3": vb.LogNormal(100.0, 2.5)}),
        "trilinear": (
            [vb.PiecewiseLinearSpring.around_zero("k", ("k1",), ("d",))],
            {"k1": vb.LogNormal(60.0, 1.5), "d": vb.LogNormal(0.15, 1.5)},
        ),
        "friction": ([vb.Spring("k"), vb.CoulombFriction("f")], {"f": vb.LogNormal(0.5, 2.5)}),
        "bilinear": (
            [vb.BilinearHysteresis("k", "y", "r")],
            {"y": vb.LogNormal(8.0, 1.5), "r": vb.Uniform(0.05, 0.6)},
        ),
    }
    problems = [
        vb.Problem(oscillator(*members), record, {"c": C, "k": K, **own, **noise}, name, noise="s")
        for name, (members, own) in laws.items()
    ]
    method = vb.DataAnnealedSMC(effective=200, populations=2, chains=40, conditional_ess=0.1, margin=12.0)
    return problems, method


ROUTES: dict[str, Callable[[], Route]] = {
    "trajectory": trajectory, "abc": abc, "filter": filtered, "ode_filter": ode_filter, "backbone": backbone,
    "models": models,
}  # fmt: skip
BESIDE: dict[str, tuple[str, Callable[[], Route]]] = {
    "trajectory": ("integrated", integrated), "ode_filter": ("straight_lines", straight_lines),
}  # fmt: skip
"""Second cases of routes, by the name that they have in the result."""


def wrong(replication: Replication, names: list[str]) -> Replication:
    """A replication as it would be if draws lay closer to their mean, and probabilities of models were squared."""
    if replication.failure or replication.posterior is None:
        return replication
    squares = np.square(replication.probabilities)
    changed = replace(replication, probabilities=tuple(squares / squares.sum()), ranks={}, posterior=None)
    model = replication.posterior.models[names.index(replication.model)]
    if not len(model.weights):
        return changed
    means = model.mean()
    draws = {name: means[name] + SHRUNK * (each - means[name]) for name, each in model.draws.items()}
    closer = replace(model, draws=draws)
    rng = np.random.default_rng(replication.number)
    return replace(changed, ranks=ranks_of(rng, closer, replication.truth, np.nan)[0])


def calibrated(route: Route, seed: int, records: int) -> tuple[vb.Calibration, vb.Calibration]:
    """A route and its control."""
    problems, method = route
    names, controls = [each.name for each in problems], []

    def show(replication: Replication) -> None:
        controls.append(wrong(replication, names))

    found = vb.calibrate(seed, problems, method, records=records, progress=show)
    return found, replace(found, replications=tuple(controls))


def told(found: vb.Calibration, control: vb.Calibration) -> dict[str, Any]:
    """The numbers of a route, with those of its control."""
    return {**found.to_dict(), "control": control.to_dict()}


def main() -> None:
    """Calibrate one route."""
    parser = parser_of(__doc__, f"{QUICK} records")
    parser.add_argument("--route", choices=ROUTES, default="trajectory")
    parser.add_argument("--records", type=int, default=200)
    chosen = parser.parse_args()
    records, start = QUICK if chosen.quick else chosen.records, time.perf_counter()
    found, control = calibrated(ROUTES[chosen.route](), chosen.seed, records)
    result = {"route": chosen.route, **told(found, control)}
    if chosen.route in BESIDE:
        name, second = BESIDE[chosen.route]
        result[name] = told(*calibrated(second(), chosen.seed, records))
    result["seconds"] = time.perf_counter() - start
    if not chosen.json:
        print(f"{chosen.route}: {found}\n\ncontrol: {control}")
    if chosen.out:
        from vibayes import report

        chosen.out.mkdir(parents=True, exist_ok=True)
        report.save(report.figure_of_calibration(found), chosen.out / f"{chosen.route}.png")
        report.save(report.figure_of_calibration(control), chosen.out / f"{chosen.route}_control.png")
    deliver(result, chosen)


if __name__ == "__main__":
    main()
