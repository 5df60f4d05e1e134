"""The one reader of Markdown: what stands on which line of a file.

It reads CommonMark with tables. The site is rendered by
Python-Markdown; where the two could differ, ``Document.unclear`` says so, and the
checks refuse it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark").enable("table")
HEADING = re.compile(r"(?P<text>.*?)(?: *\{ ?#(?P<id>[\w-]+) ?\})?", re.DOTALL)
ATTRIBUTES = re.compile(r"\{[^}]*\}")
PLAIN_ATTRIBUTES = re.compile(r"\{ ?(?:#[\w-]+|\.[\w -]+) ?\}")
COMMENT = re.compile(r"\s*<!--.*?-->\s*", re.DOTALL)
BREAKS = ("softbreak", "hardbreak")


class Heading(NamedTuple):
    """A heading and its explicit id, None where it has none."""

    level: int
    id: str | None
    line: int
    text: str


class Fence(NamedTuple):
    """A block between ``` at the left margin; lines from its opening to its end."""

    language: str  # all that follows the opening ```
    code: str
    line: int
    end: int
    comment: str | None  # the one on the line above
    is_closed: bool


class Link(NamedTuple):
    """Where a link or an image leads; ``alt`` is None for a link."""

    line: int
    target: str
    alt: str | None = None


class Unclear(NamedTuple):
    """What the site may show differently from how it is read here."""

    line: int
    kind: str  # "block" or "html"
    text: str


@dataclass
class Passage:
    """A paragraph, heading or row: its lines without code, markup and targets."""

    lines: list[tuple[int, str]]
    is_heading: bool = False

    @property
    def line(self) -> int:
        return self.lines[0][0]

    @property
    def text(self) -> str:
        return " ".join(text for _, text in self.lines)


@dataclass
class Document:
    """What a text in Markdown holds, each with its line, counted from 1."""

    source: str
    headings: list[Heading] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    tables: list[tuple[int, int]] = field(default_factory=list)  # first line, last
    unclear: list[Unclear] = field(default_factory=list)

    def __post_init__(self):
        self._lines = self.source.split("\n")
        tokens = PARSER.parse(self.source)
        for before, token in zip([None, *tokens], tokens, strict=False):
            self._read(token, before)

    @property
    def prose(self) -> list[tuple[int, str]]:
        """The numbered lines outside fences."""
        inside = {n for fence in self.fences for n in range(fence.line, fence.end + 1)}
        numbered = enumerate(self._lines, start=1)
        return [(number, line) for number, line in numbered if number not in inside]

    def _read(self, token: Token, before: Token | None) -> None:
        line = token.map[0] + 1 if token.map else 0
        if token.type == "fence" and token.level == 0 and token.markup == "```":
            self._read_fence(token, before)
        elif token.type in ("fence", "code_block"):
            self.unclear.append(Unclear(line, "block", self._lines[line - 1]))
        elif token.type == "html_block":
            self._read_html(token.content, line)
        elif token.type == "inline":
            self._read_inline(token, before)
        elif token.type == "table_open":
            self.tables.append((line, token.map[1]))

    def _read_fence(self, token: Token, before: Token | None) -> None:
        first, end = token.map
        last = self._lines[end - 1].strip()
        is_closed = end - first > 1 and last.startswith(token.markup)
        above = before and before.type == "html_block" and before.map[1] == first
        comment = before.content.strip() if above else None
        fence = Fence(
            token.info.strip(), token.content, first + 1, end, comment, is_closed
        )
        self.fences.append(fence)

    def _read_html(self, html: str, line: int) -> None:
        if COMMENT.fullmatch(html):
            self.comments.append((line, html.strip()))
        elif not html.startswith("</"):
            self.unclear.append(Unclear(line, "html", html.strip()))

    def _read_inline(self, token: Token, before: Token) -> None:
        line, is_heading = token.map[0] + 1, before.type == "heading_open"
        if is_heading:
            found = HEADING.fullmatch(token.content)
            level = int(before.tag[1])
            self.headings.append(Heading(level, found["id"], line, found["text"]))
        passage = Passage(self._words(token.children, line), is_heading)
        if before.type in ("td_open", "th_open") and self._continues(line):
            self.passages[-1].lines += passage.lines
        else:
            self.passages.append(passage)
        self.unclear += self._misread(passage)

    def _continues(self, line: int) -> bool:
        """Whether the last passage is a cell of the same row."""
        return bool(self.passages) and self.passages[-1].line == line

    def _words(self, children: list[Token], line: int) -> list[tuple[int, str]]:
        """The words of each line; notes links and HTML on the way."""
        words = [(line, "")]
        for child in children:
            number, text = words[-1]
            if child.type in BREAKS:
                words.append((number + 1, ""))
            elif child.type == "text":
                words[-1] = (number, text + child.content)
            elif child.type == "code_inline":
                words[-1] = (number, f"{text} ")
            elif child.type == "html_inline":
                self._read_html(child.content, number)
            elif child.type == "link_open":
                self.links.append(Link(number, str(child.attrs["href"])))
            elif child.type == "image":
                target = str(child.attrs["src"])
                self.links.append(Link(number, target, child.content))
        return words

    @staticmethod
    def _misread(passage: Passage) -> Iterator[Unclear]:
        """Attributes other than an id or a class, which are as good as HTML."""
        for index, (number, text) in enumerate(passage.lines):
            for found in ATTRIBUTES.findall(text):
                if not PLAIN_ATTRIBUTES.fullmatch(found):
                    yield Unclear(number, "html", found)
            passage.lines[index] = (number, ATTRIBUTES.sub(" ", text))


def words(text: str) -> str:
    """A line of Markdown without its code, markup and targets."""
    return " ".join(passage.text for passage in Document(text).passages)


@lru_cache(maxsize=8192)  # a preview reads most texts again after each edit
def read(source: str) -> Document:
    """What a file's Markdown holds; two texts that are the same are read once."""
    return Document(source)
