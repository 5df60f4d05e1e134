"""MkDocs hooks: both languages in one build, and what a page derives.

The root configuration (mkdocs.yml) builds the landing page; before it does, it
checks every page and builds each language with mkdocs.<lang>.yml. Nothing is
written to the site's folder until all of that has succeeded.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from mkdocs.structure.files import File
from rjsmin import jsmin

# MkDocs loads this file by its path; the package beside it is found from here.
sys.path.insert(0, str(Path(__file__).parents[2]))

from cookbook.catalogue import Catalogue
from cookbook.checks.structure import problems
from cookbook.pages import LANGUAGES
from cookbook.site import feedback, indexes, prose, publish, render, search, status

INDEXES = {
    "apis.md": indexes.api_page,
    "messages.md": indexes.error_page,
    "verified.md": status.environments_page,
    "rules.md": indexes.rules_page,
}
BUILDING: list[Path] = []  # temporary folders of an unfinished build


def on_config(config):
    """Read the catalogue; derive the navigation from it."""
    root = Path(config.config_file_path).parent
    repository = (config.extra.get("repository") or "").rstrip("/")
    catalogue = config.extra.get("catalogue") or Catalogue(root, repository)
    lang = config.extra.get("lang")
    config.extra["wanted"] = feedback.recipe_wanted(catalogue.repository)
    if lang is None:
        refuse_problems(catalogue)
    config.extra["alternate"] = True  # shows partials/alternate.html
    config.extra["catalogue"] = catalogue
    config.extra["totals"] = {
        code: status.totals(catalogue, code) for code in LANGUAGES
    }
    config.extra["recipe_pages"] = {
        f"{recipe.category}/{recipe.slug}.md" for recipe in catalogue.recipes
    }
    if lang is None:
        return config
    config.nav = [{render.WORDS[lang]["home"]: "index.md"}]
    for category in catalogue.categories:
        recipes = catalogue.in_category(category.slug)
        pages = [f"{category.slug}/{recipe.slug}.md" for recipe in recipes]
        if pages:
            index = f"{category.slug}/index.md"
            config.nav.append({category.title[lang]: [index, *pages]})
    config.nav.append({render.WORDS[lang]["indexes"]: list(INDEXES)})
    return config


def refuse_problems(catalogue: Catalogue) -> None:
    """Stop the build with every problem of the pages and snippets."""
    # MkDocs will render them all; to do so twice would take half as long again.
    found = problems(catalogue, rendered=())
    if found := [problem for problem in found if problem.is_error]:
        lines = "\n".join(f"  {problem}" for problem in found)
        raise Abort(f"The pages are not in order:\n{lines}")


def on_pre_build(config):
    """In the root build, build each language beside the site's folder."""
    if "lang" in config.extra:
        return
    config.extra["built"] = Path(tempfile.mkdtemp(prefix="cookbook-site-"))
    BUILDING.append(config.extra["built"])
    root = Path(config.config_file_path).parent
    for lang in LANGUAGES:
        language = load_config(
            str(root / f"mkdocs.{lang}.yml"),
            site_dir=str(config.extra["built"] / lang),
            site_url=f"{config.site_url}{lang}/",
            strict=config.strict,
        )
        language.extra["catalogue"] = config.extra["catalogue"]
        build(language)


def on_post_build(config):
    """Shrink our scripts, write the index; in the root build, put all in place."""
    catalogue, lang = config.extra["catalogue"], config.extra.get("lang")
    for script in Path(config.site_dir, "assets").glob("*.js"):
        script.write_text(jsmin(script.read_text("utf-8")), "utf-8")
    if lang:
        search.write(catalogue, lang, Path(config.site_dir))
        return
    site, built = Path(config.site_dir), config.extra["built"]
    for lang in LANGUAGES:
        shutil.rmtree(site / lang, ignore_errors=True)  # --dirty keeps the old one
        shutil.move(built / lang, site / lang)
    built.rmdir()
    BUILDING.remove(built)
    publish.write(catalogue, site)


def on_build_error(error):
    """Leave no half-built language behind."""
    while BUILDING:
        shutil.rmtree(BUILDING.pop(), ignore_errors=True)


def on_files(files, config):
    """Add a page per category, listing its recipes, the stubs, and the indexes."""
    lang = config.extra.get("lang")
    if lang is None:
        return files
    catalogue = config.extra["catalogue"]
    for category in catalogue.categories:
        if catalogue.in_category(category.slug):
            content = publish.category_page(catalogue, category, lang)
            path = f"{category.slug}/index.md"
            files.append(File.generated(config, path, content=content))
    for recipe in catalogue.recipes:
        if lang in recipe.missing:
            content = recipe.pages[lang].source
            path = f"{recipe.category}/{recipe.slug}.md"
            files.append(File.generated(config, path, content=content))
    for name, page in INDEXES.items():
        files.append(File.generated(config, name, content=page(catalogue, lang)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Complete a recipe's page; list the recipes on the home page."""
    catalogue, lang = config.extra["catalogue"], config.extra.get("lang")
    page.meta["search"] = {"exclude": True}  # the index is ours, not the plugin's
    recipe = recipe_of(page, config)
    if recipe:
        return render.number_errors(render.site_markdown(catalogue, recipe.pages[lang]))
    if lang and page.is_homepage:
        return markdown + publish.home_listing(catalogue, lang)
    return markdown


def on_page_context(context, page, config, nav):
    """A canonical address only where the site's address is known."""
    if "SITE_URL" not in os.environ:
        page.canonical_url = None
    page.meta["description"] = page.meta.get("description", "").replace("`", "")
    if recipe := recipe_of(page, config):
        lang = config.extra["lang"]
        context["wrong"] = feedback.wrong(config.extra["catalogue"], recipe, lang)
    return context


def on_page_content(html, page, config, files):
    """Between two Chinese characters a line break of the source is no space."""
    return prose.joined(html) if config.extra.get("lang") == "zh" else html


def recipe_of(page, config):
    """The recipe a MkDocs page belongs to, None for other pages."""
    slug = Path(page.file.src_uri).stem
    if (
        "lang" not in config.extra
        or page.file.src_uri not in config.extra["recipe_pages"]
    ):
        return None
    return config.extra["catalogue"].by_slug[slug]
