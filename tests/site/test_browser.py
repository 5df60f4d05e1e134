"""The site in a real Chromium, served below a path it was not built for."""

import re

import pytest
from playwright.sync_api import expect

from tests.helpers import ROOT

RECIPE = "training/label-smoothing/"
SNIPPET = ROOT / "snippets/training/label_smoothing.py"


def test_without_scripts_doors_and_lists_lead_to_a_recipe(browser, address, catalogue):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for lang in ("en", "zh"):
        title = catalogue.by_slug["label-smoothing"].title(lang)
        page.goto(address)
        page.locator(f'.door[hreflang="{lang}"]').click()
        page.locator('.shelves [href="training/"], .all[href$="/training/"]').click()
        page.get_by_role("main").get_by_role("link", name=title, exact=True).click()
        page.wait_for_url(f"**/{lang}/{RECIPE}")
        expect(page.locator("h1")).to_contain_text(title)
        page.goto(f"{address}{lang}/recipes/")
        expect(page.locator(".all-of li a")).to_have_count(len(catalogue.recipes))
        expect(page.locator(".filter")).to_be_hidden()
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
    expect(page.locator("h1")).to_contain_text("mixup")
    assert page.evaluate("window.still_here"), "the page was loaded anew"
    twin = page.get_by_role("link", name="中文")
    expect(twin).to_have_attribute("href", re.compile("/zh/training/mixup/$"))
    twin.click()
    page.wait_for_url("**/zh/training/mixup/")


@pytest.mark.parametrize(
    ("lang", "answer", "file", "said"),
    [("en", "Copy the answer", "Copy", "Copied"), ("zh", "复制答案", "复制", "已复制")],
)
def test_copy_yields_the_answer_and_the_file_and_says_so(
    page, catalogue, lang, answer, file, said
):
    page.goto(f"{lang}/{RECIPE}")
    for name, text in (
        (answer, catalogue.by_slug["label-smoothing"].answer.text),
        (f"{file} {SNIPPET.name}", SNIPPET.read_text("utf-8").removesuffix("\n")),
    ):
        button = page.get_by_role("button", name=name)
        button.click()
        expect(button).to_have_attribute("data-label", said)  # in place
        expect(page.get_by_role("status").filter(has_text=said)).to_have_count(1)
        page.wait_for_function(
            "async text => (await navigator.clipboard.readText()).trimEnd() === text",
            arg=text,
        )


def test_dark_mode_is_kept(page):
    page.goto(f"en/{RECIPE}")
    body = page.locator("body")
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    page.locator('label[for="__palette_1"]').click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    page.reload()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")


def test_a_missing_page_speaks_both_languages(browser, address):
    context = browser.new_context()
    page = context.new_page()
    for path, asked in (
        ("en/no/label-smoothing/", "label+smoothing"),
        ("zh/x.md", "x"),
    ):
        page.goto(address + path)
        assert page.locator("section").count() == 2
        for lang in ("en", "zh"):
            link = page.locator(f'a[data-path="{lang}/"]')
            assert link.evaluate("link => link.href") == f"{address}{lang}/?q={asked}"
    page.goto(f"{address}en/no/label-smoothing/")
    page.locator('a[data-path="en/"]').click()
    expect(page.locator(".md-search-result__link").first).to_contain_text("smoothing")
    context.close()
