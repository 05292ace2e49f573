"""The search for the first crossing, on polynomials whose roots are known.

A guard is followed through [0, 1] as the simulators follow one: search, stop at the crossing or at the safe point
the search offers, expand the rest of the step about that point, and beyond a crossing go on with the guard of the
other side.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.polynomial import polynomial

from vibayes.simulation.crossing import first_crossing
from vibayes.simulation.vectors import horner, horner_slope

ORDERS = pytest.mark.parametrize("order", [4, 20], ids=["Runge-Kutta", "Taylor"])
POWERS = pytest.mark.parametrize("order, power", [*((4, n) for n in range(1, 5)), *((20, n) for n in range(1, 10))])
BATCH = 256


@cache
def searcher(order: int):
    """The search over a batch of single guards of one degree: coefficients (BATCH, order + 1) and stretch."""

    def one_guard(row, stretch):
        series = [(row[k],) for k in range(order + 1)]
        return first_crossing(
            series, lambda theta: (horner(series, theta), horner_slope(series, theta)), stretch, jnp.ones(())
        )

    return jax.jit(jax.vmap(one_guard))


def shifted(rows: np.ndarray, at: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Coefficients in θ of p(at + scale θ), in extended precision."""
    rows = rows.copy()
    count = rows.shape[1]
    for first in range(count - 1):  # Horner's scheme, repeated
        for k in range(count - 2, first - 1, -1):
            rows[:, k] += at * rows[:, k + 1]
    return rows * scale[:, None] ** np.arange(count)


def follow(rows: np.ndarray, limit: int = 400) -> tuple[list[list[float]], np.ndarray]:
    """Crossings found on [0, 1] for each polynomial, and whether its end was reached."""
    order = rows.shape[1] - 1
    assert len(rows) <= BATCH
    exact = np.zeros((BATCH, order + 1), np.longdouble)
    exact[:, 0] = 1
    exact[: len(rows)] = rows
    at, sign, slack = np.zeros(BATCH, np.longdouble), np.ones(BATCH), np.zeros(BATCH)
    found: list[list[float]] = [[] for _ in range(BATCH)]
    done = np.zeros(BATCH, bool)
    for _ in range(limit):
        rest = np.where(done, 1, 1 - at)
        local = (sign[:, None] * shifted(exact, at, rest)).astype(float)
        local[:, 0] -= slack
        theta, fired = (np.asarray(a) for a in searcher(order)(local, np.minimum(1 / rest, 1e6).astype(float)))
        crossed = (fired >= 0) & ~done
        done |= ~crossed & (theta >= 1.0)
        at = np.where(done, at, at + theta * rest)
        value = sign * shifted(exact, at, np.ones(BATCH))[:, 0].astype(float)
        for i in np.flatnonzero(crossed):
            found[i].append(float(at[i]))
        sign = np.where(crossed, -sign, sign)
        # As after an event: the guard of the other side may lie below zero by what this one missed zero by.
        slack = np.where(crossed, np.where(-value < 0, -value, 0.0), slack)
        if done.all():
            break
    return found[: len(rows)], done[: len(rows)]


def from_roots(roots, extra=(1.0,), order: int = 4) -> np.ndarray:
    """Σ c_k θ^k = Π (θ − root) · extra(θ), padded to the order, in extended precision, positive at first."""
    row = np.array([1], np.longdouble)
    for root in roots:
        row = np.convolve(row, np.array([-np.longdouble(root), 1]))
    row = np.convolve(row, np.array(extra, np.longdouble))
    padded = np.zeros(order + 1, np.longdouble)
    padded[: len(row)] = row
    lead = padded[np.argmax(padded != 0)]
    return padded * np.sign(lead)


