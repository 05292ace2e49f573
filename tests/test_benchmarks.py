"""The peers of the benchmark solve the same equations as the library. Nothing here is about speed."""

import sys
from pathlib import Path

import numpy as np
import pytest

import vibayes as vb
from vibayes.candidates import ProblemCandidate

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import cases, peer_c, peer_pyabc, peer_scipy, posed

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
    shares = np.random.default_rng(0).uniform(-0.02, 1.02, (200, 7))
    allowed = ours.allowed(shares)
    assert allowed.any() and not allowed.all()
    assert [theirs.allowed(each) for each in shares] == allowed.tolist()
    some = shares[allowed]
    d1, d2 = ours.values(some)["d1"], ours.values(some)["d2"]
    assert (d1 > 0).any() and (d2 < 0).any() and ((d1 < 0) & (d2 > 0)).any()  # zero lies in every region
    distances = [theirs.distance(each) for each in some]
    np.testing.assert_allclose(distances, ours.judge(some, np.inf), rtol=1e-6)
