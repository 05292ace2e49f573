"""Figures and page of an identification: what they show, not how they look."""

import dataclasses

import numpy as np
import pytest

import vibayes as vb
from vibayes.errors import InvalidInput
from vibayes.posterior import Level, ModelPosterior, Posterior
from vibayes.prediction import Prediction

pytest.importorskip("matplotlib")
from vibayes.report import figure_of_force_map, figure_of_parameters, figure_of_prediction, figure_of_trace
from vibayes.report.style import pyplot

NAN = float("nan")
RECORD = vb.Record.from_arrays(
    rate=10.0, output={"acceleration": np.sin(np.arange(100.0))}, units={"acceleration": "m/s"}
)


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot().close("all")


def model_of(name, draws, probability=1.0, error=0.0, log_mass=0.0, weights=None, distances=None):
    problem = vb.Problem(lambda **values: np.zeros(100), RECORD, {n: vb.Uniform(-1e9, 1e9) for n in draws}, name=name)
    count = len(next(iter(draws.values())))
    weights = np.full(count, 1.0 / max(count, 1)) if weights is None else weights
    distances = np.linspace(0.1, 1.0, count) if distances is None else distances
    return ModelPosterior(problem, probability, error, log_mass, 0.1, draws, weights, distances, 1200, 34)


def without_draws(name, probability=0.0):
    return model_of(name, {"k": np.empty(0)}, probability, log_mass=-np.inf)


def level_of(stage, model, threshold, followed=1.0, acceptance=0.5, probabilities=(NAN, NAN, NAN)):
    return Level(stage, model, threshold, followed, acceptance, (0, 0, 0), probabilities, 10, 1.0)


@pytest.fixture
def posterior():
    """Of the default method: one model follows to the end, another half way, and two are weighed."""
    rng = np.random.default_rng(0)
    models = (
        without_draws("linear"),
        model_of("cubic & more", {"k": rng.normal(5.0, 0.1, 400)}, 0.75, 0.04, np.log(3.0)),
        model_of("<quintic>", {"k": rng.normal(5.0, 0.1, 400), "m": np.ones(400)}, 0.25, 0.04, 0.0),
    )
    trace = (
        level_of("follow", "linear", 0.02, 0.1),
        level_of("follow", "linear", 0.02, 0.5),
        level_of("follow", "cubic & more", 0.05, 1.0),
        level_of("weigh", "cubic & more", 1.0, 1.0, 0.3, (0.0, 1.0, 0.0)),
        level_of("weigh", "<quintic>", 1.0, 1.0, 0.2, (0.0, 0.75, 0.25)),
        level_of("done", "", 1.0, 1.0, NAN, (0.0, 0.75, 0.25)),
    )
    return Posterior(models, 1.0, trace, 12.3, ("mind <this>",))


def panels_of(figure):
    """Panels by their label along the vertical axis; the last two by that along the horizontal one."""
    *over_levels, models, below = figure.axes
    return {axes.get_ylabel(): axes for axes in over_levels} | {"models": models, "below": below}


def points_of(line):
    return np.column_stack(line.get_data()).tolist()


# ---- trace ----------------------------------------------------------------------------------------------------


def test_trace_shows_each_model_over_its_own_levels(posterior):
    panels = panels_of(figure_of_trace(posterior))
    assert list(panels) == ["followed (%)", "threshold", "accepted (%)", "models", "below"]
    followed = [points_of(line) for line in panels["followed (%)"].lines[:3]]
    assert followed == [[[1, 10], [2, 50]], [[3, 100], [4, 100]], [[5, 100]]]
    assert points_of(panels["accepted (%)"].lines[2]) == [[5, 20]]
    assert panels["threshold"].get_yscale() == "log"


def test_trace_marks_the_final_threshold_and_names_the_stages(posterior):
    panels = panels_of(figure_of_trace(posterior))
    assert [text.get_text() for text in panels["threshold"].texts] == ["final 1"]
    assert any(set(line.get_ydata()) == {1.0} and line.get_color() == "#555555" for line in panels["threshold"].lines)
    assert [text.get_text() for text in panels["followed (%)"].texts] == ["follow", "weigh"]


