"""What each constant of the search worker is worth, by cross-validation.

python -m benchmarks.fit [NAME=VALUE...]

The questions of docs/questions are dealt into five hands; each is put to a worker that
has learnt from the other four. With values, one line: the worker as it is with these.
Without, a line for each constant at half and at twice its value: an ablation, which
takes about an hour. The judges in tests/search are not looked at.
"""

import random
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from cookbook.book import questions
from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import LANGUAGES
from cookbook.running.runner import usable_cores
from cookbook.site import find, search, worker
from tests.helpers import ROOT

HANDS = 5
NUMBER = re.compile(r"(?<=[ ,{])([A-Z0-9_]+ =|[a-z]+:) (\d+(?:\.\d+)?)(?=[, }\n])")


def constants(script: str) -> dict[str, float]:
    """The numbers that the worker's head names: ``FIELDS``' by the field's name."""
    head = script[script.index("const FIELDS") : script.index("let stop")]
    return {name.rstrip(" =:"): float(value) for name, value in NUMBER.findall(head)}


def changed(script: str, name: str, value: float) -> str:
    """The worker with another value for a constant."""
    place = rf"(?<=[ ,{{]){name}( =|:) \d+(?:\.\d+)?"
    new, count = re.subn(place, rf"{name}\1 {value}", script, count=1)
    if not count:
        raise SystemExit(f"{name}: no constant of {find.WORKER}")
    return new


def halved_and_doubled(script: str) -> dict[str, str]:
    """Each constant at half and at twice its value."""
    return {
        f"{name} = {value * factor:g}": changed(script, name, value * factor)
        for name, value in constants(script).items()
        for factor in (0.5, 2)
    }


def measured(script: str) -> str:
    """Of questions with a recipe, first and among three; told of those without."""
    catalogue = Catalogue(ROOT)
    asked = questions.load(catalogue)
    random.Random(0).shuffle(asked)
    first = third = right = wrong = 0
    for hand in range(HANDS):
        put = asked[hand::HANDS]
        learnt = [one for n, one in enumerate(asked) if n % HANDS != hand]
        index = {lang: search.index(catalogue, lang, learnt) for lang in LANGUAGES}
        workers = {
            lang: worker.started(script, index[lang], partial(index.get, other))
            for lang, other in zip(LANGUAGES, reversed(LANGUAGES), strict=True)
        }
        for one in put:
            answer = worker.ask(workers[one["side"]], one["q"])
            places = [slug in one["wants"] for slug in worker.slugs(answer)[:3]]
            first += places[:1] == [True]
            third += any(places)
            right += answer["none"] and not one["wants"]
            wrong += answer["none"] and bool(one["wants"])
    fits = sum(bool(one["wants"]) for one in asked)
    lacks = len(asked) - fits
    shares = (first / fits, third / fits, right / lacks, wrong / fits)
    return "".join(f"{share:8.3f}" for share in shares)


def main(values: list[str]) -> int:
    script = (ROOT / find.WORKER).read_text("utf-8")
    rows = {} if values else {"as it is": script} | halved_and_doubled(script)
    for name, value in (each.split("=") for each in values):
        script = changed(script, name, float(value))
        rows = {" ".join(values): script}
    print(f"{'':20}   first   three    told wrongly")
    with ProcessPoolExecutor(usable_cores()) as pool:
        for name, shares in zip(rows, pool.map(measured, rows.values()), strict=True):
            print(f"{name:20}{shares}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
