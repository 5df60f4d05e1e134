"""The recipes as a whole: pages paired with their twins, category by category."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import yaml

from cookbook.book import answer, gains, records, symbols, twins
from cookbook.book.pages import (
    INCLUDE,
    LANGUAGES,
    YOURS,
    Block,
    Page,
    PageError,
    files_of,
    parse_yaml,
)
from cookbook.rules import Problem

CATEGORIES = Path("docs/categories.yml")
RELATIONS = ("first", "next", "instead", "")  # of a recipe to another
CODE = re.compile(r"`([^`]+)`")
NAME = re.compile(r"[A-Za-z_]{3,}(?![\w.])")  # torch.cat: cat
# Lines that tell nobody what an answer does.
UNTELLING = (
    '"""',
    "#",
    "assert ",
    "@",
    "def ",
    "class ",
    "import ",
    "from ",
    "return ",
    ")",
)


@dataclass(frozen=True)
class Group:
    """Recipes of a category that belong together, in the readers' order."""

    title: dict[str, str]  # by language; empty where the group has none
    slugs: list[str]


@dataclass(frozen=True)
class Category:
    """A folder of recipes with a name and a sentence per language."""

    slug: str
    title: dict[str, str]
    description: dict[str, str]
    first: list[str]  # what most of its readers need, maybe of another category
    groups: list[Group]

    @classmethod
    def of(cls, entry: dict) -> "Category":
        """The category that an entry of docs/categories.yml describes."""
        title, description = (
            {lang: entry[lang][key] for lang in LANGUAGES}
            for key in ("title", "description")
        )
        listed = entry.get("groups", [])
        groups = [Group(g.get("title") or {}, g.get("recipes") or []) for g in listed]
        return cls(entry["slug"], title, description, entry.get("first", []), groups)

    @property
    def slugs(self) -> list[str]:
        """The recipes that its groups name, in order."""
        return [slug for group in self.groups for slug in group.slugs]


