"""What the site offers besides the recipes' pages: lists, JSON, Markdown."""

import json
from collections.abc import Iterator
from pathlib import Path

from cookbook.book import moved
from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import LANGUAGES, Block
from cookbook.site import cards, notebooks, render, status

SCHEMA = 1
# Every page of a language in one file, for language models.
FULL = ("llms-full.txt", "zh/llms-full.txt")
# What stands at an old address, below any prefix and without scripts.
FORWARDING = """<!doctype html>
<html lang="{lang}">
<meta charset="utf-8">
<title>{new}</title>
<link rel="canonical" href="{url}">
<script>location.replace("{url}" + location.hash)</script>
<meta http-equiv="refresh" content="0; url={url}">
<p><a href="{url}">{new}</a></p>
</html>
"""


def write(catalogue: Catalogue, site: Path, address: str) -> None:
    """Write recipes.json, llms.txt, each recipe's Markdown, notebook and files.

    ``address`` is the site's, if it is known.
    """
    for path, text in files(catalogue, address):
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, encoding="utf-8")
    if address:  # that of a picture has to be whole
        (site / "cards").mkdir(exist_ok=True)
        for recipe in catalogue.recipes:
            (site / "cards" / f"{recipe.slug}.png").write_bytes(cards.card(recipe))


def files(catalogue: Catalogue, address: str) -> Iterator[tuple[str, str]]:
    """Each file that comes from the recipes: its path in the site, its text."""
    entries = [entry(catalogue, recipe) for recipe in catalogue.recipes]
    document = {"schema": SCHEMA, "recipes": entries}
    yield "recipes.json", json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    yield "llms.txt", llms_txt(catalogue)
    for lang, path in zip(LANGUAGES, FULL, strict=True):
        texts = [
            render.full_markdown(catalogue, r.pages[lang]) for r in catalogue.recipes
        ]
        yield path, "\n\n---\n\n".join(texts)
    for recipe in catalogue.recipes:
        for block in recipe.snippets:
            yield block.path, block.code
        for picture in recipe.page_for("en").pictures.values():
            yield str(picture), (catalogue.root / picture).read_text("utf-8")
        for lang, page in recipe.pages.items():
            yield f"{lang}/{recipe.address}.md", render.full_markdown(catalogue, page)
            cells = notebooks.notebook(catalogue, page, address)
            yield notebooks.address(page), json.dumps(cells, ensure_ascii=False)
    for old, new in moved.load(catalogue.root).items():
        for lang in LANGUAGES:
            html = FORWARDING.format(lang=lang, new=new, url=f"../../{new}/")
            yield f"{lang}/{old}/index.html", html
            if "/" in new:
                yield f"{lang}/{old}.md", f"[{new}](../{new}.md)\n"


def entry(catalogue: Catalogue, recipe: Recipe) -> dict:
    """A recipe's entry in recipes.json."""
    snippets = [
        {
            "path": block.path,
            "sha256": block.sha256,
            "device": "gpu" if block.mark == "gpu" else "cpu",
            "records": runs(catalogue, block),
        }
        for block in recipe.snippets
    ]
    torch = status.releases(catalogue, recipe)
    return {**recipe.as_json(), "torch": torch, "snippets": snippets}


def runs(catalogue: Catalogue, block: Block) -> list[dict]:
    """The recorded runs of a block's exact text, newest torch first."""
    keys = ("torch", "python", "device", "date", "commit")
    return [
        {key: record.environment[key] for key in keys}
        | {"seconds": run.get("cpu_seconds"), "status": run["status"]}
        for record in catalogue.records
        if (run := record.run_of(block))
    ]


def llms_txt(catalogue: Catalogue) -> str:
    """An index for language models, https://llmstxt.org."""
    lines = [
        "# PyTorch Cookbook",
        "",
        "> PyTorch recipes in English and Chinese. Every Python block is a complete",
        "> file, shown exactly as it is run; a block that needs a GPU, or that is not",
        "> run, says so. Shell blocks are lines to type.",
        "",
        "recipes.json lists the same with hashes, symbols and error messages, and",
        "where and when each file was run. Every page in full is in llms-full.txt,",
        "in Chinese in zh/llms-full.txt.",
    ]
    for lang in LANGUAGES:
        for category in catalogue.categories:
            recipes = catalogue.in_category(category.slug)
            recipes = [recipe for recipe in recipes if lang in recipe.written]
            if recipes:
                lines += ["", f"## {category.title[lang]} ({lang})", ""]
            for recipe in recipes:
                link = f"[{recipe.title(lang)}]({lang}/{recipe.address}.md)"
                verified = status.line(catalogue, recipe, lang)
                lines += [f"- {link}: {recipe.description(lang)} ({verified})", ""]
                code = [f"      {line}" for line in recipe.answer.text.split("\n")]
                lines += [*code, ""]
                lines += [f"  {own}", ""] if (own := render.yours(recipe, lang)) else []
    return "\n".join(lines) + "\n"
