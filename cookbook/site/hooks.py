"""MkDocs hooks: both languages in one build, and what a page derives.

The root configuration (mkdocs.yml) builds the landing page; before it does, it
checks every page and builds each language with mkdocs.<lang>.yml. Nothing is
written to the site's folder until all of that has succeeded. What mkdocs serve
does differently is in preview.py.
"""

import atexit
import logging
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from functools import partial
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
    browse,
    feedback,
    indexes,
    publish,
    render,
    search,
    status,
    typesetting,
)
from cookbook.site.preview import Preview, keep_serving, source_of

INDEXES = {
    "recipes.md": (browse.recipes_page, "recipes"),
    "apis.md": (indexes.api_page, "apis"),
    "messages.md": (indexes.error_page, "errors"),
    "verified.md": (indexes.environments_page, "runs"),
    "rules.md": (indexes.rules_page, "rules"),
}
NO_WORKER = (
    "docs/overrides/main.html: the search worker of this Material has another name, so "
    "the box would run it instead of ours; write its name into the block config"
)
UNLISTED = "rules.md"  # for contributors, whom their guide sends there
TAGS = {"en": "en", "zh": "zh-Hans"}  # the names that browsers know the languages by
SERVING: list[Preview] = []  # one, under mkdocs serve


def on_startup(command, dirty):
    """Under mkdocs serve, begin a preview."""
    if command == "serve":
        SERVING.append(Preview(temporary_folder()))
        partly = ("A 'dirty' build", "The directory contains")  # as we want it
        log = logging.getLogger(build.__module__)
        log.addFilter(lambda record: not record.msg.startswith(partly))


def on_serve(server, config, builder):
    """After an error, go on to serve the last good site."""
    server.builder = keep_serving(builder, SERVING[0])
    return server


def on_config(config):
    """Read the catalogue; derive the navigation from it."""
    lang = config.extra.get("lang")
    if "catalogue" not in config.extra:
        config.extra["catalogue"] = read_catalogue(config)
        config.extra["preview"] = SERVING[0] if SERVING else None
    catalogue = config.extra["catalogue"]
    config.extra["wanted"] = feedback.form(catalogue, feedback.WANTED)
    config.extra["totals"] = {
        code: status.totals(catalogue, code) for code in LANGUAGES
    }
    config.extra["recipes"] = {f"{one.address}.md": one for one in catalogue.recipes}
    if lang:
        config.nav = navigation(catalogue, lang)
        config.extra["popular"] = browse.popular(catalogue)
    return config


def read_catalogue(config) -> Catalogue:
    """The recipes; where a page has a problem, no build goes on, but a preview does."""
    root = Path(config.config_file_path).parent
    repository = (config.extra.get("repository") or "").rstrip("/")
    catalogue = Catalogue(root, repository)
    try:
        if SERVING:
            return SERVING[0].read(catalogue)
        # MkDocs will render all pages; to do so twice would take half as long again.
        found = [one for one in problems(catalogue, rendered=False) if one.is_error]
    except PageError as error:  # the list of categories, without which nothing goes
        raise Abort(str(error)) from error
    if found:
        raise Abort("\n  ".join(["The pages are not in order:", *map(str, found)]))
    return catalogue


def navigation(catalogue: Catalogue, lang: str) -> list[dict]:
    """A language's pages, each with its title: a dirty build reads none from a page."""
    nav = [{render.WORDS[lang]["home"]: "index.md"}]
    for category in catalogue.categories:
        if catalogue.in_category(category.slug):
            title = category.title[lang]
            index = {title: f"{category.slug}/index.md"}
            nav.append({title: [index, *browse.entries(catalogue, category, lang)]})
    listed = [
        {indexes.WORDS[lang][key]: name}
        for name, (_, key) in INDEXES.items()
        if name != UNLISTED
    ]
    return [*nav, {render.WORDS[lang]["indexes"]: listed}]


