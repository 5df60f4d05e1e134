"""Read the pages: front matter, headings, code blocks and their marks."""

import hashlib
import io
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import markdown
import yaml
from pymdownx.snippets import SnippetMissingError
from pytest_codeblocks.main import extract_from_buffer

from cookbook.rules import Problem

LANGUAGES = ("en", "zh")
HAN = re.compile(r"[\u3400-\u9fff]+")
PYTHON, SHELLS, PASSIVE = "python", ("bash", "sh"), ("text", "pytb")

FRONT_MATTER = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r'--8<-- "(?P<path>[^"]+)"')
INCLUDE_LIKE = re.compile(r"\s*-+8<-")  # what the site expands, or nearly
MARK = re.compile(r"<!--[-\s]*(?P<mark>pytest.*?)[-\s]*-->")
SKIP = re.compile(r'pytest\.mark\.skip\(reason="(?P<reason>[^"]+)"\)')
FENCE = re.compile(r"\s*```")
HEADING = re.compile(r"(?P<level>#{1,6}) (?P<text>.*?)(?: \{ ?#(?P<id>[\w-]+) ?\})?$")
MESSAGES = "messages"  # the id of the section that has a table of messages
MESSAGE = re.compile(r"\| *(`+) ?(?P<text>.+?) ?\1 *\|")  # its first cell
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
# In C where PyYAML was built with it: ten times as fast.
SAFE_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def other_language(lang: str) -> str:
    return LANGUAGES[1 - LANGUAGES.index(lang)]


def tests_of(snippet: Path) -> Path:
    """Where a snippet's behaviour tests stand, written or not."""
    return Path("tests", snippet.parent, f"test_{snippet.name}")


