"""Read the pages: front matter, headings, code blocks and their marks."""

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import yaml

from cookbook.book.markdown import Document, Fence, Heading, read
from cookbook.rules import Problem

LANGUAGES = ("en", "zh")
HAN = re.compile(r"[\u3400-\u9fff]+")
PYTHON, SHELLS, PASSIVE = "python", ("bash", "sh"), ("text", "pytb")

RECORDED = (".out", ".svg")  # beside a snippet: what it prints, and what it draws
FRONT_MATTER = re.compile(r"---\n(?P<text>.*?)^---\s*?$", re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r'--8<-- "(?P<path>[^"]+)"')
INCLUDE_LIKE = re.compile(r"\s*-+8<-")  # what the site expands, or nearly
MARK = re.compile(r"<!--[-\s]*(?P<mark>pytest.*?)[-\s]*-->", re.DOTALL)
SKIP = re.compile(r'pytest\.mark\.skip\(reason="(?P<reason>[^"]+)"\)')
ALT = "alt"  # in the front matter: what each picture shows, in words
YOURS = "yours"  # there, too: what the names are that a reader brings
MESSAGES = "messages"  # the id of the section that has a table of messages
MESSAGE = re.compile(r"\| *(`+) ?(?P<text>.+?) ?\1 *\|")  # its first cell


def other_language(lang: str) -> str:
    return LANGUAGES[1 - LANGUAGES.index(lang)]


def tests_of(snippet: Path) -> Path:
    """Where a snippet's behaviour tests stand, written or not."""
    return Path("tests", snippet.parent, f"test_{snippet.name}")


def files_of(snippet: Path) -> list[Path]:
    """A snippet, and what belongs to it, written or not."""
    return [snippet, *map(snippet.with_suffix, RECORDED), tests_of(snippet)]


class PageError(Exception):
    """A page cannot be read; carries the problem."""

    def __init__(self, problem: Problem):
        super().__init__(str(problem))
        self.problem = problem


def read_text(root: Path, path: Path) -> str:
    """The text of a page or a snippet.

    Raises:
        PageError: it is not UTF-8, or begins with a byte-order mark.
    """
    line = 1
    try:
        text = (root / path).read_text(encoding="utf-8")
        if not text.startswith("\ufeff"):
            return text
    except UnicodeDecodeError as error:
        line += error.object[: error.start].count(b"\n")
    raise PageError(Problem(path, line, "not-utf-8", {"file": path}))


class FrontMatter(dict):
    """What a page says of itself; a key that is not there is the page's fault."""

    def __init__(self, page: "Page", meta: dict):
        super().__init__(meta)
        self.page = page

    def __missing__(self, key: str):
        raise self.page.error(1, "front-matter-key-missing", key=key)


@dataclass(frozen=True)
class Block:
    """A code block that runs: a whole snippet, or a few shell lines."""

    language: str
    code: str  # exactly as the page shows it
    line: int  # of the opening fence, in the page's file
    path: str  # the snippet's, or <category>/<slug>:<number> of a shell block
    snippet: Path | None = None  # the file, for Python
    mark: str | None = None  # "gpu" or "skip"
    reason: str | None = None  # why it is skipped

    @property
    def sha256(self) -> str:
        """The hash of the block's text; a snippet's is that of its file."""
        return hashlib.sha256(self.code.encode()).hexdigest()

    @property
    def identity(self) -> tuple:
        """What the twin page must have too; a reason is in its own words."""
        return self.language, self.code, self.mark


class Quote(NamedTuple):
    """An error message, and the line of the page on which it is quoted."""

    line: int
    text: str


