"""What a reader does beside searching: types, presses keys, prints, comes by a link."""

import re

import pytest
from playwright.sync_api import expect

from tests.helpers import ROOT

RECIPE = "training/label-smoothing/"
INPLACE = (
    "RuntimeError: one of the variables needed for gradient computation has been "
    "modified by an inplace operation: [torch.FloatTensor [10, 5]], which is output 0"
)
PASTES = [
    "Target 10 is out of bounds",
    INPLACE,
    "Traceback (most recent call last):\n"
    + "".join(f'  File "train_{n}.py", line {n}, in step\n' for n in range(60))
    + INPLACE,
]
PHONE = {"width": 390, "height": 844}
# What is fetched from now on comes so many milliseconds later.
LATE = """late => {
  const send = XMLHttpRequest.prototype.send
  XMLHttpRequest.prototype.send = function (...body) {
    setTimeout(() => send.apply(this, body), late)
  }
}"""
results = ".md-search-result__link"


def composes(page, text: str) -> None:
    """What an input method shows while the word is not chosen yet."""
    session = page.context.new_cdp_session(page)
    at = {"selectionStart": len(text), "selectionEnd": len(text)}
    session.send("Input.imeSetComposition", {"text": text, **at})


@pytest.mark.parametrize("how", ["type", "paste", "compose"])
def test_the_home_page_hands_its_query_to_the_results(page, how):
    page.goto("zh/")
    page.locator(".hero input").focus()
    if how == "type":
        page.keyboard.type("nan loss")
    elif how == "paste":
        page.keyboard.insert_text("nan loss")
    else:
        composes(page, "nanloss")
        page.keyboard.insert_text("nan loss")
    expect(page.locator(results).first).to_be_visible()
    expect(page.locator(".md-search__input")).to_have_value("nan loss")
    assert page.url.partition("?")[0].endswith("/mirror/zh/")


@pytest.mark.parametrize(
    ("start", "paste", "late"),
    [
        (f"en/{RECIPE}#variants", PASTES[0], 0),
        (f"en/{RECIPE}#variants", PASTES[0], 700),
        ("en/", PASTES[1], 0),
        ("en/", PASTES[2], 0),
    ],
    ids=["short", "slow", "line", "traceback"],
)
def test_on_a_phone_an_error_leads_to_its_place(page, start, paste, late):
    page.set_viewport_size(PHONE)
    page.goto(start)
    page.locator('.md-header__button[for="__search"]').click()
    page.locator(".md-search__input").fill(paste)
    first = page.locator(results).first
    expect(first.locator("[data-anchor]")).to_be_visible()
    expect(page.locator("body")).to_have_attribute("data-md-scrolllock", "")
    page.evaluate(LATE, late)
    first.click()
    page.wait_for_url(re.compile(r"#error-\d+$"))
    expect(page.locator("body")).not_to_have_attribute("data-md-scrolllock", "")
    expect(page.locator(page.url[page.url.index("#") :])).to_be_in_viewport()


def test_nothing_is_searched_while_a_word_is_composed(page):
    page.goto("zh/")
    page.keyboard.press("/")
    first = page.locator(results).first
    expect(first).to_be_visible()
    offered = first.get_attribute("href")
    composes(page, "xiancun")
    page.wait_for_timeout(500)
    assert first.get_attribute("href") == offered
    assert "?q=" not in page.url
    page.keyboard.insert_text("标签平滑")
    page.wait_for_url(re.compile("q="))
    expect(first).to_have_attribute("href", re.compile(f"/{RECIPE}$"))


def test_no_letter_turns_a_page_and_escape_leads_back(page):
    page.goto(f"en/{RECIPE}")
    link = page.locator(".page-tools a").first
    link.focus()
    for key in "npsf,./":
        expect(link).to_be_focused()
        page.keyboard.press(key)
    expect(page.locator(".md-search__input")).to_be_focused()
    assert page.url.partition("?")[0].endswith(RECIPE)
    page.keyboard.press("Escape")
    expect(link).to_be_focused()


@pytest.mark.parametrize("index", ["messages", "apis"])
def test_an_index_shows_what_is_typed_above_it(page, index):
    page.goto(f"zh/{index}/")
    rows = page.locator("article li:not(:has(li))")
    all_rows = rows.count()
    page.locator("[data-filter]").press_sequentially("cuda")
    shown = rows.filter(visible=True)
    assert 0 < shown.count() < all_rows
    for text in shown.all_text_contents():  # a list far below is not laid out
        assert "cuda" in text.lower()
    expect(page.get_by_role("status").filter(has_text="/")).to_have_text(
        f"{shown.count()} / {all_rows}"
    )
    headings = page.locator("article h2").filter(visible=True).count()
    assert headings == page.locator("article h2 + ul").filter(visible=True).count()


