"""The search index: what the worker (docs/overrides/assets/search.js) ranks.

Small enough to be fetched when the reader turns to the search box: a page's
names, sentence, aliases of both languages, symbols and error messages, column by
column. Its prose and code are left out, and so is what would say a thing twice.
"""

import json
import re
from collections import Counter
from pathlib import Path

from cookbook.catalogue import Catalogue, Recipe
from cookbook.parity import other_language

FILE = Path("search", "search_index.json")  # where Material looks for one
COMMON = 3  # a symbol that more recipes use tells none of them apart
NEW = 0.3  # of a phrase in the other language, to be worth its place
LINE = 110  # characters of an error's line that are searched and shown
# In this order the columns compress best.
COLUMNS = ("tags", "errors", "symbols", "location", "aliases", "title", "text")
STOP = (
    "a about after all always an and any are as at be because been before but by can "
    "cannot could did do does doesn doing don each every for from get gets getting give "
    "gives got had has have having help how i if in into is isn it its just let like ll "
    "make makes me my need no not of on one only or our out please ve re should so some "
    "still than that the their them then there they this to too under us use used uses "
    "using vs want was way we what when where whether which while why will with without "
    "won work works would you your python pytorch torch "
    # Longer ones first: the worker takes them out of a run of characters.
    "有没有办法 有没有 能不能 为什么 怎么办 怎么样 的时候 怎么 怎样 如何 什么 请问 哪些 "
    "哪个 可以 需要 应该 我的 一个 一下 两个 这个 那个 时候 之后 之前 的 了 吗 呢 吧 啊 么 和 "
    "与 及 在 是 把 被 让 给 用 我 你 很"
).split()
NAMES = {"en": "English", "zh": "中文"}
CAMEL = re.compile("[a-z][A-Z]")
LATIN, HAN = re.compile("[a-z]+"), re.compile("[\u4e00-\u9fff]+")
BREAKS = re.compile(r"[\s,;:'\"()?!，。；：？！（）]+")


def index(catalogue: Catalogue, lang: str) -> dict:
    """A language's index, as the worker is given it."""
    uses = Counter(name for recipe in catalogue.recipes for name in recipe.apis)
    rare = {name for name, count in uses.items() if count <= COMMON}
    docs = [document(recipe, lang, rare) for recipe in catalogue.recipes]
    titles = {
        category.slug: category.title[lang]
        for category in catalogue.categories
        if catalogue.in_category(category.slug)
    }
    return {
        "config": {"lang": [lang], "categories": titles, "stop": STOP},
        "docs": {column: [doc[column] for doc in docs] for column in COLUMNS},
    }


def write(catalogue: Catalogue, lang: str, site: Path) -> None:
    """Write a language's index into the site."""
    file = site / FILE
    file.parent.mkdir(exist_ok=True)
    found = index(catalogue, lang)
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    file.write_text(text, encoding="utf-8")


def document(recipe: Recipe, lang: str, rare: set[str]) -> dict[str, str]:
    """What is searched of one recipe, and what a result shows of it."""
    foreign = lang in recipe.missing  # then the other language's page is offered
    page = recipe.written[other_language(lang)] if foreign else recipe.pages[lang]
    other = recipe.pages[other_language(page.lang)]
    title, text = recipe.title(lang), recipe.description(lang)
    # The nth line stands for the nth message, which the page calls #error-n.
    errors = "\n".join(error_line(error) for error in page.errors)
    own = [slug.replace("-", " ") for slug in recipe.facts.get("covers", [])]
    own = unsaid([*page.meta["aliases"], *own], f"{title}\n{text}\n{errors}")
    others = [other.meta["title"], *other.meta["aliases"]]
    aliases = own + news(others, f"{title}\n{text}\n{errors}\n{own}")
    symbols = [name.removeprefix("torch.") for name in recipe.apis if name in rare]
    symbols = [name.removeprefix("Tensor.") for name in symbols]
    said = f"{errors}\n{aliases}".casefold()
    symbols = [name for name in symbols if name.casefold() not in said]
    return {
        "location": f"../{page.url}" if foreign else f"{page.category}/{page.slug}/",
        "title": title,
        "text": text,
        "aliases": "\n".join(sorted(aliases)),
        "symbols": " ".join(symbols),
        "errors": errors,
        "tags": " ".join(tags(recipe, page.lang if foreign else None)),
    }


def tags(recipe: Recipe, foreign: str | None) -> list[str]:
    """What a result says beside its category: the devices; a foreign language."""
    gpu = any(block.mark == "gpu" for block in recipe.blocks)
    names = [NAMES[foreign]] if foreign else []
    return ["CPU", "GPU", *names] if gpu else ["CPU", *names]


def error_line(error: str) -> str:
    """An error message on one line, without the exception's name."""
    message = error.partition(": ")[2]
    return " ".join(line.strip()[:LINE] for line in message.splitlines())


def essence(phrase: str) -> str:
    """A phrase without the words that are not searched for, in lower case.

    Words in camel case stay, since the worker finds their parts by the case.
    """
    words = [word.removeprefix("torch.") for word in BREAKS.split(phrase)]
    words = [word if CAMEL.search(word) else word.lower() for word in words]
    return " ".join(word for word in words if word and word.lower() not in STOP)


def unsaid(phrases: list[str], said: str) -> list[str]:
    """The phrases that stand neither in what is said already nor in each other."""
    said, kept = said.casefold(), []
    for phrase in longest_first(phrases):
        if phrase.casefold() not in said:
            kept.append(phrase)
            said += "\n" + phrase.casefold()
    return kept


def news(phrases: list[str], said: str) -> list[str]:
    """The phrases with a word, or a pair of Chinese characters, not yet said.

    For the other language's aliases: whoever types them here needs the page, but
    seldom in just these words.
    """
    known, kept = parts(said), []
    for phrase in longest_first(phrases):
        if len(parts(phrase) - known) >= NEW * len(parts(phrase)):
            kept.append(phrase)
            known |= parts(phrase)
    return kept


def longest_first(phrases: list[str]) -> list[str]:
    found = {essence(phrase) for phrase in phrases} - {""}
    return sorted(found, key=lambda phrase: (-len(phrase), phrase))


def parts(text: str) -> set[str]:
    """Latin words, and pairs of Chinese characters."""
    found = set(LATIN.findall(text.casefold()))
    for run in HAN.findall(text):
        found |= {run[i : i + 2] for i in range(max(1, len(run) - 1))}
    return found
