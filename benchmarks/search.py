"""What a search costs at 1,000 recipes: the index, set-up, queries, a first result.

The site's own worker runs in Chromium, on an index that is grown from the real one.
How well it ranks is measured by ``pytest -s tests/search``.
"""

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from playwright.sync_api import Browser, sync_playwright

from benchmarks.synthetic_index import grown
from benchmarks.table import Measure, say
from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import LANGUAGES
from cookbook.site import search
from tests.search.test_ranking import load

ROOT = Path(__file__).parents[1]
WORKER = ROOT / "docs/overrides/assets/search.js"
QUERIES = ("queries", "own", "held_out")
MANY = 1000  # recipes
ROUNDS = 5
LINE = 50  # kB/s, of a slow connection
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


def measures() -> Iterator[Measure]:
    """Yield the measures of this part."""
    catalogue = Catalogue(ROOT)
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    flags = ["--headless", "--no-sandbox", "--disable-gpu"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=flags)
        for lang in LANGUAGES:
            yield from of_language(browser, catalogue, lang)
        browser.close()


def of_language(browser: Browser, catalogue: Catalogue, lang: str) -> Iterator[Measure]:
    """Measure the search of one language; times are medians of the rounds."""
    real = search.load(catalogue, lang)
    site = {part: grown(real[part], MANY) for part in real}
    size, today = kilobytes(site["index"]), kilobytes(real["index"])
    worker = kilobytes(WORKER.read_text("utf-8"))
    recipes = len(catalogue.recipes)
    asked = [q["q"] for q in load(catalogue, *QUERIES) if q["side"] == lang]
    name = f"{lang}, {MANY:,} recipes"
    say(f"{name}: {ROUNDS} rounds of {len(asked)} queries")
    titles, rest = search.parts(site["index"])
    request = {"titles": titles, "rest": rest, "foreign": site["foreign"]}
    rounds = [ask(browser, {**request, "queries": asked}) for _ in range(ROUNDS)]
    set_up = median(each["setUp"] for each in rounds)
    complete = median(each["complete"] for each in rounds)
    slow = median(quantiles(each["taken"], n=20)[-1] for each in rounds)
    yield Measure(
        f"{lang}, {recipes}: index each, gzip", today / recipes, "kB", "<= 0.5"
    )
    yield Measure(f"{name}: index each, gzip", size / MANY, "kB", "<= 0.5")
    yield Measure(f"{name}: set-up, titles", set_up, "ms", "<= 150")
    yield Measure(f"{name}: set-up, all else", complete, "ms", "<= 150")
    yield Measure(f"{name}: query p95", slow, "ms", "<= 15")
    seconds = (worker + kilobytes(titles)) / LINE + set_up / 1000
    yield Measure(f"{name}: first result at {LINE} kB/s", seconds, "s", "<= 1.5")


def kilobytes(content: object) -> float:
    """The size of a text, or of what JSON makes of it, as a host compresses it."""
    dumped = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    text = content if isinstance(content, str) else dumped
    return len(gzip.compress(text.encode())) / 1000


def ask(browser: Browser, request: dict) -> dict:
    """Milliseconds of a new worker's set-up, in two parts, and of each query."""
    script = WORKER.read_text("utf-8")
    with browser.new_context() as context:
        return context.new_page().evaluate(ASK, {**request, "script": script})
