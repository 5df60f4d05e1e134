"""Does the worker put the right recipe first? By questions that it has not learnt from.

The search learns from docs/questions: what was written for it (own, queries), what
somebody typed, with its source (real), and halves of short and asked. The judges are
here. held_out.jsonl was written by people who had seen neither pages nor aliases;
unseen.jsonl is more of what somebody typed, gathered without a look at the aliases;
pasted.jsonl are error messages as they are pasted; short.jsonl two short queries a
recipe, by somebody who saw its code alone; asked.jsonl long questions after threads
(reworded, with their source), and questions of other fields. Add no alias, and no
question to learn from, for what these five miss. Where `wants` was added to, `why` says
for what reason.
A question counts when one of the recipes it wants exists; where none does, the worker
should say so.
``pytest -s tests/search`` prints the tables.

New recipes need no change of the ranking. Where a bar is missed, the failing test lists
each question, what stands first, and what was wanted: where the new recipe does answer,
add its slug to the question's `wants`, with the reason in `why`.
"""

import json
import random
import re
from collections import defaultdict
from functools import cache
from itertools import cycle
from pathlib import Path

import pytest
import yaml

from cookbook.book import questions, wanted
from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import LANGUAGES
from cookbook.site import find, search, worker
from cookbook.site.worker import slugs
from tests.helpers import ROOT

JUDGES = ("held_out", "unseen", "pasted", "short", "asked")
# hit@1 and hit@3 over all queries, and hit@1 of the worst kind.
BARS = {
    "learnt": (0.97, 0.99, 0.80),
    "held out": (0.92, 0.97, 0.80),
    "unseen": (0.75, 0.88, 0.70),
    "short": (0.94, 0.98, 0.90),
    "asked": (0.66, 0.88, 0.60),
}
# Of the queries without a recipe, and of those with one.
TOLD = {"real": (0.80, 0.03), "unseen": (0.70, 0.05), "asked": (0.45, 0.05)}
# A reader's worker, which finds at hand what it would fetch.
START = """([lang, script, site]) => {
  const browser = `const location = "", URL = class {}
    const fetch = async () => ({ json: async () => site.foreign })
    const addEventListener = (_, listener) => { page.hear = listener }
    const postMessage = message => page.told(message.data)`
  const page = { told: () => {} }
  new Function("page", "site", browser + script)(page, site)
  page.hear({ data: { type: 0, data: site.index } })
  ;(window.pages ??= {})[lang] = page
}"""
ASK = """([lang, data]) => new Promise(told => {
  pages[lang].told = told
  pages[lang].hear({ data: { type: 2, data } })
})"""
TYPOS = 0.95  # hit@3
PASTED = 0.90  # first or second


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue(ROOT)


@pytest.fixture(scope="module")
def indexes(catalogue) -> dict[str, dict]:
    return {lang: search.load(catalogue, lang) for lang in LANGUAGES}


@pytest.fixture(scope="module")
def ask(browser, indexes):
    """What the worker of a language answers, in Chromium; it is asked nothing twice."""
    page = browser.new_page()
    script = (ROOT / find.WORKER).read_text("utf-8")
    for lang, site in indexes.items():
        page.evaluate(START, [lang, script, site])
    yield cache(lambda lang, query: page.evaluate(ASK, [lang, query]))
    page.close()


def load(catalogue: Catalogue, *names: str) -> list[dict]:
    """The queries that some recipe answers; wants are slugs of such recipes."""
    return [query for query in load_all(catalogue, *names) if query["wants"]]


def load_all(catalogue: Catalogue, *names: str) -> list[dict]:
    """Every query; wants are slugs of recipes that exist."""
    judging, learnt = Path(__file__).parent, ROOT / questions.FOLDER
    folders = [judging if name in JUDGES else learnt for name in names]
    files = [
        folder / f"{name}.jsonl" for folder, name in zip(folders, names, strict=True)
    ]
    return questions.read(catalogue, files)


def ranks(ask, queries: list[dict]) -> list[int | None]:
    """The place, from 1, of the first wanted recipe for each query.

    ``query["first"]`` becomes the recipe that stands first.
    """
    places = []
    for query in queries:
        found = slugs(ask(query["side"], query["q"]))
        query["first"] = next(iter(found), "nothing")
        wanted = (n for n, slug in enumerate(found, start=1) if slug in query["wants"])
        places.append(next(wanted, None))
    return places


def tells(error: str) -> bool:
    """Whether a message has words enough to be told from any other."""
    return len(error.split()) > 5


