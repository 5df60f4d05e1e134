"""``python -m cookbook new``: start a recipe from the templates.

What is written passes every check but one: lines with ``TODO:`` are left, and say
what belongs there. The code already runs, and its test passes.
"""

import difflib
import json
import keyword
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from cookbook import moved
from cookbook.catalogue import CATEGORIES, Catalogue
from cookbook.checks.snippet_checks import is_module
from cookbook.contributing import listing

TEMPLATES = Path(__file__).parent / "templates"
SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")  # a Python name, but for the -
TODO = re.compile(r"TODO: [^\"]*")
LONGEST = 36  # so that no line of the templates grows too long
FILES = {
    "snippet.py": "snippets/{category}/{name}.py",
    "test.py": "tests/snippets/{category}/test_{name}.py",
    "page.en.md": "docs/en/{category}/{slug}.md",
    "page.zh.md": "docs/zh/{category}/{slug}.md",
}
TITLES = {"en": "TODO: name the task", "zh": "TODO: 写出任务的名称"}
ON_CPU = "torch.tensor([1.0, 2.0])"
ON_GPU = 'torch.tensor([1.0, 2.0], device="cuda")'
GPU_MARK = "<!--pytest.mark.gpu-->\n"
# Why a recipe is not started; what to write instead.
REFUSALS = {
    "form": "{recipe} names no recipe; write <category>/<slug>, such as "
    "training/ema-weights",
    "category": "unknown category {category}; choose one of docs/categories.yml: "
    "{known}",
    "slug": "{slug} is no slug; write lower-case words joined by -, the first "
    "beginning with a letter",
    "near": "{recipe} names no recipe; write {near}",
    "keyword": "{slug} is a keyword of Python; write a slug of several words",
    "module": "{slug} is a module's name, which the snippet would hide; write a slug "
    "of several words that name the task",
    "long": "{slug} has {count} characters; write a slug of at most {limit}",
    "exists": "{slug} exists already: {path}; improve that page, or rename yours",
    "covered": "{slug} is covered by {path}; remove it from there first (line {line})",
    "moved": "{slug} is an old address, see {path}; choose another slug; old links "
    "must not lead to another task",
    "file": "{path} exists already; choose another slug, or remove the file",
    "unknown": "no recipe {recipe}; write {address}",
    "same": "{recipe} is there already; write another category or slug",
}
REPORT = (
    "Written; the code already runs, with --gpu on a GPU alone:",
    "Replace what each TODO says:",
    "Run this until all is in order:",
    "Then confirm that the two pages say the same:",
)


class ScaffoldError(Exception):
    """The recipe cannot be started; says why, and what to write instead."""

    def __init__(self, reason: str, **facts: object):
        super().__init__(REFUSALS[reason].format_map(facts))


@dataclass(frozen=True)
class NewRecipe:
    """What the templates need to know."""

    category: str
    slug: str
    titles: dict[str, str]  # by language
    gpu: bool = False

    @property
    def name(self) -> str:
        """The slug as a Python name."""
        return self.slug.replace("-", "_")

    def files(self) -> dict[Path, str]:
        """The text of each file, by its path in the checkout."""
        facts = {
            "category": self.category,
            "slug": self.slug,
            "name": self.name,
            "tensor": ON_GPU if self.gpu else ON_CPU,
            "mark": GPU_MARK if self.gpu else "",
        }
        for lang, title in self.titles.items():
            facts[f"title_{lang}"] = json.dumps(title, ensure_ascii=False)  # is YAML
        return {
            Path(path.format_map(facts)): template(name).substitute(facts)
            for name, path in FILES.items()
        }


def template(name: str) -> Template:
    file = TEMPLATES / f"{name}.template"
    return Template(file.read_text(encoding="utf-8"))


