"""MkDocs hooks, in MkDocs' own order: they hand it the pages, and put all in place.

The root configuration (mkdocs.yml) builds the landing page; before it does, it
checks every page and builds each language with mkdocs.<lang>.yml. Nothing is
written to the site's folder until all of that has succeeded. What mkdocs serve
does differently is in preview.py.
"""

import atexit
import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from mkdocs.structure.files import File

# MkDocs loads this file by its path; the package beside it is found from here.
sys.path.insert(0, str(Path(__file__).parents[2]))

from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import LANGUAGES, PageError
from cookbook.checks.structure import problems
from cookbook.site import (
    feedback,
    indexes,
    news,
    pages,
    publish,
    render,
    search,
    status,
    typesetting,
)
from cookbook.site.preview import Preview
from cookbook.site.words import WORDS

NO_WORKER = (
    "docs/overrides/main.html: the search worker of this Material has another name, so "
    "the box would run it instead of ours; write its name into the block config"
)
# What assets/cookbook.js says.
SAID = (
    "none",
    "wanted",
    "ask",
    "nearest",
    "copy_answer",
    "copy_file",
    "copy_block",
    "copied",
)
SERVING: list[Preview] = []  # one, under mkdocs serve
log = logging.getLogger("mkdocs.cookbook")


class PageFile(File):
    """A page that is in no file; a preview renders it where it has changed."""

    is_changed = True

    def is_modified(self) -> bool:
        return self.is_changed


def on_startup(command, dirty):
    """Under mkdocs serve, begin a preview."""
    if command == "serve":
        SERVING.append(Preview(temporary_folder()))
        meant = ("A 'dirty' build", "The directory contains")
        builds = logging.getLogger(build.__module__)
        builds.addFilter(lambda record: not record.msg.startswith(meant))


def temporary_folder() -> Path:
    """A folder that is gone when the process ends, interrupted or not."""
    folder = Path(tempfile.mkdtemp(prefix="cookbook-site-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def on_config(config):
    """Read the catalogue, if the root build has not; derive the navigation from it."""
    extra, lang = config.extra, config.extra.get("lang")
    try:
        if "catalogue" not in extra:
            extra["catalogue"] = read_catalogue(config)
        if lang:
            extra["pages"] = list(pages.pages(extra["catalogue"], lang))
            config.nav = pages.navigation(extra["catalogue"], lang)
    except PageError as error:  # in a preview; or the list of categories is no list
        raise Abort(str(error)) from error
    return config


def read_catalogue(config) -> Catalogue:
    """The recipes; where a page has a problem, no build goes on, but a preview does."""
    repository = (config.extra.get("repository") or "").rstrip("/")
    catalogue = Catalogue(Path(config.config_file_path).parent, repository)
    # MkDocs will render all pages; to do so twice would take half as long again.
    found = [one for one in problems(catalogue, rendered=False) if one.is_error]
    if SERVING:
        for problem in found:
            log.warning("%s", problem)
    elif found:
        raise Abort("\n  ".join(["The pages are not in order:", *map(str, found)]))
    return catalogue


def on_pre_build(config):
    """In the root build, build each language beside the site's folder."""
    if "lang" not in config.extra:
        config.extra["built"] = SERVING[0].folder if SERVING else temporary_folder()
        for lang in LANGUAGES:
            build_language(config, lang)


def build_language(config, lang: str) -> None:
    """Build a language; in a preview, only what has changed."""
    language = load_config(
        str(Path(config.config_file_path).parent / f"mkdocs.{lang}.yml"),
        site_dir=str(config.extra["built"] / lang),
        site_url=f"{config.site_url}{lang}/",
        strict=config.strict and not SERVING,
    )
    language.extra["catalogue"] = config.extra["catalogue"]
    build(language, dirty=bool(SERVING))


def on_files(files, config):
    """Hand the pages of a language over."""
    made = config.extra.get("pages", [])
    for page in SERVING[0].changed(made, config) if SERVING and made else made:
        if written := files.get_file_from_path(page.path):
            files.remove(written)
        file = PageFile.generated(config, page.path, content=page.text)
        file.is_changed = page.is_changed
        files.append(file)
    return files


def on_page_content(html, page, config, files):
    """Chinese without gaps from line breaks; lighter code, with links to its lines."""
    page.meta["search"] = {"exclude": True}  # the index is ours, not the plugin's
    recipe = config.extra["catalogue"].by_slug.get(page.meta.get("recipe"))
    return typesetting.finished(html, recipe, config.extra.get("lang"))


def on_env(env, config, files):
    """What the templates tell, beside the page: words, lists, totals."""
    catalogue, lang = config.extra["catalogue"], config.extra.get("lang")
    totals = {code: status.totals(catalogue, code) for code in LANGUAGES}
    shown = pages.shown_categories(catalogue)
    env.globals |= {
        "catalogue": catalogue,
        "popular": search.popular(catalogue),
        "categories": shown,
        "shelves": indexes.first_aid_first(shown),
        "hue": render.hue,
        "totals": totals,
        "wanted": feedback.form(catalogue, feedback.WANTED),
        "languages": WORDS,
        "words": WORDS.get(lang),
        "said": {name: WORDS[lang][name] for name in SAID} if lang else {},
    }
    return env


def on_page_context(context, page, config, nav):
    """Addresses of the page and its twin: whole only where the site's is known."""
    lang = config.extra.get("lang", "")
    root = config.site_url.removesuffix(f"{lang}/")
    if "SITE_URL" not in os.environ:
        page.canonical_url = None
        root = f"{context['base_url']}/{'../' if lang else ''}"
    path = page.url if lang else ""
    addresses = {WORDS[code]["tag"]: f"{root}{code}/{path}" for code in LANGUAGES}
    context["feed"] = f"{root}{lang}/{news.FEED}" if lang and page.canonical_url else ""
    slug = page.meta.get("recipe") if page.canonical_url else ""
    context["card"] = f"{root}cards/{slug}.png" if slug else ""
    context["alternates"] = addresses | ({} if path else {"x-default": root})
    page.meta["description"] = page.meta.get("description", "").replace("`", "")
    return context


def on_post_build(config):
    """Write the index and the feed; in the root build, put all in place."""
    catalogue, lang = config.extra["catalogue"], config.extra.get("lang")
    site = Path(config.site_dir)
    if lang:
        home = (site / "index.html").read_text("utf-8")
        if '"search": "assets/search.js"' not in home.replace("../", ""):
            raise Abort(NO_WORKER)
        search.write(catalogue, lang, site)
        if "SITE_URL" in os.environ:  # a feed's addresses are whole
            feed = news.feed(catalogue, lang, config.site_url)
            (site / news.FEED).write_text(feed, encoding="utf-8")
        return
    built = config.extra["built"]
    for lang in LANGUAGES:
        if not SERVING:
            shutil.rmtree(site / lang, ignore_errors=True)  # --dirty keeps the old one
            shutil.move(built / lang, site / lang)
        elif not (site / lang).exists():
            (site / lang).symlink_to(built / lang)
    address = config.site_url if "SITE_URL" in os.environ else ""
    publish.write(catalogue, site, address)


def on_serve(server, config, builder):
    """After an error, go on to serve the last good site."""
    server.builder = SERVING[0].keep_serving(builder)
    return server
