"""The answer first: where it is on a laptop and on a phone, page by page."""

import shutil
import subprocess
from statistics import median

import pytest

from cookbook import shape

LAPTOP, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
LAPTOP_LINES, PHONE_LINES = 12, 6  # of the code; its imports stand above
DESK, SCREENS = 900, 3  # pixels; the height of a page in such screens, median
# A page is parsed, not opened: its scripts move no answer, and cost most of the time.
GATHER = """async addresses => {
    window.pages = await Promise.all(addresses.map(async address => {
      const html = await (await fetch(address)).text()
      const page = new DOMParser().parseFromString(html, "text/html")
      return { lang: page.documentElement.lang, body: page.body }
    }))
}"""
# Where the first lines of each answer end, below its imports; the page's height.
MEASURE = """lines => pages.map(({ lang, body }) => {
    document.documentElement.lang = lang
    document.body = body
    const answer = document.querySelector(".answer code")
    const texts = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    range.selectNodeContents(answer)
    let left = lines
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (text.parentElement.closest(".imports")) continue
      [...text.data].forEach((character, at) => {
        if (character === "\\n" && --left === 0) range.setEnd(text, at)
      })
    }
    return [range.getBoundingClientRect().bottom, document.documentElement.scrollHeight]
})"""


@pytest.mark.skipif(not shutil.which("fc-list"), reason="no fontconfig here")
def test_the_answer_is_on_the_first_screen_of_few(browser, address, catalogue):
    fonts = subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=False)
    assert fonts.stdout, "no Chinese font: run make chromium"
    urls = [page.url for page in catalogue.pages]
    page = browser.new_page(viewport=LAPTOP)
    page.goto(address + urls[0])
    page.evaluate(GATHER, [address + url for url in urls])
    laptop = page.evaluate(MEASURE, LAPTOP_LINES)
    page.set_viewport_size(PHONE)
    phone = page.evaluate(MEASURE, PHONE_LINES)
    page.close()
    ends = zip(urls, laptop, phone, strict=True)
    assert [
        (url, wide, narrow)
        for url, (wide, _), (narrow, _) in ends
        if wide > LAPTOP["height"] or narrow > PHONE["height"]
    ] == []
    assert median(height for _, height in laptop) <= SCREENS * DESK


def test_the_recipes_have_their_shape(catalogue):
    assert list(shape.misses(catalogue)) == []
