"""What ``mkdocs serve`` does differently from ``mkdocs build``.

It shows unfinished pages too, each below a list of its problems; where a page cannot
be rendered, its source takes the place of its content. And it renders again only the
pages of which something has changed since the last time.
"""

import html
import logging
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mkdocs.structure.files import File
from mkdocs.structure.pages import Page as SitePage
from mkdocs.structure.toc import get_toc

from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import INCLUDE, LANGUAGES, RECORDED, Page
from cookbook.checks.structure import problems
from cookbook.rules import Problem
from cookbook.site import publish, render, search

TITLES = {
    "en": "This page is not finished; mkdocs build refuses it:",
    "zh": "本页尚未完成，改好以下问题后才能发布：",
}
log = logging.getLogger("mkdocs.cookbook")


class Preview:
    """What one ``mkdocs serve`` remembers from build to build.

    ``folder`` is where the languages are built, and stay.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._problems: dict[Path, list[Problem]] = {}
        self._unreadable: set[Path] = set()
        self._shared: dict[str, list] = {}  # by language
        self._shown: dict[str, dict[str, list]] = {}  # by language, of each page

    def read(self, catalogue: Catalogue) -> Catalogue:
        """Note the problems; the catalogue without the pages that cannot be read."""
        found = [p for p in problems(catalogue, rendered=False) if p.is_error]
        self._problems = {}
        for problem in found:
            log.warning("%s", problem)
            self._problems.setdefault(problem.path, []).append(problem)
        kept = {page: self._readable(catalogue, page) for page in catalogue.pages}
        self._unreadable = {page.path for page in kept if kept[page] is not page}
        return catalogue.with_pages([page for page in kept.values() if page])

    def _readable(self, catalogue: Catalogue, page: Page) -> Page | None:
        """The page, or for want of it the page without its body, or nothing.

        With its front matter it stays in the navigation, so other pages stay, too.
        """
        if not self._problems_of(page.path, page.source):
            return page
        front = f"---\n{page.front}---\n"
        outline = Page(page.root, page.path, front)
        pages = (one for one in (page, outline) if is_readable(catalogue, one))
        return next(pages, None)

    def _problems_of(self, path: Path, text: str) -> list[Problem]:
        """The problems of a page and of the files that it includes."""
        included = [Path("snippets", match["path"]) for match in INCLUDE.finditer(text)]
        outputs = [file.with_suffix(end) for file in included for end in RECORDED]
        paths = dict.fromkeys([path, *included, *outputs])
        return [found for one in paths for found in self._problems.get(one, [])]

    def keep_unchanged(self, files: list[File], config, texts: dict[str, str]) -> None:
        """Tell MkDocs which pages of a language need no rendering.

        ``texts`` has the Markdown of the recipes, completed by what is derived.
        """
        lang, shared = config.extra["lang"], shown_everywhere(config)
        if shared != self._shared.get(lang):
            shutil.rmtree(config.site_dir, ignore_errors=True)
            self._shown[lang] = {}
        before = self._shown[lang]
        now = {file.src_uri: self._shown_on(file, config, texts) for file in files}
        for file in files:
            changed = now[file.src_uri] != before.get(file.src_uri)
            file.is_modified = partial(bool, changed)  # decides in a dirty build
        self._shared[lang], self._shown[lang] = shared, now

    def forget(self) -> None:
        """Render all pages the next time, for this build has failed."""
        self._shared = {}

    def _shown_on(self, file: File, config, texts: dict[str, str]) -> list[str | bytes]:
        """What a page shows and not every page does."""
        text = f"{source_of(file)}\n{texts.get(file.src_uri, config.extra['totals'])}"
        snippets = Path(config.config_file_path).parent / "snippets"
        included = [snippets / match["path"] for match in INCLUDE.finditer(text)]
        return [text, self.banner(file, config), *contents(included)]

    def banner(self, file: File, config) -> str:
        """The HTML that lists the problems of a page; empty where it has none."""
        path = path_of(file, config)
        found = self._problems_of(path, source_of(file))
        return listing(found, path) if found else ""

    def render(self, page: SitePage, config, files) -> None:
        """Render a page; where that fails, show its source."""
        path = path_of(page.file, config)
        if path in self._unreadable:
            page.content = ""
        else:
            try:
                SitePage.render(page, config, files)
                return
            except Exception as error:  # a page may break any extension
                log.warning("%s: cannot be rendered: %s", path, error)
                page.content = f"<p>{html.escape(str(error))}</p>"
        page.content += f"<pre><code>{html.escape(source_of(page.file))}</code></pre>"
        page.toc, page.meta = get_toc([]), {}


def is_readable(catalogue: Catalogue, page: Page) -> bool:
    """Whether all that the site makes of a page can be made, from it alone."""
    alone = catalogue.with_pages([page])
    try:
        search.load(alone, LANGUAGES[0])  # both indexes
        for recipe in alone.recipes:
            publish.entry(alone, recipe)
            for shown in recipe.pages.values():
                render.site_markdown(alone, shown)
                render.full_markdown(alone, shown)
    except Exception:  # whatever the unfinished page leads to
        return False
    return True


def path_of(file: File, config) -> Path:
    """The path of a page in the checkout."""
    return Path("docs", Path(config.docs_dir).name, file.src_uri)


def source_of(file: File) -> str:
    return file.content_bytes.decode("utf-8", "replace")


def listing(problems: list[Problem], path: Path) -> str:
    """The banner over a page: its problems, in its language."""
    lang = path.parts[1] if path.parts[1] in LANGUAGES else LANGUAGES[0]
    items = []
    for one in problems:
        place = one.line if one.path == path else f"{one.path}:{one.line}"
        items.append(f"<li>{html.escape(f'{place}: {one.message(lang)}')}</li>")
    return (
        '<div class="problems admonition failure" role="note">'
        f'<p class="admonition-title">{TITLES[lang]}</p><ul>{"".join(items)}</ul></div>'
    )


def shown_everywhere(config) -> list[str | bytes]:
    """What every page of a language shows: navigation and theme."""
    root = Path(config.config_file_path).parent
    settings = [*root.glob("mkdocs*.yml"), *root.glob("docs/*.yml")]
    files = sorted([*settings, *(root / "docs/overrides").rglob("*.*")])
    return [str(config.nav), *contents(files)]


def contents(files: list[Path]) -> list[bytes]:
    return [file.read_bytes() for file in files if file.is_file()]


def keep_serving(builder: Callable[[], None], preview: Preview) -> Callable[[], None]:
    """A builder after whose failure the server shows the last good site."""

    def build() -> None:
        try:
            builder()
        except (Exception, SystemExit) as error:
            preview.forget()
            log.error("Not rebuilt: %s: %s", type(error).__name__, error)

    return build
