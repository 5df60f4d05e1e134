"""Whether the pages of a recipe show the same, and were confirmed to say the same."""

from collections.abc import Iterator
from itertools import zip_longest

from cookbook.book.catalogue import Recipe
from cookbook.book.pages import Page
from cookbook.book.twins import KEY, is_behind, marked, only_one_changed, words_hash
from cookbook.rules import Problem


def problems(recipe: Recipe) -> Iterator[Problem]:
    """What keeps a recipe's pages from being in line, in structure or in words.

    The code is shared, so the blocks are the same at any time. While one page has
    moved on, the other need not have its headings, errors and links: a change to
    the words of one language is welcome.
    """
    page, *twins = recipe.written.values()
    if not twins:
        yield page.problem(1, "twin-not-written", twin=page.twin_path)
        return
    (twin,) = twins
    yield from block_differences(page, twin)
    if not only_one_changed(page, twin):
        yield from word_differences(page, twin)
    for one, other in ((page, twin), (twin, page)):
        if is_behind(one, other):
            rule = "twin-out-of-date" if KEY in one.meta else "twin-unconfirmed"
            line = one.meta_line(KEY)
            yield one.problem(line, rule, twin=other.path, slug=one.slug)


def block_differences(page: Page, twin: Page) -> Iterator[Problem]:
    """Where the twin shows other blocks."""
    blocks = [(block.identity, block.line) for block in page.blocks]
    others = [(block.identity, block.line) for block in twin.blocks]
    yield from _first_difference(page, twin, blocks, others, "twin-blocks-differ")


def word_differences(page: Page, twin: Page) -> Iterator[Problem]:
    """Where the twin has other headings, errors or links."""
    headings = [((h.level, h.id), h.line) for h in page.headings]
    others = [((h.level, h.id), h.line) for h in twin.headings]
    yield from _first_difference(page, twin, headings, others, "twin-headings-differ")
    errors = [(quote.text, quote.line) for quote in page.quotes]
    others = [(quote.text, quote.line) for quote in twin.quotes]
    yield from _first_difference(page, twin, errors, others, "twin-messages-differ")
    for link in sorted(set(page.links) ^ set(twin.links)):
        where, other = (twin, page) if link in page.links else (page, twin)
        yield where.problem(1, "twin-links-differ", link=link, twin=other.path)


def _first_difference(
    page: Page, twin: Page, ours: list, theirs: list, rule: str
) -> Iterator[Problem]:
    for (item, _), (other, line) in zip_longest(ours, theirs, fillvalue=(None, 1)):
        if item != other:
            yield twin.problem(line, rule, twin=page.path)
            return


def confirm(page: Page, twin: Page) -> list[Problem]:
    """Write into both pages that they are in line; or say where they differ."""
    found = [*block_differences(page, twin), *word_differences(page, twin)]
    for one, other in ((page, twin), (twin, page)) if not found else ():
        text = marked(one, words_hash(other))
        if text != one.source:
            (one.root / one.path).write_text(text, encoding="utf-8")
    return found
