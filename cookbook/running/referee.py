"""Compare the blocks that run with the blocks the site shows."""

import difflib
from collections import Counter
from functools import cached_property

import markdown
from mkdocs.config import load_config

from cookbook.catalogue import Catalogue
from cookbook.checks.rules import Problem
from cookbook.pages import INCLUDE, PASSIVE, Page
from cookbook.site.render import CodeBlocks, site_markdown


class Referee:
    """Renders pages as the site does, with the settings of mkdocs.yml."""

    def __init__(self, catalogue: Catalogue):
        self.catalogue = catalogue

    @cached_property
    def _settings(self) -> dict:
        config = load_config(str(self.catalogue.root / "mkdocs.en.yml"))
        extensions = config.mdx_configs
        root = str(self.catalogue.root / "snippets")
        extensions["pymdownx.snippets"]["base_path"] = [root]
        return {
            "extensions": config.markdown_extensions,
            "extension_configs": extensions,
        }

    def html(self, page: Page) -> str:
        """The page's content as the site shows it."""
        text = site_markdown(self.catalogue, page)
        return markdown.Markdown(**self._settings).convert(text)

    def problem(self, page: Page) -> Problem | None:
        """What the page shows and does not run, or the reverse; None if equal."""
        rendered = CodeBlocks.read(self.html(page))
        shown = [(lang, code) for lang, code in rendered if lang not in PASSIVE]
        run = [(block.language, block.code) for block in page.blocks]
        quoted = [fence for fence in page.fences if fence.language in PASSIVE]
        outputs = [
            block
            for block in page.blocks
            if block.snippet
            and (page.root / block.snippet).with_suffix(".out").exists()
        ]
        passive = len(rendered) - len(shown)
        if len(shown) != len(run) or passive != len(quoted) + len(outputs):
            facts = {
                "shown": len(shown),
                "passive": passive,
                "run": len(run),
                "quoted": len(quoted) + len(outputs),
            }
            return page.problem(stray_line(page, rendered), "P221", **facts)
        for block, (language, code) in zip(page.blocks, shown, strict=True):
            if (language, code) != (block.language, block.code):
                difference = diff(block.code, code)
                return page.problem(block.line, "P222", difference=difference)
        return None


def stray_line(page: Page, rendered: list[tuple[str, str]]) -> int:
    """Where a block stands that runs and is not shown, or the reverse."""
    shown = Counter(code for _, code in rendered)
    for fence in page.fences:
        if not shown[fence.code]:
            return fence.line
        shown[fence.code] -= 1
    for code in shown.elements():
        first = code.strip().partition("\n")[0]
        for number, line in enumerate(page.body.split("\n"), start=1):
            if first in line and not INCLUDE.fullmatch(line):
                return number
    return 1


def diff(run: str, shown: str) -> str:
    """The lines in which the two differ."""
    lines = (text.splitlines(keepends=True) for text in (run, shown))
    return "".join(difflib.unified_diff(*lines, "run", "shown"))
