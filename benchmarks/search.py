"""The search beside Material's own and pagefind: what it finds, weighs and takes.

All three get the same pages, and Chromium runs them. Material's search and pagefind
index what a page shows, as they do by default; of what they find, only recipes
count. The queries and their scores are those of tests/search.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from statistics import median, quantiles

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import build
from benchmarks.server import serve
from benchmarks.synthetic import grow
from benchmarks.synthetic_index import grown
from benchmarks.table import Measure, say, show
from benchmarks.weight import CHROMIUM, FLAGS
from cookbook.catalogue import Catalogue
from cookbook.pages import LANGUAGES
from cookbook.parity import other_language
from cookbook.site import search
from tests.search.test_ranking import load, score

ROOT = Path(__file__).parents[1]
PAGEFIND = ROOT / "tools/node_modules/.bin/pagefind"
SCRIPT = Path(__file__).with_suffix(".js")
WORKER = Path("assets/search.js")  # of a language's site
OURS, MATERIAL, FOUND = "ours", "Material", "pagefind"
# What hit@1 and hit@3 of ours have to be.
QUERIES = {"queries": (0.96, 0.99), "own": (0.96, 0.99), "held_out": (0.90, 0.97)}
METRICS = ("hit@1", "hit@3", "MRR")
COUNTED = 10  # results; ours shows no more
LOADED = 30  # of pagefind's results: enough for so many recipes among them
TYPICAL = {"en": "clip gradients", "zh": "梯度裁剪"}
PAGEFIND_SHOWS = 5  # of a query's results, in its own box
MANY = 1000  # recipes
ROUNDS = 5
TYPED = 15  # queries per language and round
SHORT = 30  # characters at most, of those that are typed
KEY_EVERY = 70  # ms
LOG_SIZE = 20_000  # characters
LOG_END = "Traceback (most recent call last):\nIndexError: Target 10 is out of bounds."


@dataclass(frozen=True)
class Engine:
    """A search in a language: a function of search.js, and what it is given."""

    name: str
    lang: str
    function: str
    files: dict[str, str]

    def ask(self, tab: Page, queries: list[str], shown: int = LOADED) -> dict:
        """What search.js found for each query, and how long it took."""
        request = {**self.files, "queries": queries, "shown": shown}
        return tab.evaluate(f"request => {self.function}(request)", request)


def measures() -> Iterator[Measure]:
    """Yield the measures of this part."""
    catalogue = Catalogue(ROOT)
    with tempfile.TemporaryDirectory(prefix="cookbook-bench-") as name:
        folder = Path(name)
        prepare(folder, catalogue)
        with serve(folder) as (address, sent), chromium() as browser:
            bench = Bench(catalogue, folder, address, sent, browser)
            yield from bench.quality()
            yield from bench.weights()
            yield from bench.speeds()
            yield from bench.box()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with closing(browser):
            yield browser


def prepare(folder: Path, catalogue: Catalogue) -> None:
    """Build our site, plain Material's, and pagefind's index of ours."""
    if not PAGEFIND.exists():
        raise SystemExit("pagefind is not installed: make bench sets it up")
    say("building our site and plain Material's")
    grow(ROOT, folder, len(catalogue.recipes))
    build.seconds(folder, build.write_plain(folder))
    for lang in LANGUAGES:
        command = [PAGEFIND, "--silent", "--site", folder / "site" / lang]
        command += ["--output-path", folder / "pagefind" / lang]
        subprocess.run(command, check=True)
        # pagefind searches in the language of the page that asks.
        blank = f'<!doctype html><html lang="{lang}"><title>blank</title></html>'
        (folder / f"{lang}.html").write_text(blank, "utf-8")
        plant(grown(search.load(catalogue, lang), MANY), folder, lang)


def plant(site: dict, folder: Path, lang: str) -> None:
    """Write our worker, and what it shall read, as on a site."""
    target = folder / "grown" / lang
    shutil.copytree(folder / "site" / lang / WORKER.parent, target / WORKER.parent)
    (target / search.FILE).parent.mkdir()
    for file, part in ((search.FILE, "index"), (search.FOREIGN_FILE, "foreign")):
        (target / file).write_text(json.dumps(site[part]), "utf-8")


def engines(folder: Path, lang: str) -> list[Engine]:
    """The three searches of a language."""
    plain = folder / "plain/site" / lang
    (worker,) = plain.glob("assets/javascripts/workers/search.*.js")
    return [
        worker_engine(OURS, lang, "/site", WORKER),
        worker_engine(MATERIAL, lang, "/plain/site", worker.relative_to(plain)),
        Engine(FOUND, lang, "askPagefind", {"script": f"/pagefind/{lang}/pagefind.js"}),
    ]


def worker_engine(name: str, lang: str, site: str, worker: Path) -> Engine:
    """A search whose worker and index lie in a site."""
    script, index = (f"{site}/{lang}/{f.as_posix()}" for f in (worker, search.FILE))
    return Engine(name, lang, "askWorker", {"script": script, "index": index})


class Bench:
    """Asks the searches of both languages in Chromium."""

    def __init__(self, catalogue, folder, address, sent, browser):
        self.catalogue, self.browser = catalogue, browser
        self.address, self.sent = address, sent
        self.engines = [one for lang in LANGUAGES for one in engines(folder, lang)]
        self.slugs = {f"{r.category}/{r.slug}": r.slug for r in catalogue.recipes}

    @contextmanager
    def tab(self, page: str) -> Iterator[Page]:
        """A page of the server, in a browser that has nothing cached."""
        context = self.browser.new_context()
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        with closing(context):
            tab = context.new_page()
            tab.goto(self.address + page, wait_until="networkidle")
            tab.add_script_tag(path=SCRIPT)
            yield tab

    def quality(self) -> Iterator[Measure]:
        """How often each search puts a wanted recipe first, or among three."""
        for name, targets in QUERIES.items():
            queries = load(self.catalogue, name)
            say(f"{name}.jsonl: {len(queries)} queries, three searches")
            for engine in (OURS, MATERIAL, FOUND):
                values = score(self.places(engine, queries))
                bars = [f">= {bar}" for bar in targets] if engine == OURS else []
                for what, value, bar in zip_longest(METRICS, values, bars):
                    yield Measure(f"{name}: {what}, {engine}", value, "", bar or "")

    def places(self, name: str, queries: list[dict]) -> list[int | None]:
        """The place, from 1, of the first wanted recipe for each query."""
        places = []
        for engine in (one for one in self.engines if one.name == name):
            mine = [query for query in queries if query["side"] == engine.lang]
            with self.tab(f"{engine.lang}.html") as tab:
                answer = engine.ask(tab, [query["q"] for query in mine])
            for query, pages in zip(mine, answer["found"], strict=True):
                places.append(place(query["wants"], self.recipes(pages)))
        return places

    def recipes(self, pages: list[str]) -> list[str]:
        """The slugs of the recipes among the pages found."""
        paths = ("/".join(page.partition("#")[0].split("/")[-3:-1]) for page in pages)
        return [self.slugs[path] for path in paths if path in self.slugs][:COUNTED]

    def weights(self) -> Iterator[Measure]:
        """What a reader's first query loads, compressed."""
        bar = f"<= {0.35 * len(self.catalogue.recipes) + 4:.4g}"
        for engine in self.engines:
            lang, target = engine.lang, bar if engine.name == OURS else ""
            name = f"{lang}: loaded for a query, gzip, {engine.name}"
            yield Measure(name, self.loaded(engine, TYPICAL[lang]), "kB", target)
            if engine.name == OURS:
                query = TYPICAL[other_language(lang)]
                name = f"{lang}: loaded for one in the other script, gzip, ours"
                yield Measure(name, self.loaded(engine, query), "kB", target)

    def loaded(self, engine: Engine, query: str) -> float:
        """Compressed kB that the first query loads."""
        with self.tab(f"{engine.lang}.html") as tab:
            self.sent.clear()
            engine.ask(tab, [query], PAGEFIND_SHOWS)
        for path, size in sorted(self.sent.items(), key=lambda item: -item[1]):
            say(f"  {size / 1000:6.1f} kB {path}")
        return sum(self.sent.values()) / 1000

    def speeds(self) -> Iterator[Measure]:
        """Set-up and queries of our worker and Material's; medians of the rounds."""
        today = f"{len(self.catalogue.recipes)} recipes"
        for lang in LANGUAGES:
            large = worker_engine(OURS, lang, "/grown", WORKER)
            yield from self.speed(large, f"{MANY:,} recipes", "<= 150", "<= 15")
        for engine in self.engines:
            if engine.name != FOUND:
                yield from self.speed(engine, today)

    def speed(self, engine, size, set_up="", query="") -> Iterator[Measure]:
        name = f"{engine.lang}, {size}, {engine.name}"
        say(f"{name}: {ROUNDS} rounds; load {load_now()}")
        queries = [one["q"] for one in self.queries(engine.lang)]
        foreign = TYPICAL[other_language(engine.lang)]
        with self.tab(f"{engine.lang}.html") as tab:
            answers = [engine.ask(tab, queries) for _ in range(ROUNDS)]
            first = [engine.ask(tab, [foreign]) for _ in range(ROUNDS)]
        times = [answer["milliseconds"] for answer in answers]
        ready = median(answer["setUp"] for answer in answers)
        yield Measure(f"{name}: set-up", ready, "ms", set_up)
        yield Measure(f"{name}: query p50", median(map(median, times)), "ms")
        yield Measure(f"{name}: query p95", median(map(p95, times)), "ms", query)
        if engine.name == OURS:
            slow = median(answer["milliseconds"][0] for answer in first)
            yield Measure(f"{name}: first query in the other script", slow, "ms")

    def queries(self, lang: str) -> list[dict]:
        """The queries of every set that are asked in a language's box."""
        queries = load(self.catalogue, *QUERIES)
        return [query for query in queries if query["side"] == lang]

    def box(self) -> Iterator[Measure]:
        """From a change of the real box until its result is painted."""
        for lang in LANGUAGES:
            say(f"{lang}: typing and pasting, {ROUNDS} rounds; load {load_now()}")
            with self.tab(f"site/{lang}/") as tab:
                tab.keyboard.press("/")
                tab.keyboard.type(TYPICAL[lang])
                tab.locator(".md-search-result__item").first.wait_for()
                tab.evaluate("watchBox()")
                rounds = [typed(tab, self.short(lang)) for _ in range(ROUNDS)]
                logs = [pasted(tab, log(number)) for number in range(ROUNDS)]
            typing, name = median(map(p95, rounds)), f"{lang}: key to painted result"
            yield Measure(f"{name}, p50", median(map(median, rounds)), "ms")
            yield Measure(f"{name}, p95", typing, "ms", "<= 35")
            yield Measure(f"{lang}: pasted 20 kB to painted", median(logs), "ms")

    def short(self, lang: str) -> list[str]:
        """Queries of every set that are typed rather than pasted."""
        queries = [query["q"] for query in self.queries(lang)]
        short = [one for one in queries if len(one) <= SHORT and "\n" not in one]
        return short[:: len(short) // TYPED][:TYPED]


def place(wants: set[str], found: list[str]) -> int | None:
    return next((n for n, slug in enumerate(found, start=1) if slug in wants), None)


def p95(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]


def load_now() -> str:
    """What else the machine does: how many processes wait for its cores."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def typed(tab: Page, queries: list[str]) -> list[float]:
    """Type queries into the box; milliseconds per key until the result is painted."""
    tab.evaluate("painted.length = 0")
    for query in queries:
        tab.keyboard.press("Control+A")
        tab.keyboard.type(query, delay=KEY_EVERY)
    tab.wait_for_timeout(10 * KEY_EVERY)
    return tab.evaluate("painted")


def pasted(tab: Page, text: str) -> float:
    """Paste into the box; milliseconds until the result is painted."""
    tab.evaluate("painted.length = 0")
    tab.evaluate("text => navigator.clipboard.writeText(text)", text)
    tab.keyboard.press("Control+A")
    tab.keyboard.press("Control+V")
    tab.wait_for_function("painted.length > 0")
    return tab.evaluate("painted[0]")


def log(number: int) -> str:
    """The output of a training run that ended with an error."""
    steps = range(number, LOG_SIZE)
    lines = "".join(f"epoch 3 step {n} loss 0.{n} lr 1e-3 mixup\n" for n in steps)
    return lines[: LOG_SIZE - len(LOG_END)] + LOG_END


if __name__ == "__main__":
    sys.exit(show(measures()))
