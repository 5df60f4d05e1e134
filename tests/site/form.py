"""How far the recipes, taken together, have the form they should have.

What is measured is in front of the reader: lines of code and docstrings of the
snippets, words of prose. Where the answer stands on a screen is measured in a
browser, by tests/site/test_first_screen.py.
"""

import ast
import re
from collections.abc import Iterator
from statistics import median

from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import Block, Page
from cookbook.book.syntax import DEFINITIONS

WORD = re.compile(r"[A-Za-z0-9_]+|[\u3400-\u9fff]")  # a Chinese character is a word
# What is held, by name: the most.
TARGETS = {
    "lines of a snippet, median": 26,
    "docstrings, share of the lines": 0.10,
    "pitfalls, share of the prose": 0.45,
}


def measures(catalogue: Catalogue) -> dict[str, float]:
    """Each measure of TARGETS, over all recipes."""
    snippets = [block for recipe in catalogue.recipes for block in recipe.snippets]
    lines = [block.code.count("\n") for block in snippets]
    counts = [words(page) for page in catalogue.pages]
    return {
        "lines of a snippet, median": median(lines),
        "docstrings, share of the lines": sum(map(docstrings, snippets)) / sum(lines),
        "pitfalls, share of the prose": sum(pitfalls for pitfalls, _ in counts)
        / sum(total for _, total in counts),
    }


def docstrings(block: Block) -> int:
    """The lines of a snippet's docstrings."""
    nodes = ast.walk(ast.parse(block.code))
    found = (
        node.body[0]
        for node in nodes
        if isinstance(node, DEFINITIONS | ast.Module) and ast.get_docstring(node)
    )
    return sum(text.end_lineno - text.lineno + 1 for text in found)


def words(page: Page) -> tuple[int, int]:
    """The words of the pitfalls, and of all the prose, the sentence on top included."""
    pitfalls = page.lines_of("pitfalls")
    lead = len(WORD.findall(page.meta["description"]))
    counted = [(n, len(WORD.findall(line))) for n, line in page.document.prose]
    own = sum(count for number, count in counted if number in pitfalls)
    return own, lead + sum(count for _, count in counted)


def misses(catalogue: Catalogue) -> Iterator[str]:
    """What is outside its target, in words."""
    for name, value in measures(catalogue).items():
        if value > TARGETS[name]:
            yield f"{name}: {value:.3g}, more than {TARGETS[name]}"
