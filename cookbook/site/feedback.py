"""Addresses of the issue forms, filled in with what the page already knows."""

from urllib.parse import urlencode

from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.site import status

WRONG, WANTED = "wrong-recipe.yml", "recipe-wanted.yml"


def form(catalogue: Catalogue, template: str, **facts: str) -> str | None:
    """The address of a form; None where no repository is known."""
    if not catalogue.repository:
        return None
    query = urlencode({"template": template, **facts})
    return f"{catalogue.repository}/issues/new?{query}"


def wrong(catalogue: Catalogue, recipe: Recipe, lang: str) -> str | None:
    """Where to report a fault of a recipe: its page, and the newest torch it ran on."""
    found = status.outcomes(catalogue, recipe)
    return form(
        catalogue,
        WRONG,
        title=f"[{recipe.slug}] ",
        recipe=recipe.slug,
        page=recipe.pages[lang].url,
        recorded=f"torch {found[0].record.torch}" if found else "",
    )