def score(places: list[int | None]) -> tuple[float, float, float]:
    """hit@1, hit@3 and the mean reciprocal rank."""
    count = len(places)
    first = sum(place == 1 for place in places) / count
    third = sum(place is not None and place <= 3 for place in places) / count
    return first, third, sum(1 / place for place in places if place) / count


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("learnt", ("queries", "own", "real")),
        ("held out", ("held_out",)),
        ("unseen", ("unseen",)),
        ("short", ("short",)),
        ("asked", ("asked",)),
    ],
)
def test_the_right_recipe_is_first(catalogue, ask, title, names):
    queries = load(catalogue, *names)
    places = ranks(ask, queries)
    kinds = defaultdict(list)
    for query, place in zip(queries, places, strict=True):
        kinds[query["kind"]].append(place)
    print(f"\n{title:12} queries  hit@1  hit@3    MRR")
    for kind, found in [*sorted(kinds.items()), ("all", places)]:
        first, third, mean = score(found)
        print(f"{kind:12} {len(found):7}  {first:5.3f}  {third:5.3f}  {mean:5.3f}")
    first, third, _ = score(places)
    enough = [found for found in kinds.values() if len(found) > 10]
    worst = min(score(found)[0] for found in enough)
    missed = [
        f"{query['side']} {query['q'][-80:]!r}: {query['first']} stands before "
        f"{' or '.join(sorted(query['wants']))}, which is at {place}"
        for query, place in zip(queries, places, strict=True)
        if place != 1 and title == "learnt"
    ]
    reached = (first, third, worst)
    assert all(map(float.__ge__, reached, BARS[title])), "\n".join(missed)


def test_a_pasted_error_finds_its_page(catalogue, ask):
    places = ranks(ask, load(catalogue, "pasted"))
    first = sum(place == 1 for place in places) / len(places)
    second = sum(place in (1, 2) for place in places) / len(places)
    print(f"\n{len(places)} pasted errors: first {first:.3f}, or second {second:.3f}")
    assert second >= PASTED


@pytest.mark.parametrize("name", TOLD)
def test_where_there_is_no_recipe_the_worker_says_so(catalogue, ask, name):
    told = {True: [], False: []}  # by whether a recipe exists
    for query in load_all(catalogue, name):
        told[bool(query["wants"])].append(ask(query["side"], query["q"])["none"])
    rightly = sum(told[False]) / len(told[False])
    wrongly = sum(told[True]) / len(told[True])
    print(f"\n{name}: told of {len(told[False])} without a recipe {rightly:.3f}, "
          f"of {len(told[True])} with one {wrongly:.3f}")  # fmt: skip
    assert rightly >= TOLD[name][0]
    assert wrongly <= TOLD[name][1]


def misspelt(word: str, chance: random.Random) -> str:
    """A word with one letter swapped, left out, doubled or another, anywhere; two
    such faults in a long one."""
    for _ in range(2 if len(word) >= 9 else 1):
        i = chance.randrange(len(word) - 1)
        word = chance.choice(
            [
                word[:i] + word[i + 1] + word[i] + word[i + 2 :],
                word[:i] + word[i + 1 :],
                word[:i] + word[i] + word[i:],
                word[:i] + chance.choice("aeinst") + word[i + 1 :],
            ]
        )
    return word


def test_a_misspelt_word_is_understood(catalogue, ask):
    """The longest word of each English title, misspelt in two ways."""
    chance = random.Random(0)
    queries = []
    for recipe in catalogue.recipes:
        title = recipe.title("en")
        word = max(re.findall(r"[A-Za-z]+", title), key=len)
        faulty = [title.replace(word, misspelt(word, chance)) for _ in range(2)]
        queries += [{"q": q, "side": "en", "wants": {recipe.slug}} for q in faulty]
    places = ranks(ask, queries)
    _, third, _ = score(places)
    print(f"\n{len(queries)} misspelt titles: hit@3 {third:.3f}")
    assert third >= TYPOS


def test_every_recipe_is_found_by_its_title(catalogue, ask):
    for lang in LANGUAGES:
        found = [slugs(ask(lang, r.title(lang)))[0] for r in catalogue.recipes]
        assert found == [recipe.slug for recipe in catalogue.recipes]


