"""The site in a real Chromium, served below a path it was not built for."""

import re

import pytest
from playwright.sync_api import expect

from cookbook.catalogue import Catalogue
from tests.helpers import ROOT

RECIPE = "training/label-smoothing/"
SNIPPET = "training/label_smoothing.py"
PHONE = {"width": 390, "height": 844}


def test_without_scripts_two_doors_lead_into_the_languages(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for lang, title in (("en", "Label smoothing"), ("zh", "标签平滑")):
        page.goto(address)
        page.locator(f'.door[hreflang="{lang}"]').click()
        page.locator('.shelves [href="training/"], .all[href$="/training/"]').click()
        page.get_by_role("main").get_by_role("link", name=title, exact=True).click()
        page.wait_for_url(f"**/{lang}/{RECIPE}")
        expect(page.locator("h1")).to_contain_text(title)
    context.close()


def test_the_switch_keeps_page_and_heading(page):
    page.goto(f"en/{RECIPE}#pitfalls")
    page.get_by_role("link", name="中文").click()
    page.wait_for_url(f"**/zh/{RECIPE}#pitfalls")
    expect(page.locator("#pitfalls")).to_contain_text("常见问题")
    page.get_by_role("link", name="English").click()
    page.wait_for_url(f"**/en/{RECIPE}#pitfalls")


def test_the_switch_follows_instant_navigation(page):
    page.goto(f"en/{RECIPE}")
    page.mouse.move(99, 99)  # the reader is there
    page.wait_for_load_state("networkidle")  # instant navigation reads the sitemap
    page.evaluate("window.still_here = true")
    page.get_by_role("link", name="Mixup").first.click()
    expect(page.locator("h1")).to_contain_text("Mixup")
    assert page.evaluate("window.still_here"), "the page was loaded anew"
    twin = page.get_by_role("link", name="中文")
    expect(twin).to_have_attribute("href", re.compile("/zh/training/mixup/$"))
    twin.click()
    page.wait_for_url("**/zh/training/mixup/")


def test_copy_yields_the_file(page):
    page.goto(f"en/{RECIPE}")
    page.get_by_role("button", name="Copy label_smoothing.py").click()
    page.locator(".md-dialog--active").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    expected = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    assert copied.rstrip("\n") + "\n" == expected


@pytest.mark.parametrize(
    ("lang", "name"), [("en", "Copy the answer"), ("zh", "复制答案")]
)
def test_copy_yields_the_answer(page, lang, name):
    page.goto(f"{lang}/{RECIPE}")
    page.get_by_role("button", name=name).click()
    page.locator(".md-dialog--active").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    answer = Catalogue(ROOT).by_slug[RECIPE.split("/")[1]].answer
    assert copied.rstrip("\n") == answer


def test_dark_mode_is_kept(page):
    page.goto(f"en/{RECIPE}")
    body = page.locator("body")
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    page.locator('label[for="__palette_1"]').click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    page.reload()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")


@pytest.mark.parametrize("path", ["", "en/", f"en/{RECIPE}", "zh/", f"zh/{RECIPE}"])
def test_nothing_sticks_out_sideways(page, path):
    page.goto(path)
    for width in (page.viewport_size["width"], PHONE["width"]):
        page.set_viewport_size({**PHONE, "width": width})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_phone_reaches_navigation_search_and_copy(page):
    page.set_viewport_size(PHONE)
    page.goto(f"zh/{RECIPE}")
    page.locator('.md-header__button[for="__drawer"]').click()
    page.locator(".md-nav--primary").wait_for()
    page.locator('.md-overlay[for="__drawer"]').click(position={"x": 380, "y": 400})
    page.locator('.md-header__button[for="__search"]').click()
    page.locator(".md-search__input").wait_for()


def test_a_missing_page_speaks_both_languages(browser, address):
    context = browser.new_context()
    page = context.new_page()
    for path in ("en/no/such/page/", "zh/nothing/"):
        page.goto(address + path)
        assert page.locator("section").count() == 2
        for lang in ("en", "zh"):
            link = page.locator(f'a[data-path="{lang}/"]')
            assert link.evaluate("link => link.href") == f"{address}{lang}/"
    context.close()