def simple_roots(row: np.ndarray) -> np.ndarray:
    """Roots in (0, 1) by sign changes on a fine grid, refined by bisection in extended precision."""
    grid = np.linspace(0, 1, 4001).astype(np.longdouble)
    values = polynomial.polyval(grid, row)
    change = np.flatnonzero(values[:-1] * values[1:] < 0)
    low, high = grid[change], grid[change + 1]
    for _ in range(60):
        middle = (low + high) / 2
        left = polynomial.polyval(low, row) * polynomial.polyval(middle, row) <= 0
        low, high = np.where(left, low, middle), np.where(left, middle, high)
    return (low + high).astype(float) / 2


# ---- random guards --------------------------------------------------------------------------------------------------


@cache
def random_guards(order: int, seed: int) -> np.ndarray:
    """Products of up to four roots in the step and a random factor, none beginning on its boundary."""
    rng = np.random.default_rng(seed)
    rows, most = [], (3, 1) if order == 4 else (4, 8)
    while len(rows) < BATCH:
        factors = rng.normal(size=most[1]) / 2.0 ** np.arange(most[1])
        row = from_roots(rng.uniform(0.01, 0.99, rng.integers(0, most[0] + 1)), factors, order)
        if row[0] > 1e-6 * np.abs(row).max():
            rows.append(row)
    return np.array(rows)


@pytest.mark.slow
@ORDERS
@pytest.mark.parametrize("seed", range(3))
def test_every_crossing_of_random_guards_is_found_in_order(order, seed):
    rows = random_guards(order, seed)
    found, done = follow(rows)
    assert done.all()
    for row, crossings in zip(rows, found, strict=True):
        np.testing.assert_allclose(crossings, simple_roots(row), rtol=0, atol=1e-3)


@pytest.mark.slow
@ORDERS
@pytest.mark.parametrize("seed", range(3))
def test_a_guard_is_zero_to_rounding_where_it_is_said_to_cross(order, seed):
    rows = random_guards(order, seed)
    worst = 0.0
    for row, crossings in zip(rows, follow(rows)[0], strict=True):
        values = polynomial.polyval(np.array(crossings), row.astype(float))
        worst = max(worst, float(np.abs(values).max(initial=0.0) / np.abs(row).sum()))
    assert worst < 1e-13


@pytest.mark.slow
@ORDERS
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    low=st.floats(0.0, 1.0),
    distance=st.floats(-6, 0).map(lambda power: 10.0**power),
    others=st.lists(st.floats(-3, 3), max_size=2),
    curve=st.floats(0.1, 10),
)
def test_pairs_of_crossings_down_to_a_millionth_apart_are_both_found(order, low, distance, others, curve):
    roots = [low, low + distance]
    assume(1e-3 < low and low + distance < 0.999)
    assume(all(abs(o - r) > 1e-2 and abs(o) > 1e-2 and abs(o - 1) > 1e-2 for o in others for r in roots))
    assume(len(others) < 2 or abs(others[0] - others[1]) > 1e-2)
    (found,), (done,) = follow(np.array([from_roots([*roots, *others], (curve,), order)]))
    expected = sorted(r for r in (*roots, *others) if 0 < r < 1)
    assert done and len(found) == len(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3)


@ORDERS
def test_a_guard_that_comes_close_but_stays_positive_is_not_reported(order):
    nearest = 10.0 ** -np.arange(1, 9)
    rows = [from_roots([], np.convolve([0.3**2 + gap, -0.6, 1.0], extra), order) for gap in nearest
            for extra in ([1.0], [2.0, -1.0], [1.0, 1.0, 0.5])]  # fmt: skip
    found, done = follow(np.array(rows))
    assert done.all()
    assert found == [[]] * len(rows)


@ORDERS
def test_a_crossing_beyond_the_end_of_the_step_is_left_to_the_next(order):
    rows = [from_roots([1.0 + beyond], (1.0,), order) for beyond in (1e-9, 1e-6, 1e-3, 1.0)]
    found, done = follow(np.array(rows))
    assert done.all()
    assert found == [[]] * len(rows)


# ---- starts on the boundary -----------------------------------------------------------------------------------------