def test_trace_ends_in_the_probabilities_with_their_errors(posterior):
    models = panels_of(figure_of_trace(posterior))["models"]
    assert [bar.get_width() for bar in models.patches] == [0.0, 0.75, 0.25]
    whiskers = [segment[:, 0].tolist() for part in models.collections for segment in part.get_segments()]
    assert np.allclose(whiskers, [[0.0, 0.0], [0.71, 0.79], [0.21, 0.29]])
    assert [text.get_text() for text in models.texts] == ["0.000", "0.750 ± 0.040", "0.250 ± 0.040"]
    assert [label.get_text() for label in models.get_yticklabels()] == ["linear", "cubic & more", "<quintic>"]


def test_trace_shows_what_smaller_thresholds_would_say(posterior):
    # Of the first model all distances lie below 0.5, so that there its share doubles against that of the other.
    half = dataclasses.replace(posterior.models[1], distances=np.linspace(0.05, 0.5, 400))
    whole = dataclasses.replace(posterior.models[2], distances=np.linspace(0.1, 1.0, 400))
    below = panels_of(figure_of_trace(dataclasses.replace(posterior, models=(posterior.models[0], half, whole))))[
        "below"
    ]
    first, second = below.lines  # nothing is drawn of the model without draws
    x, y = first.get_data()
    assert y[-1] == pytest.approx(0.75) and x[-1] == pytest.approx(1.0)
    at = np.argmin(abs(x - 0.55))
    assert y[at] == pytest.approx(3.0 / (3.0 + np.mean(whole.distances <= x[at])))
    assert np.allclose(y + second.get_ydata(), 1.0)


def test_trace_of_populations_of_all_models_shows_their_probabilities_on_the_way(posterior):
    shares = [(0.5, 0.3, 0.2), (0.2, 0.5, 0.3), (0.0, 0.7, 0.3)]
    levels = [level_of("population", "", 200.0 / 4**i, probabilities=p) for i, p in enumerate(shares)]
    trace = (*levels, dataclasses.replace(levels[-1], stage="done"))
    figure = figure_of_trace(dataclasses.replace(posterior, trace=trace))
    panels = panels_of(figure)
    assert list(panels) == ["probability", "threshold", "accepted (%)", "models", "below"]
    assert [line.get_ydata().tolist() for line in panels["probability"].lines] == [
        list(p) for p in zip(*shares, strict=True)
    ]
    assert panels["threshold"].lines[0].get_ydata().tolist() == [200.0, 50.0, 12.5]
    assert "all models" in [text.get_text() for text in figure.legends[0].texts]


def test_trace_of_a_run_that_was_stopped_says_that_nothing_is_known():
    models = tuple(without_draws(name, NAN) for name in "ab")
    for trace, threshold in (((level_of("follow", "a", 0.02, 0.3),), 0.02), ((), NAN)):
        panels = panels_of(figure_of_trace(Posterior(models, threshold, trace, 1.0, ("stopped",))))
        assert [text.get_text() for text in panels["models"].texts] == ["not known", "not known"]
        assert [text.get_text() for text in panels["below"].texts] == ["too few draws"]


# ---- parameters -----------------------------------------------------------------------------------------------


def test_histograms_are_weighted_and_mark_mean_truth_and_interval():
    weights = np.concatenate([np.full(100, 0.9 / 100), np.full(100, 0.1 / 100)])
    values = np.concatenate([np.linspace(1.0, 2.0, 100), np.linspace(3.0, 4.0, 100)])
    model = model_of("two heaps", {"k": values, "c": values}, weights=weights)
    stiffness, damping = figure_of_parameters(model, truth={"k": 1.2, "unheard of": 3.0}).axes
    left = sum(bar.get_height() * bar.get_width() for bar in stiffness.patches[:-1] if bar.get_x() < 2.4)
    assert left == pytest.approx(0.9)
    places = {line.get_label(): line.get_xdata()[0] for line in stiffness.lines if line.get_label() != "prior"}
    assert places == pytest.approx({"mean": 0.9 * 1.5 + 0.1 * 3.5, "truth": 1.2})
    assert [line.get_label() for line in damping.lines] == ["mean", "prior"]
    shaded = stiffness.patches[-1]
    assert (shaded.get_x(), shaded.get_x() + shaded.get_width()) == pytest.approx(tuple(model.interval("k")))


