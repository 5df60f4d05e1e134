"""The search box in a real Chromium: what is typed, pasted, composed and shared."""

import json
import re
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from cookbook.book import wanted
from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import LANGUAGES
from cookbook.site import find
from cookbook.site.words import WORDS
from cookbook.site.worker import ask as asked
from tests.helpers import ROOT

RECIPE = "training/label-smoothing/"
TYPED = 6  # characters at the end of a query; what stands before is pasted


def enter(page, words: str) -> None:
    """Turn to the box and enter a query whole, so that no answer is to a part of it."""
    page.keyboard.press("/")
    expect(page.locator(".md-search__input")).to_be_focused()
    page.keyboard.insert_text(words)


def ask(page, words: str) -> None:
    """Enter a query, and wait for the answer of the whole index: it shows code."""
    enter(page, words)
    answered = page.locator(".md-search-result__item pre, .search-none")
    expect(answered.first).to_be_attached()


def expect_first(page, ending: str) -> None:
    """Wait until the box's first result is at an address with this ending."""
    first = page.locator(".md-search-result__link").first
    expect(first).to_have_attribute("href", re.compile(f"{re.escape(ending)}$"))


def sample(lang: str) -> list[str]:
    """A query of every kind."""
    lines = (ROOT / "docs/questions/queries.jsonl").read_text("utf-8").splitlines()
    asked = [query for query in map(json.loads, lines) if query["side"] == lang]
    return list({q["kind"]: q["q"] for q in asked if "\n" not in q["q"]}.values())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_box_ranks_as_the_shell_does(page, catalogue, lang):
    worker = find.started(catalogue, lang)
    page.goto(f"{lang}/")
    page.keyboard.press("/")
    box = page.locator(".md-search__input")
    for words in sample(lang):
        box.fill(words[:-TYPED])
        box.press_sequentially(words[-TYPED:])
        found = asked(worker, words)["items"]
        expect_first(page, f"/{lang}/{found[0][0]['location']}")
    announced = page.locator(".md-search-result__meta[role=status]")
    counted = f"{len(found)} recipes" if lang == "en" else f"{len(found)} 个条目"
    expect(announced).to_have_text(counted)


def test_keys_lead_to_the_box_and_to_a_result(page):
    page.goto("en/")
    box = page.locator(".md-search__input")
    for keys in ("Control+k", "Meta+k", "/"):
        page.keyboard.press("Escape")
        expect(box).not_to_be_focused()
        # Material looks at the focus a millisecond later: a robot is back by then.
        page.evaluate("new Promise(resolve => setTimeout(resolve, 10))")
        page.keyboard.press(keys)
        expect(box).to_be_focused()
        expect(page.locator("#__search")).to_be_checked()
    expect_first(page, "/setup/empty-cache/")  # an empty box offers what many look for
    expect(page.locator(".md-search-result__item pre").first).to_be_attached()
    page.keyboard.insert_text("label smoothing")
    expect_first(page, RECIPE)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".md-search-result__link").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"/en/{RECIPE}"))
    page.reload()
    page.keyboard.press("Tab")
    expect(page.locator(".md-skip")).to_be_focused()


def test_a_result_shows_what_the_reader_chooses_by_and_leads_there(page):
    page.goto("en/")
    ask(page, "Target 10 is out of bounds")
    found = page.locator(".md-search-result__item").first
    expect(found.locator(".md-tag")).to_have_text([re.compile(".+")])
    expect(found.locator("p").first).to_contain_text(re.compile(r"\w+ \w+"))
    expect(found.locator("code mark").first).to_have_text("Target")
    expect(found.locator("pre")).to_contain_text("print(ids.min(), ids.max()")
    found.locator(".md-search-result__link").click()
    page.wait_for_url(re.compile("/err-index-out-of-range/#error-2$"))
    expect(page.locator("#error-2")).to_be_in_viewport()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_answer_is_copied_from_its_result(page, catalogue, lang):
    page.goto(f"{lang}/")
    ask(page, "label smoothing")
    expect_first(page, f"/{lang}/{RECIPE}")
    button = page.locator(".md-search-result__item").first.locator(".search-copy")
    button.click()
    expect(button).to_have_text(WORDS[lang]["copied"])
    answer = catalogue.by_slug["label-smoothing"].answer.text
    assert page.evaluate("navigator.clipboard.readText()") == answer
    assert page.url.endswith(f"/{lang}/?q=label+smoothing")


