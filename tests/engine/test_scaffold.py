"""``new`` writes a recipe that runs, or says why not and writes nothing."""

import pytest

from cookbook.catalogue import Catalogue
from cookbook.contributing import scaffold
from tests.helpers import ROOT

FILES = [
    "snippets/training/ema_weights.py",
    "tests/snippets/training/test_ema_weights.py",
    "docs/en/training/ema-weights.md",
    "docs/zh/training/ema-weights.md",
]
MOVED = "training/old-task: training/label-smoothing\n"


def files_of(cookbook) -> set[str]:
    """Every file but what Python itself leaves."""
    return {
        path.relative_to(cookbook.root).as_posix()
        for path in cookbook.root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture
def new(cookbook):
    """Runs ``python -m cookbook new``, as make new does."""
    return lambda *arguments: cookbook.command("cookbook", "new", *arguments)


def test_the_files_are_in_order_and_run_but_for_their_todos(cookbook, new):
    before = files_of(cookbook)
    done = new("training/ema-weights")
    assert done.returncode == 0, done.stderr
    assert files_of(cookbook) - before == set(FILES)
    assert [p for p in cookbook.problems() if " F103 " not in p] == []
    (cookbook.root / "tests/helpers.py").symlink_to(ROOT / "tests/helpers.py")
    run = cookbook.pytest(FILES[1], "-k", "ema_weights or shown")
    assert run.code == 0, run.stdout
    assert run.of("ema-weights") == ("passed", "")
    assert any("test_ema_weights" in path for path, _ in run.outcomes)


def test_the_answer_names_every_todo_and_the_next_command(cookbook, new):
    lines = new("training/ema-weights").stdout.splitlines()
    assert [line.strip() for line in lines if line.strip() in FILES] == FILES
    for file in FILES:
        text = (cookbook.root / file).read_text("utf-8").split("\n")
        marked = [number for number, line in enumerate(text, 1) if "TODO" in line]
        assert marked
        for number in marked:
            assert any(line.startswith(f"  {file}:{number}: TODO: ") for line in lines)
    assert "  .venv/bin/python -m cookbook check ema-weights --fix" in lines
    text = (cookbook.root / "docs/categories.yml").read_text("utf-8").splitlines()
    line = text.index("    - label-smoothing") + 1
    assert text[line] == "    - ema-weights"
    assert f"  docs/categories.yml:{line + 1}" in lines
    assert "  .venv/bin/python -m cookbook parity ema-weights" in lines


NO_RECIPE = "names no recipe; write <category>/<slug>, in lower-case words joined by -"
REFUSED = {
    "training/label-smoothing": "label-smoothing exists already: "
    "docs/en/training/label-smoothing.md; improve that page, or rename yours",
    "training/old-task": "old-task is an old address, see docs/moved.yml; choose ",
    "training/taken": "snippets/training/taken.py exists already; choose another slug",
    "trainig/x": "unknown category trainig; choose one of docs/categories.yml: "
    "training",
    "cooking/x": "unknown category cooking; choose one of docs/categories.yml: setup, ",
    **{
        recipe: f"{recipe} {NO_RECIPE}"
        for recipe in ("ema-weights", "training/EMA_Weights", "training/../x", "a/2d")
    },
}


@pytest.mark.parametrize("recipe", REFUSED)
def test_what_is_refused_is_named_with_its_remedy(cookbook, recipe):
    cookbook.write("docs/moved.yml", MOVED)
    cookbook.write("snippets/training/taken.py", "")
    before = files_of(cookbook)
    with pytest.raises(scaffold.ScaffoldError) as caught:
        scaffold.create(Catalogue(cookbook.root), recipe)
    assert str(caught.value).startswith(REFUSED[recipe])
    assert files_of(cookbook) == before


def test_a_refusal_ends_the_command(new):
    done = new("trainig/x")
    assert done.returncode == 1
    assert done.stderr == f"{REFUSED['trainig/x']}\n"