@POWERS
def test_a_start_on_the_boundary_that_leads_inside_is_no_crossing(order, power):
    rows = np.zeros((2, order + 1))
    rows[:, power] = 1.0
    rows[1, power - 1] = 1e-300  # and with dust below it
    found, done = follow(rows)
    assert done.all() and found == [[], []]


@POWERS
def test_a_start_on_the_boundary_that_leads_outside_is_a_crossing_at_once(order, power):
    row = np.zeros((1, order + 1))
    row[0, power] = -1.0
    (found,), (done,) = follow(row)
    assert done and len(found) == 1 and found[0] <= 0.1


@ORDERS
@pytest.mark.parametrize("power, back", [(1, 0.5), (2, 0.5), (3, 0.5), (1, 1e-3), (2, 1e-3)])
def test_a_start_on_the_boundary_that_leads_inside_and_back_crosses_at_its_return(order, power, back):
    row = from_roots([0.0] * power + [back], (1.0,), order)
    (found,), (done,) = follow(row[None])
    assert done and found == pytest.approx([back], abs=1e-9)


@ORDERS
@pytest.mark.parametrize("power, back", [(1, 0.5), (2, 0.5), (3, 0.5), (1, 1e-3), (2, 1e-3)])
def test_a_start_on_the_boundary_that_leads_outside_and_back_crosses_twice(order, power, back):
    row = -from_roots([0.0] * power + [back], (1.0,), order)
    (found,), (done,) = follow(row[None])
    assert done and found == pytest.approx([0.0, back], abs=1e-9)


def test_rounding_noise_at_a_start_on_the_boundary_does_not_matter():
    rows = np.zeros((4, 5))
    rows[:, 1] = 1.0
    rows[:2, 0] = 1e-17, -1e-17
    rows[2:, 1], rows[2:, 2] = (1e-17, -1e-17), 1.0
    found, done = follow(rows)
    assert done.all() and found == [[]] * 4


def test_a_guard_clearly_below_zero_has_fallen_already():
    (found,), _ = follow(np.array([[-1.0, 0.3, 0.2, 0.0, 0.0]]), limit=1)
    assert found == [0.0]


# ---- several guards -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("stacked", [False, True], ids=["spread", "stacked"])
def test_of_several_guards_the_first_to_fall_is_named(stacked):
    roots = np.array([0.7, 0.2, 0.4])
    series = [jnp.asarray(roots), -jnp.ones(3), jnp.zeros(3), jnp.zeros(3), jnp.zeros(3)]
    trees = series if stacked else [tuple(c) for c in series]
    evaluate = lambda theta: (horner(trees, theta), horner_slope(trees, theta))  # noqa: E731
    theta, fired = jax.jit(lambda: first_crossing(trees, evaluate, jnp.ones(()), jnp.ones(())))()
    assert int(fired) == 1
    assert float(theta) == pytest.approx(0.2, abs=1e-15)


def test_without_guards_the_step_reaches_its_end():
    theta, fired = first_crossing([], lambda theta: ((), ()), jnp.ones(()), jnp.ones(()))
    assert (float(theta), int(fired)) == (1.0, -1)


@pytest.mark.slow
def test_the_time_of_a_crossing_has_the_derivative_of_the_implicit_function():
    @jax.jit
    def crossing(a):
        series = [(a,), (0.0 * a - 1.0,), (0.5 * a,), (0.0 * a,), (0.0 * a,)]
        return first_crossing(
            series, lambda theta: (horner(series, theta), horner_slope(series, theta)), jnp.ones(()), jnp.ones(())
        ).theta

    a = 0.3  # a − θ + a θ²/2 = 0
    theta = (1 - np.sqrt(1 - 2 * a * a)) / a
    assert float(crossing(a)) == pytest.approx(theta, abs=1e-13)
    assert float(jax.grad(crossing)(a)) == pytest.approx((1 + theta**2 / 2) / (1 - a * theta), rel=1e-9)
