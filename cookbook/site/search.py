"""The search index: what the worker (docs/overrides/assets/search.js) ranks.

Small enough to be fetched when the reader turns to the search box: a page's
title, sentence, aliases, symbols and error messages, column by column. Its prose
and code are left out, and so is what would say a thing twice. Aliases in the other
script are a file of their own, for readers who type in it.
"""

import json
import re
from collections import Counter
from pathlib import Path
from textwrap import shorten

import yaml

from cookbook.catalogue import Catalogue, Recipe
from cookbook.pages import HAN, LANGUAGES, Page
from cookbook.site import status, wanted

FILE = Path("search", "search_index.json")  # where Material looks for one
POPULAR = Path("docs/popular.yml")
FOREIGN_FILE = FILE.with_name("foreign.json")
# What is typed on the side of a language, but written in the other.
FOREIGN = {"en": r"\p{sc=Han}", "zh": "[a-z]{2}"}
BRIEF = 3  # words, or pairs of Chinese characters, of a phrase that is typed whole
# The share of a phrase in the other language that must be new for it to be worth
# its place: whoever types it here needs the page, but seldom in just these words.
NEW = 0.25
ANSWER = 3  # lines of the answer that a result shows
LINE = 50  # characters of an error that are searched and shown
# In this order the columns compress best.
COLUMNS = ("location", "errors", "text", "title", "aliases", "answers", "tags")
# Longer Chinese words stand first: the worker takes them out of a run of characters.
STOP = Path(__file__).with_name("stop_words.txt").read_text("utf-8").split()
# A line of words, or pairs of characters, that readers use one for the other.
ALIKE = Path(__file__).with_name("alike.txt").read_text("utf-8").splitlines()
NAMES = {"en": "English", "zh": "中文"}
CAMEL = re.compile("[a-z][A-Z]")
WORD = re.compile("[a-z]+|==|[*@]")
EXCEPTION = re.compile(r"^[\w.]+:\s*")
NAME = re.compile(r"[\w.]+", re.ASCII)
BREAKS = re.compile(r"[\s,;:'\"()?!，。；：？！（）]+")


def load(catalogue: Catalogue, lang: str) -> dict:
    """All that the worker reads of a language's site.

    ``index`` is what it is given first; ``foreign`` has, for each recipe, the
    aliases in the other script, as far as they say more.
    """
    telling = telling_symbols(catalogue)
    topics = wanted.missing(catalogue)
    known = [aliases(recipe, lang, telling, topics) for recipe in catalogue.recipes]
    docs = [
        document(recipe, lang, own)
        for recipe, (own, _) in zip(catalogue.recipes, known, strict=True)
    ]
    unmet = [topic(entry, lang) for entry in topics if not entry.until]
    columns = {column: [doc[column] for doc in docs] for column in COLUMNS}
    columns["title"] += [title for title, _, _ in unmet]
    columns["aliases"] += ["\n".join(own) for _, own, _ in unmet]
    others = [foreign for _, foreign in known] + [foreign for *_, foreign in unmet]
    titles = {
        category.slug: category.title[lang]
        for category in catalogue.categories
        if catalogue.in_category(category.slug)
    }
    index = {
        "config": {
            "lang": [lang],
            "categories": titles,
            "stop": STOP,
            "alike": ALIKE,
            "popular": popular(catalogue),
            "foreign": FOREIGN[lang],
        },
        "docs": columns,
    }
    return {"index": index, "foreign": ["\n".join(phrases) for phrases in others]}


def popular(catalogue: Catalogue) -> list[int]:
    """The numbers of the recipes that an empty box offers: docs/popular.yml."""
    slugs = [recipe.slug for recipe in catalogue.recipes]
    file = catalogue.root / POPULAR
    listed = yaml.safe_load(file.read_text("utf-8")) if file.exists() else []
    return [slugs.index(slug) for slug in listed if slug in slugs]


def topic(entry: wanted.Topic, lang: str) -> tuple[str, list[str], list[str]]:
    """A topic without a recipe: title, aliases, and those in the other script."""
    title, *own = entry.phrases[lang]
    (other,) = set(LANGUAGES) - {lang}
    own = news(essences(set(own)), title, 0)
    foreign = news(essences(set(entry.phrases[other])), "\n".join([title, *own]), NEW)
    return title, sorted(own), sorted(foreign)


def telling_symbols(catalogue: Catalogue) -> set[str]:
    """The library symbols that a single recipe uses."""
    uses = Counter(name for recipe in catalogue.recipes for name in recipe.apis)
    return {name for name, count in uses.items() if count == 1}


