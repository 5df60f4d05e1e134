"""``new`` writes a recipe that runs, or says why not and writes nothing."""

import pytest

from cookbook.catalogue import Catalogue
from cookbook.contributing import scaffold
from cookbook.pages import LANGUAGES
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


def test_the_longest_files_are_formatted_and_fit_the_lines(cookbook):
    """The longest slug, in the category with the longest name."""
    categories = Catalogue(cookbook.root).categories
    category = max((each.slug for each in categories), key=len)
    recipe = f"{category}/{'a' * scaffold.LONGEST}"
    paths = scaffold.create(Catalogue(cookbook.root), recipe, {}, gpu=True)
    snippet, test = map(str, paths[:2])
    (cookbook.root / "tests/helpers.py").symlink_to(ROOT / "tests/helpers.py")
    narrow = ("--line-length", "79")
    for command in (
        ("check", snippet, test),
        ("check", *narrow, snippet),
        ("format", "--check", *narrow, snippet),
        ("format", "--check", test),
    ):
        done = cookbook.command("ruff", *command, "--no-cache")
        assert done.returncode == 0, done.stdout


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


def test_titles_are_kept_as_they_are_given(cookbook, new):
    titles = {"en": 'A: "quoted" title', "zh": "带冒号: 的标题"}
    options = ["--title-en", titles["en"], "--title-zh", titles["zh"]]
    new("training/ema-weights", *options)
    recipe = Catalogue(cookbook.root).by_slug["ema-weights"]
    assert {lang: recipe.title(lang) for lang in LANGUAGES} == titles


@pytest.mark.parametrize(("option", "mark"), [((), None), (("--gpu",), "gpu")])
def test_gpu_marks_the_block_of_both_pages(cookbook, new, option, mark):
    new("training/ema-weights", *option)
    recipe = Catalogue(cookbook.root).by_slug["ema-weights"]
    for page in recipe.pages.values():
        assert [block.mark for block in page.blocks] == [mark]
    source = (cookbook.root / FILES[0]).read_text("utf-8")
    assert ('device="cuda"' in source) == (mark == "gpu")


REFUSED = {
    "training/label-smoothing": "label-smoothing exists already: "
    "docs/en/training/label-smoothing.md; improve that page, or rename yours",
    "data/label-smoothing": "label-smoothing exists already: "
    "docs/en/training/label-smoothing.md; improve that page, or rename yours",
    "training/tiny-task": "tiny-task is covered by "
    "docs/en/training/label-smoothing.md; remove it from there first (line 4)",
    "training/old-task": "old-task is an old address, see docs/moved.yml; choose "
    "another slug; old links must not lead to another task",
    "training/taken": "snippets/training/taken.py exists already; choose another slug, "
    "or remove the file",
    **{
        recipe: f"{recipe} names no recipe; write training/ema-weights"
        for recipe in (
            "training/EMA_Weights",
            "training/ema weights",
            "training\\ema-weights",
        )
    },
    "training/2d-conv": "2d-conv is no slug; write lower-case words joined by -, the "
    "first beginning with a letter",
    **{
        f"training/{module}": f"{module} is a module's name, which the snippet would "
        "hide; write a slug of several words that name the task"
        for module in ("logging", "random", "numpy", "torch")
    },
    "training/del": "del is a keyword of Python; write a slug of several words",
    f"training/{'a' * 37}": f"{'a' * 37} has 37 characters; write a slug of at most 36",
    "trainig/x": "unknown category trainig; choose one of docs/categories.yml: "
    "training",
    "cooking/x": "unknown category cooking; choose one of docs/categories.yml: "
    + ", ".join(category.slug for category in Catalogue(ROOT).categories),
    "ema-weights": "ema-weights names no recipe; write <category>/<slug>, such as "
    "training/ema-weights",
    "training/../x": "training/../x names no recipe; write <category>/<slug>, such as "
    "training/ema-weights",
}


@pytest.mark.parametrize("recipe", REFUSED)
def test_what_is_refused_is_named_with_its_remedy(cookbook, recipe):
    page = "docs/en/training/label-smoothing.md"
    cookbook.replace(page, "aliases:", "covers: [tiny-task]\naliases:")
    cookbook.write("docs/moved.yml", MOVED)
    cookbook.write("snippets/training/taken.py", "")
    before = files_of(cookbook)
    with pytest.raises(scaffold.ScaffoldError) as caught:
        scaffold.create(Catalogue(cookbook.root), recipe, {}, gpu=False)
    assert str(caught.value) == REFUSED[recipe]
    assert files_of(cookbook) == before


def test_a_refusal_ends_the_command(new):
    done = new("trainig/x")
    assert done.returncode == 1
    assert done.stderr == f"{REFUSED['trainig/x']}\n"


def test_a_page_that_can_not_be_read_is_named(cookbook, new):
    cookbook.replace("docs/en/training/label-smoothing.md", "Use it", "Use: it")
    done = new("training/ema-weights")
    assert done.returncode == 1
    assert done.stderr.startswith("docs/en/training/label-smoothing.md:3: P102 ")
