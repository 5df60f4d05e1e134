"""New and changed: what git's history and the records say of each day."""

from xml.etree import ElementTree

import pytest

from cookbook.book import records
from cookbook.book.catalogue import Catalogue
from cookbook.site import news

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def history(cookbook, monkeypatch):
    """Commits all that there is, on a day."""

    def commit(day: str) -> None:
        for who in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{who}_DATE", f"{day}T12:00:00Z")
        cookbook.commit()

    return commit


def told(cookbook) -> list[tuple[str, list[str], list[str]]]:
    return [
        (day.date, [r.slug for r in day.added], [r.slug for r in day.changed])
        for day in news.days(Catalogue(cookbook.root))
    ]


def test_a_recipe_is_new_and_later_changed(cookbook, history):
    history("2026-01-01")
    cookbook.recipe("mixup", cookbook.CLAIM)
    history("2026-01-02")
    cookbook.replace("snippets/training/label_smoothing.py", "1 + 1", "2 + 0")
    history("2026-01-03")
    assert told(cookbook) == [
        ("2026-01-03", [], ["label-smoothing"]),
        ("2026-01-02", ["mixup"], []),
        ("2026-01-01", ["label-smoothing"], []),
    ]
    text = news.page(Catalogue(cookbook.root), "en")
    assert text.index("label-smoothing.md") < text.index("mixup.md")


def test_a_change_of_many_files_tells_nothing_of_each(cookbook, history):
    for number in range(news.MASS):
        cookbook.recipe(f"task-{number}", cookbook.CLAIM)
    history("2026-01-01")
    for file in (cookbook.root / "snippets/training").glob("*.py"):
        file.write_text(file.read_text().replace("1 + 1", "2 + 0"))
    history("2026-01-02")
    assert [date for date, _, _ in told(cookbook)] == ["2026-01-01"]


def test_without_the_whole_history_nothing_is_new(cookbook, history):
    assert told(cookbook) == []  # nothing is committed
    history("2026-01-01")
    cookbook.write(".git/shallow", f"{records.commit(cookbook.root)}\n")
    assert told(cookbook) == []


def test_the_feed_leads_to_the_pages(cookbook, history):
    history("2026-01-01")
    text = news.feed(Catalogue(cookbook.root), "zh", "https://a.example/b/zh/")
    feed = ElementTree.fromstring(text)
    (entry,) = feed.findall(f"{ATOM}entry")
    assert feed.findtext(f"{ATOM}updated") == "2026-01-01T00:00:00Z"
    address = "https://a.example/b/zh/training/label-smoothing/"
    assert f'<a href="{address}">条目 label-smoothing</a>' in entry.findtext(
        f"{ATOM}content"
    )
