"""Small posteriors of every kind of problem, for tests of reports."""

import numpy as np

import vibayes as vb
from vibayes.posterior import Level, ModelPosterior, Posterior
from vibayes.priors import normal_scores
from vibayes.samplers.likely import Sample

TIME = np.arange(240) / 40.0


def believed(problem, centre, spread=0.01, probability=1.0, count=400, simulations=5000, failures=0):
    """A model as if it had been sampled: draws around the truth, without the time that sampling takes."""
    errors = np.random.default_rng(7).normal(size=(count, len(centre)))
    draws = {name: value * (1.0 + spread * errors[:, i]) for i, (name, value) in enumerate(centre.items())}
    draws = {name: draws[name] for name in problem.parameters}
    weights, logs = np.full(count, 1.0 / count), -0.5 * np.sum(errors**2, axis=1)
    shared = problem, probability, 0.0, -20.0, 0.05, draws, weights
    if not problem.likely:
        return ModelPosterior(*shared, -logs, simulations, failures)
    points = np.stack([normal_scores(problem.priors[n], v) for n, v in draws.items()], axis=1)
    sample = Sample(points.reshape(4, -1, len(draws)), logs.reshape(4, -1), 0.3, -20.0, 0.05)
    return ModelPosterior(*shared, np.empty(0), simulations, failures, "", logs, 4, sample)


def empty(problem):
    """A model that never came near the record."""
    nothing = {name: np.empty(0) for name in problem.parameters}
    return ModelPosterior(problem, 0.0, 0.0, -np.inf, 0.0, nothing, np.empty(0), np.empty(0), 5000, 12)


def posterior_of(*models, threshold=float("nan")):
    """With a trace of a few levels."""
    chances = tuple(model.probability for model in models)
    trace = [
        Level(
            "sample",
            model.name,
            threshold * 4.0 / n,
            1.0,
            0.3 + 0.1 * n,
            (10,) * len(models),
            chances,
            900 * n,
            2.0 * n,
        )
        for model in models
        for n in range(1, 5)
    ]
    return Posterior(models, threshold, tuple(trace), 9.0)


def piecewise():
    """Two models of a bilinear spring, without a likelihood."""
    spring = vb.PiecewiseLinearSpring.around_zero("k0", ("k1",), ("d1",)).between("ground", "mass", name="spring")
    seen = [vb.RelativeAcceleration("mass")]
    bent = vb.Structure.single_dof(1.0, [vb.Damper(1.2), spring], sensors=seen)
    straight = vb.Structure.single_dof(1.0, [vb.Damper(1.2), vb.Spring("k0")], sensors=seen)
    truth = {"k0": 600.0, "k1": 2500.0, "d1": 3e-3}
    force = vb.band_limited_noise(3, 200.0, 400, standard_deviation=2.0, high_hz=20.0)
    clean = np.asarray(vb.simulate(bent, force, truth).outputs)[:, 0]
    noisy = clean + 0.03 * clean.std() * np.random.default_rng(1).normal(size=len(clean))
    record = vb.Record.from_arrays(
        rate=200.0, input={"force": np.asarray(force.values)[:, 0]}, output={"acceleration": noisy},
        units={"force": "N", "acceleration": "m/s^2"}, metadata={"conditioning": [{"step": "Detrend", "kind": "mean"}]},
    )  # fmt: skip
    stiff = vb.LogUniform(200.0, 2000.0)
    priors = {"k0": stiff, "k1": vb.LogUniform(500.0, 8000.0), "d1": vb.Uniform(0.5e-3, 8e-3)}
    problems = [
        vb.Problem(straight, record, {"k0": stiff}, "linear <spring>"),
        vb.Problem(bent, record, priors, "bilinear spring"),
    ]
    return posterior_of(empty(problems[0]), believed(problems[1], truth, 0.003), threshold=0.1)


