"""The answer first, or the causes: where they are on a screen; the recipes' form."""

import ast
import re
import shutil
import subprocess
from statistics import median

import pytest

from cookbook.book.pages import Block, Page
from cookbook.book.syntax import DEFINITIONS

LAPTOP, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
LAPTOP_LINES, PHONE_LINES = 12, 6  # of the code; its imports stand above
LAPTOP_ROWS, PHONE_ROWS = 3, 1  # of the table, on a page that begins with one
# Pixels; the median height of a page in such screens. Whole answers take it over 3.
DESK, SCREENS = 900, 3.2
# The most of all recipes together: a median; shares of their lines, of their prose.
SNIPPET_LINES, DOCSTRINGS, PITFALLS = 26, 0.10, 0.45
WORD = re.compile(r"[A-Za-z0-9_]+|[\u3400-\u9fff]")  # a Chinese character is a word
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


def test_the_recipes_taken_together_have_their_form(catalogue):
    snippets = [block for recipe in catalogue.recipes for block in recipe.snippets]
    lines = [block.code.count("\n") for block in snippets]
    assert median(lines) <= SNIPPET_LINES
    assert sum(map(docstring_lines, snippets)) <= DOCSTRINGS * sum(lines)
    counts = [words(page) for page in catalogue.pages]
    pitfalls, prose = map(sum, zip(*counts, strict=True))
    assert pitfalls <= PITFALLS * prose


def docstring_lines(block: Block) -> int:
    nodes = ast.walk(ast.parse(block.code))
    nodes = (node for node in nodes if isinstance(node, DEFINITIONS | ast.Module))
    found = [node.body[0] for node in nodes if ast.get_docstring(node)]
    return sum(text.end_lineno - text.lineno + 1 for text in found)


def words(page: Page) -> tuple[int, int]:
    """The words of the pitfalls, and of all the prose, the sentence on top included."""
    counted = {n: len(WORD.findall(line)) for n, line in page.document.prose}
    lead = len(WORD.findall(page.meta["description"]))
    own = sum(counted.get(number, 0) for number in page.lines_of("pitfalls"))
    return own, lead + sum(counted.values())
