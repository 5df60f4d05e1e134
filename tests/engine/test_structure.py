"""Every fault of a page or snippet is named: file, line, what, and the remedy.

These are the checks that ``mkdocs build``, ``make check`` and pytest share; the faults
stand in faults.toml.
"""

import re
import tomllib
from pathlib import Path

import pytest

from cookbook.catalogue import Catalogue
from tests.engine.plants import (
    FILES,
    PAGE,
    RAISES,
    TEST,
    UNRAISED,
    plant,
)

TABLES = tomllib.loads(Path(__file__).with_name("faults.toml").read_text("utf-8"))
SLUG = "training/label-smoothing"
LISTS, LISTED = "docs/categories.yml", "    - label-smoothing\n"


def each(table: str) -> pytest.MarkDecorator:
    rows = TABLES[table]
    return pytest.mark.parametrize("row", rows.values(), ids=rows)


def assert_found(cookbook, row: dict, found: list[str]) -> None:
    """Compare problems with what a row of faults.toml says of them."""
    text = (cookbook.root / LISTS).read_text("utf-8")
    twice = text.partition(2 * LISTED)[0].count("\n") + 2  # the second of two lines
    expected = []
    for begins in row.get("found", []):
        file, rest = begins.split(":", 1)
        rest = rest.replace("LINE", str(twice))
        expected += [f"{path}:{rest}" for path in FILES.get(file, (file,))]
    found = sorted(found)
    assert len(found) == len(expected), found
    for problem, begins in zip(found, sorted(expected), strict=True):
        pattern = ".*".join(map(re.escape, begins.split("…")))
        assert re.match(pattern, problem), f"{problem}\nis not\n{begins}"


def planted(cookbook, row: dict):
    plant(cookbook, **{key: row[key] for key in row if key != "found"})
    return cookbook


@each("faults")
def test_a_fault_is_named_with_code_file_line_and_remedy(cookbook, row):
    assert_found(cookbook, row, planted(cookbook, row).problems())


@each("unseen")
def test_what_the_site_may_show_differently_is_named(cookbook, row):
    assert_found(cookbook, row, planted(cookbook, row).problems(rendered=False))


@each("warnings")
def test_a_warning_is_given_and_nothing_refused(cookbook, row):
    assert_found(cookbook, row, planted(cookbook, row).warnings())
    assert cookbook.problems() == []


@each("sound")
def test_what_is_in_order_is_not_refused(cookbook, row):
    assert planted(cookbook, row).problems() == []


@each("shown")
def test_a_page_that_shows_what_runs_passes(cookbook, row):
    planted(cookbook, row)
    assert cookbook.refereed("label-smoothing", "en") == []
    assert cookbook.refereed("label-smoothing", "zh") == []


QUOTE = "```pytb\nKeyError: 1\n```"
ENTRY = f'# Messages\n["{SLUG}"]\n"{{}}" = "{{}}"\n'
NOT_COMPLETE = f"{UNRAISED}:1: S306 the list is not TOML, or an entry is not complete "
PARAMETER = '@pytest.mark.parametrize("start", ["KeyError: 1"])\ndef test_errors(start)'
BY_PARAMETER = RAISES.replace("def test_errors()", PARAMETER)
NOT_RAISED = f"{PAGE}:12: S305 no test raises KeyError: 1; in {TEST}, put the line "
# What tests and the list of messages say, and what is found of it.
ACCOUNTS = {
    "nothing": ({}, NOT_RAISED),
    "raised": ({"test": RAISES}, ""),
    "a parameter": ({"test": BY_PARAMETER.replace("'KeyError:'", "start")}, ""),
    "listed": ({"unraised": ENTRY.format("KeyError:", "needs a GPU")}, ""),
    "listed without a reason": (
        {"test": RAISES, "unraised": ENTRY.format("KeyError: 1", "")},
        f'{NOT_COMPLETE}({SLUG}: KeyError: 1); write ["<category>/<slug>"], and below ',
    ),
    "not TOML": (
        {"test": RAISES, "unraised": '["x"]\npage = \n'},
        f"{NOT_COMPLETE}(Invalid value (at line 2, column 8)); ",
    ),
    "not quoted": (
        {"test": RAISES, "unraised": ENTRY.format("KeyError: 2", "GPU")},
        f"{UNRAISED}:3: S307 training/label-smoothing does not quote one message that "
        "begins with KeyError: 2, ",
    ),
    "raised and listed": (
        {"test": RAISES, "unraised": ENTRY.format("KeyError: 1", "GPU")},
        f"{UNRAISED}:3: S307 training/label-smoothing does not quote one message that "
        "begins with KeyError: 1, or a test raises it; ",
    ),
}


@pytest.mark.parametrize("account", ACCOUNTS)
def test_each_message_is_raised_or_listed_with_a_reason(cookbook, account):
    changes, *expected = ACCOUNTS[account]
    plant(cookbook, both=QUOTE, **changes)
    assert_found(cookbook, {"found": filter(None, expected)}, cookbook.problems())


def test_a_message_is_raised_for_the_page_that_quotes_it(cookbook):
    """Two recipes quote one message; a test raises it for the other one."""
    cookbook.recipe("other", cookbook.CLAIM, after=f"\n{QUOTE}\n")
    plant(cookbook, both=QUOTE, test=RAISES.replace(SLUG, "training/other"))
    assert_found(cookbook, {"found": [NOT_RAISED]}, cookbook.problems())


def test_facts_stand_on_the_only_page(cookbook):
    planted(cookbook, TABLES["sound"]["facts on the only page"])
    (recipe,) = Catalogue(cookbook.root).recipes
    assert recipe.as_json()["tags"] == ["loss"]


def test_a_broken_page_does_not_hide_the_faults_of_others(cookbook):
    plant(cookbook, other=["it always.", "it always"], fence="```py")
    found = "\n".join(cookbook.problems())
    assert f"{PAGE}:8: P206 a block of ```py would be shown but not run" in found
    assert "docs/en/training/other.md:3: P109 the description is not one" in found


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
