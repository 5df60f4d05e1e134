"""The recipes as the wheel has them; cookbook/site/wheel.py writes the files."""

import difflib
import json
import lzma
import re
from functools import cache
from pathlib import Path

from pytorch_cookbook import worker

DATA = Path(__file__).with_name("data")
LANGUAGES = ("en", "zh")
HAN = re.compile("[\u3400-\u9fff]")
PARTS = ("answer", "page", "file")
SHOWN = 5
RELEASE = re.compile(r"(\d+)\.(\d+)(\.\d+)?([+a-z].*)?")


class AskedError(Exception):
    """What was asked for is not to be had; says what to do."""


def text(name: str) -> str:
    """A file of the wheel.

    Raises:
        AskedError: it is missing or broken.
    """
    try:
        return lzma.decompress((DATA / f"{name}.xz").read_bytes()).decode()
    except (OSError, lzma.LZMAError, UnicodeError) as error:
        raise broken(name, error) from error


def broken(name: str, error: Exception) -> AskedError:
    mend = "pip install --force-reinstall pytorch-cookbook"
    return AskedError(f"{DATA / name}.xz is broken ({error}): {mend}")


@cache
def read(name: str):
    """What a file of JSON holds.

    Raises:
        AskedError: it is missing or broken.
    """
    try:
        return json.loads(text(name))
    except ValueError as error:
        raise broken(name, error) from error


def recipes() -> dict[str, dict]:
    """Every recipe by its slug."""
    return read("recipes.json")["recipes"]


def recipe(slug: str) -> dict:
    """One recipe.

    Raises:
        AskedError: there is none of this name.
    """
    if slug in recipes():
        return recipes()[slug]
    near = difflib.get_close_matches(slug, recipes(), cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise AskedError(f"there is no recipe {slug!r}{hint}")


def passage(slug: str, lang: str, place: list[int] | str) -> str:
    """What a page says at a place; a text stands for itself."""
    if isinstance(place, str):
        return place
    first, last = place
    return read("pages.json")[f"{lang}/{slug}"][first:last]


def language(lang: str | None, text: str = "") -> str:
    """The language to answer in: the one named, else that of the question.

    Raises:
        AskedError: the cookbook is not written in it.
    """
    if lang in LANGUAGES:
        return lang
    if lang:
        raise AskedError(f"there is no language {lang!r}; take en or zh")
    return "zh" if HAN.search(text) else "en"


def find(query: str, lang: str) -> list[dict]:
    """The recipes for a query, best first; none where nothing fits."""
    ranked = worker.ask(started(lang), query)
    return [] if ranked["none"] else [recipe(slug) for slug in worker.slugs(ranked)]


@cache
def started(lang: str) -> worker.quickjs.Context:
    """The site's search worker, on a language's index."""
    other = LANGUAGES[1 - LANGUAGES.index(lang)]
    index, state = read(f"index-{lang}.json"), text(f"state-{lang}.json")

    def foreign() -> dict:
        return read(f"index-{other}.json")

    return worker.started(text("search.js"), index, foreign, state)


def hit(one: dict, lang: str, release: str | None = None) -> str:
    """A recipe on one line: slug, title, where it was proved, the line that tells."""
    note = caution(one, release) if release else proved(one)
    return f"{one['slug']} — {one['title'][lang]} ({note}): {one['line']}"


def shown(one: dict, lang: str, part: str, release: str | None = None) -> str:
    """A part of a recipe: its answer, its whole page, or its files.

    Raises:
        AskedError: there is no such part.
    """
    if part not in PARTS:
        raise AskedError(f"there is no part {part!r}; take {', '.join(PARTS)}")
    first = [f"# {caution(one, release)}"] if release and caution(one, release) else []
    files = read("files.json") if part != "answer" else {}
    if part == "page":
        page = read("pages.json")[f"{lang}/{one['slug']}"]
        for file in one["snippets"]:
            page = page.replace(f"<<{file['path']}>>", files[file["path"]].rstrip())
        return "\n".join([*first, page])
    if part == "file":
        return "\n\n".join([*first, *(files[f["path"]] for f in one["snippets"])])
    described = passage(one["slug"], lang, one["description"][lang])
    lines = [*first, f"# {one['title'][lang]}", described, ""]
    answer = passage(one["slug"], "en", one["answer"])
    lines += [answer, ""] if answer else []
    lines += [one["command"], ""] if one["command"] else []
    lines += [one["yours"][lang]] if one["yours"][lang] else []
    lines += [f"{f['path']} · sha256 {f['sha256']}" for f in one["snippets"]]
    return "\n".join([*lines, proved(one), f"{lang}/{one['category']}/{one['slug']}/"])


def proved(one: dict) -> str:
    """Where its present text passed, and what fails elsewhere."""
    torch = one["torch"]
    passed = f"passed on torch {', '.join(torch['passed'])}" if torch["passed"] else ""
    failed = [f"fails on {r}: {cause}" for r, cause in torch["failed"].items()]
    return "; ".join(filter(None, [passed, *failed])) or "not run since it changed"


def caution(one: dict, release: str) -> str:
    """What somebody with this torch is to know first; empty where it passed there.

    Raises:
        AskedError: it is no release.
    """
    asked, torch = minor(release), one["torch"]
    if any(minor(passed) == asked for passed in torch["passed"]):
        return ""
    for failed, cause in torch["failed"].items():
        if minor(failed) == asked:
            return f"on torch {failed} this fails: {cause}"
    return f"not run on torch {release}; {proved(one)}"


def minor(release: str) -> tuple[int, int]:
    found = RELEASE.fullmatch(release.strip())
    if not found:
        raise AskedError(f"{release!r} is no release of torch; write it as in 2.6.0")
    return int(found[1]), int(found[2])
