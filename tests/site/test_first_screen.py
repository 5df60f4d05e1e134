"""The answer first, or the causes: where they are on a laptop and on a phone."""

import shutil
import subprocess
from statistics import median

import pytest

from tests.site import form

LAPTOP, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
LAPTOP_LINES, PHONE_LINES = 12, 6  # of the code; its imports stand above
LAPTOP_ROWS, PHONE_ROWS = 3, 1  # of the table, on a page that begins with one
# Pixels; the median height of a page in such screens. Whole answers take it over 3.
DESK, SCREENS = 900, 3.1
# A page is parsed, not opened: its scripts move no answer, and cost most of the time.
GATHER = """async addresses => {
    window.pages = await Promise.all(addresses.map(async address => {
      const html = await (await fetch(address)).text()
      const page = new DOMParser().parseFromString(html, "text/html")
      return { lang: page.documentElement.lang, body: page.body }
    }))
}"""
# Where the first rows of a table of causes end, or the first lines of an answer, below
# its imports; the page's height.
MEASURE = """([lines, rows]) => pages.map(({ lang, body }) => {
    document.documentElement.lang = lang
    document.body = body
    const height = document.documentElement.scrollHeight
    const causes = [...document.querySelectorAll(".causes tbody tr")].slice(0, rows)
    if (causes.length) return [causes.at(-1).getBoundingClientRect().bottom, height]
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
    return [range.getBoundingClientRect().bottom, height]
})"""


@pytest.mark.skipif(not shutil.which("fc-list"), reason="no fontconfig here")
def test_the_answer_or_causes_are_on_the_first_screen_of_few(
    browser, address, catalogue
):
    fonts = subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=False)
    assert fonts.stdout, "no Chinese font: run make chromium"
    urls = [page.url for page in catalogue.pages]
    page = browser.new_page(viewport=LAPTOP)
    page.goto(address + urls[0])
    page.evaluate(GATHER, [address + url for url in urls])
    laptop = page.evaluate(MEASURE, [LAPTOP_LINES, LAPTOP_ROWS])
    page.set_viewport_size(PHONE)
    phone = page.evaluate(MEASURE, [PHONE_LINES, PHONE_ROWS])
    page.close()
    ends = zip(urls, laptop, phone, strict=True)
    assert [
        (url, wide, narrow)
        for url, (wide, _), (narrow, _) in ends
        if wide > LAPTOP["height"] or narrow > PHONE["height"]
    ] == []
    assert median(height for _, height in laptop) <= SCREENS * DESK


def test_the_recipes_have_their_shape(catalogue):
    assert list(form.misses(catalogue)) == []
