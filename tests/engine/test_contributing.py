"""What contributors are told agrees with what there is."""

import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml
from packaging.utils import canonicalize_name

from cookbook.book.catalogue import Catalogue
from cookbook.checks.files import files
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


def test_what_is_imported_is_asked_for_and_nothing_else():
    """A line that no file imports says what it is for."""
    lines = [
        line
        for file in ROOT.glob("requirements*.in")
        for line in file.read_text("utf-8").splitlines()
    ]
    asked = {
        PACKAGE.match(line)[0].lower(): line for line in lines if line[:1].isalpha()
    }
    owners = packages_distributions()
    imported = {
        canonicalize_name(owner)
        for file in files(ROOT)
        if file.suffix == ".py" and file.name != "save_with_paddle.py"
        for name in imports(ROOT / file)
        for owner in owners.get(name, ())
    }
    assert imported - asked.keys() == set()
    silent = [n for n, line in asked.items() if n not in imported and "#" not in line]
    assert silent == []


def imports(file: Path) -> set[str]:
    """The top names of the packages that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.partition(".")[0])
    return names


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
    "tests/engine/test_x.py": [],
    "requirements.txt": ["docs"],
}


@pytest.mark.parametrize("path", TOUCHED)
def test_a_pull_request_runs_the_pages_and_tests_that_it_touches(cookbook, path):
    cookbook.recipe("other", cookbook.CLAIM)
    for lang in ("en", "zh"):
        cookbook.page(lang, "third", '```python\n--8<-- "training/other.py"\n```\n')
    cookbook.commit()
    cookbook.write(path, "# changed\n")
    cookbook.commit()
    done = cookbook.command("cookbook", "changed", "HEAD^1")
    assert done.stdout.split() == TOUCHED[path]


WITHOUT = ("numpy", "playwright", "psutil", "pytest", "pytest_codeblocks", "sklearn")
WITHOUT += ("torch", "torchvision", "xdist")
LIGHT = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({WITHOUT}))
for command in sys.argv[1:]:
    sys.argv = command.split()
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit:
        pass
"""
COMMANDS = {
    "cookbook check label-smoothing": "not installed; make setup installs it",
    "cookbook find smoothing": "snippets/training/label_smoothing.py",
    "mkdocs build --strict": "",
    "cookbook check": "structure of pages and snippets",
    "cookbook new training/ema-weights": "snippets/training/ema_weights.py",
}


def test_the_light_environment_suffices(cookbook):
    command = [sys.executable, "-c", LIGHT, *COMMANDS]
    done = subprocess.run(
        command, cwd=cookbook.root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert all(said in done.stdout for said in COMMANDS.values()), done.stdout
    assert (cookbook.root / "site/recipes.json").exists()
