"""feed.json: the recipes whose text or status changed last, https://jsonfeed.org."""

from pathlib import Path

from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.records import git
from cookbook.site import status

NEWEST = 50  # items: what a reader may have missed


def document(catalogue: Catalogue, root: str) -> dict:
    """The feed; ``root`` is the site's address, empty where it is not known.

    A recipe's text changed with the last commit of one of its files; its status, on
    the day on which a run of its present text failed. Without the history of the
    repository the feed is empty: a wrong date is worse than none.
    """
    dates = changes(catalogue.root)
    items = []
    for recipe in catalogue.recipes:
        known = [dates[file] for file in recipe.files if file in dates]
        if known:
            date = max(known + failures(catalogue, recipe))
            items.append(_item(catalogue, recipe, root, date))
    items.sort(key=lambda item: item["date_modified"], reverse=True)
    facts = {"version": "https://jsonfeed.org/version/1.1"}
    facts["title"] = "PyTorch Cookbook · PyTorch 实用手册"
    if root:
        facts |= {"home_page_url": root, "feed_url": f"{root}feed.json"}
    return {**facts, "language": "en", "items": items[:NEWEST]}


def changes(root: Path) -> dict[Path, str]:
    """When each file of the recipes was last committed; empty without a history."""
    if git(root, "rev-parse", "--is-shallow-repository") != "false":
        return {}
    log = git(root, "log", "--format=:%cI", "--name-only", "--", "docs", "snippets")
    dates: dict[Path, str] = {}
    date = ""
    for line in log.splitlines():
        if line.startswith(":"):
            date = line.removeprefix(":")
        elif line:
            dates.setdefault(Path(line), date)
    return dates


def failures(catalogue: Catalogue, recipe: Recipe) -> list[str]:
    """The days on which the recipe's present text failed."""
    return [
        f"{one.record.date}T00:00:00+00:00"
        for one in status.outcomes(catalogue, recipe)
        if one.status == "failed"
    ]


def _item(catalogue: Catalogue, recipe: Recipe, root: str, date: str) -> dict:
    address = root + recipe.pages["en"].url
    verified = status.line(catalogue, recipe, "en")
    return {
        "id": f"{address}#{date}",  # each change is news
        "url": address,
        "title": " · ".join(dict.fromkeys(map(recipe.title, recipe.pages))),
        "summary": recipe.description("en"),
        "content_text": f"{recipe.answer.text}\n\n{verified}",
        "date_modified": date,
        "tags": [recipe.category],
    }