class PageError(Exception):
    """A page can not be read; carries the problem."""

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
class Heading:
    """A heading and its explicit id, None where it has none."""

    level: int
    id: str | None
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
    def meta(self) -> FrontMatter:
        """The front matter.

        Raises:
            PageError: there is none, or it is not YAML.
        """
        if self.unreadable:
            raise self.unreadable
        match = FRONT_MATTER.match(self.source)
        if not match:
            raise self.error(1, "front-matter-missing")
        try:
            meta = parse_yaml(match[1])
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 2 if mark else 1
            reason = getattr(error, "problem", error)
            raise self.error(line, "front-matter-not-yaml", reason=reason) from error
        if not isinstance(meta, dict):
            raise self.error(1, "front-matter-not-mapping")
        return FrontMatter(self, meta)

    def meta_line(self, key: str) -> int:
        """The line on which a key of the front matter stands; 1 if it is absent."""
        for number, line in enumerate(self.source.splitlines(), start=1):
            if line.startswith(f"{key}:"):
                return number
        return 1

    @cached_property
    def body(self) -> str:
        """The Markdown after the front matter, blank lines for the latter."""
        match = FRONT_MATTER.match(self.source)
        if not match:
            return self.source
        return "\n" * match[0].count("\n") + self.source[match.end() :]

    @cached_property
    def _expanded(self) -> tuple[str, list[int]]:
        """The body with its includes, and the source line of each line of it."""
        if self.unreadable:
            raise self.unreadable
        include = snippet_preprocessor(self.root)
        lines, origin = [], []
        for number, line in enumerate(self.body.split("\n"), start=1):
            if INCLUDE_LIKE.match(line):
                self._refuse_bad_include(number, line)
            try:
                inserted = include.run([line])
            except SnippetMissingError as error:  # outside snippets/
                raise self.error(
                    number, "include-malformed", text=line.strip()
                ) from error
            lines += inserted
            origin += [number] * len(inserted)
        return "\n".join(lines), origin

    def _refuse_bad_include(self, number: int, line: str) -> None:
        include = INCLUDE.fullmatch(line)
        if not include:
            raise self.error(number, "include-malformed", text=line.strip())
        snippet = Path("snippets", include["path"])
        if not (self.root / snippet).is_file():
            raise self.error(number, "include-unknown-file", file=include["path"])
        try:
            read_text(self.root, snippet)
        except PageError as error:
            raise self.error(number, "not-utf-8", file=snippet) from error

    @cached_property
    def expanded(self) -> str:
        """The body with every snippet in place, as the site shows it."""
        return self._expanded[0]

    @cached_property
    def fences(self) -> list[Block]:
        """Every fenced block that pytest-codeblocks finds, run or not."""
        text, origin = self._expanded
        lines = text.split("\n")
        try:
            found = extract_from_buffer(io.StringIO(text + "\n"))
        except RuntimeError as error:  # at the end, so the last fence is open
            line = [n for n, t in zip(origin, lines, strict=True) if FENCE.match(t)][-1]
            raise self.error(line, "fence-not-closed") from error
        return [
            self._block(block, origin[block.lineno - 1], number)
            for number, block in enumerate(found, start=1)
        ]

    def _block(self, found, line: int, number: int) -> Block:
        mark, reason = self._mark(found.marks, line)
        snippet = self._snippet(line) if found.syntax == PYTHON else None
        path = (
            snippet.as_posix() if snippet else f"{self.category}/{self.slug}:{number}"
        )
        code = found.code.rstrip("\n") + "\n"  # as the site shows it
        return Block(found.syntax, code, line, path, snippet, mark, reason)

    def _mark(self, marks: list[str], line: int) -> tuple[str | None, str | None]:
        if not marks:
            return None, None
        marks = [mark.strip(" -") for mark in marks]
        if marks == ["pytest.mark.gpu"]:
            return "gpu", None
        skip = SKIP.fullmatch(marks[0])
        if len(marks) == 1 and skip:
            return "skip", skip["reason"]
        raise self.error(line - 1, "mark-unknown", mark=" ".join(marks))

    def _snippet(self, line: int) -> Path:
        lines = self.body.split("\n")
        include = INCLUDE.fullmatch(lines[line])
        if not include or lines[line + 1] != "```":
            raise self.error(line, "python-typed-in")
        return Path("snippets", include["path"])

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks that run.

        Raises:
            PageError: a block would be shown and not run, or run otherwise
                than shown, or a mark is unknown or belongs to no block.
        """
        self._refuse_stray_marks()
        for fence in self.fences:
            if fence.language in PASSIVE and fence.mark:
                raise self.error(fence.line - 1, "mark-on-text")
            if fence.language not in (PYTHON, *SHELLS, *PASSIVE):
                raise self.error(
                    fence.line, "fence-unknown-language", language=fence.language
                )
        self._refuse_stray_includes()
        return [fence for fence in self.fences if fence.language not in PASSIVE]

    def _refuse_stray_marks(self) -> None:
        lines = [*self.body.split("\n"), ""]
        for number, line in enumerate(lines[:-1], start=1):
            mark = MARK.search(line)
            if not mark:
                continue
            if not mark["mark"].startswith("pytest.mark."):
                raise self.error(number, "mark-unknown", mark=mark["mark"])
            if not lines[number].startswith("```"):
                raise self.error(number, "mark-without-block")

    def _refuse_stray_includes(self) -> None:
        shown = {fence.line + 1 for fence in self.fences if fence.snippet}
        for number, line in enumerate(self.body.split("\n"), start=1):
            if INCLUDE.fullmatch(line) and number not in shown:
                raise self.error(number, "include-outside-block")

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

    @cached_property
    def headings(self) -> list[Heading]:
        """The headings outside code, in order."""
        headings, fence = [], None
        for number, line in enumerate(self.body.split("\n"), start=1):
            ticks = re.match(r"\s*(`{3,}|~{3,})", line)
            if ticks and fence is None:
                fence = ticks[1]
            elif ticks and ticks[1].startswith(fence):
                fence = None
            elif fence is None and (match := HEADING.fullmatch(line)):
                headings.append(
                    Heading(len(match["level"]), match["id"], number, match["text"])
                )
        return headings

    @cached_property
    def links(self) -> list[str]:
        """The targets of the body's links, sorted."""
        return sorted(match["target"] for match in LINK.finditer(self.body))


def parse_yaml(text: str):
    """Parse YAML, fast; complain in the same words wherever PyYAML was built."""
    try:
        return yaml.load(text, Loader=SAFE_LOADER)
    except yaml.YAMLError:
        return yaml.safe_load(text)


def snippet_preprocessor(root: Path):
    """The site's own ``--8<--``, with the settings of mkdocs.yml."""
    config = {"base_path": [str(root / "snippets")], "check_paths": True}
    md = markdown.Markdown(
        extensions=["pymdownx.snippets"],
        extension_configs={"pymdownx.snippets": config},
    )
    return md.preprocessors["snippet"]
