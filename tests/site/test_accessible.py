"""The site for who cannot see it, or uses no mouse: axe-core, keys, fingers."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from cookbook.pages import LANGUAGES

PAGES = [
    "",
    "messages/",
    "apis/",
    "verified/",
    "rules/",
    "tensors/",
    "training/label-smoothing/",
    "training/mixed-precision/",
    "distributed/ddp-single-node/",
    "setup/find-gpu-processes/",
    "errors/err-inplace-modified/",
    "errors/err-shared-memory/",
]
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SCHEMES = ("default", "slate")
FINGER = 44  # pixels
# Rules that what is on the page decides are run once; colours, in each scheme.
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
# Of a long list the first rows stand for the others, which differ in words only.
FEW = """() => document.querySelectorAll("article :is(li, tr):nth-child(n+4)")
    .forEach(row => row.remove())"""
STILL = "*, ::before, ::after { transition: none !important }"
TARGETS = (
    ".md-code__button, .md-header__button:is(label, a), .twin, .hero input,"
    " .page-tools a, .filename a, .md-footer__link, .filter input,"
    " .md-nav--primary .md-nav__link, .shelves a, .tiles a, .jumps a, .all-of li a,"
    " .cards li, [id=related] + ul a, .status > summary"
)
SMALL = f"""least => [...document.querySelectorAll("{TARGETS}")]
    .filter(target => target.checkVisibility() && target.offsetWidth)
    .map(target => [target, target.getBoundingClientRect()])
    .filter(([, box]) => Math.min(box.width, box.height) < least - .5)
    .map(([target, {{ width, height }}]) =>
        `${{target.outerHTML.slice(0, 90)}} ${{width}}x${{height}}`)
"""


@pytest.fixture(scope="module")
def reader(browser, address):
    """One page for all: what is looked at does not change it."""
    context = browser.new_context(viewport=DESKTOP)
    page = context.new_page()
    page.cookbook = address
    yield page
    context.close()


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_axe_finds_nothing(reader, lang, path):
    reader.goto(f"{reader.cookbook}{lang}/{path}")
    reader.wait_for_function("document.querySelector('.md-dialog__inner[role]')")
    reader.add_style_tag(content=STILL)
    reader.evaluate(FEW)
    axe, found = Axe(), []
    for size in (DESKTOP, PHONE):
        reader.set_viewport_size(size)
        for scheme in SCHEMES:
            reader.evaluate(
                "name => document.body.dataset.mdColorScheme = name", scheme
            )
            options = None if scheme == "default" else COLOURS
            result = axe.run(
                reader, options={"resultTypes": ["violations"], **(options or {})}
            )
            for violation in result.response["violations"]:
                if violation["impact"] in {"critical", "serious", "moderate"}:
                    nodes = [node["html"][:90] for node in violation["nodes"]][:3]
                    found.append((size["width"], scheme, violation["id"], nodes))
    assert found == []


@pytest.mark.parametrize("path", ["training/label-smoothing/", "training/mixup/"])
def test_few_keys_lead_to_the_answer(page, path):
    page.goto(f"{page.cookbook}en/{path}")
    page.locator(".answer button").wait_for()
    page.keyboard.press("Tab")
    expect(page.locator(".md-skip")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(7):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.answer button')"):
            return
    pytest.fail("not reached")


@pytest.mark.parametrize(
    "path", ["", "recipes/", "tensors/", "messages/", "training/label-smoothing/"]
)
def test_a_finger_hits_what_it_is_to_hit(browser, address, path):
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{address}zh/{path}")
    page.wait_for_load_state("networkidle")
    assert page.evaluate(SMALL, FINGER) == []
    context.close()
