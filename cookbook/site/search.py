"""The search index: what the worker (docs/overrides/assets/search.js) ranks.

Small enough to be fetched when the reader turns to the search box: a page's
title, sentence, aliases, symbols, error messages and the words of questions that it
answers, column by column. Its prose and code are left out, and so are phrases whose
words are all there already. It is written in two files: the titles, and the rest,
which the worker fetches by itself. A reader who types in the other language makes it
fetch that language's index, too.
"""

import json
import re
from collections import Counter
from pathlib import Path
from textwrap import shorten

from cookbook.book import questions, wanted, wordings
from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import HAN, Page, other_language, parse_yaml
from cookbook.site.words import WORDS

FILE = Path("search", "search_index.json")  # where Material looks for one
REST = Path("search", "search_rest.json")
POPULAR = Path("docs/popular.yml")
# What is typed on the side of a language, but written in the other.
FOREIGN = {"en": r"\p{sc=Han}", "zh": "[a-z]{2}"}
SHORT = 3  # words, or pairs of Chinese characters, of a phrase that is typed whole
LINE = 50  # characters of an error that are searched and shown
# In this order the columns compress best.
COLUMNS = (
    "location",
    "errors",
    "text",
    "title",
    "aliases",
    "asked",
    "often",
    "answers",
    "tags",
)
# Longer Chinese words stand first: the worker takes them out of a run of characters.
STOP = Path(__file__).with_name("stop_words.txt").read_text("utf-8").split()
# A line of words, or pairs of characters, that readers use one for the other.
ALIKE = Path(__file__).with_name("alike.txt").read_text("utf-8").splitlines()
# What readers in Taiwan and Hong Kong type, each before the character of our pages.
TRADITIONAL = Path(__file__).with_name("traditional.txt").read_text("utf-8").split()
CAMEL = re.compile("[a-z][A-Z]")
WORD = re.compile(r"c\+\+|[a-z]+|==|[*@]")
EXCEPTION = re.compile(r"^[\w.]+:\s*")
NAME = re.compile(r"[\w.]+", re.ASCII)
BREAKS = re.compile(r"[\s,;:'\"()?!，。；：？！（）]+")


def load(catalogue: Catalogue, lang: str) -> dict:
    """What the worker reads on a language's site: its index and, if need be, the other.

    ``foreign`` is the index of the other language.
    """
    other = other_language(lang)
    return {"index": index(catalogue, lang), "foreign": index(catalogue, other)}


def index(catalogue: Catalogue, lang: str, learnt: list[dict] | None = None) -> dict:
    """A language's index: what the worker is given first.

    ``learnt``: the questions to learn from; all by default.
    """
    unique = unique_symbols(catalogue)
    topics = wanted.missing(catalogue)
    learnt = questions.load(catalogue) if learnt is None else learnt
    asked = questions.by_slug(learnt)
    frequent = frequent_words(learnt)
    docs = [document(recipe, lang, unique, topics) for recipe in catalogue.recipes]
    for doc, recipe in zip(docs, catalogue.recipes, strict=True):
        doc["answers"] = catalogue.telling_line(recipe)
        doc |= words_asked(asked[recipe.slug], lang, frequent)
    columns = {column: [doc[column] for doc in docs] for column in COLUMNS}
    for entry in topics:
        if not entry.until:
            met = topic(entry, lang) | words_asked(asked[entry.slug], lang, frequent)
            for column, text in met.items():
                columns[column].append(text)
    titles = {
        category.slug: category.title[lang]
        for category in catalogue.categories
        if catalogue.in_category(category.slug)
    }
    return {
        "config": {
            "lang": [lang],
            "categories": titles,
            "stop": STOP,
            "alike": ALIKE,
            "traditional": TRADITIONAL,
            # The numbers of the recipes that an empty box offers.
            "popular": [catalogue.recipes.index(one) for one, _ in popular(catalogue)],
            "foreign": FOREIGN[lang],
            "also": WORDS[lang]["search_also"],
        },
        "docs": columns,
    }


def popular(catalogue: Catalogue) -> list[tuple[Recipe, str]]:
    """What people come for most, each with the line of its answer to show."""
    file = catalogue.root / POPULAR
    listed = parse_yaml(file.read_text("utf-8")) if file.exists() else {}
    known = catalogue.by_slug
    return [(known[slug], line) for slug, line in listed.items() if slug in known]


def topic(entry: wanted.Topic, lang: str) -> dict[str, str]:
    """A topic without a recipe: its title and its aliases."""
    title, *phrases = entry.phrases[lang]
    aliases = sorted(with_new_words(without_stop_words(set(phrases)), title))
    return {"title": title, "aliases": "\n".join(aliases)}


def words_asked(texts: list[str], lang: str, frequent: set[str]) -> dict[str, str]:
    """The frequent words of one question in a language, and those of several."""
    counts = Counter()
    for text in texts:
        if is_written_in(text, lang):
            counts.update(question_words(text) & frequent)
    once = sorted(word for word, count in counts.items() if count == 1)
    often = sorted(word for word, count in counts.items() if count > 1)
    return {"asked": " ".join(once), "often": " ".join(often)}


def frequent_words(learnt: list[dict]) -> set[str]:
    """The words of three questions and more: the others are many, and help nobody."""
    counts = Counter()
    for question in learnt:
        counts.update(question_words(question["q"]))
    return {word for word, count in counts.items() if count > 2}


def question_words(text: str) -> set[str]:
    """Latin words as they are searched for, and pairs of Chinese characters."""
    said = searched_words(text)
    latin = {word for word in said.split() if not HAN.search(word)}
    return latin | {word for word in words(said) if HAN.search(word)}


