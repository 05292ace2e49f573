"""The report: what it says, for every kind of problem, and how it behaves in a real browser."""

import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.browser import asked
from tests.reported import KINDS, empty, posterior_of

import vibayes as vb
from vibayes.prediction import Prediction
from vibayes.report import write_report
from vibayes.report.drawing import MOST, envelope
from vibayes.report.stylesheet import DARK, LIGHT

pytest.importorskip("plotly")
pytest.importorskip("matplotlib")
LARGEST = 4_000_000
"""Bytes of a page of a record of a common size: what can be mailed. Plotly is 1.9 million of them."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages by kind, each written once."""
    folder, made = tmp_path_factory.mktemp("reports"), {}

    def page(kind):
        if kind not in made:
            made[kind] = write_report(
                KINDS[kind](), folder / f"{kind}.html", title=f"A <test> of {kind}", intro="Measured & asked.",
                reproduce="vibayes identify study.toml", facts={"seed": "0"}, figures=folder / kind,
            )  # fmt: skip
        return made[kind]

    return page


@pytest.fixture(scope="module")
def text(pages):
    return pages("function").read_text(encoding="utf-8")


OTHERS = [pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind != "function"]


def sections(text):
    return re.findall(r"<h2 id=\"([a-z0-9-]+)\"", text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["function", *OTHERS])
def test_the_verdict_comes_first_and_every_section_is_there(pages, kind):
    text = pages(kind).read_text(encoding="utf-8")
    found = sections(text)
    wanted = ["verdict", "data", "fit", "pairs", "diagnostics", "run", "again"]
    assert [each for each in found if each in wanted] == wanted
    assert ("models" in found) == (kind == "piecewise")
    assert ("forces" in found) == (kind in ("piecewise", "outputs_alone", "solver"))
    assert "could not be simulated" not in text
    assert len(text) < LARGEST
    assert (pages(kind).parent / kind / "fit.png").read_bytes().startswith(b"\x89PNG")


def test_text_of_the_user_is_escaped(text):
    assert "A &lt;test&gt; of function" in text and "Measured &amp; asked." in text and "<test>" not in text


def test_a_page_needs_nothing_from_elsewhere(text):
    without = re.sub(r"<script type=\"text/plain\".*?</script>", "", text, flags=re.DOTALL)
    assert (
        not re.findall(r"(?:src|href)=\"(?!data:|#)", without)
        and "http" not in without.split("<style>")[1].split("</style>")[0]
    )


def test_plotly_is_there_once_and_packed(text):
    assert text.count('id="plotly"') == 1 and len(text) < 3_000_000


def test_a_long_record_is_thinned_with_all_its_peaks_and_the_page_says_so(text):
    assert "Of 8,000 samples the smallest and largest of every" in text
    values = np.random.default_rng(0).normal(size=50_001)
    x, y = envelope(np.arange(50_001.0), values)
    assert len(x) <= MOST + 2 and y.max() == values.max() and y.min() == values.min()
    assert np.array_equal(values[x.astype(int)], y) and np.all(np.diff(x) > 0)


def test_gaps_stay_gaps_when_a_record_is_thinned():
    values = np.sin(np.arange(20_000.0))
    values[5_000:9_000] = np.nan
    x, y = envelope(np.arange(20_000.0), values)
    inside = (x > 5_010) & (x < 8_990)
    assert inside.any() and np.isnan(y[inside]).all() and np.isfinite(y[~((x > 4_980) & (x < 9_020))]).all()


@pytest.mark.slow
def test_parameters_have_units_that_follow_from_the_record(pages):
    text = pages("piecewise").read_text(encoding="utf-8")
    assert 'k0 <span class="unit">N/m</span>' in text and 'd1 <span class="unit">m</span>' in text


@pytest.mark.slow
def test_predictions_of_other_records_have_sections_of_their_own(tmp_path):
    posterior = KINDS["function"]()
    record = posterior.selected.problem.motions.segment(0, 500)
    other = Prediction(record, record.output * np.linspace(0.9, 1.1, 20)[:, None, None], record.output)
    page = write_report(posterior, tmp_path / "r.html", predictions={"kept back": other})
    text = page.read_text(encoding="utf-8")
    assert sections(text).index("prediction-1") > sections(text).index("pairs") and "Prediction: kept back" in text


def test_models_without_probabilities_are_told_as_such(tmp_path):
    posterior = KINDS["function"]()
    models = [dataclasses.replace(posterior.models[0], probability=float("nan"), standard_error=float("nan"))] * 2
    text = write_report(dataclasses.replace(posterior, models=tuple(models), trace=()), tmp_path / "r.html").read_text(
        "utf-8"
    )
    assert "which model is the most probable is not known" in text and "not known</td>" in text


