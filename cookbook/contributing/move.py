"""``python -m cookbook move``: give a recipe another category, or another slug.

All that belongs to the recipe follows, and all that speaks of it: its files, the links
to its pages, records, search queries. Its old address leads to the new one.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cookbook import moved, parity, records
from cookbook.catalogue import CATEGORIES, Catalogue, Recipe
from cookbook.checks import file_checks
from cookbook.contributing import listing, scaffold
from cookbook.contributing.scaffold import ScaffoldError
from cookbook.pages import Page

# Where a recipe is spoken of. The engine's tests have recipes of their own.
PLACES = ("docs", "snippets", "tests", "README.md", "CONTRIBUTING.md")
PLACES += ("CONTRIBUTING.zh.md",)
ELSEWHERE = ("tests/engine", str(CATEGORIES), str(moved.FILE))
LINK = re.compile(r"(?<=\]\()(?P<path>[^)\s#:]+\.md)(?=[#)])")
RELATED = re.compile(r"^related:.*\n(?:[ -].*\n)*", re.MULTILINE)  # in front matter
WANTS = re.compile(r'"wants": \[.*?\]')  # of a search query
REPORT = """Moved to
{files}

It is the last of its category; change the order where a reader would look:
  {place}

Run this until all is in order:
  .venv/bin/python -m cookbook check {slug}"""


@dataclass(frozen=True)
class Move:
    """A recipe on its way from one address to another."""

    catalogue: Catalogue
    recipe: Recipe
    category: str
    slug: str

    @property
    def root(self) -> Path:
        return self.catalogue.root

    @property
    def address(self) -> str:
        return f"{self.category}/{self.slug}"

    @cached_property
    def files(self) -> dict[Path, Path]:
        """Where each of the recipe's own files goes; what others show stays."""
        others = [one for one in self.catalogue.recipes if one != self.recipe]
        shown = {path for one in others for path in one.files}
        return {
            path: self._place(path)
            for path in self.recipe.files
            if path.parts[-2] == self.recipe.category
            and path not in shown
            and (self.root / path).exists()
        }

    def _place(self, path: Path) -> Path:
        joint = "-" if path.suffix == ".md" else "_"
        old, new = (slug.replace("-", joint) for slug in self.slugs)
        name = re.sub(rf"^(test_)?{old}(?=[_.])", rf"\g<1>{new}", path.name)
        return path.parents[1] / self.category / name

    @property
    def slugs(self) -> tuple[str, str]:
        return self.recipe.slug, self.slug

    @cached_property
    def renamed(self) -> Callable[[str], str]:
        """Puts the new paths, module names and address into a text."""
        names = {self.recipe.address: self.address}
        for old, new in self.files.items():
            old, new = ("/".join(path.parts[-2:]) for path in (old, new))
            names[old] = new
            if old.endswith(".py"):
                old, new = (n.removesuffix(".py").replace("/", ".") for n in (old, new))
                names[old] = new
        return replacement(names)

    def texts(self) -> dict[Path, str]:
        """The new text of each file that changes, by its present path."""
        pages = [*self.catalogue.pages, *self.catalogue.other_pages]
        texts = {page.path: self._page_text(page) for page in pages}
        for path in file_checks.files(self.root):
            inside = any(path.is_relative_to(place) for place in PLACES)
            outside = any(path.is_relative_to(place) for place in ELSEWHERE)
            if inside and not outside and path not in texts:
                # An image, or a link to a folder.
                with suppress(UnicodeDecodeError, IsADirectoryError):
                    text = self.renamed((self.root / path).read_text("utf-8"))
                    texts[path] = self._with_slug(WANTS, text)
        texts |= self._confirmed(texts)
        texts[CATEGORIES] = self._categories()
        texts[moved.FILE] = moved.add(self.root, self.recipe.address, self.address)
        texts |= records.renamed(self.root, self.renamed)
        return texts

    def _page_text(self, page: Page) -> str:
        if page.unreadable:
            raise page.unreadable
        place = self.files.get(page.path, page.path)

        def relink(match: re.Match) -> str:
            target = Path(os.path.normpath(page.path.parent / match["path"]))
            if place == page.path and target not in self.files:
                return match["path"]
            target = self.files.get(target, target)
            return Path(os.path.relpath(target, place.parent)).as_posix()

        text = self.renamed(LINK.sub(relink, page.source))
        return self._with_slug(RELATED, text)

    def _with_slug(self, places: re.Pattern, text: str) -> str:
        """The text with the new slug in the lists that name recipes."""
        return places.sub(lambda match: replacement([self.slugs])(match[0]), text)

    def _confirmed(self, texts: dict[Path, str]) -> dict[Path, str]:
        """The texts of pages whose twin changes, as far as they were in line."""
        new = {}
        for recipe in self.catalogue.recipes:
            for page in () if recipe.missing else recipe.written.values():
                twin = recipe.written[page.twin_path.parts[1]]
                if texts[twin.path] != twin.source and not parity.is_behind(page, twin):
                    twin = Page(self.root, twin.path, texts[twin.path])
                    page = Page(self.root, page.path, texts[page.path])
                    new[page.path] = parity.marked(page, parity.words_hash(twin))
        return new

    def _categories(self) -> str:
        text = (self.root / CATEGORIES).read_text("utf-8")
        if self.category == self.recipe.category:
            return text.replace(f"    - {self.recipe.slug}\n", f"    - {self.slug}\n")
        without = listing.remove(text, self.recipe.slug)
        return listing.add(without, self.category, self.slug)


def replacement(names) -> Callable[[str], str]:
    """Replaces whole names in a text, the longest first."""
    names = dict(names)
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(longest_first)})(?![\w-])")
    return lambda text: pattern.sub(lambda match: names[match[0]], text)


def plan(catalogue: Catalogue, source: str, target: str) -> Move:
    """The move of a recipe to ``<category>/<slug>``, if nothing is in its way.

    Raises:
        ScaffoldError: there is no such recipe, or the new name will not do.
    """
    recipes = {recipe.address: recipe for recipe in catalogue.recipes}
    if source not in recipes:
        found = catalogue.by_slug.get(source.rpartition("/")[2])
        address = found.address if found else "<category>/<slug>"
        raise ScaffoldError(f"no recipe {source}; write {address}")
    move = Move(catalogue, recipes[source], *scaffold.split(catalogue, target))
    if target == source:
        raise ScaffoldError(
            f"{source} is there already; write another category or slug"
        )
    if move.slug != move.recipe.slug:
        scaffold.refuse_taken(catalogue, move.slug, own=source)
    for path in move.files.values():
        scaffold.refuse_existing(catalogue.root, path)
    return move


def carry_out(move: Move) -> None:
    """Move the files, then write what they and others say.

    Raises:
        PageError: a page cannot be read; nothing has moved then.
    """
    texts = move.texts()
    for old, new in move.files.items():
        (move.root / new).parent.mkdir(parents=True, exist_ok=True)
        (move.root / old).rename(move.root / new)
        with suppress(OSError):  # others are there
            (move.root / old).parent.rmdir()
    for path, text in texts.items():
        file = move.root / move.files.get(path, path)
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


def report(move: Move) -> str:
    """Where the files are now, and what to look at and to run."""
    files = "\n".join(f"  {path}" for path in move.files.values())
    place = scaffold.place(move.root, move.slug)
    return REPORT.format(files=files, place=place, slug=move.slug)