def unique_symbols(catalogue: Catalogue) -> set[str]:
    """The library symbols that a single recipe uses."""
    uses = Counter(name for recipe in catalogue.recipes for name in recipe.apis)
    return {name for name, count in uses.items() if count == 1}


def write(catalogue: Catalogue, lang: str, site: Path) -> None:
    """Write a language's index into the site."""
    (site / FILE).parent.mkdir(exist_ok=True)
    files = zip((FILE, REST), parts(index(catalogue, lang)), strict=True)
    for file, part in files:
        text = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
        (site / file).write_text(text, encoding="utf-8")


def parts(index: dict) -> tuple[dict, dict]:
    """An index as it is sent: the recipes' titles and addresses; the other columns."""
    docs = index["docs"]
    recipes = len(docs["location"])
    first = {"location": docs["location"], "title": docs["title"][:recipes]}
    rest = {column: texts for column, texts in docs.items() if column not in first}
    return {**index, "docs": first}, {**rest, "title": docs["title"][recipes:]}


def document(
    recipe: Recipe, lang: str, unique: set[str], topics: list[wanted.Topic]
) -> dict[str, str]:
    """What is searched of one recipe, and what a result shows of it."""
    page = recipe.page_for(lang)
    foreign = page.lang != lang
    return {
        "location": f"../{page.url}" if foreign else f"{page.category}/{page.slug}/",
        "title": recipe.title(lang),
        "text": recipe.description(lang).replace("`", ""),
        "aliases": "\n".join(aliases(recipe, lang, unique, topics)),
        "errors": error_lines(page),
        "tags": "\n".join(tags(recipe, lang, page.lang if foreign else None)),
    }


def tags(recipe: Recipe, lang: str, foreign: str | None) -> list[str]:
    """What a result says beside its category: a GPU it needs; a foreign language."""
    gpu = any(block.mark == "gpu" for block in recipe.blocks)
    names = [WORDS[foreign]["language"]] if foreign else []
    return [WORDS[lang]["needs"], *names] if gpu else names


def error_lines(page: Page) -> str:
    """Its messages without the exception's name: the nth line is #error-n."""
    messages = [
        EXCEPTION.sub("", error) for error in [*page.errors, *wordings.of(page)]
    ]
    return "\n".join(shorten(message, LINE, placeholder="…") for message in messages)


def aliases(
    recipe: Recipe, lang: str, unique: set[str], topics: list[wanted.Topic]
) -> list[str]:
    """The aliases of both pages that are in the language's script.

    The title of the other page, the slug, the tasks that the recipe covers, the topics
    that it helps with, and the symbols that no other recipe uses are aliases, too.
    """
    phrases = {page.meta["title"] for page in recipe.written.values()}
    phrases -= {recipe.title(lang)}
    slugs = [recipe.slug, *recipe.facts.get("covers", [])]
    phrases |= {slug.removeprefix("err-").replace("-", " ") for slug in slugs}
    for page in recipe.written.values():
        phrases |= set(page.meta["aliases"])
    for topic in topics:
        if recipe.slug in topic.until:
            phrases.update(*topic.phrases.values())
    phrases = {phrase for phrase in phrases if is_written_in(phrase, lang)}
    phrases = without_stop_words(phrases)
    shown = [recipe.title(lang), recipe.description(lang)]
    shown += map(error_lines, recipe.written.values())
    kept = short(phrases)
    kept = sorted(kept | with_new_words(phrases, "\n".join([*shown, *kept])))
    if lang == "en":  # symbols are Latin: the other side has them from here
        kept += symbols(recipe, unique, "\n".join([*shown, *kept]))
    return kept


def is_written_in(phrase: str, lang: str) -> bool:
    return bool(HAN.search(phrase)) == (lang == "zh")


def symbols(recipe: Recipe, unique: set[str], text: str) -> list[str]:
    """On one line, the symbols that the text does not name."""
    names = [name.removeprefix("torch.") for name in recipe.apis if name in unique]
    names = [name.removeprefix("Tensor.") for name in names]
    new = [name for name in names if name.casefold() not in text.casefold()]
    return [" ".join(new)] if new else []


def without_stop_words(phrases: set[str]) -> set[str]:
    """The phrases in lower case, without the words that are not searched for.

    Words in camel case stay, since the worker finds their parts by the case.
    """
    return {searched_words(phrase) for phrase in phrases} - {""}


def searched_words(phrase: str) -> str:
    words = [word.removeprefix("torch.") for word in BREAKS.split(phrase)]
    words = [word if CAMEL.search(word) else word.lower() for word in words]
    return " ".join(word for word in words if word and word.lower() not in STOP)


def short(phrases: set[str]) -> set[str]:
    """Names, and phrases of a few words: what somebody may type just so."""
    return {
        phrase
        for phrase in phrases
        if NAME.fullmatch(phrase) or len(words(phrase)) <= SHORT
    }


def with_new_words(phrases: set[str], text: str) -> set[str]:
    """The phrases that have a word which neither the text nor a longer one has."""
    known, kept = words(text), set()
    for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase)):
        if words(phrase) - known:
            kept.add(phrase)
            known |= words(phrase)
    return kept


def words(text: str) -> set[str]:
    """Latin words, operators, and pairs of Chinese characters."""
    found = set(WORD.findall(text.casefold()))
    for run in HAN.findall(text):
        found |= {run[i : i + 2] for i in range(max(1, len(run) - 1))}
    return found
