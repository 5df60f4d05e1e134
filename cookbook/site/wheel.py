"""The wheel: the recipes, their index and the site, for machines without a network.

The package is wheel/pytorch_cookbook; here its data is written beside it, in a copy.
"""

import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from cookbook.book import wordings
from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import LANGUAGES, Page
from cookbook.site import find, render, search, status, worker

SOURCE = Path("wheel")
PACKAGE = "pytorch_cookbook"
SMALL = 9 | lzma.PRESET_EXTREME
TEXT = [{"id": lzma.FILTER_LZMA2, "preset": SMALL, "lc": 4, "lp": 0, "pb": 0}]


def build(catalogue: Catalogue, site: Path | None, out: Path) -> None:
    """Write the wheel into a folder; with the built site where one is given."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "wheel")
        shutil.copytree(catalogue.root / SOURCE, copy)
        shutil.copy(worker.__file__, copy / PACKAGE)
        data = copy / PACKAGE / "data"
        data.mkdir()
        for name, text in files(catalogue):
            packed = lzma.compress(text.encode(), filters=TEXT)
            (data / f"{name}.xz").write_bytes(packed)
        if site:
            shutil.make_archive(str(data / "site"), "xztar", site)
        today = {"COOKBOOK_VERSION": datetime.now(UTC).strftime("%Y.%-m.%-d")}
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        command += ["--no-build-isolation", "--wheel-dir", str(out), str(copy)]
        subprocess.run(command, check=True, env=os.environ | today)


def files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """What the package reads: each file's name and text.

    A search reads but a line of each recipe; all that is shown is in one file, in which
    what pages, answers and files share is packed once.
    """
    recipes, shown = {}, {}
    for recipe in catalogue.recipes:
        recipes[recipe.slug] = known = entry(catalogue, recipe)
        for lang in LANGUAGES:
            parts = texts(catalogue, recipe, lang, known["proved"])
            shown[f"{lang}/{recipe.slug}"] = parts
    yield "recipes.json", compact(recipes)
    yield "texts.json", compact(shown)
    yield "search.js", (catalogue.root / find.WORKER).read_text("utf-8")
    for lang in LANGUAGES:
        index = search.index(catalogue, lang)
        del index["docs"]["asked"], index["docs"]["often"]  # all of it is in the state
        yield f"index-{lang}.json", compact(index)
        yield f"state-{lang}.js", worker.saved(find.started(catalogue, lang))


def compact(content: dict) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def entry(catalogue: Catalogue, recipe: Recipe) -> dict:
    """What a list says of a recipe; of each torch, what to know there first."""
    torch = status.releases(catalogue, recipe)
    passed = f"passed on torch {', '.join(torch['passed'])}" if torch["passed"] else ""
    fails = {r: f"on torch {r} this fails: {c}" for r, c in torch["failed"].items()}
    cautions = fails | dict.fromkeys(torch["passed"], "")
    return {
        "slug": recipe.slug,
        "title": {lang: recipe.title(lang) for lang in LANGUAGES},
        "line": catalogue.telling_line(recipe),
        "proved": "; ".join(filter(None, [passed, *fails.values()]))
        or "not run since it changed",
        "torch": {r.rpartition(".")[0]: caution for r, caution in cautions.items()},
    }


def texts(catalogue: Catalogue, recipe: Recipe, lang: str, proved: str) -> dict:
    """What is shown of a recipe: its parts, and the rows on errors."""
    page, address = recipe.page_for(lang), f"{lang}/{recipe.address}/"
    head = f"# {recipe.title(lang)}\n{recipe.description(lang)}"
    files = [f"{block.path} · sha256 {block.sha256}" for block in recipe.snippets]
    foot = "\n".join(
        filter(None, [render.yours(recipe, lang), *files, proved, address])
    )
    answer = [head, recipe.answer.text, recipe.command, foot]
    return {
        "answer": "\n\n".join(filter(None, answer)),
        "page": render.full_markdown(catalogue, page),
        "file": "\n\n".join(block.code for block in recipe.snippets),
        "rows": [
            {
                "text": text,
                "place": f"{address}#error-{number}",
                "said": said(page, line),
            }
            for number, (text, line) in enumerate(quoted(page), start=1)
        ],
    }


def quoted(page: Page) -> Iterator[tuple[str, int]]:
    """Each message that a page quotes, and its line, in the order of their anchors.

    What another torch says instead of a message comes last, with the message's line.
    """
    for quote in page.quotes:
        yield quote.text, quote.line
    for text in wordings.of(page):
        message = wordings.quoted(page, text)
        yield text, next(q.line for q in page.quotes if q.text.startswith(message))


def said(page: Page, line: int) -> str:
    """Where a message is explained: its row in a table, or the section around it.

    Where the page begins with a table of causes, it goes along.
    """
    lines = page.body.split("\n")
    if lines[line - 1].startswith("|"):
        own = (line, line + 1)
    else:
        starts = [1, *(heading.line for heading in page.headings), len(lines) + 1]
        own = (max(n for n in starts if n <= line), min(n for n in starts if n > line))
    first, last = page.causes
    parts = [
        "\n".join(lines[a - 1 : b - 1]).strip() for a, b in (own, (first, last + 1))
    ]
    return "\n\n".join(parts if parts[1] not in parts[0] else parts[:1])
