"""Hysteretic structures against OpenSees, an independent program with a fixed step and implicit integration.

OpenSees is run with Newmark's average acceleration and Newton iterations to rounding, at steps that are
halved again and again. Its error must fall towards our answer at its own rate, and what is left at the finest
step must be small. Its bilinear materials follow any displacement exactly, so its order is that of Newmark's
method, 2. Its Bouc–Wen materials advance z by the implicit Euler method, so there it is 1, and the leading
terms of the error are removed by extrapolation (Richardson's, repeated):

    u₁(h) = 2 u(h/2) − u(h),   u₂(h) = (4 u₁(h/2) − u₁(h))/3.

Formulations. ``BoucWen`` has our equations with A = 1 and δ_A = 0: the same z (a displacement), β (which
dissipates), γ and degradation η, ν per energy ε, but no pinching. ``BWBN`` has our pinching, but no
degradation (η = ν = 1), so that z_u is constant. Both name γ before β. Between them they hold every term of
`BoucWenBaberNoori`; pinching and degradation at once they have not.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import vibayes as vb

pytestmark = pytest.mark.slow

GROUND_MOTION = Path(__file__).parents[2] / "shared" / "data" / "ground_motions" / "RSN6_IMPVALL.I_I-ELC180-hor1.AT2"
RATE, SAMPLES = 100.0, 1001
SUBSTEPS = (1, 2, 4, 8, 16, 32, 64)


@functools.cache
def program() -> Any:
    """OpenSees, or a skip that says what is missing."""
    try:
        import openseespy.opensees as opensees
    except ModuleNotFoundError:
        pytest.skip("OpenSees is not installed: pip install 'vibayes[peers]'")
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"OpenSees cannot be loaded (on Debian and Ubuntu: apt install libblas3 liblapack3): {error}")
    atexit.register(_farewell)
    return opensees


def _farewell() -> None:
    """OpenSees says goodbye on the error stream when Python ends; nobody needs to hear it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


@pytest.fixture(scope="module", autouse=True)
def complaints(tmp_path_factory) -> Iterator[Path]:
    """The file OpenSees complains to, instead of the screen."""
    log = tmp_path_factory.mktemp("opensees") / "complaints.txt"
    program().logFile(str(log), "-noEcho")
    yield log
    program().wipe()


class Case(NamedTuple):
    """A structure as both programs see it, and how well they must agree, relative to the largest value."""

    law: vb.Element
    materials: tuple[tuple, ...]
    """What lies in each storey in OpenSees: kind and parameters."""
    order: int
    at_the_finest_step: float
    extrapolated: float
    sine: float | None = None
    """Amplitude of a force at 1 Hz; without it, El Centro shakes the base."""
    storeys: int = 1
    damper: float = 0.6
    metre: float = 1.0
    """Units of length in a metre."""


# 2 Hz for a unit mass.
K = (4.0 * np.pi) ** 2
BILINEAR = vb.BilinearHysteresis(K, yield_displacement=0.01, ratio=0.1)
STEEL = (("Steel01", 0.01 * K, K, 0.1),)
HARDENING = (("Hardening", K, 0.01 * K, 0.0, K * 0.1 / 0.9),)
ELASTIC_PERFECTLY_PLASTIC = (("ElasticPP", 0.9 * K, 0.01), ("Elastic", 0.1 * K))
STOREY = vb.BilinearHysteresis(8 * K, yield_displacement=0.005, ratio=0.1)

# In centimetres, because OpenSees starts each search for z at 0.01. The last two numbers are the tolerance of
# that search and a limit of iterations.
SEARCH = (1e-12, 100)
PLAIN = vb.BoucWenBaberNoori(alpha=0.1, k=K, beta=0.6, gamma=0.3, n=1.5)
DEGRADING = vb.BoucWenBaberNoori(0.1, K, 0.6, 0.3, 1.5, delta_eta=1e-3, delta_nu=5e-4)
PINCHING = vb.BoucWenBaberNoori(0.1, K, 0.6, 0.3, 1.5, q=0.1, zeta10=0.9, p=1e-2, psi0=0.2, delta_psi=1e-4, lam=0.3)
PLAIN_THERE = (("BoucWen", 0.1, K, 1.5, 0.3, 0.6, 1.0, 0.0, 0.0, 0.0, *SEARCH),)
DEGRADING_THERE = (("BoucWen", 0.1, K, 1.5, 0.3, 0.6, 1.0, 0.0, 5e-4, 1e-3, *SEARCH),)
PINCHING_THERE = (("BWBN", 0.1, K, 1.5, 0.3, 0.6, 1.0, 0.1, 0.9, 1e-2, 0.2, 1e-4, 0.3, *SEARCH),)
BOUC_WEN: dict[str, Any] = {"order": 1, "at_the_finest_step": 3e-3, "extrapolated": 1e-5, "metre": 100.0}

CASES = {
    "Steel01, sine": Case(BILINEAR, STEEL, 2, 1e-6, 1e-6, sine=8.0),
    "Hardening, sine": Case(BILINEAR, HARDENING, 2, 1e-6, 1e-6, sine=8.0),
    "ElasticPP and Elastic, sine": Case(BILINEAR, ELASTIC_PERFECTLY_PLASTIC, 2, 1e-6, 1e-6, sine=8.0),
    "Steel01, El Centro": Case(BILINEAR, STEEL, 2, 1e-5, 3e-6),
    "Hardening, El Centro": Case(BILINEAR, HARDENING, 2, 1e-5, 3e-6),
    "ElasticPP and Elastic, El Centro": Case(BILINEAR, ELASTIC_PERFECTLY_PLASTIC, 2, 1e-5, 3e-6),
    "three storeys of Steel01, El Centro": Case(
        STOREY, (("Steel01", 0.04 * K, 8 * K, 0.1),), 2, 3e-5, 5e-6, storeys=3, damper=2.0
    ),
    "BoucWen, sine": Case(PLAIN, PLAIN_THERE, sine=300.0, **BOUC_WEN),
    "BoucWen, El Centro": Case(PLAIN, PLAIN_THERE, **BOUC_WEN),
    "BoucWen degrading, sine": Case(DEGRADING, DEGRADING_THERE, sine=300.0, **BOUC_WEN),
    "BoucWen degrading, El Centro": Case(DEGRADING, DEGRADING_THERE, **BOUC_WEN),
    "BWBN pinching, sine": Case(PINCHING, PINCHING_THERE, sine=300.0, **BOUC_WEN),
    "BWBN pinching, El Centro": Case(PINCHING, PINCHING_THERE, **BOUC_WEN),
}
QUICK = "Steel01, sine"
every_case = pytest.mark.parametrize(
    "name", [name if name == QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)


@functools.cache
def ground_motion() -> np.ndarray:
    """The first ten seconds of El Centro in m/s²."""
    if not GROUND_MOTION.is_file():
        pytest.skip(f"no ground motion at {GROUND_MOTION}")
    lines = GROUND_MOTION.read_text(encoding="ascii").splitlines()
    assert "UNITS OF G" in lines[2] and "DT=   .0100 SEC" in lines[3]
    return 9.80665 * np.array(" ".join(lines[4:]).split()[:SAMPLES], float)


def ours(case: Case) -> np.ndarray:
    """Displacements of the masses and forces of the storeys at every sample."""
    names = [f"m{i + 1}" for i in range(case.storeys)]
    points = ["ground", *names]
    links = [case.law.between(below, name, f"law of {name}") for below, name in zip(points, names, strict=False)]
    dampers = [vb.Damper(case.damper).between(*pair) for pair in zip(points, names, strict=False)]
    structure = vb.Structure(
        dict.fromkeys(names, 1.0),
        [*links, *dampers],
        [vb.BaseAcceleration() if case.sine is None else vb.Force("m1")],
        [*(vb.Displacement(name) for name in names), *(vb.ElementForce(f"law of {name}") for name in names)],
    )
    method = vb.Exact() if case.law.affine else vb.EventLocated(rtol=1e-10)
    if case.sine is None:
        motion = vb.Sampled(case.metre * ground_motion(), RATE, vb.StraightLines())
        solution = vb.simulate(structure, motion, method=method)
    else:
        force = vb.Sine(case.sine, 1.0)
        solution = vb.simulate(structure, force, method=method, rate=RATE, samples=SAMPLES)
    assert solution.successful, solution.summary()
    return np.asarray(solution.outputs)


def theirs(case: Case, substeps: int, complaints: Path) -> np.ndarray:
    """The same by OpenSees, with so many steps per sample."""
    ops = program()
    ops.wipe()
    ops.model("basic", "-ndm", 1, "-ndf", 1)
    ops.node(0, 0.0)
    ops.fix(0, 1)
    storey_laws = [_storey_there(ops, case, i + 1) for i in range(case.storeys)]
    _drive_there(ops, case)
    ops.constraints("Plain")
    ops.numberer("Plain")
    ops.system("BandGeneral")
    ops.test("NormUnbalance", 1e-10 * case.metre, 50)
    ops.algorithm("Newton")
    ops.integrator("Newmark", 0.5, 0.25)
    ops.analysis("Transient")
    rows = np.zeros((SAMPLES, 2 * case.storeys))
    for k in range(1, SAMPLES):
        assert ops.analyze(substeps, 1.0 / (RATE * substeps)) == 0
        stresses = [[ops.eleResponse(tag, "material", 1, "stress")[0] for tag in tags] for tags in storey_laws]
        rows[k] = [
            *(ops.nodeDisp(i + 1, 1) for i in range(case.storeys)),
            *(sum(storey) for storey in stresses),
        ]
    assert complaints.read_text() == ""
    return rows


def _storey_there(ops: Any, case: Case, number: int) -> list[int]:
    """A unit mass and what lies below it; gives the elements that together are the law."""
    ops.node(number, 0.0)
    ops.mass(number, 1.0)
    tags = []
    for kind, *parameters in (*case.materials, ("Elastic", 0.0, case.damper)):
        tags.append(100 * number + len(tags))
        ops.uniaxialMaterial(kind, tags[-1], *parameters)
        ops.element("zeroLength", tags[-1], number - 1, number, "-mat", tags[-1], "-dir", 1)
    return tags[:-1]


def _drive_there(ops: Any, case: Case) -> None:
    if case.sine is not None:
        ops.timeSeries("Trig", 1, 0.0, 1e9, 1.0, "-factor", case.sine)
        ops.pattern("Plain", 1, 1)
        ops.load(1, 1.0)
        return
    motion = case.metre * ground_motion()
    ops.timeSeries("Path", 1, "-dt", 1.0 / RATE, "-values", *motion.tolist())
    ops.pattern("UniformExcitation", 1, 1, "-accel", 1)
    for number in range(1, case.storeys + 1):
        # Newmark's method begins with the acceleration at time zero, which OpenSees would take for none.
        ops.setNodeAccel(number, 1, -float(motion[0]), "-commit")


@functools.cache
def both(name: str, complaints: Path) -> tuple[np.ndarray, list[np.ndarray]]:
    """Our answer, and those of OpenSees from coarse to fine, relative to our largest values."""
    case = CASES[name]
    reference = ours(case)
    scale = largest(reference)
    return reference / scale, [theirs(case, substeps, complaints) / scale for substeps in SUBSTEPS]


def largest(rows: np.ndarray) -> np.ndarray:
    """Largest displacement and largest force, for every column."""
    return np.repeat([np.abs(half).max() for half in np.hsplit(rows, 2)], rows.shape[1] // 2)


def extrapolate(order: int, answers: list[np.ndarray]) -> np.ndarray:
    """The limit of answers at halved steps, freed of errors from the given order up to the second."""
    for power in range(order, 3):
        pairs = itertools.pairwise(answers)
        answers = [(2**power * fine - coarse) / (2**power - 1) for coarse, fine in pairs]
    return answers[-1]


@every_case
def test_the_error_of_opensees_falls_towards_our_answer_at_its_order(name, complaints):
    reference, answers = both(name, complaints)
    errors = [np.abs(answer - reference).max() for answer in answers]
    # A kink falls into a step now here, now there, so that the error jumps about its trend.
    order = -np.polyfit(np.log(SUBSTEPS), np.log(errors), 1)[0]
    assert order == pytest.approx(CASES[name].order, abs=0.2), errors


@every_case
def test_opensees_agrees_at_its_finest_step(name, complaints):
    reference, answers = both(name, complaints)
    assert np.abs(answers[-1] - reference).max() < CASES[name].at_the_finest_step


@every_case
def test_opensees_agrees_when_extrapolated(name, complaints):
    reference, answers = both(name, complaints)
    assert np.abs(extrapolate(CASES[name].order, answers) - reference).max() < CASES[name].extrapolated


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("BoucWen, sine", vb.BoucWenBaberNoori(0.1, K, beta=0.3, gamma=0.6, n=1.5)),
        (
            "BoucWen degrading, sine",
            vb.BoucWenBaberNoori(0.1, K, 0.6, 0.3, 1.5, delta_eta=5e-4, delta_nu=1e-3),
        ),
        ("BWBN pinching, sine", PLAIN),
    ],
    ids=["β and γ exchanged", "δ_η and δ_ν exchanged", "no pinching"],
)
def test_another_convention_would_be_noticed(name, wrong, complaints):
    case, (_, answers) = CASES[name], both(name, complaints)
    other = ours(case._replace(law=wrong)) / largest(ours(case))
    assert np.abs(extrapolate(case.order, answers) - other).max() > 100 * case.extrapolated
