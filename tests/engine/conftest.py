"""A tiny cookbook in a temporary folder, for tests to plant faults in."""

import ast
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from cookbook.__main__ import main
from cookbook.book.catalogue import CATEGORIES, Catalogue
from cookbook.checks import files
from cookbook.checks.structure import problems
from cookbook.recipes import check_one
from cookbook.running.runner import Job, Result, Runner
from tests.helpers import ROOT

COPIED = ("mkdocs.yml", "mkdocs.en.yml", "mkdocs.zh.yml", "pyproject.toml")
COPIED += ("docs/root/index.md", "docs/en/index.md", "docs/zh/index.md")
COPIED += ("docs/glossary.yml", ".gitignore", "conftest.py")
TEST = """\"\"\"A test.\"\"\"

import runpy


def test_it_runs():
    runpy.run_path("snippets/training/{}.py", run_name="__main__")
"""
AFTER_TRAINING = "\n- slug: evaluation\n"  # the next category
LINKED = ("cookbook", "docs/overrides")
os.environ["LC_ALL"] = "C.UTF-8"  # messages are English, whoever runs the tests


class TinyCookbook:
    """The engine around one valid recipe, training/label-smoothing."""

    CLAIM = '"""Add two numbers."""\n\nassert 1 + 1 == 2\n'

    def __init__(self, root: Path):
        self.root = root
        for name in COPIED:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        categories = (ROOT / CATEGORIES).read_text("utf-8")
        without_groups = re.sub(r"^  (?!en:|zh:).*\n", "", categories, flags=re.M)
        grouped = f"\n  groups:\n  - recipes:{AFTER_TRAINING}"
        self.write(str(CATEGORIES), without_groups.replace(AFTER_TRAINING, grouped))
        (root / "verified").mkdir()
        for name in LINKED:
            (root / name).symlink_to(ROOT / name)
        self.git("init", "--quiet")
        self.write(".git/info/exclude", "/cookbook\n/docs/overrides\n")  # links
        self.recipe("label-smoothing", self.CLAIM)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def texts(self) -> dict[str, str]:
        """The text of each file that is the cookbook's own."""
        return {
            path.relative_to(self.root).as_posix(): path.read_text("utf-8")
            for path in self.root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    def replace(self, path: str, old: str, new: str) -> None:
        """Change one place of a file, which must be there."""
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
        self.write(path, text.replace(old, new))

    def recipe(self, slug: str, source: str, before: str = "", after: str = "") -> None:
        """Write training/<slug> in both languages, its snippet and a test.

        ``before`` and ``after`` are Markdown around the block.
        """
        name = slug.replace("-", "_")
        self.write(f"snippets/training/{name}.py", textwrap.dedent(source))
        test = f"tests/snippets/training/test_{name}.py"
        self.write(test, TEST.format(name))
        block = f'```python\n--8<-- "training/{name}.py"\n```\n'
        listed = (self.root / CATEGORIES).read_text("utf-8")
        if f"- {slug}\n" not in listed:
            self.replace(
                str(CATEGORIES), AFTER_TRAINING, f"\n    - {slug}{AFTER_TRAINING}"
            )
        answer = answer_of(textwrap.dedent(source))
        self.page("en", slug, f"{before}{block}{after}", answer)
        self.page("zh", slug, f"{before}{block}{after}")

    def page(self, lang: str, slug: str, body: str, answer: str = "") -> None:
        """Write a page; its body begins on line 8."""
        title = {"en": f"The {slug}", "zh": f"条目 {slug}"}[lang]
        sentence = {"en": "Use it always.", "zh": "随时可用。"}[lang]
        front = f"title: {title}\ndescription: {sentence}\naliases: [{slug}]\n"
        shared = f"related: []\nanswer: {json.dumps(answer)}\n---\n"
        end = shared if lang == "en" else "---\n\n\n"
        self.write(f"docs/{lang}/training/{slug}.md", f"---\n{front}{end}{body}")

    def problems(self) -> list[str]:
        """The errors that ``make check`` finds, each once."""
        found = problems(Catalogue(self.root))
        found += files.problems(self.root, files.files(self.root))
        return [*dict.fromkeys(str(problem) for problem in found if problem.is_error)]

    def warnings(self) -> list[str]:
        """What the checks find, and let pass."""
        found = problems(Catalogue(self.root))
        return [str(problem) for problem in found if not problem.is_error]

    def command(self, *argv: str, **env: str) -> subprocess.CompletedProcess:
        """Run a Python module in the cookbook, as a contributor would."""
        if argv[0] == "cookbook":
            return self._call(argv)
        return subprocess.run(
            [sys.executable, "-m", *argv],
            cwd=self.root,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "", **env},
            capture_output=True,
            text=True,
            check=False,
        )

    def _call(self, argv: tuple[str, ...]) -> subprocess.CompletedProcess:
        """Run the cookbook's own command in this process, which has all imported."""
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.root),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch.object(sys, "argv", list(argv)),
            mock.patch.dict(os.environ),  # what it sets is undone
        ):
            try:
                code = main()
            except SystemExit as leave:
                code = leave.code
        if isinstance(code, str):
            print(code, file=err)
            code = 1
        return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True)

    def commit(self) -> None:
        """Commit all there is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")

    def pytest(self, *argv: str, **env: str) -> "PytestRun":
        """Run ``pytest docs``; ``-p no:cacheprovider`` keeps the folder clean."""
        report = self.root / "report.xml"
        options = ("-p", "no:cacheprovider", f"--junitxml={report}", *argv)
        done = self.command("pytest", "docs", *options, **env)
        return PytestRun(done.returncode, done.stdout, done.stderr, outcomes(report))


def answer_of(source: str) -> str:
    """The first line after the docstring that is a statement by itself."""
    try:
        nodes = ast.parse(source).body
    except SyntaxError:
        return source.splitlines()[0]
    lines = [node.lineno for node in nodes[1:] if node.lineno == node.end_lineno]
    return source.splitlines()[lines[0] - 1 if lines else 0]


@dataclass
class PytestRun:
    """What a run of pytest printed, and what came of each item."""

    code: int
    stdout: str
    stderr: str
    outcomes: dict[tuple[str, str], tuple[str, str]]  # (page, item): (status, text)

    def of(self, slug: str, item: str | None = None, lang: str = "en"):
        """The status and text of an item; by default, that of the page's snippet."""
        item = item or f"{slug.replace('-', '_')}.py"
        return self.outcomes[f"docs/{lang}/training/{slug}.md", item]