def create(catalogue: Catalogue, recipe: str, titles: dict, gpu: bool) -> list[Path]:
    """Write the files of ``<category>/<slug>``; none where one is there already.

    Raises:
        ScaffoldError: the recipe exists, or its name will not do.
        PageError: the front matter of another page cannot be read.
    """
    category, slug = split(recipe)
    refuse_category(catalogue, category)
    refuse_name(catalogue, slug)
    refuse_taken(catalogue, slug)
    refuse_moved(catalogue, slug)
    given = {lang: titles.get(lang) or text for lang, text in TITLES.items()}
    files = NewRecipe(category, slug, given, gpu).files()
    for path in files:
        if (catalogue.root / path).exists():
            raise ScaffoldError("file", path=path)
    for path, text in files.items():
        (catalogue.root / path).parent.mkdir(parents=True, exist_ok=True)
        (catalogue.root / path).write_text(text, encoding="utf-8")
    list_file = catalogue.root / CATEGORIES
    text = listing.add(list_file.read_text("utf-8"), category, slug)
    list_file.write_text(text, "utf-8")
    return list(files)


def split(recipe: str) -> tuple[str, str]:
    category, slash, slug = recipe.partition("/")
    near = re.sub(r"[_\s]+", "-", recipe.replace("\\", "/").lower())
    if near != recipe and SLUG.fullmatch(near.partition("/")[2]):
        raise ScaffoldError("near", recipe=recipe, near=near)
    if not (category and slash and slug) or "/" in slug:
        raise ScaffoldError("form", recipe=recipe)
    return category, slug


def refuse_category(catalogue: Catalogue, category: str) -> None:
    known = [each.slug for each in catalogue.categories]
    if category not in known:
        close = difflib.get_close_matches(category, known, n=1)
        raise ScaffoldError(
            "category", category=category, known=", ".join(close or known)
        )


def refuse_name(catalogue: Catalogue, slug: str) -> None:
    if not SLUG.fullmatch(slug):
        raise ScaffoldError("slug", slug=slug)
    if keyword.iskeyword(slug):
        raise ScaffoldError("keyword", slug=slug)
    if is_module(catalogue.root, slug.replace("-", "_")):
        raise ScaffoldError("module", slug=slug)
    if len(slug) > LONGEST:
        raise ScaffoldError("long", slug=slug, count=len(slug), limit=LONGEST)


def refuse_taken(catalogue: Catalogue, slug: str) -> None:
    for page in catalogue.pages:
        if page.slug == slug:
            raise ScaffoldError("exists", slug=slug, path=page.path)
        if slug in page.meta.get("covers", []):
            line = page.meta_line("covers")
            raise ScaffoldError("covered", slug=slug, path=page.path, line=line)


def refuse_moved(catalogue: Catalogue, slug: str, own: str = "") -> None:
    """Refuse a slug that leads to another recipe than the one at ``own``."""
    for one in moved.load(catalogue.root):
        if one.slug == slug and one.new != own:
            raise ScaffoldError("moved", slug=slug, path=moved.FILE)


def report(root: Path, paths: list[Path]) -> str:
    """What was written, what to edit, and what to run next."""
    slug, python = paths[-1].stem, ".venv/bin/python -m cookbook"
    parts = (
        [*(f"  {path}" for path in paths), f"  {place(root, slug)}"],
        todos(root, paths),
        [f"  {python} check {slug} --fix"],
        [f"  {python} parity {slug}"],
    )
    return "\n\n".join(
        "\n".join([title, *lines]) for title, lines in zip(REPORT, parts, strict=True)
    )


def place(root: Path, slug: str) -> str:
    """Where the recipe stands in the readers' order."""
    text = (root / CATEGORIES).read_text("utf-8")
    return f"{CATEGORIES}:{listing.line(text, slug)}"


def todos(root: Path, paths: list[Path]) -> list[str]:
    """Where each TODO stands, and what it says."""
    return [
        f"  {path}:{number}: {match[0]}"
        for path in paths
        for number, line in enumerate((root / path).read_text("utf-8").split("\n"), 1)
        if (match := TODO.search(line))
    ]
