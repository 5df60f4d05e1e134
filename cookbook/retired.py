"""Recipes that are gone: their addresses stay, and lead to the successors.

docs/retired.yml lists them. A page at each old address says why, in both
languages; it is in no list, no search index and no recipes.json.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from cookbook.catalogue import Catalogue
from cookbook.pages import LANGUAGES, parse_yaml
from cookbook.rules import Problem

FILE = Path("docs/retired.yml")
PAGE = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")
WORDS = {
    "en": {"gone": "This recipe was retired.", "instead": "Read instead:"},
    "zh": {"gone": "本条目已停用。", "instead": "请改看："},
}


@dataclass(frozen=True)
class Retired:
    """One recipe that is gone."""

    page: str  # <category>/<slug>, where it was
    title: dict[str, str]  # by language
    reason: dict[str, str]
    successor: str | None = None  # a recipe's slug

    @property
    def slug(self) -> str:
        return self.page.rpartition("/")[2]


def load(root: Path) -> list[Retired]:
    """The complete entries of the list; ``problems`` names the others."""
    try:
        entries = _entries(root)
    except yaml.YAMLError:
        return []
    return [_retired(entry) for entry in entries if _complete(entry)]


def _entries(root: Path) -> list:
    file = root / FILE
    entries = parse_yaml(file.read_text("utf-8")) if file.exists() else []
    return entries if isinstance(entries, list) else [entries]


def _retired(entry: dict) -> Retired:
    return Retired(
        entry["page"],
        {lang: entry[lang]["title"] for lang in LANGUAGES},
        {lang: entry[lang]["reason"] for lang in LANGUAGES},
        entry.get("successor"),
    )


def _complete(entry: object) -> bool:
    """Whether an entry has the old place, and both languages' title and reason."""
    if not isinstance(entry, dict) or entry.keys() - {"page", "successor", *LANGUAGES}:
        return False
    if not PAGE.fullmatch(str(entry.get("page"))):
        return False
    texts = [entry.get(lang) for lang in LANGUAGES]
    return all(
        isinstance(text, dict)
        and text.keys() == {"title", "reason"}
        and all(isinstance(value, str) and value for value in text.values())
        for text in texts
    )


def problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Entries that lead nowhere, or stand in the way of a recipe."""
    try:
        entries = _entries(catalogue.root)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", error)
        yield Problem(
            FILE, mark.line + 1 if mark else 1, "retired-not-yaml", {"reason": reason}
        )
        return
    recipes = catalogue.recipes
    slugs = {recipe.slug for recipe in recipes}
    pages = {f"{one.category}/{one.slug}": one.page_for("en").path for one in recipes}
    for entry in entries:
        if not _complete(entry):
            yield Problem(FILE, _line(catalogue.root, entry), "retired-incomplete")
            continue
        line, one = _line(catalogue.root, entry), _retired(entry)
        if one.page in pages:
            facts = {"slug": one.slug, "path": pages[one.page]}
            yield Problem(FILE, line, "retired-has-page", facts)
        if one.successor is not None and one.successor not in slugs:
            yield Problem(
                FILE, line, "retired-successor-unknown", {"successor": one.successor}
            )


def _line(root: Path, entry: object) -> int:
    """The line that names the entry's page; 1 where it names none."""
    page = entry.get("page") if isinstance(entry, dict) else None
    for number, line in enumerate((root / FILE).read_text("utf-8").split("\n"), 1):
        if page and re.search(rf"^[^#]*page: *{re.escape(str(page))}\b", line):
            return number
    return 1


def stub(catalogue: Catalogue, retired: Retired, lang: str) -> str:
    """The Markdown of the page at the old address."""
    words, title = WORDS[lang], retired.title[lang]
    lead = f"{words['gone']}{' ' if lang == 'en' else ''}{retired.reason[lang]}"
    front = {"title": title, "description": lead}
    lines = [f"# {title} {{ #{retired.slug} }}", "", lead, "{ .lead }", ""]
    if retired.successor:
        recipe = catalogue.by_slug[retired.successor]
        front["successor"] = f"../../{recipe.category}/{recipe.slug}/"
        link = f"../{recipe.category}/{recipe.slug}.md"
        lines += [f"{words['instead']} [{recipe.title(lang)}]({link})", ""]
    front["retired"] = True
    head = ["---", json.dumps(front, ensure_ascii=False), "---"]  # JSON is YAML
    return "\n".join([*head, *lines])