def outcomes(report: Path) -> dict[tuple[str, str], tuple[str, str]]:
    if not report.exists():
        return {}
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        status, text = "passed", ""
        for child in case.iter():
            if child.tag in ("failure", "error", "skipped"):
                status, text = child.tag, f"{child.get('message')}\n{child.text}"
        page = case.get("classname").replace(".", "/").removesuffix("/md") + ".md"
        found[page, case.get("name")] = (status, text)
    return found


@pytest.fixture(scope="session")
def tiny_cookbook(tmp_path_factory):
    """Makes cookbooks that several tests look at."""
    return lambda: TinyCookbook(tmp_path_factory.mktemp("cookbook"))


@pytest.fixture
def cookbook(tmp_path) -> TinyCookbook:
    return TinyCookbook(tmp_path)


@pytest.fixture(scope="session")
def runner():
    """One worker, so that each block runs where the one before it ran."""
    with Runner(workers=1, timeout=60) as runner:
        yield runner


@pytest.fixture
def run(runner, tmp_path):
    """Run a source as a snippet; answers what came of it."""
    count = 0

    def run(source: str) -> Result:
        nonlocal count
        count += 1
        script = tmp_path / f"snippet_{count}.py"
        script.write_text(textwrap.dedent(source), encoding="utf-8")
        return runner.submit(Job((str(script),))).result()

    return run


@pytest.fixture
def nothing_run(monkeypatch):
    """Neither blocks nor tests are run, for tests of what is checked besides."""
    monkeypatch.setattr(check_one, "runs", lambda root, recipes: True)
