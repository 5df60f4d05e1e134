"""Compare the blocks that the site shows of a page with those that run.

Two parsers read Markdown: where they could differ, a page is refused here.
"""

import difflib
import html
import re
from collections.abc import Iterator
from functools import cached_property
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


class Referee:
    """Renders pages as the site does, with the settings of mkdocs.yml."""

    def __init__(self, root: Path):
        self.root = root

    @cached_property
    def _settings(self) -> dict:
        config = load_config(str(self.root / "mkdocs.en.yml"))
        extensions = config.mdx_configs
        extensions["pymdownx.snippets"]["base_path"] = [str(self.root / "snippets")]
        return {
            "extensions": config.markdown_extensions,
            "extension_configs": extensions,
        }

    def problems(self, page: Page) -> Iterator[Problem]:
        """The first block that the site shows differently from how it was read."""
        shown = blocks(markdown.Markdown(**self._settings).convert(page.body))
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
