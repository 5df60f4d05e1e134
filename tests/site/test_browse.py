"""Browsing in a real Chromium: the home, the list of all recipes, categories."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from cookbook.book.pages import LANGUAGES
from cookbook.site import search

RECIPE = "training/label-smoothing/"
SCREENS, FIRST, POPULAR, COLUMNS = 4, 5, 12, 50
LONG = 7
PHONE = {"width": 390, "height": 844}
both = pytest.mark.parametrize("lang", LANGUAGES)
HEIGHT = "document.documentElement.scrollHeight / innerHeight"


def shown(page) -> list[str]:
    """The recipes that the list shows."""
    items = page.locator("[data-slug]:visible")
    return items.evaluate_all("items => items.map(item => item.dataset.slug)")


@both
def test_the_home_fits_a_phone(page, lang):
    page.set_viewport_size(PHONE)
    page.goto(f"{lang}/")
    name = page.locator(".md-header__topic .md-ellipsis").first
    assert name.evaluate("name => name.scrollWidth <= name.clientWidth")
    assert page.evaluate(HEIGHT) <= SCREENS


@both
def test_the_home_shows_answers_then_categories_then_indexes(page, catalogue, lang):
    page.goto(f"{lang}/")
    answers, indexes = page.locator(".tiles").all()
    expect(answers.locator("code")).to_have_count(POPULAR)
    for section in page.locator(".shelves section").all():
        slug = section.locator("h2").get_attribute("id")
        category = next(one for one in catalogue.categories if one.slug == slug)
        titles = [catalogue.by_slug[first].title(lang) for first in category.first]
        assert len(titles) == FIRST
        expect(section.locator("li")).to_have_text(titles)
        count = str(len(catalogue.in_category(slug)))
        expect(section.locator(".all")).to_contain_text(count)
    links = indexes.locator("a").evaluate_all("all => all.map(one => one.pathname)")
    assert [re.search(r"(\w+)/$", link)[1] for link in links] == [
        "recipes",
        "messages",
        "apis",
        "verified",
    ]


def test_what_people_come_for_most_shows_a_line_of_its_answer(catalogue):
    found = search.popular(catalogue)
    assert len(found) == POPULAR
    assert [
        recipe.slug for recipe, line in found if line not in recipe.answer.code
    ] == []


@both
def test_the_list_of_all_recipes_is_narrowed(page, catalogue, lang):
    page.goto(f"{lang}/recipes/")
    assert shown(page) == [recipe.slug for recipe in catalogue.recipes]
    page.locator("[name=gpu]").check()
    page.wait_for_url(re.compile("gpu=on$"))
    marks = {r.slug: [block.mark for block in r.snippets] for r in catalogue.recipes}
    assert shown(page) == [slug for slug, found in marks.items() if "gpu" in found]
    page.locator("[name=gpu]").uncheck()
    page.locator(".filter [name=text]").press_sequentially("one of the variables")
    page.wait_for_url(re.compile("text=one.of.the.variables$"))
    assert "err-inplace-modified" in shown(page)
    page.keyboard.press("Tab")
    page.keyboard.press("End")  # the last category: First aid
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # explains an error
    page.wait_for_url(re.compile("category=errors&error=on$"))
    left = shown(page)
    assert "err-inplace-modified" in left
    assert {catalogue.by_slug[slug].category for slug in left} == {"errors"}
    page.reload()  # the address keeps what was asked
    expect(page.locator("[data-slug]:visible")).to_have_count(len(left))


def test_the_filter_works_after_instant_navigation(page):
    page.goto("en/")
    page.mouse.move(99, 99)  # the reader is there
    page.wait_for_load_state("networkidle")  # instant navigation reads the sitemap
    for _ in range(2):
        page.locator(".tiles").last.get_by_role("link").first.click()
        page.locator(".filter [name=text]").fill("label_smoothing")
        expect(page.locator(".filter output")).not_to_be_empty()
        assert shown(page) == ["label-smoothing"]
        page.locator(".md-header a.md-logo").click()
        expect(page.locator(".filter")).to_have_count(0)


@both
def test_a_category_page_leads_to_each_of_its_groups(page, catalogue, lang):
    page.goto(f"{lang}/training/")
    category = next(one for one in catalogue.categories if one.slug == "training")
    groups = [(title[lang], len(found)) for title, found in catalogue.grouped(category)]
    links = page.locator(".jumps a")
    expect(links).to_have_text([f"{title} ({count})" for title, count in groups])
    links.last.click()
    expect(page.locator("h2", has_text=groups[-1][0])).to_be_in_viewport()


@both
def test_a_long_category_begins_with_what_most_need_and_is_filtered(
    page, catalogue, lang
):
    page.set_viewport_size(PHONE)
    page.goto(f"{lang}/tensors/")
    category = next(one for one in catalogue.categories if one.slug == "tensors")
    expect(page.locator(".tiles a code")).to_have_count(FIRST)
    names = page.locator(".tiles a").evaluate_all("all => all.map(one => one.pathname)")
    assert [name.split("/")[-2] for name in names] == category.first
    cards = page.locator(".cards li")
    expect(cards).to_have_count(len(catalogue.in_category("tensors")))
    assert page.evaluate(HEIGHT) <= LONG
    page.locator("[data-filter]").fill("einsum")
    left = cards.filter(visible=True).count()
    assert 0 < left < FIRST
    assert page.locator("article h2").filter(visible=True).count() <= left


def test_a_message_list_is_folded_and_a_filter_unfolds_it(page):
    page.goto("en/messages/")
    recipe = page.locator("li:has(> .more)").first
    shown = recipe.locator("li").filter(visible=True)
    expect(shown).to_have_count(FIRST)
    last = recipe.locator("li").last
    recipe.locator(".more").click()
    expect(last).to_be_visible()
    recipe.locator(".more").click()
    expect(shown).to_have_count(FIRST)
    page.locator("[data-filter]").fill(last.inner_text())
    expect(last).to_be_visible()


def test_a_symbol_of_many_recipes_leads_to_all_of_them(page):
    page.goto("en/apis/")
    row = page.locator("li:has(> a > code:text-is('torch.nn.Linear'))")
    assert row.locator("a").count() <= FIRST + 2
    row.locator("a").last.click()
    expect(page.locator(".filter output")).not_to_be_empty()
    assert "label-smoothing" not in shown(page)
    assert "define-module" in shown(page)


def test_rows_of_a_table_are_cards_on_a_phone(page):
    page.goto("en/errors/err-matmul-shape/")
    cell = page.locator(".causes td").nth(1)
    label = "cell => getComputedStyle(cell, '::before').content"
    assert cell.evaluate(label) == "none"
    page.set_viewport_size(PHONE)
    assert cell.evaluate(label).startswith('"How to tell')
    assert cell.bounding_box()["width"] > PHONE["width"] / 2


def test_a_phone_has_lists_in_its_header_and_jumps_on_a_recipe(page):
    page.set_viewport_size(PHONE)
    page.goto(f"en/{RECIPE}")
    for name in ("Errors", "APIs", "All"):
        expect(
            page.locator(".md-header").get_by_text(name, exact=True)
        ).to_be_in_viewport()
    page.locator(".wrap").get_by_text("Pitfalls").click()
    expect(page.locator("#pitfalls")).to_be_in_viewport()


def test_the_next_page_is_the_next_recipe_of_the_list(site, catalogue):
    for category in catalogue.categories:
        recipes = catalogue.in_category(category.slug)
        for here, after in pairwise(recipes):
            html = (site / "zh" / here.address / "index.html").read_text("utf-8")
            link = re.search(r'<a href="([^"]+)" class="[^"]*link--next', html)
            assert link[1] == f"../{after.slug}/"


def test_code_on_a_phone_shows_fifty_columns_and_wraps_on_demand(page):
    page.set_viewport_size(PHONE)
    page.goto(f"en/{RECIPE}")
    code = page.locator(".highlight:has(> .filename) code").first
    room = "code => code.clientWidth - parseFloat(getComputedStyle(code).paddingLeft)"
    column = """code => {
        const style = getComputedStyle(code)
        const pen = document.createElement("canvas").getContext("2d")
        pen.font = `${style.fontSize} ${style.fontFamily}`
        return pen.measureText("x").width
    }"""
    assert code.evaluate(room) >= COLUMNS * code.evaluate(column)
    sideways = "code => code.scrollWidth > code.clientWidth"
    assert code.evaluate(sideways)
    page.get_by_label("Wrap lines").check()
    assert not code.evaluate(sideways)
    page.goto("en/training/mixup/")
    expect(page.get_by_label("Wrap lines")).to_be_checked()