def test_the_address_carries_the_query(page):
    page.goto("zh/")
    ask(page, "混淆矩阵")
    page.wait_for_url(lambda url: unquote(url).endswith("?q=混淆矩阵"))
    shared = page.url
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "?q=" not in url)
    page.goto("about:blank")
    page.goto(shared)
    expect_first(page, "/evaluation/confusion-matrix/")
    expect(page.locator(".md-search__input")).to_have_value("混淆矩阵")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_where_no_recipe_fits_the_box_says_so_first(page, lang):
    page.goto(f"{lang}/")
    page.keyboard.press("/")
    box = page.locator(".md-search__input")
    box.press_sequentially("zzzqqq")
    first = page.locator(".md-search-result > :first-child")
    expect(first).to_have_class("search-none")
    expect(first).to_contain_text(WORDS[lang]["none"])
    category = first.locator("p").last.locator("a").first
    expect(category).to_have_attribute("href", re.compile(f"/{lang}/[a-z]+/$"))
    box.fill("")
    box.press_sequentially("mixup")
    expect_first(page, "/training/mixup/")
    expect(page.locator(".search-none")).to_have_count(0)


def test_what_is_wanted_is_told_from_the_nearest(page):
    topics = [topic for topic in wanted.missing(Catalogue(ROOT)) if not topic.until]
    title = topics[0].phrases["en"][0]
    page.goto("en/")
    ask(page, title)
    expect(page.locator(".search-none")).to_contain_text(f"({title})")
    results = page.locator(".md-search-result__item")
    expect(results.first).to_be_visible()
    assert results.count() <= 3
    expect(page.locator(".md-search-result__meta")).to_be_hidden()


def test_an_alias_says_why_a_page_was_found(page):
    page.goto("en/")
    ask(page, "overconfident classifier calibrate")
    expect_first(page, RECIPE)
    expect(page.locator(".search-also").first).to_contain_text("calibrate")


def test_back_returns_to_the_results_and_the_other_language_has_the_same(page):
    page.goto("en/")
    ask(page, "label smoothing")
    expect_first(page, RECIPE)
    page.wait_for_url(re.compile("q=label"))
    page.locator(".md-search-result__link").first.click()
    page.wait_for_url(re.compile(f"/en/{RECIPE}"))
    page.go_back()
    expect(page.locator(".md-search__input")).to_have_value("label smoothing")
    expect_first(page, RECIPE)
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    page.evaluate("document.querySelector('a[data-twin]').click()")
    page.wait_for_url(re.compile(r"/zh/\?q=label"))
    expect_first(page, f"/zh/{RECIPE}")


def test_an_index_is_loaded_when_the_reader_turns_to_the_box_or_types_in_it(page):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("en/")
    page.wait_for_load_state("networkidle")
    assert not [url for url in asked if "search" in url and url.endswith(".json")]
    with page.expect_request("**/en/search/search_index.json"):
        page.keyboard.press("/")
    page.keyboard.insert_text("label smoothing")
    expect_first(page, RECIPE)
    assert not [url for url in asked if "/zh/search/" in url]
    with page.expect_request("**/zh/search/search_index.json"):
        page.locator(".md-search__input").fill("混淆矩阵")
    expect_first(page, "/evaluation/confusion-matrix/")


def test_titles_are_found_before_the_rest_of_the_index_is_there(page):
    held: list = []
    page.route("**/en/search/search_rest.json", lambda route: held.append(route))
    page.goto("en/")
    enter(page, "label smoothing")
    expect_first(page, RECIPE)
    code = page.locator(".md-search-result__item pre")
    expect(code).to_have_count(0)
    page.locator(".md-search__input").fill("zzz qqq")  # in no title: wait and see
    held.pop().continue_()
    expect(page.locator(".search-none")).to_be_visible()
    page.locator(".md-search__input").fill("label smoothing")
    expect(code.first).to_be_visible()


def test_search_goes_on_where_it_cannot_be_loaded(browser, address):
    page = browser.new_page()
    page.route("**/zh/search/*.json", lambda route: route.abort())
    page.goto(f"{address}en/")
    page.wait_for_load_state("networkidle")
    ask(page, "label_smoothing 标签平滑")
    expect_first(page, RECIPE)
    page.close()
