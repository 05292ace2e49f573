"""The ODE filter against an independent library, joint Gaussians, its order, and its own opinion of its error."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb
from vibayes.solvers.wiener import wiener

SENSORS = [vb.Displacement("mass"), vb.Velocity("mass")]
MEMBERS = {
    "duffing": [vb.Spring(1.0), vb.Damper(0.1), vb.PolynomialSpring((0.5,), (3,))],
    "linear": [vb.Spring(1.0), vb.Damper(0.1)],
    "bouc-wen": [vb.Spring(0.5), vb.Damper(0.1), vb.BoucWen(A=0.5, beta=0.25, gamma=0.25)],
}


def posed(kind, rate, seconds, **settings):
    """An oscillator under a cosine, and its solver; what was measured does not matter."""
    times = np.arange(round(seconds * rate) + 1) / rate
    structure = vb.Structure.single_dof("m", MEMBERS[kind], sensors=SENSORS)
    output = np.stack([np.sin(times), np.cos(times)], axis=1)
    record = vb.Record.from_arrays(rate=rate, input=np.cos(1.3 * times), output=output)
    settings = {"linearised": False, "corrected": False} | settings
    return vb.solving(structure, record, 0.1, vb.ODEFilter(**settings))


@eqx.filter_jit
def solved(prepared):
    """Mean and columns of displacement and velocity at every sample, of one set."""
    increment, columns = prepared.increments({"m": jnp.ones(1)})
    return increment.expected[..., 0], columns[..., 0]


def deviations(columns):
    return np.sqrt(np.sum(np.asarray(columns) ** 2, axis=2))


@pytest.fixture(scope="module")
def exact():
    """Displacement and velocity at 40 Hz, by small steps of a method of high order."""
    found = {}
    for kind, members in MEMBERS.items():
        structure = vb.Structure.single_dof(1.0, members, sensors=SENSORS)
        fine = vb.simulate(structure, [vb.Sine(1.0, 1.3 / (2.0 * np.pi), phase=np.pi / 2)], rate=40.0, samples=801)
        found[kind] = np.asarray(fine.outputs)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("second_order", [False, True])
@pytest.mark.parametrize("linearised", [False, True])
@pytest.mark.parametrize("order", [2, 3, 4])
def test_it_is_the_filter_of_probdiffeq(order, linearised, second_order):
    pytest.importorskip("probdiffeq")
    from probdiffeq import ivpsolve, probdiffeq

    scale, rate, seconds = 1.7, 20.0, 3.0
    mine = posed(
        "duffing", rate, seconds, order=order, linearised=linearised, second_order=second_order, diffusion=scale**2
    )
    solver, (state, modes, diffusion), _ = mine._prepared({"m": jnp.ones(1)})
    units = wiener(order, 1.0 / rate).scales
    begun = solver.begin(state, modes, diffusion).functions[..., 0] * units
    times = np.arange(round(seconds * rate) + 1) / rate
    forces = jnp.cos(1.3 * times)

    def acceleration(x, v, t):
        return jnp.interp(t, times, forces) - x - 0.1 * v - 0.5 * x**3

    model, jacobian = probdiffeq.state_space_model_dense(), probdiffeq.jacobian_materialize()
    if second_order:
        ode = probdiffeq.ode_order_two(lambda x, v, *, t: acceleration(x, v, t), jacobian=jacobian)
    else:
        ode = probdiffeq.ode(lambda y, *, t: jnp.stack([y[1], acceleration(y[0], y[1], t)]), jacobian=jacobian)
    prior = model.prior_wiener_integrated(list(begun.T), output_scale=scale * jnp.ones(len(begun)))
    constraint = model.constraint_ode_ts1(ode) if linearised else model.constraint_ode_ts0(ode)
    method: Any = probdiffeq.solver(strategy=probdiffeq.strategy_filter(), constraint=constraint)
    theirs = jax.jit(ivpsolve.solve_fixed_grid(solver=method))(prior, grid=jnp.asarray(times))
    mean, columns = solved(mine)
    if second_order:
        wanted = [jnp.concatenate([part[0], part[1]], axis=1) for part in (theirs.u.mean, theirs.u.std)]
    else:
        wanted = [theirs.u.mean[0], theirs.u.std[0]]
    assert np.allclose(mean, wanted[0], rtol=1e-8, atol=1e-8 * np.max(np.abs(wanted[0])))
    assert np.allclose(deviations(columns)[1:], wanted[1][1:], rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "rates"),
    [
        (dict(order=1), (20, 40)),
        (dict(order=2), (20, 40)),
        (dict(order=3), (20, 40)),
        (dict(order=4), (20, 40)),
        (dict(order=2, second_order=True), (10, 20, 40)),
        (dict(order=3, second_order=True), (10, 20, 40)),
        (dict(order=2, linearised=True), (10, 20, 40)),
        (dict(order=3, linearised=True), (10, 20, 40)),
        (dict(order=3, linearised=True, second_order=True), (10, 20, 40)),
    ],
)
def test_the_error_falls_at_least_like_the_power_of_the_step_that_is_claimed(settings, rates, exact):
    errors = []
    for rate in rates:
        mean, _ = solved(posed("duffing", float(rate), 20.0, **settings))
        errors.append(np.sqrt(np.mean((np.asarray(mean) - exact["duffing"][:: 40 // rate]) ** 2)))
    order = -np.polyfit(np.log(rates), np.log(errors), 1)[0]
    assert order > settings["order"] - 0.1
    assert order < settings["order"] + 2.5  # a sum that is too good is no order of this method


def ratio_of_errors(exact, kind, rate, **settings):
    """Root mean square of errors in units of the deviation the solver gives them."""
    mean, columns = solved(posed(kind, float(rate), 20.0, **settings))
    errors = (np.asarray(mean) - exact[kind][:: 40 // rate])[2:]
    return np.sqrt(np.mean((errors / deviations(columns)[2:]) ** 2))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "order"), [("duffing", 3), ("linear", 3), ("bouc-wen", 2)])
@pytest.mark.parametrize("rate", [4, 5, 8, 10])
def test_it_knows_about_how_wrong_it_is(kind, order, rate, exact):
    assert 0.4 < ratio_of_errors(exact, kind, rate, order=order, linearised=True) < 1.6


def test_covariances_that_all_share_do_not_know_how_errors_grow(exact):
    assert ratio_of_errors(exact, "duffing", 5, order=2) > 5.0


@pytest.mark.slow
def test_a_diffusion_of_all_steps_is_the_average_of_what_they_tell():
    running, whole = (posed("duffing", 10.0, 20.0, order=2, diffusion=d) for d in (vb.Running(), vb.Global()))
    mean, columns = solved(running)
    other, level = solved(whole)
    assert np.allclose(mean, other, rtol=1e-12)  # EKF0's means do not know of it
    assert np.allclose(deviations(columns)[-1], deviations(level)[-1], rtol=1e-12)
    assert not np.allclose(deviations(columns)[20], deviations(level)[20], rtol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("second_order", [False, True])
def test_increments_on_a_linear_equation_are_those_of_the_joint_gaussian(corrected, second_order):
    order, rate, samples, noise = 3, 5.0, 7, 0.05
    prepared = posed(
        "linear", rate, (samples - 1) / rate, order=order, linearised=True, corrected=corrected, diffusion=0.8,
        second_order=second_order, start_displacement=0.2, start_velocity=0.3,
    )  # fmt: skip
    prepared = eqx.tree_at(lambda p: p.noise.levels, prepared, (noise, noise))
    increments, _ = prepared.increments({"m": jnp.ones(1)})
    solver, begins, _ = prepared._prepared({"m": jnp.ones(1)})
    begun = solver.begin(*begins)
    process, told = wiener(order, 1.0 / rate), solver.layout.told
    many = (order + 1) * len(told)
    step = np.kron(np.eye(len(told)), process.transition)
    drive = np.sqrt(0.8) * np.kron(np.eye(len(told)), process.root)
    # Every function at every sample is an affine function of independent standard normals.
    mean, columns = [np.asarray(begun.functions[..., 0]).ravel()], [np.asarray(begun.root[..., 0])]
    for _ in range(1, samples):
        mean.append(step @ mean[-1])
        columns.append(np.concatenate([step @ columns[-1], drive], axis=1))
    width = columns[-1].shape[1]
    columns = [np.pad(c, ((0, 0), (0, width - c.shape[1]))) for c in columns]

    def readings(functions):
        return np.asarray(solver.layout.state(jnp.asarray(functions).reshape(len(told), order + 1), process.scales))[:2]

    def equations(functions, number):
        state = solver.layout.state(jnp.asarray(functions).reshape(len(told), order + 1, 1), process.scales)
        rates = solver.layout.rates(solver.moving.rates(state, begins[1], prepared.drive.at[number]))[:, 0]
        told_by = jnp.asarray(functions).reshape(len(told), -1)[np.arange(len(told)), np.array(told)]
        return np.asarray(told_by - rates / process.scales[np.array(told)])

    def linear(function, *more):
        zero = function(np.zeros(many), *more)
        return np.stack([function(row, *more) - zero for row in np.eye(many)], axis=1), zero

    read, _ = linear(readings)
    values, rows, seen = [], [], []
    for number in range(samples):
        if number:
            matrix, zero = linear(equations, number)
            values += list(-(matrix @ mean[number] + zero))
            rows += list(matrix @ columns[number])
            seen += [0.0] * len(told)
        known_value, known_rows, known_noise = np.array(values), np.array(rows).reshape(-1, width), np.array(seen)
        at, here = read @ mean[number], read @ columns[number]
        if len(known_value):
            gram = known_rows @ known_rows.T + np.diag(known_noise**2)
            gain = np.linalg.solve(gram, known_rows @ here.T).T
            at, cov = at + gain @ known_value, here @ here.T - gain @ known_rows @ here.T
        else:
            cov = here @ here.T
        y = np.asarray(prepared.outputs[number])
        cov = cov + noise**2 * np.eye(2)
        off = y - at
        wanted = -0.5 * (off @ np.linalg.solve(cov, off) + np.linalg.slogdet(2.0 * np.pi * cov)[1])
        assert float(increments.log_likelihood[number, 0]) == pytest.approx(wanted, rel=1e-6, abs=1e-6)
        if corrected:
            values += list(y - read @ mean[number])
            rows += list(read @ columns[number])
            seen += [noise, noise]


def test_a_step_that_is_too_large_leaves_no_likelihood_and_no_number_that_is_wrong():
    prepared = posed("linear", 0.3, 600.0, order=3)
    assert not np.isfinite(float(prepared.log_likelihoods({"m": jnp.array([0.01])})[0]))


@pytest.mark.slow
def test_sets_side_by_side_are_what_each_is_alone():
    masses = jnp.array([0.8, 1.0, 1.3])
    for settings in (dict(order=3), dict(order=2, linearised=True), dict(order=2, corrected=True)):
        prepared = posed("bouc-wen", 10.0, 5.0, **settings)
        together = prepared.log_likelihoods({"m": masses})
        assert np.allclose(together, [prepared.log_likelihood({"m": m}) for m in masses], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: vb.ODEFilter(order=6), "from 1 to 5"),
        (lambda: vb.ODEFilter(order=1, second_order=True), "from 2 to 5"),
        (lambda: vb.ODEFilter(steps=0), "whole number from 1"),
        (lambda: vb.ODEFilter(diffusion=-1.0), "positive numbers or names"),
        (lambda: vb.ODEFilter(linearised=False, corrected=False, start_velocity=1.0), "linearised or corrected"),
        (lambda: vb.ODEFilter(displacement=[1.0, None]), "numbers or names"),
        (lambda: posed("linear", 5.0, 2.0, diffusion=(1.0, 2.0, 3.0)), r"one per function \(2\)"),
        (lambda: posed("linear", 5.0, 2.0, velocity=(1.0, 2.0)), r"one per mass \(1\)"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_words(make, words):
    with pytest.raises(vb.InvalidInput, match=words):
        make()
