"""The site for who cannot see it, or uses no mouse: axe-core, keys, fingers."""

import itertools

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PAGES = [
    "",
    "messages/",
    "recipes/",
    "apis/",
    "verified/",
    "tensors/",
    "training/label-smoothing/",
    "training/mixed-precision/",
    "reproducibility/set-all-seeds/",  # a docstring in its answer
    "distributed/ddp-single-node/",
    "setup/find-gpu-processes/",
    "errors/err-inplace-modified/",
    "errors/err-shared-memory/",
]
# Both languages have the same elements: of English, one page of each kind.
ENGLISH = ["", "messages/", "tensors/", "training/mixed-precision/"]
ENGLISH += ["errors/err-inplace-modified/"]
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# What is on the page decides all rules but those of colour, which the scheme does.
SCHEMES = {
    "default": {},
    "slate": {"runOnly": ["color-contrast", "link-in-text-block"]},
}
FINGER = 44  # pixels
# The first rows and lists stand for the others, which differ in words only.
MANY = "article :is(li, tr):nth-child(n+4), article :is(h2, ul):nth-of-type(n+13)"
FEW = f"""() => document.querySelectorAll("{MANY}").forEach(one => one.remove())"""
VIOLATIONS = """options => axe.run({ resultTypes: ["violations"], ...options })
    .then(found => found.violations)"""
# Material lets keys scroll a block that is too wide, a moment after its size changed.
SCROLLABLE = """() => [...document.querySelectorAll("pre > code")]
    .filter(code => code.checkVisibility())  // folded code is made so once it unfolds
    .every(code => code.scrollWidth <= code.clientWidth || code.tabIndex === 0)"""
STILL = "*, ::before, ::after { transition: none !important }"
TARGETS = (
    ".md-code__button, .md-header__button:is(label, a), .twin, .hero input,"
    " .page-tools a, .filename a, .md-footer__link, .filter input,"
    " .md-nav--primary .md-nav__link, .shelves a, .tiles a, .jumps a, .all-of li a,"
    " .cards li, [id=related] + ul a, .status > summary"
)
SMALL = f"""least => [...document.querySelectorAll("{TARGETS}")]
    .filter(target => target.checkVisibility() && target.offsetWidth)
    .map(target => [target, target.closest("label") ?? target])
    .map(([target, hit]) => [target, hit.getBoundingClientRect()])
    .filter(([, box]) => Math.min(box.width, box.height) < least - .5)
    .map(([target, {{ width, height }}]) =>
        `${{target.outerHTML.slice(0, 90)}} ${{width}}x${{height}}`)
"""


@pytest.mark.parametrize(
    ("lang", "path"), [*(("zh", path) for path in PAGES), *(("en", p) for p in ENGLISH)]
)
def test_axe_finds_nothing_and_nothing_sticks_out(page, lang, path):
    page.goto(f"{lang}/{path}")
    page.wait_for_function("document.querySelector('.md-dialog__inner[role]')")
    page.add_style_tag(content=STILL)
    page.evaluate(FEW)
    page.evaluate(Axe().axe_script)
    for size, scheme in itertools.product((DESKTOP, PHONE), SCHEMES):
        page.set_viewport_size(size)
        sideways = page.evaluate("document.documentElement.scrollWidth")
        assert sideways <= size["width"]
        page.wait_for_function(SCROLLABLE)
        page.evaluate("name => document.body.dataset.mdColorScheme = name", scheme)
        violations = page.evaluate(VIOLATIONS, SCHEMES[scheme])
        assert [
            (size["width"], scheme, one["id"], [node["html"] for node in one["nodes"]])
            for one in violations
            if one["impact"] in {"critical", "serious", "moderate"}
        ] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["en/?q=nan+loss", "zh/?q=今天天气怎么样", "en/none/"])
def test_axe_finds_nothing_in_results_and_where_nothing_is(
    browser, address, path, scheme
):
    context = browser.new_context(base_url=address, viewport=PHONE, color_scheme=scheme)
    page = context.new_page()
    page.goto(path)
    if "q=" in path:
        page.locator(".md-search-result__link").first.wait_for()
        page.add_style_tag(content=STILL)
    page.evaluate(Axe().axe_script)
    violations = page.evaluate(VIOLATIONS, {})
    context.close()
    assert [
        (one["id"], [node["html"] for node in one["nodes"]])
        for one in violations
        if one["impact"] in {"critical", "serious"}
    ] == []


@pytest.mark.parametrize("path", ["training/label-smoothing/", "training/mixup/"])
def test_few_keys_lead_to_the_answer(page, path):
    page.goto(f"en/{path}")
    page.locator(".answer button").wait_for()
    page.keyboard.press("Tab")
    expect(page.locator(".md-skip")).to_be_focused()
    article = page.query_selector("article")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector(':target')")
    page.wait_for_load_state("networkidle")  # a page that is fetched anew has come
    assert article.evaluate("article => article.isConnected")
    for _ in range(7):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.answer button')"):
            return
    pytest.fail("not reached")


def test_a_finger_hits_what_it_is_to_hit(browser, address):
    context = browser.new_context(
        base_url=address, viewport=PHONE, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    for path in ("", "recipes/", "tensors/", "messages/", "training/label-smoothing/"):
        page.goto(f"zh/{path}")
        page.wait_for_load_state("networkidle")  # Material adds buttons late
        assert page.evaluate(SMALL, FINGER) == [], path
    page.goto("en/messages/")  # with the most links
    page.evaluate(Axe().axe_script)
    assert page.evaluate(VIOLATIONS, {"runOnly": ["target-size"]}) == []
    context.close()
