"""``python -m cookbook check <slug>`` checks one recipe, and ``--fix`` mends it."""

import pytest

from tests.engine.plants import OUTPUT, PAGE, SNIPPET, TEST, TWIN, plant
from tests.helpers import ROOT


def check(cookbook, *arguments: str):
    return cookbook.command("cookbook", "check", *arguments)


def test_all_that_is_wrong_is_shown_at_once(cookbook):
    plant(
        cookbook,
        py="x = {1:2}",
        both="```bash\nexit\t3\n```",
        test="import os  # TO" + "DO\n\n\ndef test_sum():\n    assert 1 == 2\n",
    )
    done = check(cookbook, "label-smoothing")
    assert done.returncode == 1
    for expected in (
        f"  {TEST}:8: F103",  # structure
        f"{TEST}:8:8: F401",  # lint
        "-x = {1:2}\n+x = {1: 2}\n",  # form
        f"{PAGE}:12: exited with code 3",  # a block
        f"{PAGE}:12: P222 shown otherwise than run",  # the referee
        "def test_sum():\n>       assert 1 == 2\n",  # a test
    ):
        assert expected in done.stdout
    assert done.stdout.endswith("\nnot in order; see above\n")


@pytest.mark.usefixtures("nothing_run")
def test_the_faults_of_other_recipes_are_not_shown(cookbook):
    cookbook.recipe("other", '"""Add."""\n\nprint(1)\n')
    assert check(cookbook, "label-smoothing").returncode == 0
    assert check(cookbook, "other", "label-smoothing").returncode == 1
    plant(cookbook, en=["title: The label-smoothing", "title: The other"])
    done = check(cookbook, "label-smoothing")  # but what it takes from them is
    assert f"  {PAGE}:4: P407 the other: title or aliases of another" in done.stdout


def test_an_unknown_slug_is_refused_with_one_like_it(cookbook):
    done = check(cookbook, "lable-smoothing")
    assert done.returncode == 1
    assert done.stderr == "lable-smoothing: no such recipe; write label-smoothing\n"


def test_a_page_in_no_category_is_named(cookbook):
    plant(cookbook, move="trainig/label-smoothing.md")
    done = check(cookbook, "label-smoothing")
    assert done.returncode == 1
    assert done.stderr == (
        "docs/en/trainig/label-smoothing.md:1: P401 unknown category trainig; add it "
        "to docs/categories.yml, or move the page\n"
    )


UNREADABLE = {
    "not YAML": ({"zh": ["随时可用", "随时: 可用"], "en": False}, ":3: P102 the front"),
    "without a title": (
        {"zh": ["title: 条目 label-smoothing\n", ""], "en": False},
        ":1: P106 no title; write title: …",
    ),
    "not UTF-8": ({"zh": {"encoding": "gb18030"}}, f":2: F104 {TWIN} is not UTF-8"),
}


@pytest.mark.usefixtures("nothing_run")
@pytest.mark.parametrize("name", UNREADABLE)
def test_a_page_that_can_not_be_read_is_named_by_every_command(cookbook, name):
    changes, message = UNREADABLE[name]
    plant(cookbook, **changes)
    for command, expected in (
        (["check", "label-smoothing"], f"  {TWIN}{message}"),
        (["check"], f"  {TWIN}{message}"),
        (["find", "smoothing"], f"{TWIN}{message}"),
    ):
        done = cookbook.command("cookbook", *command)
        assert f"\n{expected}" in f"\n{done.stdout}{done.stderr}", command
        assert done.returncode == (1 if expected else 0), command
        # Though two checks look at the encoding.
        assert done.stdout.count(f"{TWIN}{message}") <= 1


def test_what_can_not_be_read_is_not_run(cookbook):
    plant(cookbook, zh=["随时可用", "随时: 可用"], en=False)
    done = check(cookbook, "label-smoothing")
    assert "its blocks and tests" not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == 1


@pytest.mark.usefixtures("nothing_run")
def test_mending_changes_no_string(cookbook):
    text = 'TEXT = """a\tb\nx   \n"""\nSEPARATOR = "\t"\n'
    plant(cookbook, test=text)
    check(cookbook, "--fix", "label-smoothing")
    assert text in (cookbook.root / TEST).read_text("utf-8")


@pytest.mark.usefixtures("nothing_run")
def test_what_needs_a_gpu_is_said_not_to_have_run(cookbook):
    plant(cookbook, both="<!--pytest.mark.gpu-->\n```bash\nnvidia-smi\n```")
    done = check(cookbook, "label-smoothing")
    assert done.returncode == 0, done.stdout
    assert (
        "  training/label-smoothing:2: not run, it needs a GPU; make test-gpu runs it, "
        "for a pull request a maintainer\n"
    ) in done.stdout
    assert done.stdout.endswith("\nall in order\n")


DOUBLES = """import os, runpy, re

assert os.environ["CUDA_VISIBLE_DEVICES"] == ""

def test_double():
  assert runpy.run_path('snippets/training/label_smoothing.py')["f"](3)==6
"""
DOUBLE = '\n\ndef f(x:int)->int:\n\t"""Double."""\n\treturn 2*x  \n\n\nprint(f(1))\n\n'


def test_what_a_machine_can_mend_is_mended_and_each_step_named(cookbook, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    plant(cookbook, py=DOUBLE)
    cookbook.write(TEST, DOUBLES)
    done = check(cookbook, "--fix", "label-smoothing")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    changed = sorted((SNIPPET, OUTPUT, TEST))
    assert lines[:5] == [
        *(f"changed {path}" for path in changed),
        "label-smoothing: structure of its files",
        "warnings, which fail nothing:",  # nobody has confirmed the translation
    ]
    assert "ruff check" in lines
    assert "its blocks and tests" in lines
    assert any(line.startswith("3 passed in ") for line in lines)
    assert lines[-1] == "all in order"
    assert (cookbook.root / OUTPUT).read_text("utf-8") == "2\n"


@pytest.mark.usefixtures("nothing_run")
def test_a_new_alias_that_holds_another_recipes_is_named(cookbook):
    cookbook.recipe("other", cookbook.CLAIM)
    cookbook.replace("docs/en/training/other.md", "[other]", "[out of memory]")
    plant(cookbook, en=["[label-smoothing]", "[GPU Out of Memory in training]"])
    said = "P409 the new alias GPU Out of Memory in training holds an alias of other"
    assert said in check(cookbook, "label-smoothing").stdout
    cookbook.commit()
    assert said not in check(cookbook, "label-smoothing").stdout


ONE_LANGUAGE = """
from tests import helpers

helpers.ROOT = helpers.Path.cwd()

def test_errors():
    with helpers.raises_as_documented("training/label-smoothing", "KeyError:"):
        {}[1]
"""


def test_one_language_is_enough_for_messages(cookbook):
    plant(cookbook, zh="```pytb\nKeyError: 1\n```", en=False, test=ONE_LANGUAGE)
    (cookbook.root / "tests/helpers.py").symlink_to(ROOT / "tests/helpers.py")
    run = cookbook.command("pytest", "-p", "no:cacheprovider", TEST)
    assert run.returncode == 0, run.stdout
