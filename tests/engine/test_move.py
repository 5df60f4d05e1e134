"""``move`` takes along all that belongs to a recipe, or refuses and changes nothing."""

import json

import pytest

from cookbook.catalogue import Catalogue
from cookbook.contributing import move
from cookbook.contributing.scaffold import ScaffoldError
from cookbook.pages import LANGUAGES
from cookbook.parity import confirm
from cookbook.records import write
from tests.engine.plants import ENVIRONMENT, passed

OLD, NEW = "training/label-smoothing", "data/soft-labels"
LINKS = "[`there`](label-smoothing.md#more), [`here`](label-smoothing.md)"
TEST = '''"""A test."""

PAGE = "training/label-smoothing"
PATHS = "snippets/training/label_smoothing.py", "tests.training.test_label_smoothing"


def test_a_line():
    assert PATHS
'''
QUERY = '{"q": "label-smoothing", "wants": ["mixup", "label-smoothing"]}\n'
MOVED = "setup/smoothing: training/label-smoothing\n"


@pytest.fixture
def cookbook(cookbook):
    """Two recipes that speak of each other; the pages of the first are confirmed."""
    body = "\n## `more` {#more}\n\n[mixup](mixup.md), [`here`](#more)\n"
    shell = "\n```bash\necho training/label-smoothing\n```\n"
    cookbook.recipe("label-smoothing", '"""One."""\n\nprint(1)\n', after=body + shell)
    cookbook.write("snippets/training/label_smoothing.out", "1\n")
    cookbook.write("tests/snippets/training/test_label_smoothing.py", TEST)
    shared = '\n```python\n--8<-- "training/mixup.py"\n```\n'
    for lang in LANGUAGES:
        page = cookbook.root / f"docs/{lang}/{OLD}.md"
        page.write_text(page.read_text("utf-8") + shared, "utf-8")
    cookbook.recipe("mixup", cookbook.CLAIM, after=f"\n{LINKS}\n")
    page = "docs/en/training/mixup.md"
    cookbook.replace(page, "aliases:", "related:\n  - label-smoothing\naliases:")
    cookbook.write("tests/search/own.jsonl", QUERY)
    cookbook.write("docs/moved.yml", MOVED)
    for recipe in Catalogue(cookbook.root).recipes:
        confirm(*recipe.written.values())
    blocks = Catalogue(cookbook.root).by_slug["label-smoothing"].blocks
    runs = [passed(block) for block in blocks]
    write(cookbook.root, ENVIRONMENT, runs, complete=True)
    assert cookbook.problems() == []
    return cookbook


def ticks(root) -> int:
    """How many blocks of the recipes the record says have passed."""
    catalogue = Catalogue(root)
    (record,) = catalogue.records
    blocks = [block for recipe in catalogue.recipes for block in recipe.blocks]
    return sum(record.run_of(block) is not None for block in blocks)


def test_all_that_belongs_to_the_recipe_follows(cookbook):
    root, ticked = cookbook.root, ticks(cookbook.root)
    before = cookbook.texts()
    done = cookbook.command("cookbook", "move", OLD, NEW)
    assert done.returncode == 0, done.stderr
    after = cookbook.texts()
    assert sorted(after.keys() - before.keys()) == [
        "docs/en/data/soft-labels.md",
        "docs/zh/data/soft-labels.md",
        "snippets/data/soft_labels.out",
        "snippets/data/soft_labels.py",
        "tests/snippets/data/test_soft_labels.py",
    ]
    assert len(before.keys() - after.keys()) == 5
    assert cookbook.problems() == cookbook.warnings() == []
    page = after["docs/en/data/soft-labels.md"]
    assert "[mixup](../training/mixup.md), [`here`](#more)" in page
    assert '--8<-- "data/soft_labels.py"' in page
    assert '--8<-- "training/mixup.py"' in page
    linking = after["docs/zh/training/mixup.md"]
    assert "[`there`](../data/soft-labels.md#more)" in linking
    assert "[`here`](../data/soft-labels.md)" in linking
    assert "related:\n  - soft-labels\n" in after["docs/en/training/mixup.md"]
    test = after["tests/snippets/data/test_soft_labels.py"]
    assert 'PAGE = "data/soft-labels"' in test
    assert '"snippets/data/soft_labels.py", "tests.data.test_soft_labels"' in test
    query = json.loads(after["tests/search/own.jsonl"])
    assert query == {"q": "label-smoothing", "wants": ["mixup", "soft-labels"]}
    assert after["docs/moved.yml"] == f"setup/smoothing: {NEW}\n{OLD}: {NEW}\n"
    # The shell block names the recipe, so its text is new; the others' is not.
    assert ticks(root) == ticked - 1


@pytest.mark.parametrize("target", [NEW, "data/label-smoothing", "training/mix"])
def test_moved_back_all_is_as_it_was_but_for_the_address_left(cookbook, target):
    before = cookbook.texts()
    for source, goal in ((OLD, target), (target, OLD)):
        move.carry_out(move.plan(Catalogue(cookbook.root), source, goal))
    after = cookbook.texts()
    assert after.pop("docs/moved.yml") == f"{MOVED}{target}: {OLD}\n"
    assert cookbook.problems() == []  # each recipe is listed, perhaps elsewhere
    for texts in (before, after):
        texts.pop("docs/categories.yml")
    del before["docs/moved.yml"]
    assert after == before


def test_a_page_that_was_behind_stays_behind(cookbook):
    page = "docs/en/training/label-smoothing.md"
    cookbook.replace(page, "Use it always.", "Use it often.")
    assert Catalogue(cookbook.root).by_slug["label-smoothing"].behind == ["zh"]
    move.carry_out(move.plan(Catalogue(cookbook.root), OLD, NEW))
    assert Catalogue(cookbook.root).by_slug["soft-labels"].behind == ["zh"]


# What new refuses, too, is in test_scaffold.py.
REFUSED = {
    ("training/smoothing", NEW): "no recipe training/smoothing; write <",
    ("data/mixup", NEW): "no recipe data/mixup; write training/mixup",
    (OLD, OLD): f"{OLD} is there already; write another category or slug",
    (OLD, "data/taken"): "snippets/data/taken.py exists already; choose another slug",
    (OLD, "data/mixup"): "mixup exists already: docs/en/training/mixup.md; improve",
}


@pytest.mark.parametrize(("source", "target"), REFUSED)
def test_what_is_refused_changes_nothing(cookbook, source, target):
    cookbook.write("snippets/data/taken.py", "")
    before = cookbook.texts()
    with pytest.raises(ScaffoldError) as caught:
        move.plan(Catalogue(cookbook.root), source, target)
    assert str(caught.value).startswith(REFUSED[source, target])
    assert cookbook.texts() == before


def test_a_page_that_can_not_be_read_is_named(cookbook):
    (cookbook.root / "docs/en/training/mixup.md").write_bytes(b"\xff")
    before = set(cookbook.root.rglob("*"))
    done = cookbook.command("cookbook", "move", OLD, NEW)
    assert done.returncode == 1
    assert done.stderr.startswith("docs/en/training/mixup.md:1: F104 ")
    assert set(cookbook.root.rglob("*")) == before