@pytest.mark.parametrize(
    ("mean", "deviation", "words"),
    [(2.0, 0.03, "2.000 ± 0.030"), (-1e-3, 5e-5, r"(−1.000 ± 0.050) $\times10^{-3}$"), (961.6, 111.0, "962 ± 111"),
     (3.0, 0.0, "3")],
)  # fmt: skip
def test_mean_and_deviation_have_digits_in_common(mean, deviation, words):
    model = model_of("m", {"name": mean + deviation * np.array([-1.0, 1.0])})
    (axes,) = figure_of_parameters(model).axes
    assert axes.get_title("left") == f"name\n{words}"


@pytest.mark.parametrize("count", range(1, 11))
def test_every_parameter_has_its_panel_however_long_its_name(count):
    names = [f"stiffness of the storey number {i}, in the upper left" for i in range(count)]
    figure = figure_of_parameters(model_of("m", {name: np.arange(50.0) for name in names}), {names[-1]: 60.0})
    shown = [axes for axes in figure.axes if axes.get_visible()]
    titles = [axes.get_title("left").rsplit("\n", 1)[0] for axes in shown]
    assert [title.replace("\n", " ") for title in titles] == names
    assert max(len(line) for title in titles for line in title.split("\n")) <= 24
    assert shown[-1].get_xlim()[1] > 60.0
    assert "truth" in [text.get_text() for text in figure.legends[0].texts]


def test_a_model_without_draws_has_no_parameters_to_show():
    with pytest.raises(InvalidInput, match="draws within the threshold"):
        figure_of_parameters(without_draws("empty"))


# ---- force map ------------------------------------------------------------------------------------------------

SPRING = vb.PiecewiseLinearSpring.around_zero("k0", ("k1", "k2"), ("d1", "d2"), offset=0.5)
DRAWS = {
    "k0": np.array([1.0, 2.0]), "k1": np.array([3.0, 4.0]), "k2": np.array([5.0, 6.0]),
    "d1": np.array([-1.0, 0.5]), "d2": np.array([1.0, 2.0]),
}  # fmt: skip


def test_the_mean_force_is_that_of_all_draws_by_their_weights():
    model = model_of("m", DRAWS, weights=np.array([0.25, 0.75]))
    (axes,) = figure_of_force_map(model, SPRING, span=(-3.0, 3.0), realisations=10).axes
    lines = {line.get_label(): line for line in axes.lines}
    x, mean = lines["mean"].get_data()
    singles = []
    for i in range(2):
        k0, k1, k2, d1, d2 = (float(DRAWS[name][i]) for name in DRAWS)
        known = vb.PiecewiseLinearSpring.around_zero(k0, (k1, k2), (d1, d2), offset=0.5)
        singles.append(vb.static_force(known, deformation=x))
    assert np.allclose(mean, 0.25 * singles[0] + 0.75 * singles[1])
    realisations = [line.get_ydata() for line in axes.lines if line.get_label() != "mean"]
    assert len(realisations) == 10
    assert all(any(np.allclose(each, single) for single in singles) for each in realisations)


