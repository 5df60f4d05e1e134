"""What contributors are told agrees with what there is."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml
from packaging.utils import canonicalize_name

from cookbook.catalogue import Catalogue
from cookbook.rules import RULES
from cookbook.site import feedback
from tests.helpers import ROOT

FORMS = ROOT / ".github/ISSUE_TEMPLATE"
GUIDES = {"en": "CONTRIBUTING.md", "zh": "CONTRIBUTING.zh.md"}
PACKAGE = re.compile(r"[A-Za-z][\w.-]*")  # at the start of a line of requirements
REPOSITORY = "https://example.org/o/r"


@pytest.mark.parametrize("lang", GUIDES)
def test_the_guides_quote_rules_as_they_are(lang):
    text = (ROOT / GUIDES[lang]).read_text("utf-8")
    quoted = re.findall(r"`([A-Z]\d{3})(?: ([^`]+))?`", text)
    by_code = {rule.code: rule for rule in RULES.values()}
    assert quoted
    for code, words in quoted:
        assert getattr(by_code[code], lang)[0].startswith(words), code


def test_the_guides_have_the_same_sections_commands_and_rows():
    shapes = []
    for name in GUIDES.values():
        text = (ROOT / name).read_text("utf-8")
        commands = re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        rows = [line.count("|") for line in text.splitlines() if line.startswith("|")]
        headings = re.findall(r"^(#+) ", text, re.MULTILINE)
        shapes.append((headings, commands, rows))
    assert shapes[0] == shapes[1]


def test_what_is_asked_for_is_pinned():
    """A package that is not pinned is installed for nobody."""
    pins = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    pinned = {
        canonicalize_name(found[0]) for found in map(PACKAGE.match, pins) if found
    }
    command = next(line.strip("# ") for line in pins if "uv pip compile" in line)
    unpinned = [
        f"{file.name}:{number}: {found[0]} is not in requirements.txt; run {command}"
        for file in sorted(ROOT.glob("requirements*.in"))
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1)
        if (found := PACKAGE.match(line)) and canonicalize_name(found[0]) not in pinned
    ]
    assert unpinned == []


def fields(form: str) -> set[str]:
    document = yaml.safe_load((FORMS / form).read_text("utf-8"))
    return {each["id"] for each in document["body"]}


def test_a_page_fills_in_the_form_for_faults():
    catalogue = Catalogue(ROOT, REPOSITORY)
    recipe = catalogue.by_slug["label-smoothing"]
    query = dict(parse_qsl(urlsplit(feedback.wrong(catalogue, recipe, "zh")).query))
    assert query.pop("template") == feedback.WRONG
    assert query.pop("title") == "[label-smoothing] "
    assert query.keys() <= fields(feedback.WRONG)
    assert query["recipe"] == "label-smoothing"
    assert query["page"] == "zh/training/label-smoothing/"
    assert query["recorded"] == f"torch {catalogue.records[0].torch}"


def test_without_a_repository_there_is_no_address():
    catalogue = Catalogue(ROOT)
    assert feedback.wrong(catalogue, catalogue.recipes[0], "en") is None
    assert feedback.recipe_wanted("") is None


def workflow(name: str) -> dict:
    text = (ROOT / ".github/workflows" / f"{name}.yml").read_text("utf-8")
    return yaml.safe_load(text)["jobs"]


BROKEN = "snippets/training/label_smoothing.py"


def test_problems_are_marked_in_the_diff_where_they_are(cookbook, nothing_run):
    matchers = json.loads((ROOT / ".github/problems.json").read_text("utf-8"))
    (pattern,) = matchers["problemMatcher"][0]["pattern"]
    cookbook.replace(BROKEN, "assert 1 + 1 == 2", "assert 1 + 1 == 3")
    cookbook.write("docs/en/training/label-smoothing.md", "no front matter\n")
    failed = cookbook.command("pytest", "docs/zh", "-p", "no:cacheprovider").stdout
    checked = cookbook.command("cookbook", "check", "label-smoothing").stdout
    printed = failed + checked + f"{BROKEN}:3:1: B011 as ruff says it\n"
    marked = re.findall(pattern["regexp"], printed, re.MULTILINE | re.ASCII)
    assert (BROKEN, "3", "exited with code 1") in marked
    assert (BROKEN, "3", "B011 as ruff says it") in marked
    assert any(file == "docs/en/training/label-smoothing.md" for file, *_ in marked)
    assert all((cookbook.root / file).is_file() for file, *_ in marked)


def run_step(step: dict, folder: Path) -> subprocess.CompletedProcess:
    command = ["bash", "--noprofile", "--norc", "-e", "-c", step["run"]]
    env = {**os.environ, "TARGET": "again"}
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )


PAGE = "docs/en/training/mixup.md"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (f"FAILED {PAGE}::a.py - x\nERROR {PAGE}\n", f"- `{PAGE}::a.py`: make again"),
        ("make: *** [Makefile:9: again] Error 1\n", "- make again could not run"),
        ("", "- make again could not run"),
    ],
)
def test_the_weekly_list_names_what_fails(tmp_path, printed, expected):
    (tmp_path / "printed.txt").write_text(printed)
    steps = workflow("weekly")["run"]["steps"]
    (step,) = [step for step in steps if step.get("name") == "Name what failed"]
    done = run_step(step, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "failures.md").read_text().splitlines()
    assert lines[0] == expected


TOUCHED = {
    "snippets/training/other.out": [
        "docs/en/training/other.md",
        "docs/en/training/third.md",
        "docs/zh/training/other.md",
        "docs/zh/training/third.md",
        "tests/snippets/training/test_other.py",
    ],
    "docs/zh/training/other.md": ["docs/zh/training/other.md"],
    "tests/snippets/training/test_other.py": ["tests/snippets/training/test_other.py"],
    "README.md": [],
    "tests/engine/test_x.py": [],
    "requirements.txt": ["docs"],
    "cookbook/pages.py": ["docs"],
}


@pytest.mark.parametrize("path", TOUCHED)
def test_a_pull_request_runs_the_pages_and_tests_that_it_touches(cookbook, path):
    cookbook.recipe("other", cookbook.CLAIM)
    for lang in ("en", "zh"):
        cookbook.page(lang, "third", '```python\n--8<-- "training/other.py"\n```\n')
    cookbook.git("init", "--quiet")
    cookbook.commit()
    if path.startswith("cookbook"):  # in the tiny cookbook, a link
        cookbook.git("mv", "cookbook", "engine")
    cookbook.write(path, "# changed\n")
    cookbook.commit()
    steps = workflow("pull_request")["changed"]["steps"]
    (step,) = [step for step in steps if step.get("name", "").startswith("Find the")]
    done = run_step(step, cookbook.root)
    assert done.returncode == 0, done.stderr
    assert (cookbook.root / "paths.txt").read_text().splitlines() == TOUCHED[path]


NEEDED = ("torch", "numpy", "pytest", "pytest-codeblocks", "Markdown", "psutil")
NEEDED += ("markdown-it-py", "pymdown-extensions", "PyYAML")
# What the site and the checks import besides.
MISSING = ("jsonschema", "material", "mkdocs", "pathspec")
MISSING += ("playwright", "rjsmin", "ruff", "sklearn", "zizmor")


def test_blocks_run_with_no_more_packages_than_the_guides_name(cookbook):
    for guide in GUIDES.values():
        text = " ".join((ROOT / guide).read_text("utf-8").split())
        assert all(re.search(rf"\b{name}\b", text, re.ASCII) for name in NEEDED)
    lines = ["import sys", *(f"sys.modules[{name!r}] = None" for name in MISSING)]
    cookbook.write("missing.py", "\n".join(lines))
    options = ("-p", "missing", "--verify", "-k", "label_smoothing.py")
    run = cookbook.pytest(*options)
    assert run.code == 0, run.stdout + run.stderr
    assert run.of("label-smoothing") == ("passed", "")


WITHOUT = ("numpy", "playwright", "psutil", "pytest", "pytest_codeblocks", "sklearn")
WITHOUT += ("torch", "torchvision", "xdist")
LIGHT = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({WITHOUT}))
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""


def test_the_light_environment_suffices(cookbook):
    for argv, expected in {
        "cookbook check label-smoothing": "not installed; make setup installs it",
        "cookbook find smoothing": "snippets/training/label_smoothing.py",
        "mkdocs build --strict": "",
        "cookbook check": "structure of pages and snippets",
        "cookbook new training/ema-weights": "snippets/training/ema_weights.py",
    }.items():
        command = [sys.executable, "-c", LIGHT, *argv.split()]
        done = subprocess.run(
            command, cwd=cookbook.root, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert expected in done.stdout, argv


def test_the_full_environment_adds_to_the_light_one():
    names = ("requirements.in", "requirements-site.in")
    full, light = ((ROOT / name).read_text("utf-8") for name in names)
    assert f"-r {names[1]}\n" in full
    assert not set(re.findall(r"^\w.*", full, re.M)) & set(light.splitlines())
