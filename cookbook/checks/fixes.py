"""What a machine can put in order: form, heading ids, recorded outputs."""

import re
from collections.abc import Iterable
from pathlib import Path

from cookbook.catalogue import Recipe
from cookbook.checks import lint, recipe_check
from cookbook.pages import RECORDED, Heading, Page


def fix(recipes: list[Recipe]) -> list[Path]:
    """Put the files of some recipes in order; the paths that changed."""
    root = recipes[0].root
    before = _contents(recipes)
    for recipe in recipes:
        for path in recipe_check.files(recipe):
            _fix_text(root / path)
        _fix_headings(recipe)
    sources = [path for path in before if path.suffix == ".py"]
    lint.fix_style(sources)
    pages = [page.path for recipe in recipes for page in recipe.written.values()]
    recipe_check.start_pytest(root, pages, "--record").communicate()
    after = _contents(recipes)
    return sorted(path for path in after if after[path] != before.get(path))


def _contents(recipes: Iterable[Recipe]) -> dict[Path, bytes]:
    return {
        path: (recipe.root / path).read_bytes()
        for recipe in recipes
        for path in recipe_check.files(recipe)
    }


def _fix_text(file: Path) -> None:
    """One newline at the end, no byte-order mark; the form of code is ruff's task."""
    if file.suffix in RECORDED:
        return  # as it was printed or drawn
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return  # which encoding it is, a machine does not know
    _write(file, text.rstrip("\n") + "\n")


def _fix_headings(recipe: Recipe) -> None:
    """Ids for headings: the twin's, or on the English page from the words."""
    for page in recipe.written.values():
        page = Page.load(recipe.root, page.path)
        if page.unreadable:
            continue
        others = _twin_headings(page)
        lines = page.source.split("\n")
        taken = {heading.id for heading in page.headings}
        for index, heading in enumerate(page.headings):
            id = others[index].id if others else None
            id = id or _id_from_words(page, heading)
            if heading.id is None and heading.level > 1 and id and id not in taken:
                lines[heading.line - 1] += f" {{#{id}}}"
                taken.add(id)
        _write(recipe.root / page.path, "\n".join(lines))


def _twin_headings(page: Page) -> list[Heading]:
    """The twin's headings as they are now, if they match the page's; else none."""
    if not (page.root / page.twin_path).exists():
        return []
    headings = Page.load(page.root, page.twin_path).headings
    levels = [heading.level for heading in page.headings]
    return headings if [heading.level for heading in headings] == levels else []


def _id_from_words(page: Page, heading: Heading) -> str | None:
    """An id for an English heading; None for a Chinese one."""
    id = "-".join(re.findall(r"[a-z0-9]+", heading.text.lower()))
    return id if page.lang == "en" and id else None


def _write(file: Path, text: str) -> None:
    """Write a file only where its text changes."""
    if file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
