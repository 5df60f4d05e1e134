"""What other releases of torch say, from the note to the page and the two indexes."""

from pathlib import Path

import pytest

from cookbook.book import wordings
from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import Page
from cookbook.site import indexes, render, search
from tests.helpers import ROOT

NOW, BEFORE = "RuntimeError: mm: sizes differ", "RuntimeError: sizes | differ"
ADDRESS = "errors/err-sizes"


@pytest.fixture
def page(tmp_path) -> Page:
    path = Path(f"docs/en/{ADDRESS}.md")
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(f"---\n---\n```pytb\n{NOW}\n```\n", encoding="utf-8")
    return Page.load(tmp_path, path)


def hear(page: Page, torch: str, raised: str) -> None:
    wordings.write(page.root, torch, [(ADDRESS, NOW, raised)])


def test_page_and_search_know_another_releases_wording(page):
    hear(page, "2.11.0", f"{BEFORE}\nmore")
    hear(page, "2.13.0", BEFORE)
    assert wordings.of(page) == {BEFORE: ["2.11.0", "2.13.0"]}
    row = "| `` RuntimeError: sizes \\| differ ``{ #error-2 } | 2.11.0, 2.13.0 |"
    assert row in render.other_wordings(page)
    assert search.error_lines(page) == "mm: sizes differ\nsizes | differ"


def test_a_wording_leaves_when_the_release_says_what_the_page_quotes(page):
    hear(page, "2.11.0", BEFORE)
    hear(page, "2.11.0", f"{NOW}, and more")
    assert wordings.load(page.root) == []


def test_a_wording_that_the_page_quotes_is_not_told_again(page):
    hear(page, "2.11.0", BEFORE)
    quoted = page.source + f"\n```pytb\n{BEFORE}\n```\n"
    assert wordings.of(Page(page.root, page.path, quoted)) == {}
    assert render.other_wordings(Page(page.root, page.path, quoted)) == ""


def test_the_error_index_marks_them_with_their_releases():
    catalogue = Catalogue(ROOT)
    rows = indexes.error_page(catalogue, "en").splitlines()
    for recipe in catalogue.recipes:
        for raised, releases in wordings.of(recipe.page_for("en")).items():
            (row,) = [row for row in rows if raised in row]
            told = f") (PyTorch {', '.join(releases)})" in row
            assert told or f"/{recipe.slug}.md" not in row  # another page quotes it
