"""Compare the blocks that the site shows of a page with those that run.

Two parsers read Markdown: where they could differ, a page is refused here.
"""

import difflib
import html
import re
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path

import markdown
from mkdocs.config import load_config

from cookbook.book.pages import PASSIVE, Page
from cookbook.rules import Problem

BLOCK = re.compile(
    r'<div class="language-(\S+)[^>]*>(?:<span class="filename">.*?</span>)?'
    r"<pre[^>]*>(.*?)</pre>",
    re.DOTALL,
)
NO_BLOCK = ("no block", "")
TAG, COMMENT = re.compile(r"<[^>]*>"), re.compile(r"<!--.*?-->", re.DOTALL)


@cache
def renderer(root: Path) -> markdown.Markdown:
    """Renders as the site does, with the settings of mkdocs.yml."""
    config = load_config(str(root / "mkdocs.en.yml"))
    settings = config.mdx_configs
    settings["pymdownx.snippets"]["base_path"] = [str(root / "snippets")]
    return markdown.Markdown(
        extensions=config.markdown_extensions, extension_configs=settings
    )


def problems(page: Page) -> Iterator[Problem]:
    """The first block that the site shows differently from how it was read."""
    shown = blocks(renderer(page.root).reset().convert(page.body))
    read = [(fence.language, fence.code, fence.line) for fence in page.fences]
    for one, other in zip_longest(read, shown):
        language, code, line = one or (*NO_BLOCK, 1)
        shown_language, shown_code = other or NO_BLOCK
        if language in PASSIVE:
            shown_code = code  # in which all that counts is what it says
        if (language, code) != (shown_language, shown_code):
            facts = {"difference": diff(language, code, shown_language, shown_code)}
            yield page.problem(line, "shown-text-differs", **facts)
            return


def blocks(page: str) -> list[tuple[str, str]]:
    """The code blocks of an HTML page: language and text."""
    found = BLOCK.findall(COMMENT.sub("", page))
    return [(language, html.unescape(TAG.sub("", code))) for language, code in found]


def diff(language: str, code: str, shown_language: str, shown: str) -> str:
    """The lines in which what is shown differs from what runs."""
    lines = (text.splitlines(keepends=True) for text in (code, shown))
    names = f"run: {language}", f"shown: {shown_language}"
    return "".join(difflib.unified_diff(*lines, *names)) or " | ".join(names)
