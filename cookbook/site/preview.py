"""What ``mkdocs serve`` does differently from ``mkdocs build``.

It shows unfinished pages too, each below a list of its problems, and renders again
only the pages of which something has changed since the last time. While a page cannot
be read at all, the last good site stays, and the terminal says what is wrong.
"""

import html
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from cookbook.book.pages import INCLUDE, RECORDED
from cookbook.rules import Problem
from cookbook.site import status
from cookbook.site.pages import SitePage
from cookbook.site.words import WORDS

log = logging.getLogger("mkdocs.cookbook")


class Preview:
    """What one ``mkdocs serve`` remembers from build to build.

    ``folder`` is where the languages are built, and stay.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._problems: dict[Path, list[Problem]] = {}
        self._shown: dict[str, dict[str, object]] = {}  # by language, of each page

    def note(self, problems: list[Problem]) -> None:
        """Remember what is wrong with which file, and tell it."""
        self._problems = {}
        for problem in problems:
            log.warning("%s", problem)
            self._problems.setdefault(problem.path, []).append(problem)

    def changed(self, made: Iterable[SitePage], config) -> Iterator[SitePage]:
        """The pages of a language as they are shown; ``is_changed`` says which anew."""
        catalogue, lang = config.extra["catalogue"], config.extra["lang"]
        sources = {page.path: page.source for page in catalogue.pages}
        everywhere = shown_everywhere(config)
        if self._shown.get(lang, {}).get("") != everywhere:
            shutil.rmtree(config.site_dir, ignore_errors=True)
            self._shown[lang] = {"": everywhere}
        before = self._shown[lang]
        for page in made:
            path = Path("docs", lang, page.path)
            if found := self._problems_of(path, sources.get(path, "")):
                text = f"{listing(found, path)}\n\n{page.markdown}"
                page = page._replace(markdown=text)
            yield page._replace(is_changed=page.text != before.get(page.path))
            before[page.path] = page.text

    def _problems_of(self, path: Path, source: str) -> list[Problem]:
        """The problems of a page and of the files that it includes."""
        includes = INCLUDE.finditer(source)
        included = [Path("snippets", match["path"]) for match in includes]
        outputs = [file.with_suffix(end) for file in included for end in RECORDED]
        paths = dict.fromkeys([path, *included, *outputs])
        return [found for one in paths for found in self._problems.get(one, [])]

    def keep_serving(self, builder: Callable[[], None]) -> Callable[[], None]:
        """A builder after whose failure the server shows the last good site."""

        def build() -> None:
            try:
                builder()
            except (Exception, SystemExit) as error:
                self._shown = {}  # render all pages the next time
                log.error("Not rebuilt: %s: %s", type(error).__name__, error)

        return build


def listing(problems: list[Problem], path: Path) -> str:
    """The banner over a page: its problems, in its language."""
    lang, items = path.parts[1], []
    for one in problems:
        place = one.line if one.path == path else f"{one.path}:{one.line}"
        items.append(f"<li>{html.escape(f'{place}: {one.message(lang)}')}</li>")
    return (
        '<div class="problems admonition failure" role="note"><p class="admonition'
        f'-title">{WORDS[lang]["unfinished"]}</p><ul>{"".join(items)}</ul></div>'
    )


def shown_everywhere(config) -> list[str | bytes]:
    """What every page of a language shows: navigation, totals and theme."""
    root = Path(config.config_file_path).parent
    files = [*root.glob("mkdocs*.yml"), *root.glob("docs/*.yml")]
    files += sorted(root.glob("docs/overrides/**/*.*"))
    totals = status.totals(config.extra["catalogue"], config.extra["lang"])
    return [str(config.nav), totals, *(f.read_bytes() for f in files if f.is_file())]
