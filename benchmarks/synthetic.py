"""A checkout with as many recipes as wanted, grown from the real ones.

A copy of a recipe has pages of its own, which show the snippets of the real one.
"""

import json
import re
import shutil
from collections import defaultdict
from itertools import chain, count, islice
from pathlib import Path

from cookbook import parity
from cookbook.catalogue import CATEGORIES, Catalogue
from cookbook.checks.messages import UNRAISED
from cookbook.pages import Page

COPIED = ("cookbook", "docs", "snippets", "tests", "verified")
SETTINGS = ("mkdocs*.yml", "requirements*")


def grow(root: Path, checkout: Path, recipes: int) -> None:
    """Write a checkout with so many recipes: the real ones, then copies of them."""
    for folder in COPIED:
        shutil.copytree(root / folder, checkout / folder)
    for file in chain.from_iterable(map(root.glob, SETTINGS)):
        shutil.copy(file, checkout)
    real = Catalogue(root).recipes
    copies = ((recipe, number) for number in count(1) for recipe in real)
    slugs, unraised = defaultdict(list), ""
    for recipe, number in islice(copies, recipes - len(real)):
        slug = f"{recipe.slug}-{number}"
        slugs[recipe.slug].append(slug)
        pages = recipe.written.values()
        paths = [plant(page, slug, number, checkout) for page in pages]
        if not recipe.missing and not recipe.behind:
            parity.confirm(*(Page.load(checkout, path) for path in paths))
        for error in recipe.errors:
            key = json.dumps(f"{recipe.category}/{slug}: {error}")
            unraised += f'{key} = "as the real one"\n'
    with (checkout / UNRAISED).open("a", encoding="utf-8") as file:
        file.write(unraised)
    file = checkout / CATEGORIES
    listed = re.sub(
        r"^    - (.*)\n",  # the copies stand in the group of the real one
        lambda line: "".join(f"    - {slug}\n" for slug in [line[1], *slugs[line[1]]]),
        file.read_text("utf-8"),
        flags=re.M,
    )
    file.write_text(listed, "utf-8")


def plant(page: Page, slug: str, number: int, checkout: Path) -> Path:
    """Write a copy of a page, with a title and aliases of its own.

    Its links and its related recipes stay those of the original.
    """
    text = re.sub(r"^covers:.*\n(?:(?: |- ).*\n)*", "", page.source, flags=re.M)
    text = re.sub(r"^(  - .*?)([\"']?)$", rf"\1 {number}\2", text, flags=re.M)
    title = page.meta["title"]
    path = page.path.with_name(f"{slug}.md")
    text = text.replace(title, f"{title} {number}", 1)
    (checkout / path).write_text(text, encoding="utf-8")
    return path