def test_a_result_without_any_draws_is_told_as_such(tmp_path):
    problem = KINDS["function"]().models[0].problem
    text = write_report(posterior_of(empty(problem)), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "None of the models has been found to explain the record" in text and "Do not rely" in text


def test_bad_arguments_are_refused(tmp_path):
    posterior = KINDS["function"]()
    with pytest.raises(vb.InvalidInput, match="between 0 and 1, got 95"):
        write_report(posterior, tmp_path / "r.html", prob=95)
    with pytest.raises(vb.InvalidInput, match="an existing folder"):
        write_report(posterior, tmp_path / "none" / "r.html")
    with pytest.raises(vb.InvalidInput, match="expected a Posterior"):
        write_report(None, tmp_path / "r.html")  # pyright: ignore[reportArgumentType]


# ---- accessible -----------------------------------------------------------------------------------------------------


class Outline(HTMLParser):
    """What matters of a page to those who do not see it."""

    def __init__(self):
        super().__init__()
        self.levels, self.ids, self.images, self.links, self.cells, self.tags = [], [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        self.ids += [given["id"]] if "id" in given else []
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "img":
            self.images.append(given.get("alt"))
        if tag == "a":
            self.links.append(given.get("href"))
        if tag == "th":
            self.cells.append(given.get("scope"))


def test_structure_is_told_to_those_who_do_not_see_it(text):
    page = Outline()
    page.feed(text)
    assert dict(page.tags)["html"]["lang"] == "en" and re.search(r"<title>\S", text)
    assert page.levels[0] == 1 and page.levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(page.levels, page.levels[1:], strict=False))
    assert len(page.ids) == len(set(page.ids))
    assert page.images and all(page.images) and all(page.cells)
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert page.links[0] == "#content"
    assert all(
        given.get("aria-label") and given.get("tabindex") == "0"
        for tag, given in page.tags
        if given.get("class") == "table"
    )


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_enough(colours):
    def contrast(one, other):
        low, high = sorted(luminance(colours[each]) for each in (one, other))
        return (high + 0.05) / (low + 0.05)

    for words in ("ink", "soft", "link", "good", "notice", "warning", "serious"):
        assert contrast(words, "paper") >= 4.5, words
    assert contrast("ink", "tint") >= 4.5 and contrast("soft", "tint") >= 4.5
    for curve in ("blue", "orange", "green", "pink", "measured"):
        assert contrast(curve, "paper") >= 3.0, curve


# ---- in a browser ---------------------------------------------------------------------------------------------------

_LOOK = """
const plots = [...document.querySelectorAll(".plot")];
const linked = [...document.querySelectorAll('figure[data-linked="time"] .plot')];
const before = linked.map((each) => [...each.layout.xaxis.range]);
if (linked.length > 1) await Plotly.relayout(linked[0], { "xaxis.range": [1.0, 2.0] });
await new Promise((go) => setTimeout(go, 300));
const select = document.querySelector("select");
const title = () => select.closest("figure").querySelector(".plot").layout.xaxis.title.text;
const first = title();
select.selectedIndex = 1; select.dispatchEvent(new Event("change"));
await new Promise((go) => setTimeout(go, 300));
return {
  marks: plots.map((each) => each.querySelectorAll(".trace, .point").length),
  sizes: plots.map((each) => each.getBoundingClientRect().height),
  stills: [...document.querySelectorAll(".live > .still")].filter((each) => each.getClientRects().length).length,
  before, after: linked.map((each) => each.layout.xaxis.range), titles: [first, title()],
  wide: document.documentElement.scrollWidth, window: innerWidth,
};
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "width"), [("function", 390), ("piecewise", 1280), ("backbone", 390)])
def test_in_a_browser_figures_are_drawn_linked_and_fit_the_screen(pages, tmp_path, kind, width):
    answer = asked(pages(kind), _LOOK, tmp_path, width)
    found = answer["found"]
    assert answer["heard"] == [], "errors or warnings on the console"
    assert len(found["marks"]) >= 4 and min(found["marks"]) > 0 and min(found["sizes"]) > 150
    assert found["stills"] == 0 and found["wide"] <= found["window"] == width
    assert found["titles"][0] != found["titles"][1]
    if kind != "backbone":
        assert (
            len(found["after"]) == 2
            and all(each == [1.0, 2.0] for each in found["after"])
            and found["before"] != found["after"]
        )
