"""Old addresses, and the recipe or the category that each leads to.

docs/moved.yml lists them. A recipe that has moved is one line, ``old: new``. Where a
recipe is gone, the entry says in both languages why.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from cookbook.catalogue import Catalogue
from cookbook.pages import LANGUAGES, parse_yaml
from cookbook.rules import Problem

FILE = Path("docs/moved.yml")
ADDRESS = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")


@dataclass(frozen=True)
class Moved:
    """One old address."""

    old: str  # <category>/<slug>
    new: str  # the same of a recipe, or a category
    reason: dict[str, str] = field(default_factory=dict)  # by language

    @property
    def slug(self) -> str:
        return self.old.rpartition("/")[2]

    @property
    def is_complete(self) -> bool:
        texts = (self.new, *self.reason.values())
        return (
            bool(ADDRESS.fullmatch(self.old))
            and all(isinstance(text, str) and text for text in texts)
            and self.reason.keys() in (set(), set(LANGUAGES))
        )


def load(root: Path) -> list[Moved]:
    """The complete entries of the list; ``problems`` names the others."""
    try:
        return [entry for entry in _entries(root) if entry.is_complete]
    except yaml.YAMLError:
        return []


def _entries(root: Path) -> list[Moved]:
    file, found = root / FILE, []
    listed = (parse_yaml(file.read_text("utf-8")) or {}) if file.exists() else {}
    for old, entry in listed.items():
        reason = dict(entry) if isinstance(entry, dict) else {"to": entry}
        found.append(Moved(str(old), reason.pop("to", None), reason))
    return found


def add(root: Path, old: str, new: str) -> str:
    """The list's text with one more entry; what led to the old address goes on."""
    text = (root / FILE).read_text("utf-8") if (root / FILE).exists() else ""
    text = re.sub(rf"^{new}: .*\n", "", text, flags=re.MULTILINE)  # lived there before
    text = re.sub(rf"(?<=: ){old}$", new, text, flags=re.MULTILINE)
    return f"{text}{old}: {new}\n"


def problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Entries that lead nowhere, or whose address is a recipe's."""
    try:
        entries = _entries(catalogue.root)
    except (yaml.YAMLError, AttributeError) as error:
        mark = getattr(error, "problem_mark", None)
        yield Problem(FILE, mark.line + 1 if mark else 1, "moved-malformed")
        return
    pages = {recipe.address: recipe for recipe in catalogue.recipes}
    known = {*pages, *(recipe.category for recipe in catalogue.recipes)}
    lines = (catalogue.root / FILE).read_text("utf-8").splitlines() if entries else []
    for entry in entries:
        starts = (n for n, line in enumerate(lines, 1) if line.startswith(entry.old))
        line = next(starts, 1)
        if not entry.is_complete:
            yield Problem(FILE, line, "moved-malformed")
        elif entry.old in pages:
            facts = {"old": entry.old, "path": pages[entry.old].page_for("en").path}
            yield Problem(FILE, line, "moved-has-page", facts)
        elif entry.new not in known:
            yield Problem(FILE, line, "moved-target-unknown", {"new": entry.new})