def temporary_folder() -> Path:
    """A folder that is gone when the process ends, interrupted or not."""
    folder = Path(tempfile.mkdtemp(prefix="cookbook-site-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def on_pre_build(config):
    """In the root build, build each language beside the site's folder."""
    if "lang" in config.extra:
        return
    preview = config.extra["preview"]
    config.extra["built"] = preview.folder if preview else temporary_folder()
    if preview:  # one after the other: a process with threads must not be forked
        for lang in LANGUAGES:
            build_language(config, lang)
    else:
        build_side_by_side(config)


def build_side_by_side(config) -> None:
    """Build each language in a process of its own, which has the catalogue already."""
    fork = multiprocessing.get_context("fork")
    processes = {
        lang: fork.Process(target=build_alone, args=(config, lang))
        for lang in LANGUAGES
    }
    for process in processes.values():
        process.start()
    try:
        for process in processes.values():
            process.join()
    finally:  # after an interruption they still run
        for process in processes.values():
            process.terminate()
            process.join()
    if failed := [lang for lang, process in processes.items() if process.exitcode]:
        raise Abort(f"Not built, for the reasons above: {', '.join(failed)}")


def build_alone(config, lang: str) -> None:
    """Build a language in a process that Ctrl-C ends without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    build_language(config, lang)


def build_language(config, lang: str) -> None:
    """Build a language; in a preview, only what has changed."""
    preview = config.extra["preview"]
    language = load_config(
        str(Path(config.config_file_path).parent / f"mkdocs.{lang}.yml"),
        site_dir=str(config.extra["built"] / lang),
        site_url=f"{config.site_url}{lang}/",
        strict=config.strict and not preview,
    )
    language.extra["catalogue"] = config.extra["catalogue"]
    language.extra["preview"] = preview
    build(language, dirty=preview is not None)


def on_post_build(config):
    """Write the index; in the root build, put all in place."""
    catalogue, lang = config.extra["catalogue"], config.extra.get("lang")
    if lang:
        home = Path(config.site_dir, "index.html").read_text("utf-8")
        if '"search": "assets/search.js"' not in home.replace("../", ""):
            raise Abort(NO_WORKER)
        search.write(catalogue, lang, Path(config.site_dir))
        return
    site, built = Path(config.site_dir), config.extra["built"]
    for lang in LANGUAGES:
        if not config.extra["preview"]:
            shutil.rmtree(site / lang, ignore_errors=True)  # --dirty keeps the old one
            shutil.move(built / lang, site / lang)
        elif not (site / lang).exists():
            (site / lang).symlink_to(built / lang)
    publish.write(catalogue, site, os.environ.get("SITE_URL", ""))


def on_files(files, config):
    """Add a page per category, listing its recipes, the stubs, and the indexes."""
    lang = config.extra.get("lang")
    if lang is None:
        return files
    catalogue, preview = config.extra["catalogue"], config.extra["preview"]
    for category in catalogue.categories:
        if catalogue.in_category(category.slug):
            content = browse.category_page(catalogue, category, lang)
            path = f"{category.slug}/index.md"
            files.append(File.generated(config, path, content=content))
    for path, recipe in config.extra["recipes"].items():
        # In a preview the file may be there, and not be fit to be read.
        if lang in recipe.missing and path not in files.src_uris:
            content = recipe.pages[lang].source
            files.append(File.generated(config, path, content=content))
    for name, (page, _) in INDEXES.items():
        files.append(File.generated(config, name, content=page(catalogue, lang)))
    if preview:
        recipes = config.extra["recipes"].items()
        texts = {path: recipe_markdown(recipe, config) for path, recipe in recipes}
        preview.keep_unchanged(files.documentation_pages(), config, texts)
    return files


def on_pre_page(page, config, files):
    """In a preview, also render what no build would."""
    if preview := config.extra["preview"]:
        page.render = partial(preview.render, page)
    return page


def on_page_read_source(page, config):
    """In a preview, also read what is not UTF-8."""
    return source_of(page.file) if config.extra["preview"] else None


def on_page_markdown(markdown, page, config, files):
    """Complete a recipe's page."""
    recipe = recipe_of(page, config)
    if recipe:  # what else the front matter has is ours, and nothing for a theme
        lang = config.extra["lang"]
        title, description = recipe.title(lang), recipe.description(lang)
        page.meta = {"title": title, "description": description}
    page.meta["search"] = {"exclude": True}  # the index is ours, not the plugin's
    return recipe_markdown(recipe, config) if recipe else markdown


def on_page_context(context, page, config, nav):
    """Addresses of the page and its twin: whole only where the site's is known."""
    lang = config.extra.get("lang", "")
    root = config.site_url.removesuffix(f"{lang}/")
    if "SITE_URL" not in os.environ:
        page.canonical_url = None
        root = f"{context['base_url']}/{'../' if lang else ''}"
    path = page.url if lang else ""
    addresses = {tag: f"{root}{code}/{path}" for code, tag in TAGS.items()}
    context["alternates"] = addresses | ({} if path else {"x-default": root})
    context["feed"] = f"{root}{publish.FEED}"
    page.meta["description"] = page.meta.get("description", "").replace("`", "")
    if recipe := recipe_of(page, config):
        context["wrong"] = feedback.wrong(config.extra["catalogue"], recipe, lang)
    return context


def on_post_page(output, page, config):
    """English words in a Chinese page say so."""
    return (
        typesetting.english_marked(output)
        if config.extra.get("lang") == "zh"
        else output
    )


def on_page_content(html, page, config, files):
    """Chinese without gaps from line breaks; lighter code, with links to its lines."""
    lang = config.extra.get("lang")
    html = render.uncoloured(typesetting.joined(html) if lang == "zh" else html)
    if recipe := recipe_of(page, config):
        html = render.imports_apart(html, recipe)
        html = render.number_lines(html, recipe, lang)
    preview = config.extra["preview"]
    return preview.banner(page.file, config) + html if preview else html


def recipe_markdown(recipe, config) -> str:
    """The Markdown of a recipe's page in the language that is built."""
    page = recipe.pages[config.extra["lang"]]
    markdown = render.site_markdown(config.extra["catalogue"], page)
    return render.number_errors(markdown) + render.other_wordings(page)


def recipe_of(page, config):
    """The recipe a MkDocs page belongs to, None for other pages."""
    return config.extra["recipes"].get(page.file.src_uri)
