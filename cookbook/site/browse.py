"""The pages to browse by: a category's, the list of all recipes, the navigation."""

import re

import yaml

from cookbook.book.catalogue import Catalogue, Category, Recipe
from cookbook.site import indexes
from cookbook.site.search import POPULAR

SHORT = 12  # recipes of a category that the navigation lists without groups


def entries(catalogue: Catalogue, category: Category, lang: str) -> list[dict]:
    """A category's recipes in the navigation; where they are many, by group."""
    grouped = [
        (title, [{r.title(lang): f"{r.address}.md"} for r in recipes])
        for title, recipes in catalogue.grouped(category)
    ]
    if sum(len(pages) for _, pages in grouped) <= SHORT:
        return [page for _, pages in grouped for page in pages]
    found = []
    for title, pages in grouped:
        found += [{title[lang]: pages}] if title else pages
    return found


def popular(catalogue: Catalogue) -> list[tuple[Recipe, str]]:
    """What people come for most, each with the line of its answer to show."""
    file = catalogue.root / POPULAR
    listed = yaml.safe_load(file.read_text("utf-8")) if file.exists() else {}
    known = catalogue.by_slug
    return [(known[slug], line) for slug, line in listed.items() if slug in known]


def recipes_page(catalogue: Catalogue, lang: str) -> str:
    """The page of all recipes; docs/overrides/recipes.html lists them."""
    title = indexes.WORDS[lang]["recipes"]
    return indexes.front(title, template="recipes.html", hide=["toc"])


def category_page(catalogue: Catalogue, category: Category, lang: str) -> str:
    """The Markdown of a category's page: its groups, and links that jump to them."""
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
            cards += [f"    {recipe.description(lang)}", ""]
        cards += ["</div>", ""]
    if len(jumps) > 1:
        cards[:0] = ['<div class="jumps" markdown>', "", *jumps, "", "</div>", ""]
    head = [f"# {title} {{ #{category.slug} }}", "", description, "{ .lead }", ""]
    return "\n".join([indexes.front(title, description=description), *head, *cards])
