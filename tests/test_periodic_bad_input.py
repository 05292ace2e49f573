"""What verbs on periodic solutions refuse, in words that say what to do."""

import numpy as np
import pytest

import vibayes as vb

DUFFING = vb.Structure.single_dof(1.0, [vb.Duffing(1.0, "k3"), vb.Damper(0.05)])
VALUES = {"k3": 0.1}
FORCE = {"mass": 0.1}
RANGE = (0.5, 1.5)


def respond(structure=DUFFING, values=VALUES, forcing=FORCE, span=RANGE, **others):
    return vb.forced_response(structure, values, forcing, span, **others)


@pytest.mark.parametrize("span", [(1.5, 0.5), (1.0, 1.0), (0.0, 1.0), (0.5,), "all", (np.nan, 1.0)])
def test_a_range_without_frequencies_is_refused(span):
    with pytest.raises(vb.InvalidInput, match=r"forced_response\.frequency_range: expected two increasing positive"):
        respond(span=span)


def test_a_force_on_an_unknown_mass_is_refused_with_the_name_that_was_meant():
    with pytest.raises(vb.InvalidInput, match="did you mean 'mass'"):
        respond(forcing={"mas": 1.0})


@pytest.mark.parametrize("forcing", [{}, 1.0, {"mass": 0.0}, {"mass": "much"}, {"mass": np.inf}])
def test_a_forcing_that_does_nothing_is_refused(forcing):
    with pytest.raises(vb.InvalidInput, match=r"forced_response\.forcing"):
        respond(forcing=forcing)


def test_unknowns_without_values_are_refused():
    with pytest.raises(vb.InvalidInput, match="a value for each of 'k3'"):
        respond(values=None)


def test_many_values_at_once_are_refused_where_one_set_is_meant():
    with pytest.raises(vb.InvalidInput, match="one value per parameter, got 2 values of 'k3'"):
        respond(values={"k3": [0.1, 0.2]})


def test_random_inputs_are_refused():
    with pytest.raises(vb.InvalidInput, match="no random inputs"):
        respond(structure=DUFFING.driven_by(vb.WhiteNoise(1.0)))


def test_masses_that_nothing_holds_are_refused():
    loose = vb.Structure({"m1": 1.0, "m2": 1.0}, [vb.Spring(1.0).between("m1", "m2")])
    with pytest.raises(vb.InvalidInput, match="can move as a rigid body"):
        vb.forced_response(loose, {}, {"m1": 1.0}, RANGE)


def test_dry_friction_is_refused_with_what_to_use_instead():
    rough = vb.Structure.single_dof(1.0, [vb.Spring(1.0), vb.CoulombFriction(0.1)])
    with pytest.raises(vb.InvalidInput, match="use BilinearHysteresis with a stiff elastic part"):
        vb.forced_response(rough, {}, FORCE, RANGE)


def test_memory_that_only_events_update_is_refused():
    flow = vb.Structure.single_dof(1.0, [vb.BilinearHysteresisFlow(1.0, 0.5, 0.3)])
    with pytest.raises(vb.InvalidInput, match="one whose memory only events update"):
        vb.forced_response(flow, {}, FORCE, RANGE)


def test_free_oscillations_of_hysteretic_structures_are_refused():
    loop = vb.Structure.single_dof(1.0, [vb.Spring(1.0), vb.BoucWen(0.5, 0.25, 0.25)])
    with pytest.raises(vb.InvalidInput, match="use phase_resonance"):
        vb.nonlinear_mode(loop, {}, 1, 1.0)


@pytest.mark.parametrize("mode", [0, 2, 1.0, True])
def test_a_mode_that_does_not_exist_is_refused(mode):
    with pytest.raises(vb.InvalidInput, match="1 … 1, the lowest being 1"):
        vb.nonlinear_mode(DUFFING, VALUES, mode, 1.0)


def test_a_mode_without_stiffness_at_rest_is_refused():
    cubic = vb.Structure.single_dof(1.0, [vb.PolynomialSpring((1.0,), (3,))])
    with pytest.raises(vb.InvalidInput, match="frequency at rest is zero"):
        vb.nonlinear_mode(cubic, {}, 1, 1.0, (0.1, 2.0))


def test_forces_at_right_angles_to_a_mode_are_refused_in_phase_resonance():
    twin = vb.Structure(
        {"m1": 1.0, "m2": 1.0},
        [*(vb.Spring(1.0).between("ground", m) for m in ("m1", "m2")), vb.Spring(0.1).between("m1", "m2")],
        damping=vb.Rayleigh(0.01, 0.0),
    )
    with pytest.raises(vb.InvalidInput, match="forces that work on mode 2"):
        vb.phase_resonance(twin, {}, {"m1": 1.0, "m2": 1.0}, 2, 1.0)


def test_a_start_of_another_structure_is_refused():
    with pytest.raises(vb.InvalidInput, match=r"Fourier coefficients of shape \(2H \+ 1, 1\)"):
        vb.nonlinear_mode(DUFFING, VALUES, 1, 1.0, start=(1.0, np.zeros((3, 2))))


@pytest.mark.parametrize("settings", [{"harmonics": 0}, {"harmonics": 7, "samples": 8}, {"harmonics": 2.5}])
def test_too_few_harmonics_or_samples_are_refused(settings):
    with pytest.raises(vb.InvalidInput, match="HarmonicBalance"):
        vb.HarmonicBalance(**settings)


def test_steps_in_the_wrong_order_are_refused():
    with pytest.raises(vb.InvalidInput, match="smallest ≤ first ≤ largest"):
        vb.Arclength(first=0.5, largest=0.1)


def test_a_method_that_is_none_is_refused():
    with pytest.raises(vb.InvalidInput, match="HarmonicBalance"):
        respond(method="shooting")
    with pytest.raises(vb.InvalidInput, match=r"isolas\.method: expected HarmonicBalance"):
        vb.isolas(DUFFING, VALUES, FORCE, RANGE, method=vb.Shooting())  # type: ignore[arg-type]


@pytest.mark.parametrize("draws", [{"k3": 0.1}, {}, {"k3": np.zeros((2, 2))}, [0.1], {"k3": np.zeros(0)}])
def test_draws_that_are_not_one_array_per_unknown_are_refused(draws):
    with pytest.raises(vb.InvalidInput):
        vb.isola_probability(DUFFING, draws, FORCE, RANGE)


@pytest.mark.slow
def test_a_branch_that_runs_out_of_points_says_so():
    branch = respond(arclength=vb.Arclength(points=5))
    assert not branch.complete
    assert branch.status == (vb.BranchStatus.TOO_MANY_POINTS,)
    assert "raise Arclength.points" in branch.summary()
