"""Old addresses, and the recipe or the category that each leads to: docs/moved.yml."""

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from cookbook.catalogue import Catalogue
from cookbook.pages import parse_yaml
from cookbook.rules import Problem

FILE = Path("docs/moved.yml")
ENTRY = re.compile(r"[a-z0-9-]+/[a-z0-9-]+: [a-z0-9-]+(/[a-z0-9-]+)?")


def load(root: Path) -> dict[str, str]:
    """Where each old ``<category>/<slug>`` leads; ``problems`` names what is wrong."""
    try:
        listed = _listed(root).items()
    except (yaml.YAMLError, AttributeError):
        return {}
    return {old: new for old, new in listed if ENTRY.fullmatch(f"{old}: {new}")}


def _listed(root: Path) -> dict:
    file = root / FILE
    return (parse_yaml(file.read_text("utf-8")) or {}) if file.exists() else {}


def add(root: Path, old: str, new: str) -> str:
    """The list's text with one more entry; what led to the old address goes on."""
    text = (root / FILE).read_text("utf-8") if (root / FILE).exists() else ""
    text = re.sub(rf"^{new}: .*\n", "", text, flags=re.MULTILINE)  # lived there before
    text = re.sub(rf"(?<=: ){old}$", new, text, flags=re.MULTILINE)
    return f"{text}{old}: {new}\n"


def problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Entries that lead nowhere, or whose address is a recipe's."""
    try:
        listed = _listed(catalogue.root).items()
    except (yaml.YAMLError, AttributeError) as error:
        mark = getattr(error, "problem_mark", None)
        yield Problem(FILE, mark.line + 1 if mark else 1, "moved-malformed")
        return
    pages = {recipe.address: recipe for recipe in catalogue.recipes}
    known = {*pages, *(recipe.category for recipe in catalogue.recipes)}
    lines = (catalogue.root / FILE).read_text("utf-8").splitlines() if listed else []
    for old, new in listed:
        starts = (n for n, line in enumerate(lines, 1) if line.startswith(str(old)))
        line = next(starts, 1)
        if not ENTRY.fullmatch(f"{old}: {new}"):
            yield Problem(FILE, line, "moved-malformed")
        elif old in pages:
            facts = {"old": old, "path": pages[old].page_for("en").path}
            yield Problem(FILE, line, "moved-has-page", facts)
        elif new not in known:
            yield Problem(FILE, line, "moved-target-unknown", {"new": new})
