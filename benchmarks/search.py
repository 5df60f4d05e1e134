"""What a search costs at 1,000 recipes: the index, set-up, queries.

The site's own worker runs in Chromium, on an index of as many recipes as wanted, grown
from the real one. A made-up recipe says what a real one says, with some of the words
exchanged for those of others, and some that nobody else uses; the shares are such that
the vocabulary grows as it does among the real ones. How well the worker ranks is
measured by ``pytest -s tests/search``.
"""

import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

from playwright.sync_api import Browser

from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import LANGUAGES
from cookbook.site import find, search
from tests.browser import chromium
from tests.search.test_ranking import load

ROOT = Path(__file__).parents[1]
QUERIES = ("queries", "own", "held_out")
MANY = 1000  # recipes
ROUNDS = 5
MIXED = ("title", "text", "aliases", "errors", "asked", "often")
KEPT = ("answers", "tags")
EXCHANGED = 0.4
COINED = 0.06  # Latin words; Chinese ones arise where words are exchanged
LATIN = "[A-Za-z][A-Za-z0-9_.]*"
WORD = re.compile(f"{LATIN}|[\u4e00-\u9fff]{{1,2}}")
# What the site does: the titles are given, the worker fetches all else. Here it gets
# the other files' texts when the titles are ready, as at the end of their download.
ASK = """async ({ script, titles, rest, foreign, queries }) => {
  const SETUP = 0, QUERY = 2, FILES = 9
  const source = `onunhandledrejection = event => { throw event.reason }
    const home = "/${titles.config.lang[0]}/"
    const files = new Promise(resolve => addEventListener("message",
      ({ data: { type, data } }) => type === ${FILES} && resolve(data)))
    const local = async url => {
      const [own, theirs] = await files
      return { json: () => JSON.parse(url.pathname.startsWith(home) ? own : theirs) }
    }
    ;((location, fetch) => { ${script} })("http://a/assets/x", local)`
  const timed = async (worker, type, data) => {
    const started = performance.now()
    await new Promise((resolve, reject) => {
      worker.onmessage = resolve
      worker.onerror = event => reject(event.message)
      worker.postMessage({ type, data })
    })
    return performance.now() - started
  }
  const url = URL.createObjectURL(new Blob([source]))
  const started = performance.now()
  const worker = new Worker(url)
  await timed(worker, SETUP, titles)
  const setUp = performance.now() - started
  worker.postMessage({ type: QUERY, data: "zzzz" })  // what no title answers
  const texts = [rest, foreign].map(part => JSON.stringify(part))
  const complete = await timed(worker, FILES, texts)
  const taken = []
  for (const query of queries) taken.push(await timed(worker, QUERY, query))
  worker.terminate()
  return { setUp, complete, taken }
}"""


def measures(browser: Browser, catalogue: Catalogue, lang: str) -> dict[str, float]:
    """Of the search of one language; times are medians of the rounds."""
    real = search.load(catalogue, lang)
    site = {part: grown(real[part], MANY) for part in real}
    titles, rest = search.parts(site["index"])
    asked = [q["q"] for q in load(catalogue, *QUERIES) if q["side"] == lang]
    request = {"titles": titles, "rest": rest, "foreign": site["foreign"]}
    request |= {"queries": asked, "script": (ROOT / find.WORKER).read_text("utf-8")}
    rounds = []
    for _ in range(ROUNDS):
        with browser.new_context() as context:
            rounds.append(context.new_page().evaluate(ASK, request))
    return {
        "index per recipe, gzip, kB": kilobytes(site["index"]) / MANY,
        "set-up, titles, ms": median(each["setUp"] for each in rounds),
        "set-up, all else, ms": median(each["complete"] for each in rounds),
        "query p95, ms": median(quantiles(each["taken"], n=20)[-1] for each in rounds),
    }


def kilobytes(content: object) -> float:
    """The size of what JSON makes of it, as a host compresses it."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return len(gzip.compress(text.encode())) / 1000


def grown(index: dict, recipes: int) -> dict:
    """A language's index with made-up recipes behind the real ones.

    Always the same for the same recipes.
    """
    rng = random.Random(0)
    docs = {column: list(texts) for column, texts in index["docs"].items()}
    real = len(docs["location"])
    mixed = [docs[column] for column in MIXED]
    topics = [texts[real:] for texts in mixed]  # follow the recipes
    for texts in mixed:
        del texts[real:]
    exchange = exchanger(rng, [text for texts in mixed for text in texts])
    for number in range(real, recipes):
        model = rng.randrange(real)
        for texts in mixed:
            texts.append(WORD.sub(exchange, texts[model]))
        for column in KEPT:
            docs[column].append(docs[column][model])
        docs["location"].append(f"{docs['location'][model][:-1]}-{number}/")
    for texts, more in zip(mixed, topics, strict=True):
        texts.extend(more)
    return {**index, "docs": docs}


def exchanger(rng: random.Random, texts: list[str]) -> Callable[[re.Match], str]:
    """Returns what stands for a word: it, another of its script, or a new one."""
    words = [word for text in texts for word in WORD.findall(text)]
    latin = [word for word in words if word.isascii()]
    chinese = [word for word in words if not word.isascii()]

    def exchange(match: re.Match) -> str:
        word, chance = match[0], rng.random()
        if word.isascii() and chance < COINED:
            begin, end = rng.choices(latin, k=2)
            latin.append(begin[: len(begin) // 2 + 1] + end[len(end) // 2 :])
            return latin[-1]
        if chance < EXCHANGED:
            return rng.choice(latin if word.isascii() else chinese)
        return word

    return exchange


if __name__ == "__main__":
    with chromium() as browser:
        for lang in LANGUAGES:
            for name, value in measures(browser, Catalogue(ROOT), lang).items():
                print(f"{value:8.3g}  {lang}, {MANY:,} recipes: {name}")
