"""``python -m cookbook check <slug>`` checks one recipe, and ``--fix`` mends it."""

import codecs
import os
import subprocess
import sys

import pytest

from tests.engine.plants import (
    PAGE,
    SNIPPET,
    TEST,
    TWIN,
    Append,
    Both,
    Change,
    Encode,
    Move,
    Remove,
    coded,
)
from tests.engine.test_changed import commit, git

OUTPUT = SNIPPET.replace(".py", ".out")


def check(cookbook, *arguments: str):
    return cookbook.command("cookbook", "check", *arguments)


def test_each_step_is_named_and_all_is_in_order(cookbook):
    done = check(cookbook, "label-smoothing")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "label-smoothing: structure of its files",
        "warnings, which fail nothing:",  # nobody has confirmed the translation
    ]
    assert "ruff check" in lines
    assert "its blocks, pages and tests" in lines
    assert lines[-4].startswith(
        "  5 passed"
    )  # a test; a block and a referee per language
    assert lines[-3] == "what its tests do not notice"
    assert lines[-2] == f"  {SNIPPET}: 0 of 0 mutants noticed"
    assert lines[-1] == "all in order"


PLANTED = Both(
    coded("import unlisted\n\nx = {1:2}\n"),
    Append(PAGE, TWIN, text="\n```bash\nexit 3\n```\n"),
    Append(
        TEST, text="import os  # TO" + "DO\n\n\ndef test_sum():\n    assert 1 == 2\n"
    ),
)


def test_all_that_is_wrong_is_shown_at_once(cookbook):
    PLANTED(cookbook)
    done = check(cookbook, "label-smoothing")
    assert done.returncode == 1
    for expected in (
        f"  {TEST}:8: F103",  # structure
        f"{TEST}:8:8: F401",  # lint
        "-x = {1:2}\n+x = {1: 2}\n",  # form
        f"{SNIPPET}:4: needs unlisted, which is not installed here",  # a block
        f"{PAGE}:12: exited with code 3",
        "def test_sum():\n>       assert 1 == 2\n",  # a test
    ):
        assert expected in done.stdout
    assert done.stdout.endswith("\nnot in order; see above\n")


def test_the_page_is_refereed(cookbook):
    Append(PAGE, TWIN, text="\n~~~bash\nls\n~~~\n")(cookbook)
    done = check(cookbook, "label-smoothing")
    assert done.returncode == 1
    assert "P210 ~~~bash begins a block" in done.stdout


def test_the_faults_of_other_recipes_are_not_shown(cookbook):
    cookbook.recipe("other", '"""Add."""\n\nprint(1)\n')
    assert check(cookbook, "label-smoothing").returncode == 0
    assert check(cookbook, "label-smoothing", "other").returncode == 1


def test_an_unknown_slug_is_refused_with_one_like_it(cookbook):
    done = check(cookbook, "lable-smoothing")
    assert done.returncode == 1
    assert done.stderr == "lable-smoothing: no such recipe; write label-smoothing\n"


def test_a_page_in_no_category_is_named(cookbook):
    Move("trainig/label-smoothing.md")(cookbook)
    done = check(cookbook, "label-smoothing")
    assert done.returncode == 1
    assert done.stderr == (
        "docs/en/trainig/label-smoothing.md:1: P401 unknown category trainig; add it "
        "to docs/categories.yml, or move the page\n"
    )


FRONT = {
    "not YAML": (
        Change(TWIN, old="随时可用", new="随时: 可用"),
        ":3: P102 the front matter",
    ),
    "without a title": (
        Change(TWIN, old="title: 条目 label-smoothing\n", new=""),
        ":1: P106 no title; write title: …",
    ),
    "not UTF-8": (Encode(TWIN, "gb18030"), f":2: F104 {TWIN} is not UTF-8"),
}


@pytest.mark.parametrize(
    ("name", "only"),
    [("not YAML", True), ("without a title", True), ("not UTF-8", False)],
)
def test_a_page_that_can_not_be_read_is_named_by_every_command(cookbook, name, only):
    plant, message = FRONT[name]
    plant(cookbook)
    if only:
        Remove(PAGE)(cookbook)
    cookbook.write("README.md", "")
    git(cookbook, "init", "--quiet")
    commit(cookbook)
    for command, expected in (
        (["check", "label-smoothing"], f"  {TWIN}{message}"),
        (["check"], f"  {TWIN}{message}"),
        (["find", "smoothing"], f"{TWIN}{message}"),
        (["changed", "HEAD"], ""),
    ):
        done = cookbook.command("cookbook", *command)
        assert "Traceback" not in done.stdout + done.stderr, command
        assert f"\n{expected}" in f"\n{done.stdout}{done.stderr}", command
        assert done.returncode == (1 if expected else 0), command
    once = check(cookbook).stdout  # though two checks look at the encoding
    assert once.count(f"{TWIN}{message}") == 1


