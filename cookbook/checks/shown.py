"""Compare what the site shows of a page with what runs and what the checks read."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path

import markdown
from mkdocs.config import load_config

from cookbook.checks.prose_checks import EXTERNAL
from cookbook.pages import INCLUDE, PASSIVE, Page
from cookbook.rules import Problem
from cookbook.site.render import CodeBlocks, body_markdown

# What Markdown makes of a page with the extensions of mkdocs.yml.
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = ("p", "div", "blockquote", "pre", "hr", "ul", "ol", "li")
TABLES = ("table", "thead", "tbody", "tr", "th", "td")
MADE = {*HEADINGS, *BLOCKS, *TABLES, "a", "br", "code", "em", "img", "span", "strong"}
TARGETS = {"a": "href", "img": "src"}
WORDS = ("alt", "title")  # attributes that load nothing
FOREIGN = re.compile(r"(?:^|[\s,('\"])(?:https?:|[\\/]{2})", re.IGNORECASE)
OPENING = re.compile(r"[>\s]*(`{3,}|~{3,}|<pre)")
# Code as every page writes it; and what Markdown may show otherwise than the
# checks read it: other fences, indented lines, HTML, underlined headings and
# such without a space, images, links by reference or with a title, attributes.
PLAIN_CODE = re.compile(r"^```.*?^```$|(?<!\\)`[^`\n]+`", re.MULTILINE | re.DOTALL)
ODD = re.compile(
    r"^[ \t>]+(?:```|~~~)|^~~~|^(?: {4}|\t)|<(?!!--pytest)[a-z/!]|^[=-]{2,} *$"
    r"|^#+[^# ]|!\[|^ {0,3}\[[^\]]+\]:|\]\([^)\s]+\s|\{(?! ?#[\w-]+ ?\})",
    re.MULTILINE | re.IGNORECASE,
)


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

    def html(self, page: Page) -> str:
        """The page's own content as the site shows it, without what is derived."""
        return markdown.Markdown(**self._settings).convert(body_markdown(page))

    def problems(self, page: Page) -> Iterator[Problem]:
        """What the page shows and nothing runs or reads, or the reverse."""
        html = self.html(page)
        yield from block_problems(page, CodeBlocks.read(html))
        yield from tag_problems(page, Tags.read(html))


def is_odd(page: Page) -> bool:
    """Whether a page has what may be shown otherwise than the checks read it."""
    return ODD.search(PLAIN_CODE.sub("", page.body)) is not None


def block_problems(page: Page, rendered: list[tuple[str, str]]) -> Iterator[Problem]:
    """The first block that is shown and not run, or the reverse, or otherwise."""
    shown = [(lang, code) for lang, code in rendered if lang not in PASSIVE]
    run = [(block.language, block.code) for block in page.blocks]
    quoted = [fence for fence in page.fences if fence.language in PASSIVE]
    outputs = [
        block
        for block in page.blocks
        if block.snippet and (page.root / block.snippet).with_suffix(".out").exists()
    ]
    passive = len(rendered) - len(shown)
    if len(shown) != len(run) or passive != len(quoted) + len(outputs):
        facts = {
            "shown": len(shown),
            "passive": passive,
            "run": len(run),
            "quoted": len(quoted) + len(outputs),
        }
        yield page.problem(stray_line(page, rendered), "shown-blocks-differ", **facts)
        return
    for block, (language, code) in zip(page.blocks, shown, strict=True):
        if (language, code) != (block.language, block.code):
            yield page.problem(
                block.line, "shown-text-differs", difference=diff(block.code, code)
            )
            return


def stray_line(page: Page, rendered: list[tuple[str, str]]) -> int:
    """Where a block stands that runs and is not shown, or the reverse."""
    shown = Counter(code for _, code in rendered)
    for fence in page.fences:
        if not shown[fence.code]:
            return fence.line
        shown[fence.code] -= 1
    lines = page.body.split("\n")
    for code in shown.elements():
        first = code.strip().partition("\n")[0]
        for number, line in enumerate(lines, start=1):
            if first in line and not INCLUDE.fullmatch(line):
                opened = OPENING.match(lines[number - 2])
                return number - 1 if opened else number
    return 1


def diff(run: str, shown: str) -> str:
    """The lines in which the two differ."""
    lines = (text.splitlines(keepends=True) for text in (run, shown))
    return "".join(difflib.unified_diff(*lines, "run", "shown"))


@dataclass
class Tag:
    """An opening tag and the text right behind it."""

    name: str
    attributes: dict[str, str]
    text: str = ""


class Tags(HTMLParser):
    """Collect the tags of an HTML page, with what stands up to the next one."""

    def __init__(self):
        super().__init__()
        self.found: list[Tag] = []

    @classmethod
    def read(cls, html: str) -> list[Tag]:
        parser = cls()
        parser.feed(html)
        return parser.found

    def handle_starttag(self, tag: str, attrs: list) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.found.append(Tag(tag, attributes))

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1].text += data


def tag_problems(page: Page, tags: list[Tag]) -> Iterator[Problem]:
    """Raw HTML, what comes from another site, and what the other rules overlook."""
    headings = Counter((f"h{heading.level}", heading.id) for heading in page.headings)
    targets = {*page.links, *(f"#{tag.attributes.get('id')}" for tag in tags)}
    for tag in tags:
        if html := raw(tag):
            yield page.problem(line_of(page, f"<{tag.name}"), "html-in-page", html=html)
        elif address := foreign(tag):
            yield page.problem(
                line_of(page, address), "third-party-request", address=address
            )
        elif tag.name in HEADINGS:
            heading = tag.name, tag.attributes.get("id")
            if not headings[heading]:
                line = line_of(page, tag.text)
                yield page.problem(line, "shown-unread", shown=f"<{tag.name}>")
            headings[heading] -= 1
        elif tag.name in TARGETS:
            name = TARGETS[tag.name]
            target = tag.attributes.get(name, "")
            if not EXTERNAL.match(target) and target not in targets:
                shown = f'<{tag.name} {name}="{target}">'
                line = line_of(page, target or f"<{tag.name}")
                yield page.problem(line, "shown-unread", shown=shown)


def raw(tag: Tag) -> str | None:
    """The tag as HTML, where Markdown makes no such; None where it does."""
    if tag.name not in MADE:
        return f"<{tag.name}>"
    scripts = [name for name in tag.attributes if name.startswith("on")]
    return f"<{tag.name} {scripts[0]}>" if scripts else None


def foreign(tag: Tag) -> str | None:
    """The address of another site that a browser would load; a link is none."""
    harmless = (*WORDS, "href") if tag.name == "a" else WORDS
    for name, value in tag.attributes.items():
        if name not in harmless and FOREIGN.search(value):
            return value
    return None


def line_of(page: Page, text: str) -> int:
    """The first line of the page's body that has the text; 1 where none has it."""
    for number, line in enumerate(page.body.split("\n"), start=1):
        if text.strip().lower() in line.lower():
            return number
    return 1
