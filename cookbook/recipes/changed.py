"""What a change touches: the pages and the tests to run for it."""

from collections.abc import Iterable
from pathlib import Path

from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import tests_of

# What runs the blocks touches all of them.
SHARED = ("cookbook/", "docs/overrides/", "tests/conftest.py", "tests/helpers.py")
SHARED += ("conftest.py", "mkdocs", "pyproject.toml", "requirements")
PAGES, TESTS = "docs/??/*/*.md", "tests/snippets/*/test_*.py"
SUFFIXES = (".py", ".out", ".svg")  # a snippet, and what it printed and drew


def touched(catalogue: Catalogue, changed: Iterable[str]) -> list[Path]:
    """The paths to give to pytest for the files that changed."""
    if any(name.startswith(SHARED) for name in changed):
        return [Path("docs")]
    paths = set(map(Path, changed))
    found = {path for path in paths if path.match(PAGES) or path.match(TESTS)}
    for page in catalogue.pages:
        for block in page.blocks if page.readable else ():
            snippet = block.snippet
            if snippet and paths & {snippet.with_suffix(end) for end in SUFFIXES}:
                found |= {page.path, tests_of(snippet)}
    return sorted(path for path in found if (catalogue.root / path).exists())
