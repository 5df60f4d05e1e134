"""The search index: what the worker (docs/overrides/assets/search.js) ranks.

Small enough to be fetched when the reader turns to the search box: a page's
names, sentence, aliases of both languages, symbols, error messages and
headings. Its prose and code are left out.
"""

import json
from collections import Counter
from pathlib import Path

from cookbook.catalogue import Catalogue, Recipe
from cookbook.pages import LANGUAGES

SEPARATOR = " · "
COMMON = 8  # a symbol that more recipes use tells none of them apart


def write(catalogue: Catalogue, lang: str, site: Path) -> None:
    """Write a language's index to where Material looks for one."""
    uses = Counter(name for recipe in catalogue.recipes for name in recipe.apis)
    rare = {name for name, count in uses.items() if count <= COMMON}
    docs = [document(recipe, lang, rare) for recipe in catalogue.recipes]
    file = site / "search" / "search_index.json"
    file.parent.mkdir(exist_ok=True)
    text = json.dumps(
        {"config": {"lang": [lang]}, "docs": docs},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    file.write_text(text, encoding="utf-8")


def document(recipe: Recipe, lang: str, rare: set[str]) -> dict:
    """What is searched of one recipe, and what a result shows of it."""
    page = recipe.pages[lang]
    other = recipe.pages[LANGUAGES[1 - LANGUAGES.index(lang)]]
    aliases = [other.meta["title"], *page.meta["aliases"], *other.meta["aliases"]]
    aliases += [slug.replace("-", " ") for slug in recipe.facts.get("covers", [])]
    headings = [(h.id, h.text) for h in page.headings if h.level == 3]
    symbols = [name.removeprefix("torch.") for name in recipe.apis if name in rare]
    return {
        "location": f"{recipe.category}/{recipe.slug}/",
        "title": recipe.title(lang),
        "text": recipe.description(lang),
        "aliases": SEPARATOR.join(dict.fromkeys(aliases)),
        "symbols": " ".join(name.removeprefix("Tensor.") for name in symbols),
        "errors": "\n".join(error.partition(": ")[2] for error in page.errors),
        "headings": "\n".join(f"{anchor} {text}" for anchor, text in headings),
    }
