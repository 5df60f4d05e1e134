"""Addresses of the issue forms, filled in with what the page already knows."""

from urllib.parse import urlencode

from cookbook.catalogue import Catalogue, Recipe
from cookbook.site import status

WRONG, WANTED = "wrong-recipe.yml", "recipe-wanted.yml"


def recipe_wanted(repository: str) -> str | None:
    """Where to ask for a recipe; None where no repository is known."""
    return _form(repository, WANTED) if repository else None


def wrong(catalogue: Catalogue, recipe: Recipe, lang: str) -> str | None:
    """Where to report a fault of a recipe; None where no repository is known.

    The form's fields are the recipe, the page's path on the site, and the torch
    of the newest environment that ran it.
    """
    if not catalogue.repository:
        return None
    found = status.outcomes(catalogue, recipe)
    facts = {
        "title": f"[{recipe.slug}] ",
        "recipe": recipe.slug,
        "page": recipe.pages[lang].url,
        "recorded": f"torch {found[0].record.torch}" if found else "",
    }
    return _form(catalogue.repository, WRONG, facts)


def _form(repository: str, template: str, facts: dict[str, str] | None = None) -> str:
    query = urlencode({"template": template, **(facts or {})})
    return f"{repository.rstrip('/')}/issues/new?{query}"
