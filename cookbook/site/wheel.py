"""The wheel: the recipes, their index and the site, for machines without a network.

The package is wheel/pytorch_cookbook; here its data is written beside it, in a copy.
"""

import json
import lzma
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from cookbook.book import wordings
from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import LANGUAGES, Page
from cookbook.site import find, publish, render, search, worker

SOURCE = Path("wheel")
PACKAGE = "pytorch_cookbook"
SMALL = 9 | lzma.PRESET_EXTREME
TEXT = [{"id": lzma.FILTER_LZMA2, "preset": SMALL, "lc": 4, "lp": 0, "pb": 0}]


def build(catalogue: Catalogue, site: Path | None, out: Path) -> None:
    """Write the wheel into a folder; with the built site where one is given."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "wheel")
        shutil.copytree(catalogue.root / SOURCE, copy)
        data = copy / PACKAGE / "data"
        data.mkdir()
        for name, text in files(catalogue):
            (data / f"{name}.xz").write_bytes(
                lzma.compress(text.encode(), filters=TEXT)
            )
        shutil.copy(worker.__file__, copy / PACKAGE)
        if site:
            with tarfile.open(data / "site.tar.xz", "w:xz") as packed:
                packed.add(site, ".")
        settings = copy / "pyproject.toml"
        today = datetime.now(UTC).strftime("%Y.%-m.%-d")
        text = settings.read_text("utf-8").replace(
            'version = "0"', f'version = "{today}"'
        )
        settings.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        command += ["--no-build-isolation", "--wheel-dir", str(out), str(copy)]
        subprocess.run(command, check=True)


def files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """What the package reads: each file's name and text."""
    pages = {
        f"{lang}/{recipe.slug}": without_files(catalogue, recipe, lang)
        for lang in LANGUAGES
        for recipe in catalogue.recipes
    }
    yield "pages.json", compact(pages)
    recipes = {r.slug: entry(catalogue, r, pages) for r in catalogue.recipes}
    yield "recipes.json", compact({"recipes": recipes})
    blocks = (block for recipe in catalogue.recipes for block in recipe.snippets)
    yield "files.json", compact({block.path: block.code for block in blocks})
    yield "search.js", (catalogue.root / find.WORKER).read_text("utf-8")
    for lang in LANGUAGES:
        index = search.index(catalogue, lang)
        del index["docs"]["asked"], index["docs"]["often"]  # all of it is in the state
        yield f"index-{lang}.json", compact(index)
        yield f"state-{lang}.json", worker.saved(find.started(catalogue, lang))


def compact(content: dict) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def without_files(catalogue: Catalogue, recipe: Recipe, lang: str) -> str:
    """A page with the name of a file in place of its text, which files.json has."""
    text = render.full_markdown(catalogue, recipe.page_for(lang))
    for block in recipe.snippets:
        text = text.replace(block.code.rstrip(), f"<<{block.path}>>")
    return text


def entry(catalogue: Catalogue, recipe: Recipe, pages: dict[str, str]) -> dict:
    """A recipe: that of recipes.json; where its pages have the longer texts."""
    texts = {lang: pages[f"{lang}/{recipe.slug}"] for lang in LANGUAGES}
    known = publish.entry(catalogue, recipe)
    kept = ("slug", "category", "title", "command", "torch")
    return {key: known[key] for key in kept} | {
        "description": {
            lang: place(known["description"][lang], texts[lang]) for lang in LANGUAGES
        },
        "answer": place(known["answer"], texts["en"]),
        "snippets": [
            {key: one[key] for key in ("path", "sha256")} for one in known["snippets"]
        ],
        "line": catalogue.telling_line(recipe),
        "yours": {lang: render.yours(recipe, lang) for lang in LANGUAGES},
        "rows": {lang: rows(recipe.page_for(lang), texts[lang]) for lang in LANGUAGES},
        "causes": {
            lang: place(causes(recipe.page_for(lang)), texts[lang])
            for lang in LANGUAGES
        },
    }


def place(passage: str, text: str) -> list[int] | str:
    """Where a text has a passage, from and to; the passage where it is not there."""
    start = text.find(passage)
    return [start, start + len(passage)] if passage and start >= 0 else passage


def causes(page: Page) -> str:
    first, last = page.causes
    return "\n".join(page.body.split("\n")[first - 1 : last])


def rows(page: Page, written: str) -> list[dict]:
    """Each message that a page quotes: its text, its anchor, where it is explained."""
    lines = page.body.split("\n")
    found = [
        {"text": quote.text, "row": said(page, lines, quote.line)}
        for quote in page.quotes
    ]
    said_of = {one["text"].split("\n")[0]: one["row"] for one in found}
    for text, releases in wordings.of(page).items():
        quoted = wordings.quoted(page, text)
        row = next((r for t, r in said_of.items() if t.startswith(quoted)), "")
        found.append({"text": text, "row": row, "torch": releases})
    return [
        one | {"anchor": f"error-{n}", "row": place(one["row"], written)}
        for n, one in enumerate(found, start=1)
    ]


def said(page: Page, lines: list[str], line: int) -> str:
    """A table's row as it stands; of a quoted block, the section around it."""
    if lines[line - 1].startswith("|"):
        return lines[line - 1]
    starts = [heading.line for heading in page.headings]
    first = max((start for start in starts if start <= line), default=1)
    last = min((start for start in starts if start > line), default=len(lines) + 1)
    return "\n".join(lines[first - 1 : last - 1]).strip()
