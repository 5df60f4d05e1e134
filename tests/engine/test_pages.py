"""No block of the real pages is shown without being run or marked."""

import json
import subprocess
import sys
from collections import Counter

import markdown
import pytest

from cookbook.catalogue import Catalogue
from cookbook.checks.shown import Referee, Rendered
from cookbook.checks.structure import problems
from cookbook.pages import PASSIVE
from tests.engine.conftest import ROOT

# A pytest plugin that writes down which blocks would run, and which are skipped.
PLUGIN = """
import json, os
from pathlib import Path

def pytest_collection_finish(session):
    found = [entry(item) for item in session.items if hasattr(item, "job")]
    Path(os.environ["COLLECTED"]).write_text(json.dumps(found))

def entry(item):
    reasons = [mark.kwargs["reason"] for mark in item.iter_markers("skip")]
    page = item.parent.page.path.as_posix()
    return [page, item.obj.language, item.obj.code, reasons]
"""


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """(page, language, code, reasons to skip) of every item of ``pytest docs``."""
    folder = tmp_path_factory.mktemp("collected")
    (folder / "list_blocks.py").write_text(PLUGIN)
    argv = ["-m", "pytest", "docs", "--collect-only", "-q", "-p", "list_blocks"]
    done = subprocess.run(
        [sys.executable, *argv, "-p", "no:cacheprovider"],
        cwd=ROOT,
        env={"PYTHONPATH": str(folder), "COLLECTED": str(folder / "blocks.json")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "blocks.json").read_text())


@pytest.fixture(scope="module")
def catalogue():
    catalogue = Catalogue(ROOT)
    found = [problem for problem in problems(catalogue) if problem.is_error]
    assert "\n".join(str(problem) for problem in found) == ""
    return catalogue


def test_pytest_collects_exactly_the_blocks_the_pages_show(catalogue, collected):
    referee = Referee(ROOT)
    shown = Counter(
        (page.path.as_posix(), language, code)
        for page in catalogue.pages
        for language, code in referee.rendered(page).blocks
        if language not in PASSIVE
    )
    run = Counter((page, language, code) for page, language, code, _ in collected)
    assert shown
    assert run == shown


def test_a_block_that_pytest_skips_is_marked_on_its_page(catalogue, collected):
    marked = Counter(
        (page.path.as_posix(), block.code)
        for page in catalogue.pages
        for block in page.blocks
        if block.mark
    )
    skipped = Counter((page, code) for page, _, code, reasons in collected if reasons)
    assert skipped == marked


def test_every_python_block_is_a_whole_file(collected):
    files = {file.read_text("utf-8") for file in (ROOT / "snippets").rglob("*.py")}
    python = [(page, code) for page, lang, code, _ in collected if lang == "python"]
    typed = [page for page, code in python if code not in files]
    assert typed == []


def test_pages_that_are_no_recipes_show_no_code(catalogue):
    for page in catalogue.other_pages:
        assert Rendered.read(markdown.markdown(page.body)).blocks == [], page.path
