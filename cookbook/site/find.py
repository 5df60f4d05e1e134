"""Search from the shell, with the very worker that the site's search box runs."""

import sys
from pathlib import Path

from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import HAN, other_language
from cookbook.rules import reader_language
from cookbook.site import render, search, worker
from cookbook.site.words import WORDS

WORKER = Path("docs/overrides/assets/search.js")
SHOWN = 5
NEAR = 3  # recipes named where none fits


def find(root: Path, query: str, lang: str | None, show: bool) -> int:
    """Print the best recipes, or the best one's code; 1 where none fits."""
    lang = lang or ("zh" if HAN.search(query) else reader_language())
    catalogue = Catalogue(root)
    answer = worker.ask(started(catalogue, lang), query)
    found = [catalogue.by_slug[slug] for slug in worker.slugs(answer)]
    if answer["none"]:
        near = [recipe.title(lang) for recipe in found[:NEAR]]
        near = near or [category["title"] for category in answer["nearest"]]
        print(WORDS[lang]["no_recipe"].format(names=" · ".join(near)), file=sys.stderr)
        return 1
    if show:
        print(code(found[0], lang), end="")
    else:
        print("\n\n".join(entry(recipe, lang) for recipe in found[:SHOWN]))
    return 0


def started(catalogue: Catalogue, lang: str) -> worker.quickjs.Context:
    """The site's worker, on the index of a language."""
    script = (catalogue.root / WORKER).read_text("utf-8")
    other = other_language(lang)
    index = search.index(catalogue, lang)
    return worker.started(script, index, lambda: search.index(catalogue, other))


def entry(recipe: Recipe, lang: str) -> str:
    """A recipe's title, its sentence, its answer, and where its page and code are."""
    files = [recipe.page_for(lang).path.as_posix()]
    files += [block.path for block in recipe.snippets]
    lines = ["", *(f"    {line}" for line in recipe.answer.text.split("\n")), ""]
    lines += [own, ""] if (own := render.yours(recipe, lang)) else []
    return "\n    ".join([recipe.title(lang), recipe.description(lang), *lines, *files])


def code(recipe: Recipe, lang: str) -> str:
    """A recipe's snippets; their names, and what they are for, go before them."""
    print(f"# {recipe.title(lang)}", file=sys.stderr)
    texts = []
    for block in recipe.snippets:
        print(f"# {block.path}", file=sys.stderr)
        texts.append((recipe.root / block.snippet).read_text("utf-8"))
    return "\n\n".join(texts)
