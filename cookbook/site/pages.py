"""The pages of a language, before any theme: where each is, its Markdown, its facts.

Whatever builds the site is handed these; it renders them, and brings its own templates
for the pages that name one.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cookbook.book.catalogue import Catalogue, Category, Recipe
from cookbook.site import feedback, indexes, news, notebooks, render
from cookbook.site.words import WORDS

# A picture that a recipe draws, beside its card; its own page tells it in words.
THUMB = '<img class="thumb" src="../../{path}" alt="" loading="lazy">'
SHORT = 12  # recipes of a category that needs no filter
# The lists: where each is, by which name its words are known, what writes it.
LISTS = {
    "recipes.md": ("recipes", None),  # its template does
    "apis.md": ("api_index", indexes.api_page),
    "messages.md": ("error_index", indexes.error_page),
    "verified.md": ("runs", indexes.environments_page),
    "new.md": ("news", news.page),
}


class SitePage(NamedTuple):
    """A page of the site; ``meta`` is what its front matter is to say."""

    path: str
    markdown: str
    meta: dict
    is_changed: bool = True  # since it was last rendered

    @property
    def text(self) -> str:
        """The file that it would be."""
        front = json.dumps(self.meta, ensure_ascii=False)  # JSON is YAML
        return f"---\n{front}\n---\n{self.markdown}"


def pages(catalogue: Catalogue, lang: str) -> Iterator[SitePage]:
    """Every page of a language but its home, which is a template."""
    for recipe in catalogue.recipes:
        yield recipe_page(catalogue, recipe, lang)
    for category in shown_categories(catalogue):
        yield category_page(catalogue, category, lang)
    for path, (name, markdown) in LISTS.items():
        meta = {"title": WORDS[lang][name], "hide": ["footer"]}  # no list is the next
        if markdown:
            yield SitePage(path, markdown(catalogue, lang), meta)
        else:
            meta |= {"template": "recipes.html", "hide": ["toc", "footer"]}
            yield SitePage(path, "", meta)


def recipe_page(catalogue: Catalogue, recipe: Recipe, lang: str) -> SitePage:
    """A recipe's page, written or a stub; where to say that it is wrong."""
    meta = {
        "title": recipe.title(lang),
        "description": recipe.description(lang),
        "recipe": recipe.slug,
        "wrong": feedback.wrong(catalogue, recipe, lang),
        "colab": notebooks.colab(catalogue, recipe.pages[lang]),
    }
    markdown = render.site_markdown(catalogue, recipe.pages[lang])
    return SitePage(f"{recipe.address}.md", markdown, meta)


def category_page(catalogue: Catalogue, category: Category, lang: str) -> SitePage:
    """A category's page: its groups, and links that jump to them."""
    title, description = category.title[lang], category.description[lang]
    jumps, cards = [], []
    for group, recipes in catalogue.grouped(category):
        if group:
            anchor = re.sub(r"\W+", "-", group["en"].lower())
            jumps.append(f"- [{group[lang]} ({len(recipes)})](#{anchor})")
            cards += [f"## {group[lang]} {{ #{anchor} }}", ""]
        cards += ['<div class="cards" markdown>', ""]
        for recipe in recipes:
            cards += [f"- [{recipe.title(lang)}]({recipe.slug}.md)", ""]
            drawn = list(recipe.page_for(lang).pictures.values())[:1]
            picture = "".join(THUMB.format(path=path.as_posix()) for path in drawn)
            cards += [f"    {picture}{recipe.description(lang)}", ""]
            if line := telling_line(catalogue, recipe):
                cards += [f"    {line}", "    { .line }", ""]
        cards += ["</div>", ""]
    if len(jumps) > 1:
        cards[:0] = ['<div class="jumps" markdown>', "", *jumps, "", "</div>", ""]
    if len(catalogue.in_category(category.slug)) > SHORT:
        cards[:0] = [indexes.FILTER.format_map(WORDS[lang]), ""]
        cards[:0] = most_needed(catalogue, category, lang)
    hue = render.hue(catalogue, category.slug)
    head = [f"# {title} {{ #{category.slug}{hue} }}", ""]
    head += [description, "{ .lead }", ""]
    meta = {"title": title, "description": description}
    return SitePage(f"{category.slug}/index.md", "\n".join([*head, *cards]), meta)


def most_needed(catalogue: Catalogue, category: Category, lang: str) -> list[str]:
    """The recipes that most readers of a category come for, each with its code."""
    tiles = [
        f"- [{recipe.title(lang).replace('`', '')} {telling_line(catalogue, recipe)}]"
        f"(../{recipe.address}.md)"
        for recipe in catalogue.first_of(category)
    ]
    return ['<div class="tiles" markdown>', "", *tiles, "", "</div>", ""]


def telling_line(catalogue: Catalogue, recipe: Recipe) -> str:
    """The line of code that stands for the recipe in a list; empty without one."""
    line = catalogue.telling_line(recipe).partition("  #")[0]
    return f"`` {line} ``" if line else ""


def shown_categories(catalogue: Catalogue) -> list[Category]:
    """The categories that have a recipe."""
    return [one for one in catalogue.categories if catalogue.in_category(one.slug)]


def navigation(catalogue: Catalogue, lang: str) -> list[dict]:
    """The pages in the readers' order, each with its title, by category and group."""
    words = WORDS[lang]
    nav = [{words["home"]: "index.md"}]
    for category in shown_categories(catalogue):
        title = category.title[lang]
        index = {title: f"{category.slug}/index.md"}
        nav.append({title: [index, *entries(catalogue, category, lang)]})
    lists = [{words[name]: path} for path, (name, _) in LISTS.items()]
    others = (page.path.name for page in catalogue.other_pages if page.lang == lang)
    lists += [{words[Path(n).stem]: n} for n in others if n != "index.md"]
    return [*nav, {words["indexes"]: lists}]


def entries(catalogue: Catalogue, category: Category, lang: str) -> list[dict]:
    """A category's recipes in the navigation, by group."""
    found = []
    for title, recipes in catalogue.grouped(category):
        pages = [{recipe.title(lang): f"{recipe.address}.md"} for recipe in recipes]
        found += [{title[lang]: pages}] if title else pages
    return found
