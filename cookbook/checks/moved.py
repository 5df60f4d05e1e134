"""Old addresses that lead nowhere."""

from collections.abc import Iterator

import yaml

from cookbook.book.catalogue import Catalogue
from cookbook.book.moved import ENTRY, FILE, listed
from cookbook.rules import Problem


def problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Entries that lead nowhere, or whose address is a recipe's."""
    try:
        entries = listed(catalogue.root).items()
    except (yaml.YAMLError, AttributeError) as error:
        mark = getattr(error, "problem_mark", None)
        yield Problem(FILE, mark.line + 1 if mark else 1, "moved-malformed")
        return
    pages = {recipe.address: recipe for recipe in catalogue.recipes}
    known = {*pages, *(recipe.category for recipe in catalogue.recipes)}
    lines = (catalogue.root / FILE).read_text("utf-8").splitlines() if entries else []
    for old, new in entries:
        starts = (n for n, line in enumerate(lines, 1) if line.startswith(str(old)))
        line = next(starts, 1)
        if not ENTRY.fullmatch(f"{old}: {new}"):
            yield Problem(FILE, line, "moved-malformed")
        elif old in pages:
            facts = {"old": old, "path": pages[old].page_for("en").path}
            yield Problem(FILE, line, "moved-has-page", facts)
        elif new not in known:
            yield Problem(FILE, line, "moved-target-unknown", {"new": new})