@pytest.mark.parametrize(
    ("path", "encoding"), [(TWIN, "gb18030"), (SNIPPET, "utf-8-sig")]
)
def test_a_file_in_another_encoding_is_named(cookbook, path, encoding):
    coded('\nx = "标签"\n')(cookbook)
    Encode(path, encoding)(cookbook)
    before = (cookbook.root / path).read_bytes()
    for command in (
        ["cookbook", "check", "label-smoothing"],
        ["pytest", "docs", "-q", "-p", "no:cacheprovider"],
        ["mkdocs", "build", "--strict"],
    ):
        done = cookbook.command(*command)
        assert done.returncode != 0, command
        printed = done.stdout + done.stderr
        assert f"F104 {path} is not UTF-8" in printed, command
        assert "Traceback" not in printed, command
        assert "UnicodeDecodeError" not in printed, command
    mended = check(cookbook, "--fix", "label-smoothing")
    assert "Traceback" not in mended.stdout + mended.stderr
    assert (mended.returncode == 0) == (encoding == "utf-8-sig")
    after = (cookbook.root / path).read_bytes()
    assert after == before.removeprefix(codecs.BOM_UTF8)


def test_a_reader_who_has_seen_enough_is_no_error(cookbook):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "cookbook", "find", "smoothing"]
    done = subprocess.run(
        command, cwd=cookbook.root, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_mending_changes_no_string(cookbook):
    text = 'TEXT = """a\tb\nx   \n"""\nSEPARATOR = "\t"\n'
    Append(TEST, text=text)(cookbook)
    check(cookbook, "--fix", "label-smoothing")
    assert text in (cookbook.root / TEST).read_text("utf-8")


def test_mending_gives_no_id_twice(cookbook):
    Append(PAGE, text="\n## Example\n\n## Example\n")(cookbook)
    Append(TWIN, text="\n## 例一\n\n## 例二\n")(cookbook)
    check(cookbook, "--fix", "label-smoothing")
    assert (cookbook.root / PAGE).read_text("utf-8").count("{#example}") == 1


def test_a_recipe_is_checked_on_the_cpu(cookbook):
    claim = 'assert os.environ["CUDA_VISIBLE_DEVICES"] == ""\n'
    Change(TEST, old="import runpy\n", new=f"import os\nimport runpy\n\n{claim}")(
        cookbook
    )
    arguments = ("cookbook", "check", "label-smoothing")
    done = cookbook.command(*arguments, CUDA_VISIBLE_DEVICES="0")
    assert done.returncode == 0, done.stdout


def test_what_needs_a_gpu_is_said_not_to_have_run(cookbook):
    nvidia = "\n<!--pytest.mark.gpu-->\n```bash\nnvidia-smi\n```\n"
    Append(PAGE, TWIN, text=nvidia)(cookbook)
    done = check(cookbook, "label-smoothing")
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith(
        "  training/label-smoothing:2: not run, it needs a GPU; make test-gpu runs it, "
        "for a pull request a maintainer\nall in order\n"
    )


DOUBLES = """import runpy, re

def test_double():
  print(re)
  assert runpy.run_path('snippets/training/label_smoothing.py')["f"](3)==6
"""


def test_what_a_machine_can_mend_is_mended_and_said(cookbook):
    code = (
        '\n\ndef f(x:int)->int:\n\t"""Double."""\n\treturn 2*x  \n\n\nprint(f(1))\n\n'
    )
    coded(code)(cookbook)
    cookbook.write(TEST, DOUBLES)
    Append(PAGE, text="\n## Why it works\n\n### A trap {#trap}\n\n")(cookbook)
    Append(TWIN, text="\n## 原理\n\n### 一个坑\n")(cookbook)
    done = check(cookbook, "--fix", "label-smoothing")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    changed = [line for line in lines if line.startswith("changed")]
    paths = sorted((PAGE, TWIN, SNIPPET, OUTPUT, TEST))
    assert changed == [f"changed {path}" for path in paths]

    page, twin = ((cookbook.root / path).read_text("utf-8") for path in (PAGE, TWIN))
    assert page.endswith("\n## Why it works {#why-it-works}\n\n### A trap {#trap}\n")
    assert twin.endswith("\n## 原理 {#why-it-works}\n\n### 一个坑 {#trap}\n")
    assert (cookbook.root / OUTPUT).read_text("utf-8") == "2\n"

    again = check(cookbook, "--fix", "label-smoothing")
    assert "changed" not in again.stdout
