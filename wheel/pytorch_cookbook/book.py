"""The recipes as the wheel has them; cookbook/site/wheel.py writes the files."""

import difflib
import json
import lzma
import re
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Literal

from pytorch_cookbook import worker

DATA = Path(__file__).with_name("data")
LANGUAGES = ("en", "zh")
Part = Literal["answer", "page", "file"]
HAN = re.compile("[\u3400-\u9fff]")
RELEASE = re.compile(r"(?P<minor>\d+\.\d+)(\.\d+)?([+a-z].*)?")
SHOWN = 5
ENGINE = Lock()  # QuickJS takes one thread at a time; a server asks from several


class AskedError(Exception):
    """What was asked for is not to be had; says what to do."""


@cache
def parts() -> dict[str, str]:
    """All that the wheel holds but the site, by name."""
    file = DATA / "recipes.xz"
    try:
        held = lzma.decompress(file.read_bytes()).decode().split("\0")
        return dict(zip(held[::2], held[1::2], strict=True))
    except (OSError, lzma.LZMAError, ValueError) as error:
        mend = "pip install --force-reinstall pytorch-cookbook"
        raise AskedError(f"{file} is broken ({error}): {mend}") from error


@cache
def read(name: str):
    """A part of the wheel: what its JSON holds, or its text."""
    text = parts()[name]
    return json.loads(text) if name.endswith(".json") else text


def recipe(slug: str) -> dict:
    """What a list says of a recipe."""
    known = read("recipes.json")
    if slug in known:
        return known[slug]
    near = difflib.get_close_matches(slug, known, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise AskedError(f"there is no recipe {slug!r}{hint}")


def language(lang: str, text: str = "") -> str:
    """The language to answer in: the one named, else that of the question."""
    lang = lang or ("zh" if HAN.search(text) else "en")
    if lang not in LANGUAGES:
        raise AskedError(f"there is no language {lang!r}; take en or zh")
    return lang


@cache
def started(lang: str) -> worker.quickjs.Context:
    """The site's search worker, on a language's index."""
    (other,) = {*LANGUAGES} - {lang}
    index, state = read("index.json"), read(f"state-{lang}")
    return worker.started(read("search.js"), index[lang], lambda: index[other], state)


def find(query: str, lang: str) -> list[str]:
    """The recipes for a query, best first; none where nothing fits."""
    with ENGINE:
        ranked = worker.ask(started(lang), query)
    return [] if ranked["none"] else worker.slugs(ranked)


def caution(slug: str, release: str) -> str:
    """What to know first with this torch; empty where the recipe passed there."""
    one, asked = recipe(slug), RELEASE.fullmatch(release.strip())
    if not release:
        return ""
    if not asked:
        raise AskedError(f"{release!r} is no release of torch; write it as in 2.6.0")
    unknown = f"not run on torch {release}; {one['proved']}"
    return one["torch"].get(asked["minor"], unknown)


def hits(query: str, lang: str, release: str = "") -> list[str]:
    """The first recipes for a query, a line each: its code, and where it was proved."""
    found = map(recipe, find(query, lang)[:SHOWN])
    proved = [(one, caution(one["slug"], release) or one["proved"]) for one in found]
    return [f"{one[lang]} ({passed})" for one, passed in proved]


def search(query: str, lang: str = "", torch: str = "") -> str:
    """Find recipes for a task, an API or an error, in English or Chinese: one a line.

    torch: the asker's version, such as 2.6.0; lang: en or zh, else that of the query.
    """
    if found := hits(query, language(lang, query), torch):
        return "\n".join(found)
    raise AskedError("no recipe for this / 没有这个主题的条目")


def get_recipe(
    slug: str, lang: str = "", part: Part = "answer", torch: str = ""
) -> str:
    """A recipe's answer (imports, code, what is yours), its page, or its files."""
    first = caution(slug, torch)
    text = read("texts.json")[f"{language(lang)}/{slug}"][part]
    return f"# {first}\n{text}" if first else text
