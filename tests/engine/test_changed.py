"""``changed`` names the recipes that a change touches, and no others."""

import subprocess
from pathlib import Path

import pytest

from cookbook.catalogue import Catalogue
from cookbook.contributing import changed

CLAIM = '"""Add."""\n\nassert 1 + 1 == 2\n'
BOTH = ["label-smoothing", "other"]
EVERY_PAGE = ["docs"]
OTHER = [
    "docs/en/training/other.md",
    "docs/zh/training/other.md",
    "tests/snippets/training/test_other.py",
]


@pytest.fixture
def repository(cookbook):
    """Two recipes that are committed, as the branch main."""
    cookbook.recipe("other", CLAIM)
    cookbook.write("tests/snippets/training/test_other.py", "")
    cookbook.write("README.md", "")
    git(cookbook, "init", "--quiet", "--initial-branch=main")
    commit(cookbook)
    return cookbook


def git(cookbook, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    subprocess.run(["git", *identity, *arguments], cwd=cookbook.root, check=True)


def commit(cookbook) -> None:
    git(cookbook, "add", "--all")
    git(cookbook, "commit", "--quiet", "--message=x")


def printed(cookbook, *arguments: str) -> list[str]:
    done = cookbook.command("cookbook", "changed", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


CHANGES = {
    "docs/en/training/other.md": ["other"],
    "docs/zh/training/other.md": ["other"],
    "snippets/training/other.py": ["other"],
    "snippets/training/other.out": ["other"],
    "tests/snippets/training/test_other.py": ["other"],
    "README.md": [],
    ".github/CODEOWNERS": [],
    "verified/cpu.json": [],
    "tests/engine/test_x.py": [],
    "requirements.txt": BOTH,
    "mkdocs.zh.yml": BOTH,
    "pyproject.toml": BOTH,
    "tests/helpers.py": BOTH,
    "conftest.py": BOTH,
}


@pytest.mark.parametrize("path", CHANGES)
def test_a_file_touches_its_recipes(repository, path):
    file = repository.root / path
    before = file.read_text("utf-8") if file.exists() else ""
    repository.write(path, f"{before}\n# changed\n")
    assert printed(repository, "main") == CHANGES[path]


def test_the_engine_touches_every_recipe(repository):
    paths = [Path("README.md"), Path("cookbook/pages.py")]
    found = changed.recipes(Catalogue(repository.root), paths)
    assert [recipe.slug for recipe in found] == BOTH


def test_committed_and_uncommitted_changes_count_but_not_those_of_main(repository):
    git(repository, "switch", "--quiet", "--create=branch")
    repository.write("snippets/training/other.out", "2\n")
    commit(repository)
    git(repository, "switch", "--quiet", "main")
    repository.write("docs/en/training/label-smoothing.md", "changed on main")
    commit(repository)
    git(repository, "switch", "--quiet", "branch")
    assert printed(repository, "main") == ["other"]
    repository.write("snippets/training/label_smoothing.out", "2\n")
    assert printed(repository, "main") == BOTH


def test_a_page_that_shows_a_snippet_of_another_is_touched_by_it(repository):
    block = '```python\n--8<-- "training/other.py"\n```\n'
    for lang in ("en", "zh"):
        repository.page(lang, "third", block)
    commit(repository)
    repository.write("snippets/training/other.py", f"{CLAIM}assert True\n")
    assert printed(repository, "main") == ["other", "third"]


def test_paths_are_what_pytest_is_to_run(repository):
    assert printed(repository, "main", "--paths") == []
    repository.write("snippets/training/other.py", f"{CLAIM}assert True\n")
    assert printed(repository, "main", "--paths") == OTHER
    repository.write("requirements.txt", "torch\n")
    assert printed(repository, "main", "--paths") == EVERY_PAGE


def test_a_page_that_is_removed_is_not_run(repository):
    (repository.root / OTHER[1]).unlink()
    assert printed(repository, "main", "--paths") == [OTHER[0], OTHER[2]]


def test_an_unknown_commit_is_named(repository):
    done = repository.command("cookbook", "changed", "nowhere")
    assert done.returncode == 1
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr
