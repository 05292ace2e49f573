"""Whatever is wrong with what a user gives, one clear message says where, what was expected, what came, what to do.

No traceback from the inside of a library reaches the user, and nothing wrong is simulated.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb
from vibayes.errors import InvalidInput

anything: Any = vb  # for arguments of a wrong type, which the type checker would refuse as well
FORCE = vb.Sine(amplitude=1.0, frequency_hz=1.0)
SAMPLED = vb.Sampled(np.sin(np.arange(11.0)), 10.0, vb.StraightLines())
TIME = np.arange(11) / 10.0
SMOOTH: dict[str, Any] = {"rate": 10.0, "samples": 11}
OSCILLATOR = vb.Structure.single_dof("m", [vb.Spring("k"), vb.Damper(0.1)])
BILINEAR = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis("k", "x_y", "alpha")])
TRILINEAR = vb.Structure.single_dof(1.0, [vb.PiecewiseLinearSpring((3.0, 1.0, 3.0), ("b1", "b2"))])
DUFFING = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, 0.1)])
TWO = {"m1": 1.0, "m2": 1.0}
BELOW, ABOVE = vb.Spring(1.0).between("ground", "m1", "lower"), vb.Spring(1.0).between("m1", "m2", "upper")


def oscillate(parameters: Any = None, **settings: Any):
    """Simulate the linear oscillator, in whatever wrong way."""
    values = {"m": 1.0, "k": 1.0} if parameters is None else parameters
    return anything.simulate(OSCILLATOR, FORCE, values, **(SMOOTH | settings))


def excite(excitation: Any, **settings: Any):
    """Simulate the linear oscillator under something wrong."""
    return anything.simulate(OSCILLATOR, excitation, {"m": 1.0, "k": 1.0}, **settings)


def two(*elements: Any, **parts: Any) -> vb.Structure:
    """Two masses with these elements, two springs where none are given."""
    return anything.Structure(TWO, list(elements or (BELOW, ABOVE)), **parts)


def law(element: vb.Element) -> vb.Structure:
    """A mass on an element, with its values checked."""
    return vb.Structure.single_dof(1.0, [element]).bind()


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    # Signals
    "rows of unequal length": (
        lambda: anything.Sampled([[1.0, 2.0], [3.0]], 10.0, vb.StraightLines()),
        "Sampled.values: expected rows of one length",
    ),
    "text as rate": (
        lambda: anything.Sampled([0.0, 1.0], "fast", vb.StraightLines()),
        "Sampled.rate: expected a number, got 'fast'",
    ),
    "text as amplitude": (lambda: anything.Sine("big", 1.0), "signal: expected a number, got 'big'"),
    "text as seed": (
        lambda: anything.band_limited_noise("today", 100.0, 100, 1.0),
        "band_limited_noise.key: expected a key of jax.random or a whole number, got 'today'",
    ),
    "derivative by the excitation": (
        lambda: jax.grad(lambda a: excite(vb.Sine(a, 1.0), **SMOOTH).outputs.sum())(1.0),
        "simulate.excitation: expected a signal that is held fixed",
    ),
    "numpy array as excitation": (
        lambda: excite(np.zeros(11)),
        r"simulate.excitation: expected a sampled signal, .* got an array of shape \(11,\); make it Sampled\(values",
    ),
    "list of numbers as excitation": (lambda: excite([0.0, 1.0]), r"excitation: .* got \[0.0, 1.0\]; make it Sampled"),
    "nothing as excitation": (lambda: excite(None), "excitation: .* got None; make it Sampled"),
    "record as excitation": (
        lambda: excite(vb.Record.from_arrays(time=TIME, input=TIME, output=TIME)),
        r"got Record\(11 samples at 10 Hz.*; give Sampled\(record.input, record.rate, StraightLines\(\)\)",
    ),
    "several sampled signals": (lambda: excite([SAMPLED, SAMPLED]), "; join them as the channels of one Sampled"),
    "too many sampled channels": (
        lambda: excite(vb.Sampled(np.zeros((11, 2)), 10.0, vb.StraightLines())),
        r"expected one channel per input of the structure \(1\), got 2; add or remove",
    ),
    "too many smooth signals": (
        lambda: excite([FORCE, FORCE], **SMOOTH),
        r"expected one signal per input of the structure \(1\), got 2; list",
    ),
    "batch of amplitudes in a smooth signal": (
        lambda: excite(vb.Sine([1.0, 2.0], 1.0), **SMOOTH),
        r"got a Sine with values of shape \(2,\); batch a Sampled",
    ),
    "NaN in a sampled signal": (
        lambda: vb.Sampled([0.0, np.nan], 10.0, vb.StraightLines()),
        r"Sampled.values\[1, 0\]: expected finite numbers, got nan; check",
    ),
    "NaN in a record's input": (
        lambda: vb.Record.from_arrays(rate=10.0, input=[0.0, np.nan], output=[0.0, 0.0]),
        r"Record.input\['input'\]: expected an input without gaps, got NaN at samples 1; interpolate",
    ),
    "time that is not uniform": (
        lambda: vb.Record.from_arrays(time=[0.0, 0.1, 0.2, 0.35], output=np.zeros(4)),
        "Record.time: expected equal steps of 0.1 s, got a step of 0.15 s from sample 2 to 3 .*; resample",
    ),
    "rate and samples missing": (
        lambda: excite(FORCE),
        "expected both with a smooth signal, got rate=None, samples=None",
    ),
    "samples missing": (lambda: excite(FORCE, rate=10.0), "got rate=10.0, samples=None; give both"),
    "rate beside a sampled signal": (
        lambda: excite(SAMPLED, rate=10.0),
        "expected neither, for the signal has its own, got rate=10.0, samples=None beside .*; leave them out",
    ),
    "rate of zero": (
        lambda: oscillate(rate=0.0),
        "simulate.rate: expected a positive number, got 0.0; give samples per",
    ),
    "rate that is text": (lambda: oscillate(rate="10 Hz"), "simulate.rate: expected a positive number, got '10 Hz'"),
    "one sample": (lambda: oscillate(samples=1), "simulate.samples: expected a whole number, 2 or more, got 1; count"),
    "samples that are not whole": (lambda: oscillate(samples=10.5), "expected a whole number, 2 or more, got 10.5"),
    # Initial state
    "initial displacement per mass of another structure": (
        lambda: oscillate(displacement=[1.0, 2.0]),
        r"displacement: expected a number, one per mass \(1\), or shape \(sets, 1\), got shape \(2,\); reshape",
    ),
    "initial velocity that is text": (
        lambda: oscillate(velocity="fast"),
        "simulate.velocity: .* got 'fast'; give a number",
    ),
    "initial displacement that is NaN": (
        lambda: oscillate(displacement=np.nan),
        "simulate.displacement: expected finite numbers, got NaN or infinity; check",
    ),
    "initial states of unequal number": (
        lambda: oscillate(displacement=np.zeros((2, 1)), velocity=np.zeros((3, 1))),
        "expected one number of sets throughout, got simulate.displacement: 2, simulate.velocity: 3; make",
    ),
    "more initial states than parameter sets": (
        lambda: oscillate({"m": 1.0, "k": np.ones(3)}, displacement=np.zeros((2, 1))),
        r"got parameters\['k'\]: 3, simulate.displacement: 2; make",
    ),
    "more excitations than parameter sets": (
        lambda: anything.simulate(
            OSCILLATOR, vb.Sampled(np.zeros((2, 11, 1)), 10.0, vb.StraightLines()), {"m": 1.0, "k": np.ones(3)}
        ),
        r"got parameters\['k'\]: 3, excitation: 2; make",
    ),
    "initial displacement to be differentiated": (
        lambda: jax.grad(lambda start: oscillate(displacement=start).outputs.sum())(1.0),
        "simulate.displacement: expected known numbers, got a traced value; differentiate",
    ),
    # Values of parameters
    "parameter arrays of unequal length": (
        lambda: oscillate({"m": np.ones(3), "k": np.ones(2)}),
        "parameters: expected arrays of equal length, got 3 for 'm', 2 for 'k'; give one entry per parameter set",
    ),
    "break points of unequal length": (
        lambda: TRILINEAR.bind({"b1": np.zeros(3), "b2": np.ones(2)}),
        "parameters: expected arrays of equal length, got 3 for 'b1', 2 for 'b2'",
    ),
    "parameter array in two dimensions": (
        lambda: oscillate({"m": 1.0, "k": np.ones((3, 2))}),
        r"parameters\['k'\]: expected a number or a one-dimensional array .*, got shape \(3, 2\); reshape",
    ),
    "no parameter sets": (lambda: oscillate({"m": 1.0, "k": []}), r"parameters\['k'\]: .* got shape \(0,\)"),
    "unknown parameter": (
        lambda: oscillate({"m": 1.0, "k": 1.0, "K1": 2.0}),
        "parameters: expected the unknowns 'm', 'k', got 'K1'; did you mean 'k'",
    ),
    "parameters where there are no unknowns": (
        lambda: DUFFING.bind({"k": 1.0}),
        "parameters: expected none, for the structure has no unknowns, got 'k'; leave them out",
    ),
    "missing parameter": (
        lambda: oscillate({"m": 1.0}),
        "parameters: expected a value for each of 'm', 'k', got none for 'k'; add",
    ),
    "parameters without names": (
        lambda: oscillate([1.0, 2.0]),
        r'expected values by name, got \[1.0, 2.0\]; write them as \{"k"',
    ),
    "text for a value": (
        lambda: oscillate({"m": 1.0, "k": "stiff"}),
        r"parameters\['k'\]: expected numbers, got 'stiff'; give",
    ),
    "text that reads like a value": (lambda: oscillate({"m": 1.0, "k": "3.0"}), "expected numbers, got '3.0'"),
    "nothing for a value": (lambda: oscillate({"m": 1.0, "k": None}), r"parameters\['k'\]: expected numbers, got None"),
    "truth for a value": (lambda: oscillate({"m": 1.0, "k": True}), r"parameters\['k'\]: expected numbers, got True"),
    "ragged values": (
        lambda: oscillate({"m": 1.0, "k": [[1.0], [1.0, 2.0]]}),
        r"expected numbers, got \[\[1.0\], \[1.0, 2.0\]\]",
    ),
    "infinite value": (
        lambda: oscillate({"m": 1.0, "k": np.inf}),
        r"parameters\['k'\]: expected finite values, got inf; remove",
    ),
    "infinite value in a batch": (
        lambda: oscillate({"m": 1.0, "k": [1.0, np.nan, -np.inf]}),
        r"parameters\['k'\]: .* got nan in set 1, -inf in set 2 \(2 of 3 parameter sets\); remove",
    ),
    "negative mass": (
        lambda: oscillate({"m": -1.0, "k": 1.0}),
        "mass of 'mass': expected a positive number, got -1.0; check sign and units",
    ),
    "no mass": (lambda: vb.Structure.single_dof(0, [vb.Spring(1.0)]).bind(), "mass of 'mass': .* got 0.0; check"),
    "negative masses in a batch": (
        lambda: oscillate({"m": np.array([1.0, -1.0, 2.0, 0.0]), "k": 1.0}),
        r"mass of 'mass': .* got -1.0 in set 1, 0.0 in set 3 \(2 of 4 parameter sets\); check",
    ),
    "negative masses in a large batch": (
        lambda: oscillate({"m": jnp.full(1000, -2.0), "k": 1.0}),
        r"got -2.0 in set 0, -2.0 in set 1, -2.0 in set 2 and so on \(1000 of 1000 parameter sets\)",
    ),
    # Laws
    "unsorted break points": (
        lambda: law(vb.PiecewiseLinearSpring((1.0, 2.0, 3.0), (0.5, -0.5))),
        r"piecewise_linear_spring_1.breaks: expected break points in increasing .* got \(0.5, -0.5\); sort",
    ),
    "equal break points": (
        lambda: law(vb.PiecewiseLinearDamper((1.0, 2.0, 3.0), (0.5, 0.5))),
        r"piecewise_linear_damper_1.breaks: .* no two equal .* got \(0.5, 0.5\); .* merge regions of no width",
    ),
    "unsorted break points in a batch": (
        lambda: TRILINEAR.bind({"b1": np.array([-1.0, 2.0, 1.0]), "b2": 1.0}),
        r"breaks: .* got \(2.0, 1.0\) in set 1, \(1.0, 1.0\) in set 2 \(2 of 3 parameter sets\); sort",
    ),
    "too few break points": (
        lambda: vb.PiecewiseLinearSpring((1.0, 2.0, 3.0), (0.5,)),
        r"PiecewiseLinearSpring.breaks: expected one break point fewer than slopes \(2\), got 1; give the border",
    ),
    "yield displacement of zero": (
        lambda: BILINEAR.bind({"k": 1.0, "x_y": 0.0, "alpha": 0.1}),
        "bilinear_hysteresis_1.yield_displacement: expected a positive value, got 0.0; check",
    ),
    "post-yield stiffness as large as the initial": (
        lambda: BILINEAR.bind({"k": 1.0, "x_y": 0.5, "alpha": np.array([0.1, 1.0])}),
        r"bilinear_hysteresis_1.ratio: expected α < 1 .*, got 1.0 in set 1 \(1 of 2 parameter sets\); check",
    ),
    "Bouc–Wen exponent below one": (
        lambda: law(vb.BoucWen(A=1.0, beta=0.5, gamma=0.5, n=0.5)),
        "bouc_wen_1.n: expected an exponent ≥ 1, got 0.5; raise it",
    ),
    "negative friction limit": (
        lambda: law(vb.CoulombFriction(-2.0)),
        "coulomb_friction_1.limit: expected a friction limit ≥ 0, got -2.0; check the sign",
    ),
    "negative damping ratio": (
        lambda: vb.Structure.single_dof(1.0, [vb.Spring(1.0)], damping=vb.ModalDamping(-0.1)).bind(),
        "ModalDamping.ratio: expected damping ratios ≥ 0, got -0.1; check",
    ),
    "infinite parameter of an element": (
        lambda: vb.Structure.single_dof(1.0, [vb.Spring(np.inf)]),
        "spring_1.stiffness: expected a finite number, got inf; remove",
    ),
    "truth as the parameter of an element": (
        lambda: vb.Structure.single_dof(1.0, [vb.Spring(True)]),
        "spring_1.stiffness: expected a number or the name of an unknown, got True; give one of the two",
    ),
    "nothing as the parameter of an element": (
        lambda: vb.Structure.single_dof(1.0, [anything.Spring(None)]),
        "spring_1.stiffness: .* got None",
    ),
    "array as the parameter of an element": (
        lambda: vb.Structure.single_dof(1.0, [anything.Spring(jnp.ones(3))]),
        r"spring_1.stiffness: .* got an array of shape \(3,\); give a name, and its values when simulating",
    ),
    "array among the parameters of an element": (
        lambda: vb.Structure.single_dof(1.0, [anything.PiecewiseLinearSpring((1.0, np.ones(3)), (0.1,))]),
        r"piecewise_linear_spring_1.slopes\[1\]: .* got an array of shape \(3,\)",
    ),
    # Declaration
    "no masses": (lambda: vb.Structure({}, []), "Structure.masses: expected at least one mass, got none; give masses"),
    "no elements": (
        lambda: vb.Structure(TWO, []),
        "Structure.elements: expected at least one element .* got none; say",
    ),
    "masses without names": (
        lambda: anything.Structure([1.0, 2.0], [BELOW]),
        r"Structure.masses: expected masses by name, got \[1.0, 2.0\]; write them as",
    ),
    "mass that is no number": (
        lambda: anything.Structure({"m1": [1.0]}, [BELOW]),
        r"Structure.masses\['m1'\]: expected a number or the name of an unknown, got \[1.0\]",
    ),
    "mass named ground": (
        lambda: vb.Structure({"ground": 1.0}, []),
        "Structure.masses: expected names other than 'ground', got 'ground'; rename",
    ),
    "bare element": (
        lambda: two(BELOW, vb.Spring(1.0)),
        r"Structure.elements: expected elements in their places, got a bare Spring; say where it lies: element.between",
    ),
    "element outside of a list": (
        lambda: anything.Structure(TWO, BELOW),
        r"Structure.elements: expected a list, got Link\(.*; write it as \[Spring",
    ),
    "element outside of a list, on one mass": (
        lambda: anything.Structure.single_dof(1.0, vb.Spring(1.0)),
        r"Structure.single_dof.elements: expected a list, got Spring\(stiffness=1.0\); write",
    ),
    "something else as an element": (
        lambda: two(BELOW, "spring"),
        "Structure.elements: expected entries such as .* got 'spring'",
    ),
    "something else as an element of a chain": (
        lambda: anything.Structure.chain([1.0], [["spring"]]),
        "Structure.elements: expected elements such as .* got 'spring'; give",
    ),
    "fewer storeys than masses": (
        lambda: vb.Structure.chain([1.0, 1.0], [vb.Spring(1.0)]),
        r"Structure.chain.elements: expected one entry per mass \(2\), got 1; list what lies below",
    ),
    "element to an unknown mass": (
        lambda: two(vb.Spring(1.0).between("m1", "m22", "upper")),
        r"Structure.elements\['upper'\]: expected a point among 'ground', 'm1', 'm2', got 'm22'; did you mean 'm2'",
    ),
    "element joined to one point twice": (
        lambda: two(BELOW, vb.Spring(1.0).between("m2", "m2", "loop")),
        r"Structure.elements\['loop'\]: expected two different points, got 'm2' twice; join",
    ),
    "friction in a loop": (
        lambda: two(
            *(vb.CoulombFriction(1.0).between(*ends) for ends in (("ground", "m1"), ("m1", "m2"), ("ground", "m2")))
        ),
        "elements: .* sticking forces are determined, got some among 'coulomb_friction_1', .* a loop; merge",
    ),
    "two elements of one name": (
        lambda: two(BELOW, vb.Spring(2.0).between("m1", "m2", "lower")),
        "Structure.elements: expected names that differ, got 'lower' more than once; rename",
    ),
    "force on an unknown mass": (
        lambda: two(inputs=[vb.Force("M2")]),
        "Structure.inputs: expected a mass among 'm1', 'm2', got 'M2'; did you mean 'm2'",
    ),
    "name as an input": (
        lambda: two(inputs=["m1"]),
        r'Structure.inputs: expected entries such as Force\("m1"\), got \'m1\'',
    ),
    "input outside of a list": (
        lambda: two(inputs=vb.Force("m1")),
        r"Structure.inputs: expected a list, got Force\(on='m1'\); write it as",
    ),
    "sensor on an unknown mass": (
        lambda: two(sensors=[vb.Velocity("mm1")]),
        r"Structure.sensors\[Velocity\]: expected a mass among 'm1', 'm2', got 'mm1'; did you mean 'm1'",
    ),
    "sensor on an unknown element": (
        lambda: two().measuring(vb.ElementForce("uper")),
        r"sensors\[ElementForce\]: expected an element among 'lower', 'upper', got 'uper'; did you mean 'upper'",
    ),
    "sensor without a place": (
        lambda: two(sensors=[vb.Displacement]),
        r"Structure.sensors: expected entries such as Displacement\(\"m1\"\), got <class",
    ),
    "number as damping": (
        lambda: two(damping=0.05),
        r"Structure.damping: expected Rayleigh\(...\) or .* got 0.05; give",
    ),
    "more damping ratios than masses": (
        lambda: vb.Structure(TWO, [BELOW, ABOVE], damping=vb.ModalDamping((0.01, 0.02, 0.03))),
        r"ModalDamping.ratio: expected one ratio, or a tuple of 2, got \(0.01, 0.02, 0.03\); give one",
    ),
    # Method
    "exact method on a curved law": (
        lambda: vb.simulate(DUFFING, FORCE, method=vb.Exact(), **SMOOTH),
        r"Exact: expected piecewise-linear elements only, got 'polynomial_spring_1'; use EventLocated\(\)",
    ),
    "memory without events": (
        lambda: vb.simulate(
            law(vb.BilinearHysteresisFlow(1.0, 0.5)), FORCE, method=vb.FixedStep(events=False), **SMOOTH
        ),
        "FixedStep: expected elements that can do without .* got 'bilinear_hysteresis_flow_1'; set events=True",
    ),
    "step too long to be stable": (
        lambda: oscillate({"m": 1.0, "k": 1e6}, method=vb.FixedStep(substeps=2)),
        r"FixedStep.substeps: expected at least 39 \(.* fastest rate is 1000 per second\), got 2; raise it",
    ),
    "name of a method": (
        lambda: oscillate(method="exact"),
        r"simulate.method: expected a method object, got 'exact'; try Exact\(\)",
    ),
    "class of a method": (lambda: oscillate(method=vb.Exact), "simulate.method: expected a method object, got <class"),
    "text as number of steps": (
        lambda: anything.FixedStep("4"),
        "FixedStep.substeps: expected a whole number ≥ 1, got '4'",
    ),
    "text as order": (lambda: anything.Exact("20"), "Exact.order: expected 6 to 40 terms, got '20'"),
    "negative tolerance": (
        lambda: vb.EventLocated(rtol=-1e-8),
        "EventLocated.rtol: expected a tolerance between 0 and 1, got -1e-08; try 1e-8",
    ),
    "tolerance that is text": (
        lambda: anything.EventLocated(rtol="1e-8"),
        "EventLocated.rtol: expected a tolerance between 0 and 1, got '1e-8'",
    ),
    "limit of no steps": (
        lambda: oscillate(max_steps=0),
        "simulate.max_steps: expected a whole number, 1 or more, got 0",
    ),
    "element instead of a structure": (
        lambda: anything.simulate(vb.Spring(1.0), FORCE, **SMOOTH),
        r"simulate.structure: expected a Structure, got Spring\(stiffness=1.0\); make one",
    ),
}
every_case = pytest.mark.parametrize("case", BAD)


@every_case
def test_bad_input_is_refused(case):
    act, message = BAD[case]
    with pytest.raises(InvalidInput, match=message):
        act()


@every_case
def test_a_message_has_four_parts_and_is_short(case):
    with pytest.raises(InvalidInput) as caught:
        BAD[case][0]()
    error = caught.value
    parts = (error.where, error.expected, error.got, error.remedy)
    assert all(isinstance(part, str) and part.strip() for part in parts)
    assert str(error) == f"{error.where}: expected {error.expected}, got {error.got}; {error.remedy}."
    assert "breaks this" not in error.got
    assert "\n" not in str(error) and len(str(error)) < 400


@every_case
def test_a_message_does_not_trail_another_traceback(case):
    with pytest.raises(InvalidInput) as caught:
        BAD[case][0]()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_many_names_are_cut_short():
    names = [f"storey {i}" for i in range(200)]
    structure = vb.Structure.chain(names, [vb.Spring(1.0)] * 200)
    for mistake in ({}, {name: 1.0 for name in names} | {"storey 1000": 1.0}, {name: -1.0 for name in names}):
        with pytest.raises(InvalidInput) as caught:
            structure.bind(mistake)
        assert len(str(caught.value)) < 400


@pytest.mark.slow
def test_good_input_passes():
    assert oscillate({"m": 1.0, "k": [1.0, 2]}, displacement=1).successful.all()
