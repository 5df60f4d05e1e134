"""What ``mkdocs serve`` does differently from ``mkdocs build``.

It shows unfinished pages too, while the terminal says what is wrong with them, and
renders again only the pages that have changed since the last time. While a page cannot
be read at all, the last good site stays.
"""

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from cookbook.site import status
from cookbook.site.pages import SitePage

log = logging.getLogger("mkdocs.cookbook")


class Preview:
    """What one ``mkdocs serve`` remembers from build to build.

    ``folder`` is where the languages are built, and stay.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._shown: dict[str, dict[str, object]] = {}  # by language, of each page

    def changed(self, made: Iterable[SitePage], config) -> Iterator[SitePage]:
        """The pages of a language; ``is_changed`` says which to render anew."""
        lang, everywhere = config.extra["lang"], shown_everywhere(config)
        if self._shown.get(lang, {}).get("") != everywhere:
            shutil.rmtree(config.site_dir, ignore_errors=True)
            self._shown[lang] = {"": everywhere}
        before = self._shown[lang]
        for page in made:
            yield page._replace(is_changed=page.text != before.get(page.path))
            before[page.path] = page.text

    def keep_serving(self, builder: Callable[[], None]) -> Callable[[], None]:
        """A builder after whose failure the server shows the last good site."""

        def build() -> None:
            try:
                builder()
            except (Exception, SystemExit) as error:
                self._shown = {}  # render all pages the next time
                log.error("Not rebuilt: %s: %s", type(error).__name__, error)

        return build


def shown_everywhere(config) -> list[str | bytes]:
    """What every page of a language shows: navigation, totals and theme."""
    root = Path(config.config_file_path).parent
    files = [*root.glob("mkdocs*.yml"), *root.glob("docs/*.yml")]
    files += sorted(root.glob("docs/overrides/**/*.*"))
    totals = status.totals(config.extra["catalogue"], config.extra["lang"])
    return [str(config.nav), totals, *(f.read_bytes() for f in files if f.is_file())]