@pytest.mark.parametrize(
    ("pasted", "slug"),
    [
        (
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x9 and 7x6)",
            "err-matmul-shape",
        ),
        ("ModuleNotFoundError: No module named 'my_models.net'", "err-python-pickle"),
        (
            "FileNotFoundError: No such file or directory: 'runs/me/best.pt'",
            "save-best-model",
        ),
    ],
)
def test_an_error_with_the_readers_own_names_finds_its_row(page, pasted, slug):
    page.goto("en/messages/")
    page.locator("[data-filter]").fill(pasted)
    rows = page.locator("article li:not(:has(li))").filter(visible=True)
    assert 0 < rows.count() < 30
    expect(rows.locator(f'a[href*="/{slug}/"]').first).to_be_visible()


def test_what_no_row_has_leads_to_the_search(page):
    page.goto("en/messages/")
    page.locator("[data-filter]").fill("zebra giraffe")
    page.get_by_role("link", name="Search the recipes").click()
    expect(page.locator(".md-search__input")).to_have_value("zebra giraffe")


def test_the_error_index_has_topics_and_leads_to_each_message(site, catalogue):
    for lang in ("en", "zh"):
        html = (site / lang / "messages" / "index.html").read_text("utf-8")
        article = html.partition("<article")[2].partition("</article")[0]
        titles = {c.title[lang] for c in catalogue.categories}
        titles |= {g.title.get(lang) for c in catalogue.categories for g in c.groups}
        found = re.findall(r"<h2[^>]*>([^<]+)<", article)
        assert len(found) == len(set(found)) > 5
        assert set(found) <= titles
        places = re.findall(
            r'<a[^>]* href="\.\./([\w/-]+/)(#error-\d+)?"[^>]*><code', article
        )
        assert len(places) > 400
        for address, anchor in places:
            assert anchor, address
            target = (site / lang / address / "index.html").read_text("utf-8")
            assert f'id="{anchor[1:]}"' in target


@pytest.mark.parametrize(
    ("locale", "kept", "opens"),
    [
        ("zh-CN", None, "zh"),
        ("en-GB", None, "en"),
        ("fr", None, "en"),
        ("en", "zh", "zh"),
    ],
)
def test_the_site_opens_in_the_readers_language(browser, address, locale, kept, opens):
    context = browser.new_context(locale=locale)
    page = context.new_page()
    if kept:
        page.goto(f"{address}en/")
        page.locator(f'a[data-twin][hreflang="{kept}"]').click()
        page.wait_for_url(f"**/{kept}/")
    page.goto(f"{address}?q=mixup")
    page.wait_for_url(f"**/{opens}/?q=mixup")
    expect(page.locator(results).first).to_be_visible()
    other = {"en": "zh", "zh": "en"}[opens]
    expect(page.locator(f'a[data-twin][hreflang="{other}"]')).to_be_visible()
    context.close()


def test_each_line_has_an_address_the_answer_is_marked_the_file_can_be_kept(page):
    page.goto(f"en/{RECIPE}#line-5")
    code = (ROOT / "snippets/training/label_smoothing.py").read_text("utf-8")
    lines = page.locator(".highlight:has(#line-1) a[id^='line-']")
    assert lines.count() == len(code.splitlines())
    marked = page.locator(".highlight:has(> .filename) .hll")
    imports, shown = page.locator(".answer code").inner_text().strip().split("\n\n")
    expect(marked).to_have_text([shown])
    expect(page.locator(".answer .imports")).to_have_text(imports)
    with page.expect_download() as download:
        page.get_by_role("link", name="label_smoothing.py").click()
    assert download.value.path().read_text("utf-8") == code


def test_a_print_has_no_buttons(page):
    page.goto(f"en/{RECIPE}")
    page.locator(".answer button").wait_for()
    page.emulate_media(media="print")
    for button in page.locator("button, .page-tools, input").all():
        expect(button).to_be_hidden()


@pytest.mark.parametrize(
    ("path", "title", "lang"),
    [
        ("", "PyTorch Cookbook · PyTorch 实用手册", "en"),
        ("en/", "PyTorch Cookbook", "en"),
        ("zh/", "PyTorch 实用手册", "zh-Hans"),
        (f"zh/{RECIPE}", "标签平滑 - PyTorch 实用手册", "zh-Hans"),
    ],
)
def test_a_page_says_its_title_language_and_twin(site, path, title, lang):
    html = (site / path / "index.html").read_text("utf-8")
    assert f"<title>{title}</title>" in html
    assert f'<html lang="{lang}"' in html
    inner = path.partition("/")[2]
    for code in ("en", "zh"):
        tag = "zh-Hans" if code == "zh" else code
        link = rf'rel="alternate" hreflang="{tag}" href="([^"]+)"'
        target = re.search(link, html)[1]
        assert (site / path / target).resolve() == (site / code / inner).resolve()
    assert '<meta property="og:title"' in html
    assert "og:url" not in html  # the address is not known


def test_english_words_in_chinese_pages_say_so(site):
    html = (site / "zh/training/mixup/index.html").read_text("utf-8")
    assert '<code lang="en">num_classes must be passed</code>' in html
    blocks = re.findall(r"<pre><span></span><code([^>]*)>", html)
    assert blocks
    assert set(blocks) == {' lang="en"'}
    english = (site / "en/training/mixup/index.html").read_text("utf-8")
    body = re.sub(r"<a [^>]*lang=\"zh-Hans\".*?</a>", "", english)
    assert not re.search("[\u3400-\u9fff]", body)
