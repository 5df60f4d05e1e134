"""``new`` writes a recipe that runs, or says why not and writes nothing."""

import pytest

from tests.helpers import ROOT

FILES = [
    "snippets/training/ema_weights.py",
    "tests/snippets/training/test_ema_weights.py",
    "docs/en/training/ema-weights.md",
    "docs/zh/training/ema-weights.md",
]


def test_what_is_written_is_in_order_and_runs_but_for_its_todos(cookbook):
    before = cookbook.texts()
    done = cookbook.command("cookbook", "new", "training/ema-weights")
    assert done.returncode == 0, done.stderr
    texts, lines = cookbook.texts(), done.stdout.splitlines()
    assert texts.keys() - before.keys() == set(FILES)
    assert [line.strip() for line in lines if line.strip() in FILES] == FILES
    for file in FILES:
        text = texts[file].split("\n")
        marked = [number for number, line in enumerate(text, 1) if "TODO" in line]
        assert marked
        for number in marked:
            assert any(line.startswith(f"  {file}:{number}: TODO: ") for line in lines)
    assert "  .venv/bin/python -m cookbook check ema-weights --fix" in lines
    assert any("- ema-weights in a group of docs/categories.yml" in li for li in lines)
    assert "  .venv/bin/python -m cookbook parity ema-weights" in lines

    (problem,) = [p for p in cookbook.problems() if " F103 " not in p]
    assert " P405 ema-weights is in no group of training; add - ema-weights" in problem
    (cookbook.root / "tests/helpers.py").symlink_to(ROOT / "tests/helpers.py")
    # It loads the snippet, which runs all of its lines.
    run = cookbook.command("pytest", "-p", "no:cacheprovider", FILES[1])
    assert run.returncode == 0, run.stdout
    assert "= 1 passed in " in run.stdout


NO_RECIPE = "names no recipe; write <category>/<slug>, in lower-case words joined by -"
REFUSED = {
    "training/label-smoothing": "docs/en/training/label-smoothing.md exists already; ",
    "data/label-smoothing": "docs/en/training/label-smoothing.md exists already; impro",
    "training/taken": "snippets/training/taken.py exists already; improve that, or ",
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
    cookbook.write("snippets/training/taken.py", "")
    before = cookbook.texts()
    done = cookbook.command("cookbook", "new", recipe)
    assert done.returncode == 1
    assert done.stderr.startswith(REFUSED[recipe])
    assert done.stderr.count("\n") == 1
    assert cookbook.texts() == before
