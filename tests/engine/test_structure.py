"""Every fault of a page or snippet is named: file, line, what, and the remedy.

These are the checks that ``mkdocs build``, ``make check`` and pytest share; the faults
stand in faults.toml.
"""

import re
import tomllib
from pathlib import Path

import pytest

from cookbook.book.catalogue import Catalogue
from tests.engine.plants import FILES, plant

TABLES = tomllib.loads(Path(__file__).with_name("faults.toml").read_text("utf-8"))
LISTS = "docs/categories.yml"


def each(table: str) -> pytest.MarkDecorator:
    rows = TABLES[table]
    return pytest.mark.parametrize("row", rows.values(), ids=rows)


def assert_found(row: dict, found: list[str]) -> None:
    """Compare problems with what a row of faults.toml says of them."""
    expected = []
    for begins in row.get("found", []):
        file, rest = begins.split(":", 1)
        expected += [f"{path}:{rest}" for path in FILES.get(file, (file,))]
    found = sorted(found)
    assert len(found) == len(expected), found
    for problem, begins in zip(found, sorted(expected), strict=True):
        pattern = ".*".join(map(re.escape, begins.split("…")))
        assert re.match(pattern, problem, re.DOTALL), f"{problem}\nis not\n{begins}"


def planted(cookbook, row: dict):
    plant(cookbook, **{key: row[key] for key in row if key != "found"})
    return cookbook


@each("faults")
def test_a_fault_is_named_with_code_file_line_and_remedy(cookbook, row):
    assert_found(row, planted(cookbook, row).problems())


@each("warnings")
def test_a_warning_is_given_and_nothing_refused(cookbook, row):
    assert_found(row, planted(cookbook, row).warnings())
    assert cookbook.problems() == []


@each("sound")
def test_what_is_in_order_is_not_refused(cookbook, row):
    assert planted(cookbook, row).problems() == []


def test_facts_stand_on_the_only_page(cookbook):
    planted(cookbook, TABLES["sound"]["facts on the only page"])
    (recipe,) = Catalogue(cookbook.root).recipes
    assert recipe.as_json()["tags"] == ["loss"]


@pytest.mark.parametrize(
    ("text", "place"),
    [("- a: b: c\n", "1: P408 the list is not YAML"), ("- slug: data\n", "1: P408")],
)
def test_a_malformed_list_of_categories_is_named_by_every_command(
    cookbook, text, place
):
    cookbook.write(LISTS, text)
    for command in (["check"], ["new", "data/x"], ["find", "x"]):
        done = cookbook.command("cookbook", *command)
        assert done.returncode == 1
        assert done.stderr.startswith(f"{LISTS}:{place}")
