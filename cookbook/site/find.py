"""Search from the shell, with the very worker that the site's search box runs.

There is one ranking: docs/overrides/assets/search.js on the index that
cookbook/site/search.py makes. Here it runs under Node: this machine's, or the one
that Playwright brings.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

from cookbook.catalogue import Catalogue, Recipe
from cookbook.pages import HAN
from cookbook.rules import reader_language
from cookbook.site import search

WORKER = Path("docs/overrides/assets/search.js")
RUN = Path(__file__).with_suffix(".mjs")
NO_NODE = "find needs Node, which is not installed; make check installs it"
SHOWN = 5
NOTHING = {
    "en": "Nothing found. The nearest categories: {}",
    "zh": "没有找到。最接近的分类：{}",
}


def answers(root: Path, site: dict, queries: list[str]) -> list[dict]:
    """What the worker answers to each query: ``{"items": …, "nearest": …}``.

    Args:
        site: ``{"index": …, "foreign": …}``, as ``search.load`` returns it.

    Raises:
        subprocess.CalledProcessError: the worker failed; its error was printed.
    """
    task = {"worker": str(root / WORKER), "queries": queries, **site}
    result = subprocess.run(
        [node(), RUN],
        input=json.dumps(task),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return json.loads(result.stdout)


def node() -> str:
    """Where Node is; ends the program where it is not."""
    playwright = importlib.util.find_spec("playwright")
    path = Path(playwright.origin).with_name("driver") if playwright else ""
    return shutil.which("node") or shutil.which("node", path=path) or sys.exit(NO_NODE)


def slugs(answer: dict) -> list[str]:
    """The slugs of an answer's recipes, best first."""
    return [item[0]["location"].split("/")[-2] for item in answer["items"]]


def find(root: Path, query: str, lang: str | None, show: bool) -> int:
    """Print the best recipes, or the best one's code; 1 where nothing is found."""
    lang = lang or ("zh" if HAN.search(query) else reader_language())
    catalogue = Catalogue(root)
    (answer,) = answers(root, search.load(catalogue, lang), [query])
    found = [catalogue.by_slug[slug] for slug in slugs(answer)]
    if not found:
        near = ", ".join(category["title"] for category in answer["nearest"])
        print(NOTHING[lang].format(near), file=sys.stderr)
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
    lines = ["", *(f"    {line}" for line in recipe.answer.split("\n")), ""]
    return "\n    ".join([recipe.title(lang), recipe.description(lang), *lines, *files])


def code(recipe: Recipe, lang: str) -> str:
    """A recipe's snippets; their names, and what they are for, go before them."""
    print(f"# {recipe.title(lang)}", file=sys.stderr)
    texts = []
    for block in recipe.snippets:
        print(f"# {block.path}", file=sys.stderr)
        texts.append((recipe.root / block.snippet).read_text("utf-8"))
    return "\n\n".join(texts)