def test_every_message_of_the_pages_is_found(catalogue, ask):
    """By a recipe that quotes it, shapes aside, pasted with a traceback before it.

    The languages' indexes have the same messages: they take turns.
    """
    users, alike = {}, defaultdict(set)
    for recipe in catalogue.recipes:
        for error in filter(tells, recipe.pages["en"].errors):
            users[error] = alike[re.sub(r"\[[\d, ]*\]|-?\d+", "", error)[:40]]
            users[error].add(recipe.slug)
    head = 'Traceback (most recent call last):\n  File "/srv/x/train.py", line 7\n'
    found = {
        error: slugs(ask(lang, head + error))[:3]
        for error, lang in zip(users, cycle(LANGUAGES), strict=False)
    }
    assert not [error for error in users if not users[error] & {*found[error]}]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_long_log_is_searched_by_its_last_error(ask, lang):
    noise = "epoch 3 loss 0.12 lr 1e-3 label smoothing mixup onnx export\n" * 400
    error = "IndexError: Target 10 is out of bounds."
    logs = [
        f"{noise}{error}",
        f"{noise}{error}".replace("\n", " "),  # as a one-line box takes a paste
        f"{noise}[rank1]: {error}\n{noise[:600]}",
    ]
    quote_it = {"label-smoothing", "basic-training-loop", "err-index-out-of-range"}
    assert {slugs(ask(lang, log))[0] for log in logs} <= quote_it


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_typed_breaks_it(ask, lang):
    odd = [
        *"~^:-+*?\\/|()[]{}<>'\"`!@#$%&=.,;_ \t\n0",
        "", "   ", "a~2 b^3 +c -d title:x", "[unclosed", "((((", "__proto__",
        "constructor", "toString", "💥", "\ud7ff", "ｃｌｉｐ＿ｇｒａｄ", "的", "怎么",
        "x" * 20_000, "显" * 20_000, "\n" * 5_000,
    ]  # fmt: skip
    for words in odd:
        answer = ask(lang, words)
        assert answer["items"] or answer["nearest"], words


def test_a_chinese_word_with_a_wrong_character_is_understood(ask):
    wanted = {"标签平划": "label-smoothing", "混肴矩阵": "confusion-matrix"}
    found = [ask("zh", words) for words in wanted]
    assert [slugs(answer)[0] for answer in found] == list(wanted.values())
    titles = [answer["items"][0][0]["title"] for answer in found]
    assert re.sub("<.*?>", "|", titles[0]) == "|标签平|滑"  # 平划 is not 平滑


@pytest.mark.parametrize(
    ("typed", "ours"),
    [
        ("顯存不足", "显存不足"),
        ("凍結參數", "冻结参数"),
        ("損失不下降", "损失不下降"),
    ],
)
def test_traditional_characters_find_what_ours_do(ask, typed, ours):
    found = ask("zh", typed)
    assert not found["none"]
    assert slugs(found)[0] == slugs(ask("zh", ours))[0]


def test_what_is_wanted_and_what_is_popular_name_recipes(catalogue):
    listed = yaml.safe_load((ROOT / search.POPULAR).read_text("utf-8"))
    named = {slug for topic in wanted.missing(catalogue) for slug in topic.until}
    assert {*listed, *named} <= set(catalogue.by_slug)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("words", "slug"),
    [
        ("* @", "matrix-multiply"),
        ("==", "compare-tensors"),
        ("ＣＬＩＰ＿ＧＲＡＤ＿ＮＯＲＭ", "gradient-clipping"),
        ("Clip_Grad_Norm", "gradient-clipping"),
        ("clip grad norm", "gradient-clipping"),
    ],
)
def test_operators_full_width_letters_and_names_are_words(ask, lang, words, slug):
    assert slugs(ask(lang, words))[0] == slug


def test_a_name_that_a_message_has_too_leads_to_the_top_of_its_page(ask):
    (shown,) = ask("en", "torch.optim.Muon")["items"][0]
    assert shown["location"].endswith("/muon/")
    assert "data-anchor" not in shown["text"]


def test_what_is_shown_is_escaped(indexes):
    index = json.loads(json.dumps(indexes["en"]))
    index["index"]["docs"]["title"][0] = "<script>alert(1)</script> zebra"
    script = (ROOT / find.WORKER).read_text("utf-8")
    started = worker.started(script, index["index"], lambda: index["foreign"])
    (shown,) = worker.ask(started, "zebra alert")["items"][0]
    assert "<script>" not in shown["title"]
    assert "&lt;" in shown["title"]


def test_where_nothing_is_found_the_nearest_categories_are_offered(ask, indexes):
    far, near = ask("en", "zzzqqq"), ask("en", "disqqqqq")
    assert not far["items"]
    assert len(far["nearest"]) == len(indexes["en"]["index"]["config"]["categories"])
    assert not near["items"]
    assert {"location": "distributed/", "title": "Distributed"} in near["nearest"]
