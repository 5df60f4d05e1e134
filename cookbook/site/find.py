"""Search from the shell, with the very worker that the site's search box runs.

There is one ranking: docs/overrides/assets/search.js on the index that
cookbook/site/search.py makes. Here QuickJS runs it, through the messages that the
browser would send.
"""

import json
import sys
from pathlib import Path

import quickjs

from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import HAN
from cookbook.rules import reader_language
from cookbook.site import render, search
from cookbook.site.words import WORDS

WORKER = Path("docs/overrides/assets/search.js")
# What the worker takes from a browser.
BROWSER = """
const location = "", URL = class {}
const shell = {}  // what is said to and fro
const fetch = async () => ({ json: async () => shell.foreign })
const addEventListener = (_, listener) => { shell.hear = listener }
const postMessage = message => { shell.answer = message.data }
const send = (type, text) => { shell.hear({ data: { type, data: JSON.parse(text) } }) }
"""
SETUP, QUERY = 0, 2
SHOWN = 5
NEAR = 3  # recipes named where none fits


def started(root: Path, site: dict) -> quickjs.Context:
    """The worker, set up with ``{"index": …, "foreign": …}`` of ``search.load``."""
    worker = quickjs.Context()
    worker.eval(BROWSER + (root / WORKER).read_text("utf-8"))
    worker.eval(f"shell.foreign = {json.dumps(site['foreign'])}")
    _send(worker, SETUP, site["index"])
    return worker


def ask(worker: quickjs.Context, query: str) -> dict:
    """What the worker answers: ``{"items", "none", "topic", "nearest"}``.

    Raises:
        quickjs.JSException: the worker failed.
    """
    return _send(worker, QUERY, query)


def _send(worker: quickjs.Context, kind: int, data: dict | str) -> dict:
    worker.eval(f"send({kind}, {json.dumps(json.dumps(data))})")
    while worker.execute_pending_job():
        pass
    return json.loads(worker.eval("JSON.stringify(shell.answer ?? null)"))


def slugs(answer: dict) -> list[str]:
    """The slugs of an answer's recipes, best first."""
    return [item[0]["location"].split("/")[-2] for item in answer["items"]]


def find(root: Path, query: str, lang: str | None, show: bool) -> int:
    """Print the best recipes, or the best one's code; 1 where none fits."""
    lang = lang or ("zh" if HAN.search(query) else reader_language())
    catalogue = Catalogue(root)
    answer = ask(started(root, search.load(catalogue, lang)), query)
    found = [catalogue.by_slug[slug] for slug in slugs(answer)]
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