def write(catalogue: Catalogue, lang: str, site: Path) -> None:
    """Write a language's index into the site."""
    (site / FILE).parent.mkdir(exist_ok=True)
    found = load(catalogue, lang)
    for file, part in ((FILE, "index"), (FOREIGN_FILE, "foreign")):
        text = json.dumps(found[part], ensure_ascii=False, separators=(",", ":"))
        (site / file).write_text(text, encoding="utf-8")


def document(recipe: Recipe, lang: str, own: list[str]) -> dict[str, str]:
    """What is searched of one recipe, and what a result shows of it."""
    page = recipe.page_for(lang)
    foreign = page.lang != lang
    return {
        "location": f"../{page.url}" if foreign else f"{page.category}/{page.slug}/",
        "title": recipe.title(lang),
        "text": recipe.description(lang).replace("`", ""),
        "aliases": "\n".join(own),
        "answers": "\n".join(recipe.answer.split("\n")[:ANSWER]),
        "errors": error_lines(page),
        "tags": "\n".join(tags(recipe, lang, page.lang if foreign else None)),
    }


def tags(recipe: Recipe, lang: str, foreign: str | None) -> list[str]:
    """What a result says beside its category: a GPU it needs; a foreign language."""
    gpu = any(block.mark == "gpu" for block in recipe.blocks)
    names = [NAMES[foreign]] if foreign else []
    return [status.WORDS[lang]["needs"], *names] if gpu else names


def error_lines(page: Page) -> str:
    """Its messages without the exception's name: the nth line is #error-n."""
    messages = [EXCEPTION.sub("", error) for error in page.errors]
    return "\n".join(shorten(message, LINE, placeholder="…") for message in messages)


def aliases(
    recipe: Recipe, lang: str, telling: set[str], topics: list[wanted.Topic]
) -> tuple[list[str], list[str]]:
    """The aliases of both pages: those in the language's script, and the others.

    A title is an alias on the other side; a task that the recipe covers, the names
    of the symbols it uses, and the topics that it helps with, are aliases, too.
    """
    titles = {page.meta["title"] for page in recipe.written.values()}
    phrases = titles - {recipe.title(lang)}
    phrases |= {slug.replace("-", " ") for slug in recipe.facts.get("covers", [])}
    for page in recipe.written.values():
        phrases |= set(page.meta["aliases"])
    for topic in topics:
        if recipe.slug in topic.until:
            phrases.update(*topic.phrases.values())
    here = {phrase for phrase in phrases if bool(HAN.search(phrase)) == (lang == "zh")}
    own, foreign = essences(here), essences(phrases - here)
    shown = f"{recipe.title(lang)}\n{recipe.description(lang)}"
    said = "\n".join([shown, *map(error_lines, recipe.written.values())])
    kept = brief(own)
    kept = sorted(kept | news(own, "\n".join([said, *kept]), 0))
    others = sorted(news(foreign, "\n".join([said, *kept]), NEW))
    latin = others if lang == "zh" else kept
    latin += symbols(recipe, telling, "\n".join([said, *latin]))
    return kept, others


def symbols(recipe: Recipe, telling: set[str], said: str) -> list[str]:
    """On one line, the symbols that are not named already."""
    names = [name.removeprefix("torch.") for name in recipe.apis if name in telling]
    names = [name.removeprefix("Tensor.") for name in names]
    new = [name for name in names if name.casefold() not in said.casefold()]
    return [" ".join(new)] if new else []


def essence(phrase: str) -> str:
    """A phrase without the words that are not searched for, in lower case.

    Words in camel case stay, since the worker finds their parts by the case.
    """
    words = [word.removeprefix("torch.") for word in BREAKS.split(phrase)]
    words = [word if CAMEL.search(word) else word.lower() for word in words]
    return " ".join(word for word in words if word and word.lower() not in STOP)


def essences(phrases: set[str]) -> set[str]:
    return {essence(phrase) for phrase in phrases} - {""}


def brief(phrases: set[str]) -> set[str]:
    """Names, and phrases of a few words: what somebody may type just so."""
    return {
        phrase
        for phrase in phrases
        if NAME.fullmatch(phrase) or len(parts(phrase)) <= BRIEF
    }


def news(phrases: set[str], said: str, share: float) -> set[str]:
    """The phrases of which more than a share, word by word, is not yet said."""
    known, kept = parts(said), set()
    for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase)):
        if len(parts(phrase) - known) > share * len(parts(phrase)):
            kept.add(phrase)
            known |= parts(phrase)
    return kept


def parts(text: str) -> set[str]:
    """Latin words, operators, and pairs of Chinese characters."""
    found = set(WORD.findall(text.casefold()))
    for run in HAN.findall(text):
        found |= {run[i : i + 2] for i in range(max(1, len(run) - 1))}
    return found