@dataclass(frozen=True)
class Page:
    """A Markdown file of one language; reads what it is asked for, once."""

    root: Path
    path: Path  # relative to root, docs/<lang>/<category>/<slug>.md
    source: str = field(repr=False)
    unreadable: PageError | None = None  # why the source is empty

    @classmethod
    def load(cls, root: Path, path: Path) -> "Page":
        """Read a page; what is wrong with it is told where it is looked into."""
        try:
            return cls(root, path, read_text(root, path))
        except PageError as error:
            return cls(root, path, "", error)

    @property
    def lang(self) -> str:
        return self.path.parts[1]

    @property
    def category(self) -> str:
        return self.path.parts[2]

    @property
    def slug(self) -> str:
        return self.path.stem

    @property
    def url(self) -> str:
        """The page's address, relative to the site."""
        return f"{self.lang}/{self.category}/{self.slug}/"

    @property
    def twin_path(self) -> Path:
        """The same page in the other language."""
        return Path("docs", other_language(self.lang), *self.path.parts[2:])

    def problem(self, line: int, rule: str, /, **facts: object) -> Problem:
        return Problem(self.path, line, rule, facts)

    def error(self, line: int, rule: str, /, **facts: object) -> PageError:
        return PageError(self.problem(line, rule, **facts))

    @cached_property
    def document(self) -> Document:
        """What the Markdown of its body holds."""
        return read(self.body)

    @cached_property
    def front(self) -> str | None:
        """The text of the front matter, which takes no parsing to find."""
        found = FRONT_MATTER.match(self.source)
        return found["text"] if found else None

    @cached_property
    def meta(self) -> FrontMatter:
        """The front matter.

        Raises:
            PageError: there is none, or it is not YAML.
        """
        if self.unreadable:
            raise self.unreadable
        if self.front is None:
            raise self.error(1, "front-matter-missing")
        try:
            meta = parse_yaml(self.front)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 2 if mark else 1
            reason = getattr(error, "problem", error)
            raise self.error(line, "front-matter-not-yaml", reason=reason) from error
        if not isinstance(meta, dict):
            raise self.error(1, "front-matter-missing")
        return FrontMatter(self, meta)

    def meta_line(self, key: str) -> int:
        """The line on which a key of the front matter stands; 1 if it is absent."""
        for number, line in enumerate(self.source.splitlines(), start=1):
            if line.startswith(f"{key}:"):
                return number
        return 1

    @cached_property
    def body(self) -> str:
        """The Markdown after the front matter, which is left as blank lines."""
        end = 0 if self.front is None else self.front.count("\n") + 2
        return "\n" * end + "\n".join(self.source.split("\n")[end:])

    @cached_property
    def fences(self) -> list[Block]:
        """Every fenced block, run or not."""
        if self.unreadable:
            raise self.unreadable
        return [
            self._block(fence, number)
            for number, fence in enumerate(self.document.fences, start=1)
        ]

    def _block(self, fence: Fence, number: int) -> Block:
        if not fence.is_closed:
            raise self.error(fence.line, "fence-not-closed")
        mark, reason = self._mark(fence)
        path, code, snippet = f"{self.category}/{self.slug}:{number}", fence.code, None
        if fence.language == PYTHON:
            snippet = self._snippet(fence)
            path, code = snippet.as_posix(), read_text(self.root, snippet)
        code = code.rstrip("\n") + "\n"  # as the site shows it
        return Block(fence.language, code, fence.line, path, snippet, mark, reason)

    def _mark(self, fence: Fence) -> tuple[str | None, str | None]:
        found = MARK.fullmatch(fence.comment or "")
        if not found:
            return None, None
        if found["mark"] == "pytest.mark.gpu":
            return "gpu", None
        if skip := SKIP.fullmatch(found["mark"]):
            return "skip", skip["reason"]
        raise self.error(fence.line - 1, "mark-unknown", mark=found["mark"])

    def _snippet(self, fence: Fence) -> Path:
        """The file that a Python block shows, which is all that stands in it."""
        lines = fence.code.splitlines()
        if not lines or not INCLUDE_LIKE.match(lines[0]):
            raise self.error(fence.line, "python-typed-in")
        include = INCLUDE.fullmatch(lines[0])
        if not include or ".." in Path(include["path"]).parts:
            raise self.error(fence.line + 1, "include-malformed", text=lines[0].strip())
        if len(lines) > 1:
            raise self.error(fence.line, "python-typed-in")
        snippet = Path("snippets", include["path"])
        if not (self.root / snippet).is_file():
            file = include["path"]
            raise self.error(fence.line + 1, "include-unknown-file", file=file)
        try:
            read_text(self.root, snippet)
        except PageError as error:
            raise self.error(fence.line + 1, "not-utf-8", file=snippet) from error
        return snippet

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks that run.

        Raises:
            PageError: a block is shown and cannot be run, or a mark is unknown or
                belongs to no block.
        """
        for fence in self.fences:
            if fence.language not in (PYTHON, *SHELLS, *PASSIVE):
                rule = "fence-unknown-language"
                raise self.error(fence.line, rule, language=fence.language)
        self._refuse_stray_marks()
        self._refuse_stray_includes()
        return [fence for fence in self.fences if fence.language not in PASSIVE]

    @property
    def readable(self) -> bool:
        """Whether front matter and blocks can be read; if not, the checks say why."""
        try:
            return None not in (self.meta, self.blocks)
        except PageError:
            return False

    def _refuse_stray_marks(self) -> None:
        own = {fence.line - 1 for fence in self.fences if fence.language not in PASSIVE}
        for line, comment in self.document.comments:
            mark = MARK.search(comment)
            if mark and line + comment.count("\n") not in own:
                raise self.error(line, "mark-without-block")

    def _refuse_stray_includes(self) -> None:
        shown = {fence.line + 1 for fence in self.fences if fence.snippet}
        for number, line in enumerate(self.body.split("\n"), start=1):
            if INCLUDE_LIKE.match(line) and number not in shown:
                raise self.error(number, "include-outside-block")

    @cached_property
    def causes(self) -> tuple[int, int]:
        """The lines of the table that comes first of all; (1, 0) where none does.

        Above it are messages and prose only: neither code that runs nor a heading.
        """
        below = [one.line for one in (*self.blocks, *self.headings)]
        tables = self.document.tables
        is_first = tables and all(tables[0][1] < line for line in below)
        return tables[0] if is_first else (1, 0)

    @cached_property
    def pictures(self) -> dict[str, Path]:
        """The pictures that its snippets draw, by the snippet's name."""
        files = [b.snippet.with_suffix(".svg") for b in self.blocks if b.snippet]
        return {file.stem: file for file in files if (self.root / file).exists()}

    @cached_property
    def quotes(self) -> list[Quote]:
        """The messages the page quotes: its ```pytb blocks, its table of others."""
        fences = (fence for fence in self.fences if fence.language == "pytb")
        quoted = [Quote(fence.line, fence.code.strip()) for fence in fences]
        lines = self.body.split("\n")
        for number in self.lines_of(MESSAGES):
            if row := MESSAGE.match(lines[number - 1]):
                quoted.append(Quote(number, row["text"].replace("\\|", "|")))
        return sorted(quoted)

    @property
    def errors(self) -> list[str]:
        """The messages that the page quotes, in its order."""
        return [quote.text for quote in self.quotes]

    def section(self, id: str) -> list[Heading]:
        """The headings one level below the one with this id."""
        own = self.lines_of(id)
        return [h for h in self.headings if h.level == 3 and h.line in own]

    def lines_of(self, id: str) -> range:
        """The lines of a section of the second level; empty where there is none."""
        tops = [h for h in self.headings if h.level == 2]
        ends = [h.line for h in tops[1:]] + [self.body.count("\n") + 2]
        for heading, end in zip(tops, ends, strict=False):
            if heading.id == id:
                return range(heading.line + 1, end)
        return range(0)

    @property
    def headings(self) -> list[Heading]:
        return self.document.headings

    @property
    def links(self) -> list[str]:
        """The targets of the body's links and images, sorted."""
        return sorted(link.target for link in self.document.links)


class EachKeyOnce:
    """Of a key that is given twice, YAML takes the last and says nothing."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        for key, _ in node.value[::-1]:
            if keys.count(key.value) > 1:
                words = f"{key.value} stands there twice"
                raise yaml.MarkedYAMLError(problem=words, problem_mark=key.start_mark)
        return super().construct_mapping(node, deep)


class Plain(EachKeyOnce, yaml.SafeLoader):
    """The loader that every PyYAML has."""


class Fast(EachKeyOnce, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """The same in C where PyYAML was built with it: ten times as fast."""


def parse_yaml(text: str):
    """Parse YAML, fast; complain in the same words wherever PyYAML was built."""
    try:
        return yaml.load(text, Loader=Fast)
    except yaml.YAMLError:
        return yaml.load(text, Loader=Plain)
