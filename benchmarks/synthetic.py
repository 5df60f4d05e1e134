"""A checkout with as many recipes as wanted, grown from the real ones."""

import re
import shutil
from itertools import count, islice
from pathlib import Path

from cookbook import parity
from cookbook.catalogue import CATEGORIES, Catalogue, Recipe
from cookbook.checks.messages import UNRAISED
from cookbook.pages import Page, tests_of

COPIED = ["cookbook", "docs/overrides", "docs/root", "docs/categories.yml"]
COPIED += ["docs/popular.yml"]
COPIED += ["mkdocs.yml", "mkdocs.en.yml", "mkdocs.zh.yml", "verified"]
COPIED += ["docs/en/index.md", "docs/zh/index.md", "docs/glossary.yml"]
COPIED += ["requirements.in", "requirements-paddle.txt"]


def grow(root: Path, checkout: Path, recipes: int) -> None:
    """Write a checkout with so many recipes: the real ones, then copies of them."""
    for name in COPIED:
        copy(root / name, checkout / name)
    real = Catalogue(root).recipes
    generations = ((recipe, number) for number in count() for recipe in real)
    copies: dict[str, list[str]] = {}
    unraised = (root / UNRAISED).read_text("utf-8").splitlines(keepends=True)
    planted = []
    for recipe, number in islice(generations, recipes):
        plant(recipe, number, checkout)
        slug = suffixed(recipe.slug, "-", number)
        copies.setdefault(recipe.slug, []).append(f"    - {slug}\n")
        old, new = (f"{recipe.category}/{name}: " for name in (recipe.slug, slug))
        planted += [line.replace(old, new) for line in unraised if old in line]
    file = checkout / CATEGORIES
    listed = re.sub(
        r"^    - (.*)\n",  # the copies stand in the group of the real one
        lambda line: "".join(copies.get(line[1], [])),
        file.read_text("utf-8"),
        flags=re.M,
    )
    file.write_text(listed, "utf-8")
    (checkout / UNRAISED).write_text("".join(planted), "utf-8")


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, if it is there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, ignore=ignore)
    elif source.exists():
        shutil.copy(source, target)


def plant(recipe: Recipe, number: int, checkout: Path) -> None:
    """Write a copy of a recipe; the one of number 0 is the recipe itself."""
    paths = []
    for page in recipe.written.values():
        name = suffixed(page.slug, "-", number)
        paths.append(page.path.with_name(f"{name}.md"))
        file = checkout / paths[-1]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page_text(page, recipe, number), encoding="utf-8")
    for snippet in {block.snippet for block in recipe.snippets}:
        test = tests_of(snippet)
        for file in (snippet, snippet.with_suffix(".out"), test):
            stem = suffixed(file.stem, "_", number)
            copy(recipe.root / file, checkout / file.with_stem(stem))
        file = checkout / test.with_stem(suffixed(test.stem, "_", number))
        file.write_text(renamed(file.read_text("utf-8"), recipe, number), "utf-8")
    if not recipe.missing and not recipe.behind:
        parity.confirm(*(Page.load(checkout, path) for path in paths))


def page_text(page: Page, recipe: Recipe, number: int) -> str:
    """The page's source, with a title, aliases and snippets of its own.

    Its links and its related recipes stay those of the original.
    """
    if number == 0:
        return page.source
    text = re.sub(r"^covers:.*\n(?:(?: |- ).*\n)*", "", page.source, flags=re.M)
    text = re.sub(r"^(  - .*?)([\"']?)$", rf"\1 {number}\2", text, flags=re.M)
    title = recipe.title(page.lang)
    text = text.replace(title, f"{title} {number}", 1)
    return renamed(text, recipe, number)


def renamed(text: str, recipe: Recipe, number: int) -> str:
    """A text that names a copy's page and snippets instead of the recipe's."""
    for snippet in {block.snippet for block in recipe.snippets}:
        stem = suffixed(snippet.stem, "_", number)
        text = re.sub(rf"\b{snippet.stem}\.py", f"{stem}.py", text)
    slug = suffixed(recipe.slug, "-", number)
    return text.replace(
        f'"{recipe.category}/{recipe.slug}"', f'"{recipe.category}/{slug}"'
    )


def suffixed(name: str, joint: str, number: int) -> str:
    """``name``, ``name-1``, ``name-2`` …"""
    return f"{name}{joint}{number}" if number else name