def outputs_alone():
    """A shaken hysteretic storey whose ground motion nobody measured."""
    bent = vb.BoucWen(40.0, 0.5, 0.5).between("ground", "m1", name="wall")
    storey = vb.Structure({"m1": 1.0}, [vb.Spring("k").between("ground", "m1"), bent,
                           vb.Damper(0.8).between("ground", "m1")], [vb.BaseAcceleration()],
                          [vb.AbsoluteAcceleration("m1")])  # fmt: skip
    storey = storey.driven_by(vb.KanaiTajimi(12.0, 0.4, "S0"))
    truth = {"k": 30.0, "S0": 0.5}
    ground = vb.realise(5, storey, truth, rate=40.0, samples=240, refinement=8)
    clean = np.asarray(vb.simulate(storey, ground, truth, states=False).outputs)[::8]
    noisy = clean + 0.1 * clean.std() * np.random.default_rng(0).normal(size=clean.shape)
    record = vb.Record.from_arrays(rate=40.0, output={"floor": noisy[:, 0]}, units={"floor": "m/s^2"})
    priors = {"k": vb.LogUniform(5.0, 200.0), "S0": vb.LogNormal(0.5, 3.0), "sigma": vb.LogUniform(0.01, 2.0)}
    problem = vb.Problem(storey, record, priors, "storey", noise="sigma")
    return posterior_of(believed(problem, truth | {"sigma": 0.1 * clean.std()}, 0.05))


def solver():
    """A forced oscillator, with the solver's error in the likelihood."""
    members = [
        vb.Spring("k"),
        vb.Damper("c"),
        vb.PolynomialSpring((40.0,), (3,)).between("ground", "mass", name="cubic"),
    ]
    structure = vb.Structure.single_dof(1.0, members, sensors=[vb.Displacement("mass")])
    force = 4.0 * np.sin(2.6 * TIME) + 3.0 * np.sin(5.1 * TIME)
    signal = vb.Sampled(force, 40.0, vb.StraightLines())
    clean = np.asarray(vb.simulate(structure, signal, {"k": 30.0, "c": 0.6}).outputs)[:, 0]
    noisy = clean + 0.01 * np.random.default_rng(0).normal(size=len(clean))
    record = vb.Record.from_arrays(
        rate=40.0, input={"force": force}, output={"gap": noisy}, units={"force": "N", "gap": "m"}
    )
    priors = {"k": vb.LogNormal(25.0, 1.4), "c": vb.LogNormal(0.5, 2.0), "sigma": vb.LogUniform(1e-3, 0.1)}
    problem = vb.Problem(
        structure,
        record,
        priors,
        "cubic",
        noise="sigma",
        filter=vb.ODEFilter(order=2, linearised=False, corrected=False),
    )
    return posterior_of(believed(problem, {"k": 30.0, "c": 0.6, "sigma": 0.01}))


def backbone():
    """Points of a backbone of a Duffing oscillator."""
    duffing = vb.Structure.single_dof(1.0, [vb.Duffing("k", "a")])
    sizes, rng = np.linspace(0.1, 0.6, 40), np.random.default_rng(0)
    frequency = np.sqrt(4.0 + 0.75 * 1.5 * sizes**2) + 2e-3 * rng.normal(size=40)
    points = vb.BackbonePoints(frequency, sizes)
    priors = {"k": vb.LogUniform(1.0, 10.0), "a": vb.Uniform(0.0, 5.0), "s": vb.LogUniform(1e-4, 0.1)}
    problem = vb.Problem(duffing, points, priors, "Duffing", noise="s")
    return posterior_of(believed(problem, {"k": 4.0, "a": 1.5, "s": 3e-3}))


def function():
    """A simulator of the user's own, of a long record, with a parameter that does nothing."""
    time = np.arange(8000) / 1000.0
    rng = np.random.default_rng(0)

    def decay(rate, unused):
        return np.exp(-rate[:, None] * time) * np.cos(30.0 * time)

    clean = np.exp(-0.3 * time) * np.cos(30.0 * time)
    record = vb.Record.from_arrays(rate=1000.0, output={"x": clean + 0.02 * rng.normal(size=len(time))})
    priors = {"rate": vb.Uniform(0.1, 1.0), "unused": vb.Uniform(0.0, 1.0)}
    problem = vb.Problem(decay, record, priors, vectorised=True)
    model = believed(problem, {"rate": 0.3, "unused": 0.5}, 0.002)
    model.draws["unused"] = np.random.default_rng(1).random(len(model.weights))
    return posterior_of(model, threshold=0.9)


KINDS = {f.__name__: f for f in (function, piecewise, outputs_alone, solver, backbone)}
