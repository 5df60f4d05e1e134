"""What readers look for and no recipe answers yet: docs/wanted.yml."""

from dataclasses import dataclass
from pathlib import Path

from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import LANGUAGES, parse_yaml

FILE = Path("docs/wanted.yml")


@dataclass(frozen=True)
class Topic:
    """A recipe that nobody has written, and the words that ask for it."""

    slug: str
    phrases: dict[str, list[str]]  # by language; the first is its title
    until: list[str]  # the recipes that help until it is written


def missing(catalogue: Catalogue) -> list[Topic]:
    """The topics that no recipe is about, nor covers."""
    file = catalogue.root / FILE
    listed = parse_yaml(file.read_text("utf-8")) if file.exists() else {}
    known = catalogue.tasks
    return [topic(slug, entry) for slug, entry in listed.items() if slug not in known]


def topic(slug: str, entry: dict) -> Topic:
    phrases = {lang: entry[lang] for lang in LANGUAGES}
    return Topic(slug, phrases, entry.get("until", []))
