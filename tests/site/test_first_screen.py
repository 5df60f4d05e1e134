"""The answer first: where it is on a laptop and on a phone, page by page."""

import shutil
import subprocess
from statistics import median

import pytest

from cookbook import shape
from cookbook.catalogue import Catalogue
from tests.helpers import ROOT

LAPTOP, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}
PHONE_LINES = 4
SCREENS = 3  # the height of a page, median
PAGES = [page.url for page in Catalogue(ROOT).pages]
# Where the first lines of the answer end, and the whole of it.
MEASURE = """lines => {
    const answer = document.querySelector(".answer code")
    const texts = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    range.selectNodeContents(answer)
    const all = range.getBoundingClientRect().bottom
    let left = lines
    for (let text = texts.nextNode(); text; text = texts.nextNode())
      [...text.data].forEach((character, at) => {
        if (character === "\\n" && --left === 0) range.setEnd(text, at)
      })
    return [all, range.getBoundingClientRect().bottom,
            document.documentElement.scrollHeight / innerHeight]
}"""


@pytest.fixture(scope="module")
def measured(browser, address):
    """For each page: the answer's end at two sizes, and the page's height."""
    fonts = subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=False)
    assert fonts.stdout, "no Chinese font: run make chromium"
    page = browser.new_context().new_page()
    found = {}
    for url in PAGES:
        page.set_viewport_size(LAPTOP)
        page.goto(address + url)
        laptop, _, _ = page.evaluate(MEASURE, PHONE_LINES)
        page.set_viewport_size(PHONE)
        _, phone, _ = page.evaluate(MEASURE, PHONE_LINES)
        page.set_viewport_size(DESK)
        _, _, screens = page.evaluate(MEASURE, PHONE_LINES)
        found[url] = laptop, phone, screens
    page.context.close()
    return found


@pytest.mark.skipif(not shutil.which("fc-list"), reason="no fontconfig here")
@pytest.mark.parametrize("url", PAGES)
def test_the_answer_is_on_the_first_screen(measured, url):
    laptop, phone, _ = measured[url]
    assert laptop <= LAPTOP["height"]
    assert phone <= PHONE["height"]


def test_a_page_is_a_few_screens_high(measured):
    assert median(screens for _, _, screens in measured.values()) <= SCREENS


def test_the_recipes_have_their_shape():
    assert list(shape.misses(Catalogue(ROOT))) == []
