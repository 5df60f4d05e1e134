"""What ``mkdocs serve`` does differently from ``mkdocs build``.

It shows unfinished pages too, each below a list of its problems; where a page cannot
be read, its source takes the place of its content. And it renders again only the
pages of which something has changed since the last time.
"""

import html
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import INCLUDE, LANGUAGES, RECORDED, Page
from cookbook.checks.structure import problems
from cookbook.rules import Problem
from cookbook.site import pages, publish, search, status
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
        self._sources: dict[Path, str] = {}
        self._unreadable: set[Path] = set()
        self._shown: dict[str, dict[str, object]] = {}  # by language, of each page

    def read(self, catalogue: Catalogue) -> Catalogue:
        """Note the problems; the catalogue without the pages that cannot be read."""
        self._problems = {}
        for problem in problems(catalogue, rendered=False):
            if problem.is_error:
                log.warning("%s", problem)
                self._problems.setdefault(problem.path, []).append(problem)
        files = {page.path: page.root / page.path for page in catalogue.pages}
        self._sources = {
            path: file.read_bytes().decode("utf-8", "replace")
            for path, file in files.items()
        }
        kept = {page: self._readable(catalogue, page) for page in catalogue.pages}
        self._unreadable = {page.path for page in kept if kept[page] is not page}
        return catalogue.with_pages([page for page in kept.values() if page])

    def _readable(self, catalogue: Catalogue, page: Page) -> Page | None:
        """The page, or for want of it the page without its body, or nothing.

        With its front matter it stays in the navigation, so other pages stay, too.
        """
        if not self._problems_of(page.path):
            return page
        outline = Page(page.root, page.path, f"---\n{page.front}---\n")
        return next((p for p in (page, outline) if is_readable(catalogue, p)), None)

    def _problems_of(self, path: Path) -> list[Problem]:
        """The problems of a page and of the files that it includes."""
        includes = INCLUDE.finditer(self._sources.get(path, ""))
        included = [Path("snippets", match["path"]) for match in includes]
        outputs = [file.with_suffix(end) for file in included for end in RECORDED]
        paths = dict.fromkeys([path, *included, *outputs])
        return [found for one in paths for found in self._problems.get(one, [])]

    def changed(self, made: Iterable[SitePage], config) -> Iterator[SitePage]:
        """The pages of a language as they are shown; ``is_changed`` says which anew."""
        lang = config.extra["lang"]
        shown = {Path("docs", lang, page.path): page for page in made}
        for path in self._unreadable:
            if path.parts[1] == lang:
                source = html.escape(self._sources[path])
                code = f"<pre><code>{source}</code></pre>"
                address = Path(*path.parts[2:]).as_posix()
                shown[path] = SitePage(address, code, {"title": path.stem})
        everywhere = shown_everywhere(config)
        if self._shown.get(lang, {}).get("") != everywhere:
            shutil.rmtree(config.site_dir, ignore_errors=True)
            self._shown[lang] = {"": everywhere}
        before = self._shown[lang]
        for path, page in shown.items():
            if found := self._problems_of(path):
                text = f"{listing(found, path)}\n\n{page.markdown}"
                page = page._replace(markdown=text)
            yield page._replace(is_changed=page.text != before.get(page.path))
            before[page.path] = page.text

    def forget(self) -> None:
        """Render all pages the next time, for this build has failed."""
        self._shown = {}


def is_readable(catalogue: Catalogue, page: Page) -> bool:
    """Whether all that the site makes of a page can be made, from it alone."""
    alone = catalogue.with_pages([page])
    try:
        for lang in LANGUAGES:
            list(pages.pages(alone, lang))
            search.index(alone, lang)
        list(publish.files(alone))
    except Exception:  # whatever the unfinished page leads to
        return False
    return True


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
    files += sorted(file for file in root.glob("docs/overrides/**/*.*"))
    totals = status.totals(config.extra["catalogue"], config.extra["lang"])
    return [str(config.nav), totals, *(f.read_bytes() for f in files if f.is_file())]


def keep_serving(builder: Callable[[], None], preview: Preview) -> Callable[[], None]:
    """A builder after whose failure the server shows the last good site."""

    def build() -> None:
        try:
            builder()
        except (Exception, SystemExit) as error:
            preview.forget()
            log.error("Not rebuilt: %s: %s", type(error).__name__, error)

    return build