@dataclass(frozen=True)
class Recipe:
    """One task: a page per language around the same blocks.

    Where somebody has written a page in one language only, a stub with the same
    blocks stands in for the other.
    """

    root: Path
    slug: str
    category: str
    written: dict[str, Page]  # by language, English first

    @property
    def address(self) -> str:
        """Its place in the site of each language."""
        return f"{self.category}/{self.slug}"

    @cached_property
    def pages(self) -> dict[str, Page]:
        """A page for every language, written or a stub."""
        if not self.missing:
            return self.written
        (page,) = self.written.values()
        pages = {**self.written, **{lang: twins.stub(page) for lang in self.missing}}
        return {lang: pages[lang] for lang in LANGUAGES}

    @property
    def missing(self) -> list[str]:
        """The languages in which nobody has written the page."""
        return [lang for lang in LANGUAGES if lang not in self.written]

    def page_for(self, lang: str) -> Page:
        """The page for readers of the language; where it is not written, the other."""
        return self.written.get(lang) or next(iter(self.written.values()))

    @cached_property
    def files(self) -> list[Path]:
        """Its own files, written or not: pages, snippets, outputs and tests.

        Only the includes are read, so that a page with a fault has its files, too.
        """
        one = self.page_for("en")
        found = sorted([one.path, one.twin_path])
        for page in self.written.values():
            for include in INCLUDE.finditer(page.body):
                found += files_of(Path("snippets", include["path"]))
        return list(dict.fromkeys(found))

    @cached_property
    def behind(self) -> list[str]:
        """The languages whose page is not confirmed against its present twin."""
        if self.missing:
            return []
        english, chinese = self.written.values()
        pairs = ((english, chinese), (chinese, english))
        return [page.lang for page, twin in pairs if twins.is_behind(page, twin)]

    @cached_property
    def blocks(self) -> list[Block]:
        """The distinct blocks of its pages, which all show the same."""
        distinct: dict[tuple[str, str], Block] = {}
        for page in self.written.values():
            for block in page.blocks:
                distinct.setdefault((block.language, block.code), block)
        return list(distinct.values())

    @property
    def snippets(self) -> list[Block]:
        """The Python blocks, each of which is a file."""
        return [block for block in self.blocks if block.snippet]

    def title(self, lang: str) -> str:
        return self.pages[lang].meta["title"]

    def description(self, lang: str) -> str:
        return self.pages[lang].meta["description"]

    @property
    def facts(self) -> dict:
        """What holds in every language stands on the English page, where it is."""
        return self.page_for("en").meta

    @property
    def related(self) -> list[tuple[str, str]]:
        """Other recipes, each after how it stands to this one, in RELATIONS' order."""
        pairs = [one.rpartition(" ")[::2] for one in self.facts.get("related", [])]
        return [(kind, slug) for kind in RELATIONS for k, slug in pairs if k == kind]

    @cached_property
    def answer(self) -> answer.Answer:
        """The piece that the reader came for; empty where none was chosen."""
        return answer.of(self.facts.get("answer"), self.blocks)

    @property
    def command(self) -> str:
        """The lines for the shell that belong to the answer."""
        given = self.facts.get("command")
        return given.strip("\n") if isinstance(given, str) else ""

    def yours(self, lang: str) -> dict[str, str]:
        """What the answer takes for granted: names, each with its kind.

        The page says the kind, else a comment of the snippet, which is English but
        for shapes.
        """
        told = self.pages[lang].meta.get(YOURS)
        told = told if isinstance(told, dict) else {}
        return {
            name: told.get(name, kind if lang == "en" else answer.without_words(kind))
            for name, kind in self.answer.yours.items()
        }

    @cached_property
    def errors(self) -> list[str]:
        """The error messages its pages quote."""
        quoted = (error for page in self.written.values() for error in page.errors)
        return list(dict.fromkeys(quoted))

    @cached_property
    def apis(self) -> list[str]:
        """The full names of the library symbols the snippets use, sorted."""
        return sorted(set().union(*self._apis.values()))

    @cached_property
    def main_apis(self) -> list[str]:
        """The symbols that its answer uses; all of them, where it uses none."""
        ranges = (range(part.first, part.last + 1) for part in self.answer.parts)
        shown = set(chain(*ranges))
        uses = self._apis.get(self.answer.block, {})
        return sorted(name for name in uses if shown & uses[name]) or self.apis

    @cached_property
    def _apis(self) -> dict[Block, dict[str, set[int]]]:
        return {s: symbols.symbols(self.root / s.snippet) for s in self.snippets}

    def as_json(self) -> dict:
        """What recipes.json says of the recipe, but for its snippets."""
        return {
            "slug": self.slug,
            "category": self.category,
            "title": {lang: self.title(lang) for lang in LANGUAGES},
            "description": {lang: self.description(lang) for lang in LANGUAGES},
            "url": {lang: self.pages[lang].url for lang in LANGUAGES},
            "answer": self.answer.text,
            "imports": self.answer.imports.splitlines(),
            "yours": list(self.answer.yours),
            "command": self.command,
            "covers": self.facts.get("covers", []),
            "tags": self.facts.get("tags", []),
            "apis": self.apis,
            "errors": self.errors,
            "behind": self.behind,
            "missing": self.missing,
        }


