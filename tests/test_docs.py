"""The documentation cannot rot: every block of Python in it runs, and prints what it is said to print.

The blocks of one page run in order in one namespace, in an empty folder. A block of ``text`` right after a block of
``python`` is the output of the latter. ``--8<-- "file:section"`` stands for a section of a file in the repository, as
it does for MkDocs. A block under the comment ``<!-- not run: reason -->`` is left out; say why.
"""

import contextlib
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest
from tests import shown
from tests.shown import DOCS, PAGES, ROOT

import vibayes
from vibayes import excitation, structure
from vibayes import io as record_files
from vibayes.structure import elements

COMPUTES = True

PICTURES = sorted((DOCS / "figures").iterdir())
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

_FENCE = re.compile(
    r"(?P<skip><!-- not run:[^>]*-->\n+)?^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
_INCLUDE = re.compile(r'^--8<-- "(?P<path>[^":]+)(?::(?P<section>\w+))?"$', re.MULTILINE)


class Block(NamedTuple):
    """Code of a page, the line it starts on, and what it is said to print (None if nothing is said)."""

    code: str
    line: int
    output: str | None


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page that are to be run."""
    found = []
    for match in _FENCE.finditer(text):
        if match["skip"] is None:
            line = text.count("\n", 0, match.start("code")) + 1
            found.append(Block(_INCLUDE.sub(included, match["code"]), line, match["output"]))
    return found


def included(match: re.Match) -> str:
    """The text that an include stands for."""
    text = (ROOT / match["path"]).read_text(encoding="utf-8")
    if match["section"]:
        start, stop = (f"# --8<-- [{edge}:{match['section']}]\n" for edge in ("start", "end"))
        text = text.split(start)[1].split(stop)[0]
    return text


@pytest.fixture
def bare_folder(tmp_path, monkeypatch):
    """An empty folder to work in, with figures drawn to nowhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_the_page_runs_and_prints_what_the_page_says(page, bare_folder):
    namespace = {"__name__": page.stem}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), namespace)
        if block.output is not None:
            assert printed.getvalue().rstrip() == block.output.rstrip(), f"{page.name}, line {block.line}"


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.name)
def test_the_example_runs_and_prints_what_the_documentation_shows(script, bare_folder):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(script), run_name="__main__")
    command = f"$ python examples/{script.name}\n"
    for page in PAGES:
        for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            if block.startswith(command):
                # The last digits belong to the machine; the words, and how many numbers there are, do not.
                assert without_numbers(printed.getvalue()) == without_numbers(block.removeprefix(command)), page.name


def without_numbers(text: str) -> list[str]:
    """The words of a text, with a mark in place of each number."""
    return re.sub(r"\d[\d.]*(e[-+]\d+)?", "#", text).split()


def test_every_public_name_is_on_the_page_of_the_interface():
    listed = set(re.findall(r"^::: vibayes\.(?:\w+\.)*(\w+)$", (DOCS / "api.md").read_text(), re.MULTILINE))
    public = {"InvalidInput", "Record", "simulate", *excitation.__all__, *structure.__all__, *record_files.__all__}
    public |= {name for name in vibayes.__all__ if name[0].isupper()}
    assert public - listed == set()


def test_the_readme_lists_every_element():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in elements.__all__ if f"`{name}`" not in readme] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_the_page_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_navigation_holds_every_page():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    names = [page.relative_to(DOCS).as_posix() for page in PAGES[1:]]
    assert [name for name in names if f" {name}\n" not in navigation] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_picture_of_the_page_is_told_in_words(page):
    words = re.findall(r"!\[([^\]]*)\]\(", page.read_text(encoding="utf-8"))
    assert [alt for alt in words if len(alt.split()) < 8] == []


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_the_picture_is_small_and_shown_on_some_page(picture):
    assert picture.stat().st_size <= 80_000
    assert any(f"figures/{picture.name})" in page.read_text(encoding="utf-8") for page in PAGES)


def test_the_figure_of_decisions_is_what_its_script_draws():
    script = runpy.run_path(str(DOCS / "scripts" / "decision.py"))
    assert script["OUT"].read_text(encoding="utf-8") == script["drawn"]()


def test_the_figure_of_decisions_names_only_what_there_is():
    steps = runpy.run_path(str(DOCS / "scripts" / "decision.py"))
    last = [*(step.use[1] for step in steps["STEPS"]), steps["OTHERWISE"][1]]
    names = {name for line in last for name in re.findall(r"\w+", line)} - {"process"}
    assert [name for name in names if not (hasattr(vibayes, name) or hasattr(vibayes.Structure, name))] == []


def test_every_study_that_pages_name_is_run_by_a_test():
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("test_studies*.py"))
    assert [study for study in shown.of_studies() if f'"{study}"' not in tests] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_the_tool_is_on_a_page_whose_commands_a_test_runs(page):
    run = {
        line for name in ("getting-started", "command-line", "runs") for line in shown.of_the_tool(f"docs/{name}.md")
    }
    assert set(shown.of_the_tool(page.relative_to(ROOT).as_posix())) <= run


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_target_of_make_that_the_page_names_is_there(page):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = re.findall(r"(?:^ *|`)make ([a-z ]+?)(?:`|  |$)", page.read_text(encoding="utf-8"), re.MULTILINE)
    named = {target for line in lines for target in line.split()}
    assert [target for target in named if f"\n{target}:" not in makefile] == []


RECIPES = {
    "demo": "vibayes demo --out demo_output",
    "test": "python -m pytest -q -n 2",
    "bench": "python benchmarks/run.py",
    "docs": "python -m mkdocs build --strict",
}


@pytest.mark.parametrize("target", RECIPES)
def test_make_runs_what_tests_run(target):
    """Demonstration, benchmarks and site are tested by their commands; make must not do something else."""
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    # What a make that runs the tests says to its children is not for this one.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "-n", "--no-print-directory", target]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment).stdout
    assert told.splitlines()[-1] == f".venv/bin/{RECIPES[target]}"


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, *RECIPES["docs"].split()[1:], "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert [
        page.name for page in PAGES[1:] if not (tmp_path / page.relative_to(DOCS)).with_suffix(".html").is_file()
    ] == []


def test_the_gallery_shows_every_example():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert [script.name for script in EXAMPLES if f'--8<-- "examples/{script.name}"' not in gallery] == []


def test_a_block_that_prints_something_else_is_noticed():
    (block,) = blocks_of("```python\nprint(1)\n```\n\n```text\n2\n```\n")
    assert block == Block("print(1)\n", 2, "2\n")


@pytest.mark.slow
def test_a_block_marked_so_is_not_run():
    assert blocks_of("<!-- not run: needs a file -->\n\n```python\n1 / 0\n```\n") == []
