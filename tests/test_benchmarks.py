"""The peers of the benchmark solve the same equations as the library. Nothing here is about speed."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vibayes as vb
from vibayes.candidates import ProblemCandidate
from vibayes.prior_space import shares_at

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import cases, peer_c, peer_pyabc, peer_scipy, posed, unmeasured

from vibayes.filters.verb import log_likelihoods

TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-18}


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trilinear():
    case = cases.trilinear(sets=8, samples=120)
    return case, case.simulate(vb.Exact())


@pytest.fixture(scope="module")
def bouc_wen():
    case = cases.bouc_wen(sets=2, samples=60)
    return case, case.simulate(vb.EventLocated(rtol=1e-10))


def c_loop(case, **options):
    if peer_c.compiler() is None:
        pytest.skip("no C compiler")
    return peer_c.displacements(case.parameters, case.input, case.interval, **options)


def test_the_cases_cross_into_every_region(trilinear):
    case, exact = trilinear
    low, high = case.parameters["dL"], case.parameters["dR"]
    assert (exact.min(axis=1) < low).all() and (exact.max(axis=1) > high).all()


def test_the_first_set_is_the_truth_and_the_others_do_not_depend_on_their_number():
    few, many = cases.trilinear(3, 50), cases.trilinear(5, 50)
    assert many.set(0) == cases.TRILINEAR
    assert few.set(2) == many.set(2)


def test_the_c_loop_is_the_exact_method(trilinear):
    case, exact = trilinear
    assert cases.errors(c_loop(case), exact).max() < 1e-9


def test_the_reference_in_longer_numbers_is_the_exact_method(trilinear):
    case, exact = trilinear
    assert cases.errors(exact, c_loop(case, reference=True)).max() < 1e-11


def test_scipy_restarted_at_every_crossing_is_the_exact_method(trilinear):
    case, exact = trilinear
    scipy = [
        peer_scipy.restarted(peer_scipy.trilinear(case.set(i)), case.input, case.interval, **TIGHT) for i in (0, 1)
    ]
    assert cases.errors(np.stack(scipy), exact[:2]).max() < 1e-9


def test_scipy_restarted_at_every_sign_change_is_the_event_located_method(bouc_wen):
    case, ours = bouc_wen
    law = peer_scipy.bouc_wen(case.set(1), case.input[0])
    assert cases.errors(peer_scipy.restarted(law, case.input, case.interval, **TIGHT), ours[1]) < 1e-8


def test_scipy_in_one_call_solves_both_laws(trilinear, bouc_wen):
    for (case, ours), law in (
        (trilinear, peer_scipy.trilinear(trilinear[0].set(1))),
        (bouc_wen, peer_scipy.bouc_wen(bouc_wen[0].set(1), bouc_wen[0].input[0])),
    ):
        result = peer_scipy.in_one_call(law, case.input, case.interval, method="RK45", rtol=1e-8, atol=1e-12)
        assert cases.errors(result, ours[1]) < 1e-3


def test_diffrax_solves_both_laws(trilinear, bouc_wen):
    pytest.importorskip("diffrax")
    from benchmarks import peer_diffrax as peer

    for (case, ours), law, size in ((trilinear, peer.trilinear, 2), (bouc_wen, peer.bouc_wen, 3)):
        result = peer.displacements(law, size, case.parameters, case.input, case.interval, 1e-9, 1e-12)
        assert cases.errors(np.asarray(result), ours).max() < 1e-4


def test_pyabc_is_given_the_problem_that_ours_is_given():
    if peer_c.compiler() is None:
        pytest.skip("no C compiler")
    force, response = np.random.default_rng(1).normal(size=(2, 100))
    record = vb.Record.from_arrays(rate=100.0, input={"force": force}, output={"acceleration": response})
    problem = posed.pwl_stiffness.candidate(record, 2)
    ours = ProblemCandidate(problem)
    theirs = peer_pyabc.Oscillator(posed.arrays(problem), peer_c.accelerations)
    assert tuple(problem.parameters) == peer_pyabc.NAMES
    points = np.random.default_rng(0).uniform(size=(200, 7))
    allowed = ours.allowed(points)
    assert allowed.any() and not allowed.all()
    # Ours sorts the borders; theirs is given them as they come, and draws anew where they are not in order.
    shares = shares_at(problem, points)
    assert [theirs.allowed(each) for each in shares] == allowed.tolist()
    backwards = shares[allowed][:, [0, 1, 2, 3, 4, 6, 5]]
    assert not any(theirs.allowed(each) for each in (*backwards, *(shares[allowed] + 1.0)))
    some, theirs_of_some = points[allowed], shares[allowed]
    d1, d2 = ours.values(some)["d1"], ours.values(some)["d2"]
    assert (d1 > 0).any() and (d2 < 0).any() and ((d1 < 0) & (d2 > 0)).any()  # zero lies in every region
    distances = [theirs.distance(each) for each in theirs_of_some]
    np.testing.assert_allclose(distances, ours.judge(some, np.inf), rtol=1e-6)


@pytest.mark.parametrize("peer", ["dynamax", "cuthbert", "cuthbert, extended"])
def test_filters_in_jax_are_given_the_models_that_ours_is_given(peer):
    name, _, extended = peer.partition(", ")
    pytest.importorskip(name)
    theirs = importlib.import_module(f"benchmarks.peer_{name}").log_likelihoods
    method = vb.ExtendedFilter() if extended else vb.UnscentedFilter()
    for case in (unmeasured.bilinear(101), *([unmeasured.chain(61)] if name == "dynamax" else [])):
        values = case.sets(2)
        given = case.deviations, case.outputs, case.strength
        found = theirs(case.plain, values, *given, **({"extended": True} if extended else {}))
        ours = log_likelihoods(vb.filtering(case.structure, case.problem.motions, case.problem.noise, method), values)
        np.testing.assert_allclose(found, ours, atol=1.0)


def test_filterpy_is_given_the_model_that_the_filters_in_jax_are_given():
    pytest.importorskip("filterpy")
    pytest.importorskip("dynamax")
    from benchmarks import peer_dynamax, peer_filterpy

    case = unmeasured.bilinear(101)
    noise = np.asarray(case.plain(case.truth, case.deviations).noise)
    given = unmeasured.DAMPING, case.problem.motions.dt, noise, case.deviations[0], case.outputs
    arrays = case.deviations, case.outputs, case.strength
    jax_peer = peer_dynamax.log_likelihoods(case.plain, case.sets(1), *arrays)
    assert peer_filterpy.log_likelihood(case.truth, *given) == pytest.approx(float(jax_peer[0]), abs=1e-5)


def test_the_benchmark_of_effective_draws_runs_with_what_is_installed():
    root = Path(__file__).parents[1]
    order = [sys.executable, str(root / "benchmarks" / "run.py"), "--quick", "--json", "--part", "effective_draws"]
    paths = os.pathsep.join([str(root / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(order, check=True, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths})
    records = json.loads(done.stdout.splitlines()[-1])["effective_draws"]
    assert len(records) == 1 + (importlib.util.find_spec("emcee") is not None)
    assert all(record["effective"] > 0 and record["per_second"] > 0 for record in records)


def test_cores_that_filter_the_chain_do_not_wait_for_one_another():
    """They did while triangles of a batch went to LAPACK together. In a process of its own: a thread that waits for
    ever cannot be ended.
    """
    root = Path(__file__).parents[1]
    program = """
import numpy as np, unmeasured
from vibayes.targets import ProblemTarget
target = ProblemTarget(unmeasured.chain(100).problem)
points = 0.1 * np.random.default_rng(0).standard_normal((64, target.size))
print(sum(np.isfinite(target.log_likelihood(points)).all() for _ in range(10)))
"""
    paths = os.pathsep.join([str(root / "src"), str(root / "benchmarks"), os.environ.get("PYTHONPATH", "")])
    order, environment = [sys.executable, "-c", program], os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(order, check=True, capture_output=True, text=True, timeout=300, env=environment)
    assert done.stdout.split() == ["10"]
