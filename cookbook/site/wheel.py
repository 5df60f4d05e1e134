"""The wheel: the recipes, their index and the site, for machines without a network.

The package is wheel/pytorch_cookbook; here its data is written beside it, in a copy.
"""

import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

from cookbook.book import wordings
from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import LANGUAGES, Page
from cookbook.site import find, render, search, status, worker

TEXT = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]
SHORT = 8  # of the 64 characters of a digest: enough to tell two files apart
NAME_AT_END = re.compile(r"^\w+: | '\S+'$")
compact = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


def build(catalogue: Catalogue, site: Path | None, out: Path) -> None:
    """Write the wheel into a folder; with the built site where one is given."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "wheel")
        shutil.copytree(catalogue.root / "wheel", copy)
        shutil.copy(worker.__file__, copy / "pytorch_cookbook")
        data = copy / "pytorch_cookbook/data"
        data.mkdir()
        # Together: apart they take a twelfth more, as much of their text is the same.
        held = "\0".join(chain(*files(catalogue)))
        (data / "recipes.xz").write_bytes(lzma.compress(held.encode(), filters=TEXT))
        if site:
            with tarfile.open(data / "site.tar.xz", "w:xz", preset=9) as packed:
                packed.add(site, arcname=".")
        today = {"COOKBOOK_VERSION": datetime.now(UTC).strftime("%Y.%-m.%-d")}
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        command += ["--no-build-isolation", "--wheel-dir", str(out), str(copy)]
        subprocess.run(command, check=True, env=os.environ | today)


def files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """What the package reads: each part's name and text."""
    recipes = {one.slug: entry(catalogue, one) for one in catalogue.recipes}
    shown = {}
    for lang in LANGUAGES:
        for slug, one in catalogue.by_slug.items():
            shown[f"{lang}/{slug}"] = texts(catalogue, one, lang, recipes[slug])
        shown[lang] = [row for one in catalogue.recipes for row in rows(one, lang)]
    yield "recipes.json", compact(recipes)
    yield "texts.json", compact(shown)
    yield "search.js", (catalogue.root / find.WORKER).read_text("utf-8")
    indexes = {lang: search.index(catalogue, lang) for lang in LANGUAGES}
    for lang, index in indexes.items():
        del index["docs"]["asked"], index["docs"]["often"]  # all of it is in the state
        yield f"state-{lang}", worker.saved(find.started(catalogue, lang))
    yield "index.json", compact(indexes)


def entry(catalogue: Catalogue, recipe: Recipe) -> dict:
    """What a list says of a recipe; of each torch, what to know there first."""
    torch = status.releases(catalogue, recipe)
    passed = ", ".join(torch["passed"])
    fails = {r: f"on torch {r} this fails: {c}" for r, c in torch["failed"].items()}
    cautions = fails | dict.fromkeys(torch["passed"], "")
    proved = [f"passed on torch {passed}"] * bool(passed) + [*fails.values()]
    code = catalogue.telling_line(recipe)
    return {
        "slug": recipe.slug,
        "proved": "; ".join(proved) or "not run since it changed",
        "torch": {r.rpartition(".")[0]: caution for r, caution in cautions.items()},
        **{lang: f"{recipe.slug} — {recipe.title(lang)}: {code}" for lang in LANGUAGES},
    }


def texts(catalogue: Catalogue, recipe: Recipe, lang: str, known: dict) -> dict:
    """What is shown of a recipe, by its parts."""
    head = f"# {recipe.title(lang)}\n{recipe.description(lang)}"
    files = [
        f"{block.path} · sha256 {block.sha256[:SHORT]}" for block in recipe.snippets
    ]
    foot = [*files, known["proved"], f"{lang}/{recipe.address}/"]
    foot = "\n".join(filter(None, [render.yours(recipe, lang), *foot]))
    answer = [head, recipe.answer.text, recipe.command, foot]
    return {
        "answer": "\n\n".join(filter(None, answer)),
        "page": render.full_markdown(catalogue, recipe.page_for(lang)),
        "file": "\n\n".join(block.code for block in recipe.snippets),
    }


def rows(recipe: Recipe, lang: str) -> Iterator[dict]:
    """Each message that a page quotes, with what other releases say instead of it;
    where an alias leaves out the name at its end, any name is meant.

    Last, without an anchor, what else its table of causes is found by.
    """
    page, place = recipe.page_for(lang), f"{lang}/{recipe.address}/"
    heard = [one for one in wordings.load(page.root) if one["page"] == recipe.address]
    aliases = {a for own in recipe.written.values() for a in own.meta["aliases"]}
    found = []
    for number, quote in enumerate(page.quotes, start=1):
        same = [one for one in heard if quote.text.startswith(one["message"])]
        texts = [quote.text, *{one["raised"]: None for one in same}]
        texts += aliases & {NAME_AT_END.sub("", quote.text)}
        found.append((texts, f"{place}#error-{number}", quote.line))
    first, last = page.causes
    if first < last:
        found.append((sorted(aliases), place, first))
    for texts, place, line in found:
        said = explanation(page, line)
        yield {"slug": recipe.slug, "texts": texts, "place": place, "said": said}


def explanation(page: Page, line: int) -> str:
    """The row or section that a line is in; the table of causes goes along."""
    lines = page.body.split("\n")
    starts = [1, *(heading.line for heading in page.headings), len(lines) + 1]
    own = max(n for n in starts if n <= line), min(n for n in starts if n > line)
    if lines[line - 1].startswith("|"):
        own = line, line + 1
    first, last = page.causes
    own, causes = (
        "\n".join(lines[a - 1 : b - 1]).strip() for a, b in (own, (first, last + 1))
    )
    both = own if causes in own else f"{own}\n\n{causes}"
    return causes if own in causes else both
