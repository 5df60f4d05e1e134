"""Compare what the site shows of a page with what runs and what the checks read."""

import difflib
import re
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path

import markdown
from mkdocs.config import load_config

from cookbook.book.pages import PASSIVE, Page
from cookbook.rules import Problem

# What Markdown makes of a page with the extensions of mkdocs.yml.
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = ("p", "div", "blockquote", "pre", "hr", "ul", "ol", "li")
TABLES = ("table", "thead", "tbody", "tr", "th", "td")
INLINE = ("a", "br", "code", "em", "img", "span", "strong")
PLAIN = {*HEADINGS, *BLOCKS, *TABLES, *INLINE}
TARGETS = {"a": "href", "img": "src", **dict.fromkeys(HEADINGS, "id")}


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

    def rendered(self, page: Page) -> "Rendered":
        """The page's own content as the site shows it, without what is derived."""
        return Rendered.read(markdown.Markdown(**self._settings).convert(page.body))

    def problems(self, page: Page) -> Iterator[Problem]:
        """Where the site shows something other than what runs and what was read."""
        rendered = self.rendered(page)
        yield from block_problems(page, rendered.blocks)
        yield from tag_problems(page, rendered.tags)


class Rendered(HTMLParser):
    """The code blocks of an HTML page, as (language, text), and all its tags."""

    def __init__(self):
        super().__init__()
        self.blocks: list[tuple[str, str]] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._language = ""
        self._depth = 0  # of <pre>

    @classmethod
    def read(cls, html: str) -> "Rendered":
        parser = cls()
        parser.feed(html)
        return parser

    def handle_starttag(self, tag: str, attrs: list) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        language = re.search(r"(?:^| )language-(\S+)", attributes.get("class", ""))
        if language and not self._depth:
            self._language = language[1]
        if tag == "pre":
            self._depth += 1
            self.blocks.append((self._language, ""))
            self._language = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if self._depth:
            language, text = self.blocks[-1]
            self.blocks[-1] = (language, text + data)


def block_problems(page: Page, shown: list[tuple[str, str]]) -> Iterator[Problem]:
    """The first block that is shown differently from how it was read."""
    if len(shown) != len(page.fences):
        facts = {"shown": len(shown), "read": len(page.fences)}
        yield page.problem(1, "shown-blocks-differ", **facts)
        return
    for fence, (language, code) in zip(page.fences, shown, strict=True):
        runs = fence.language not in PASSIVE
        if language != fence.language or (runs and code != fence.code):
            facts = {"difference": diff(fence.code, code)}
            yield page.problem(fence.line, "shown-text-differs", **facts)
            return


def diff(run: str, shown: str) -> str:
    """The lines in which the two differ."""
    lines = (text.splitlines(keepends=True) for text in (run, shown))
    return "".join(difflib.unified_diff(*lines, "run", "shown"))


def tag_problems(page: Page, tags: list[tuple[str, dict]]) -> Iterator[Problem]:
    """Tags, headings and targets that the reader of the Markdown did not see."""
    read = {(f"h{heading.level}", heading.id) for heading in page.headings}
    read |= {("a", f"#{heading.id}") for heading in page.headings}  # permalinks
    for link in page.document.links:
        read.add(("a" if link.alt is None else "img", link.target))
    for tag, attributes in tags:
        target = attributes.get(TARGETS[tag], "") if tag in TARGETS else None
        if tag not in PLAIN:
            yield page.problem(1, "html-in-page", text=f"<{tag}>")
        elif tag in TARGETS and (tag, target) not in read:
            yield page.problem(1, "shown-unread", text=f"<{tag}> {target}")