@pytest.mark.parametrize("truth", [lambda v: 2.0 * v, (np.array([-1.0, 1.0]), np.array([-2.0, 2.0]))])
def test_the_truth_is_a_function_or_points_and_dampers_have_velocities(truth):
    damper = vb.PiecewiseLinearDamper(("c", 2.0), (0.1,))
    model = model_of("m", {"c": np.ones(3)})
    (axes,) = figure_of_force_map(model, damper, truth, units={"velocity": "m/s", "force": "N"}).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("velocity (m/s)", "force (N)")
    x, y = next(line.get_data() for line in axes.lines if line.get_label() == "truth")
    assert np.allclose(y, 2.0 * x)
    assert axes.get_xlim()[0] < 0.0 < 0.1 < axes.get_xlim()[1]


def test_an_element_is_found_by_its_name_and_must_be_piecewise_linear():
    elements = [SPRING.between("ground", "mass", name="spring"), vb.Damper(1.0).between("ground", "mass", name="oil")]
    structure = vb.Structure.single_dof(1.0, elements, sensors=[vb.Displacement("mass")])
    record = vb.Record.from_arrays(rate=10.0, input={"f": np.zeros(5)}, output={"x": np.arange(5.0)})
    problem = vb.Problem(structure, record, {name: vb.Uniform(-9.0, 9.0) for name in DRAWS})
    model = dataclasses.replace(model_of("m", DRAWS), problem=problem)
    figure_of_force_map(model, "spring")
    with pytest.raises(InvalidInput, match=r"a piecewise-linear element, got Damper"):
        figure_of_force_map(model, "oil")
    with pytest.raises(InvalidInput, match=r"an element among 'spring', 'oil'"):
        figure_of_force_map(model, "sprong")
    with pytest.raises(InvalidInput, match=r"the model is a function"):
        figure_of_force_map(model_of("m", DRAWS), "spring")


# ---- prediction -----------------------------------------------------------------------------------------------


@pytest.fixture
def prediction():
    scales = np.linspace(0.5, 1.5, 21)[:, None, None]
    return Prediction(RECORD, scales * RECORD.output, RECORD.output, model="sine")


def test_prediction_shows_measured_mean_band_and_residual(prediction):
    whole, near, residual = figure_of_prediction(prediction).axes
    for axes in (whole, near):
        curves = {line.get_label(): line.get_ydata() for line in axes.lines}
        assert np.allclose(curves["measured"], RECORD.output[:, 0])
        assert np.allclose(curves["mean prediction"], RECORD.output[:, 0])
        (band,) = axes.collections
        assert band.get_paths()[0].get_extents().ymax == pytest.approx(
            1.475 * RECORD.output.max()
        )  # the default holds 95 %
        assert axes.get_ylabel() == "acceleration (m/s)"
    assert np.allclose(residual.lines[0].get_ydata(), 0.0) and residual.get_ylabel() == "residual (m/s)"
    assert whole.get_title("left").startswith("sine; NMSE of the mean prediction")


def test_prediction_zooms_to_the_largest_value_or_where_it_is_told(prediction):
    near = figure_of_prediction(prediction).axes[1]
    peak = RECORD.times[np.argmax(np.abs(RECORD.output[:, 0] - RECORD.output.mean()))]
    assert near.get_xlim()[0] <= peak <= near.get_xlim()[1] < RECORD.times[-1] + 1e-9
    assert figure_of_prediction(prediction, zoom=(2.0, 3.0)).axes[1].get_xlim() == (2.0, 3.0)
    with pytest.raises(InvalidInput, match=r"two times within 0 … 9\.9 s"):
        figure_of_prediction(prediction, zoom=(20.0, 30.0))
    with pytest.raises(InvalidInput, match=r"did you mean 'acceleration'"):
        figure_of_prediction(prediction, output="acceleratoin")


def test_prediction_of_a_record_with_gaps(prediction):
    output = np.array(RECORD.output)
    output[40:60] = NAN
    gappy = vb.Record.from_arrays(rate=10.0, output={"acceleration": output[:, 0]})
    residual = figure_of_prediction(dataclasses.replace(prediction, record=gappy)).axes[2].lines[0].get_ydata()
    assert np.isnan(residual).sum() == 20


# ---- page -----------------------------------------------------------------------------------------------------
