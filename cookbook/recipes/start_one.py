"""``python -m cookbook new``: start a recipe from the templates.

What is written passes every check but one: lines with ``TODO:`` are left, and say
what belongs there. The code already runs, and its test passes.
"""

import difflib
import re
import sys
from pathlib import Path
from string import Template

from cookbook.book.catalogue import CATEGORIES, Catalogue

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

List it where readers would look for it: - {slug} in a group of {categories}

Run this until all is in order:
  .venv/bin/python -m cookbook check {slug} --fix

Then confirm that the two pages say the same:
  .venv/bin/python -m cookbook parity {slug}"""


def create(catalogue: Catalogue, recipe: str) -> list[Path]:
    """Write the files of ``<category>/<slug>``.

    The program ends, and says why, where one exists or the name will not do.
    """
    category, slug = split(catalogue, recipe)
    near = next((r.slug for r in catalogue.in_category(category)), "")
    facts = {"category": category, "slug": slug, "name": slug.replace("-", "_")}
    files = {Path(path.format(**facts)): name for name, path in FILES.items()}
    taken = [page.path for page in catalogue.pages if page.slug == slug]
    taken += [path for path in files if (catalogue.root / path).exists()]
    if taken:
        sys.exit(f"{taken[0]} exists already; improve that, or choose another slug")
    for path, name in files.items():
        template = Template((TEMPLATES / f"{name}.template").read_text("utf-8"))
        (catalogue.root / path).parent.mkdir(parents=True, exist_ok=True)
        text = template.substitute(facts, near=near)
        (catalogue.root / path).write_text(text, "utf-8")
    return list(files)


def split(catalogue: Catalogue, recipe: str) -> tuple[str, str]:
    """The category and the slug that a recipe's name has."""
    category, _, slug = recipe.partition("/")
    if not SLUG.fullmatch(slug):
        sys.exit(
            f"{recipe} names no recipe; write <category>/<slug>, in lower-case words "
            "joined by -, such as training/ema-weights"
        )
    known = [each.slug for each in catalogue.categories]
    if category not in known:
        names = ", ".join(difflib.get_close_matches(category, known, n=1) or known)
        sys.exit(f"unknown category {category}; choose one of {CATEGORIES}: {names}")
    return category, slug


def report(root: Path, paths: list[Path]) -> str:
    """What was written, what to edit, and what to run next."""
    files = "\n".join(f"  {path}" for path in paths)
    marked = "\n".join(todos(root, paths))
    slug = paths[-1].stem
    return REPORT.format(slug=slug, files=files, todos=marked, categories=CATEGORIES)


def todos(root: Path, paths: list[Path]) -> list[str]:
    """Where each TODO stands, and what it says."""
    return [
        f"  {path}:{number}: {match[0]}"
        for path in paths
        for number, line in enumerate((root / path).read_text("utf-8").split("\n"), 1)
        if (match := TODO.search(line))
    ]
