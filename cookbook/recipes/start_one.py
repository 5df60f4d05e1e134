"""``python -m cookbook new``: start a recipe from the templates.

What is written passes every check but one: lines with ``TODO:`` are left, and say
what belongs there. The code already runs, and its test passes.
"""

import difflib
import re
from pathlib import Path
from string import Template

from cookbook.book import moved
from cookbook.book.catalogue import CATEGORIES, Catalogue
from cookbook.recipes import listing

TEMPLATES = Path(__file__).parent / "templates"
SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")  # a Python name, but for the -
TODO = re.compile(r"TODO: [^\"]*")
FILES = {
    "snippet.py": "snippets/{category}/{name}.py",
    "test.py": "tests/snippets/{category}/test_{name}.py",
    "page.en.md": "docs/en/{category}/{slug}.md",
    "page.zh.md": "docs/zh/{category}/{slug}.md",
}
REPORT = """Written; the code already runs:
{files}

Replace what each TODO says:
{todos}

Run this until all is in order:
  .venv/bin/python -m cookbook check {slug} --fix

Then confirm that the two pages say the same:
  .venv/bin/python -m cookbook parity {slug}"""


class ScaffoldError(Exception):
    """The recipe cannot be started; says why, and what to write instead."""


def create(catalogue: Catalogue, recipe: str) -> list[Path]:
    """Write the files of ``<category>/<slug>``; none where one is there already.

    Raises:
        ScaffoldError: the recipe exists, or its name will not do.
    """
    category, slug = split(catalogue, recipe)
    refuse_taken(catalogue, slug)
    facts = {"category": category, "slug": slug, "name": slug.replace("-", "_")}
    files = {Path(path.format(**facts)): name for name, path in FILES.items()}
    for path in files:
        refuse_existing(catalogue.root, path)
    for path, name in files.items():
        template = Template((TEMPLATES / f"{name}.template").read_text("utf-8"))
        (catalogue.root / path).parent.mkdir(parents=True, exist_ok=True)
        (catalogue.root / path).write_text(template.substitute(facts), "utf-8")
    list_file = catalogue.root / CATEGORIES
    text = listing.add(list_file.read_text("utf-8"), category, slug)
    list_file.write_text(text, "utf-8")
    return list(files)


def split(catalogue: Catalogue, recipe: str) -> tuple[str, str]:
    """The category and the slug that a recipe's name has."""
    category, _, slug = recipe.partition("/")
    if not SLUG.fullmatch(slug):
        raise ScaffoldError(
            f"{recipe} names no recipe; write <category>/<slug>, in lower-case words "
            "joined by -, such as training/ema-weights"
        )
    known = [each.slug for each in catalogue.categories]
    if category not in known:
        names = ", ".join(difflib.get_close_matches(category, known, n=1) or known)
        raise ScaffoldError(
            f"unknown category {category}; choose one of {CATEGORIES}: {names}"
        )
    return category, slug


def refuse_taken(catalogue: Catalogue, slug: str, own: str = "") -> None:
    """Refuse a slug that leads to a recipe, but for an old one of that at ``own``."""
    for page in catalogue.pages:
        if page.slug == slug:
            raise ScaffoldError(
                f"{slug} exists already: {page.path}; improve that page, or rename "
                "yours"
            )
    for old, new in moved.load(catalogue.root).items():
        if old.endswith(f"/{slug}") and new != own:
            raise ScaffoldError(
                f"{slug} is an old address, see {moved.FILE}; choose another slug; "
                "old links must not lead to another task"
            )


def refuse_existing(root: Path, path: Path) -> None:
    if (root / path).exists():
        raise ScaffoldError(
            f"{path} exists already; choose another slug, or remove the file"
        )


def report(root: Path, paths: list[Path]) -> str:
    """What was written, what to edit, and what to run next."""
    slug = paths[-1].stem
    files = "\n".join(f"  {path}" for path in [*paths, place(root, slug)])
    return REPORT.format(slug=slug, files=files, todos="\n".join(todos(root, paths)))


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