@dataclass(frozen=True)
class Catalogue:
    """Everything below docs/, read from a checkout's root.

    ``repository`` is the address of the public repository, if there is one.
    """

    root: Path
    repository: str = ""

    @cached_property
    def categories(self) -> list[Category]:
        """The categories, in the order of docs/categories.yml.

        Raises:
            PageError: it is not YAML, or an entry is not complete.
        """
        try:
            listed = parse_yaml((self.root / CATEGORIES).read_text("utf-8"))
            return [Category.of(entry) for entry in listed]
        except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else 1
            facts = {"reason": getattr(error, "problem", None) or error}
            problem = Problem(CATEGORIES, line, "categories-malformed", facts)
            raise PageError(problem) from error

    @cached_property
    def pages(self) -> list[Page]:
        """Every recipe page of both languages."""
        return self._load("*/*.md", LANGUAGES)

    @cached_property
    def other_pages(self) -> list[Page]:
        """The pages that are no recipes: home pages, the landing page."""
        return self._load("*.md", ("root", *LANGUAGES))

    def _load(self, pattern: str, folders: tuple[str, ...]) -> list[Page]:
        docs = (self.root / "docs" / folder for folder in folders)
        paths = sorted(path for folder in docs for path in folder.glob(pattern))
        return [Page.load(self.root, path.relative_to(self.root)) for path in paths]

    @cached_property
    def recipes(self) -> list[Recipe]:
        """The recipes in the order of the lists; one that is not listed comes last."""
        twins: dict[tuple[str, str], dict[str, Page]] = {}
        for page in self.pages:
            twins.setdefault((page.category, page.slug), {})[page.lang] = page
        found = []
        for category in self.categories:
            unlisted = sorted(slug for folder, slug in twins if folder == category.slug)
            for slug in dict.fromkeys([*category.slugs, *unlisted]):
                if pages := twins.get((category.slug, slug)):
                    found.append(Recipe(self.root, slug, category.slug, pages))
        return found

    @cached_property
    def gains(self) -> dict[str, list[gains.Gain]]:
        """What recipes were measured to gain, by slug."""
        return gains.load(self.root)

    @cached_property
    def records(self) -> list[records.Record]:
        """The believable records of runs, newest torch first."""
        return records.load(self.root)

    @cached_property
    def api_uses(self) -> Counter[str]:
        """How many recipes use each library symbol."""
        return Counter(name for recipe in self.recipes for name in recipe.apis)

    def telling_line(self, recipe: Recipe) -> str:
        """The line of an answer with what its page names first, in code.

        Else that with the symbol that the fewest other recipes use.
        """
        lines = [line.strip() for line in recipe.answer.code.split("\n")]
        lines = [line for line in lines if line and not line.startswith(UNTELLING)]
        named = chain(*map(NAME.findall, CODE.findall(recipe.description("en"))))
        rarest = sorted(recipe.main_apis, key=self.api_uses.get)
        for name in (*named, *(api.rpartition(".")[2] for api in rarest)):
            word = re.compile(rf"\b{re.escape(name)}\b")
            for line in lines:
                if word.search(line.partition("#")[0]):
                    return line
        return next(iter(lines), recipe.command)

    @cached_property
    def by_slug(self) -> dict[str, Recipe]:
        return {recipe.slug: recipe for recipe in self.recipes}

    @cached_property
    def tasks(self) -> dict[str, Recipe]:
        """The recipe of each task, by its slug: its own, and those that it covers."""
        found = dict(self.by_slug)
        for recipe in self.recipes:
            found |= dict.fromkeys(recipe.facts.get("covers", []), recipe)
        return found

    def written_in(self, lang: str) -> list[Recipe]:
        """The recipes whose page somebody has written in the language."""
        return [recipe for recipe in self.recipes if lang in recipe.written]

    def in_category(self, slug: str) -> list[Recipe]:
        return [recipe for recipe in self.recipes if recipe.category == slug]

    def first_of(self, category: Category) -> list[Recipe]:
        """What most readers of the category need; where nothing is named, all of it."""
        named = [self.by_slug[s] for s in category.first if s in self.by_slug]
        return named or self.in_category(category.slug)

    def grouped(self, category: Category) -> list[tuple[dict[str, str], list[Recipe]]]:
        """The category's recipes under the titles of their groups, empty ones left out.

        A recipe that no group names comes last, under no title.
        """
        recipes = {recipe.slug: recipe for recipe in self.in_category(category.slug)}
        groups = [
            (group.title, [recipes.pop(s) for s in group.slugs if s in recipes])
            for group in category.groups
        ]
        groups.append(({}, list(recipes.values())))
        return [(title, found) for title, found in groups if found]
