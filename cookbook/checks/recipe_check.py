"""Check one recipe: its files, code style, blocks, pages, tests, and their mutants.

Or first put in order what a machine can: the form of code, and recorded outputs.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from cookbook.catalogue import Catalogue, Recipe
from cookbook.checks import file_checks, lint, structure
from cookbook.pages import tests_of
from cookbook.rules import Problem, report

GPU_RUNS = "make test-gpu runs it, for a pull request a maintainer"


def files(recipe: Recipe) -> list[Path]:
    """The recipe's own files that exist: pages, snippets, outputs, tests."""
    return [path for path in recipe.files if (recipe.root / path).is_file()]


def fix(recipes: list[Recipe]) -> list[Path]:
    """Format the code, and record what it prints; the paths that changed."""
    root = recipes[0].root
    before = {path: (root / path).read_bytes() for r in recipes for path in files(r)}
    sources = [path for path in before if path.suffix == ".py"]
    for _, command in lint.style(sources, fix=True):
        subprocess.run(command, cwd=root, capture_output=True, check=False)
    pages = [page.path for recipe in recipes for page in recipe.written.values()]
    start_pytest(root, pages, "--record").communicate()
    after = {path: (root / path).read_bytes() for r in recipes for path in files(r)}
    return sorted(path for path in after if after[path] != before.get(path))


def passes(catalogue: Catalogue, recipe: Recipe) -> bool:
    """Print each step and what it finds; whether nothing is wrong."""
    paths = files(recipe)
    targets = [path for path in paths if path.suffix == ".md" or "tests" in path.parts]
    torch = importlib.util.find_spec("torch") is not None
    run = start_pytest(recipe.root, targets) if torch else None  # others are quick
    mutation = start_mutation(recipe.root, paths) if torch else None
    print(f"{recipe.slug}: structure of its files", flush=True)
    results = [report(problems(catalogue, paths)) == 0]
    sources = [path for path in paths if path.suffix == ".py"]
    results += [lint.passes(*command) for command in lint.style(sources)]
    print("its blocks, pages and tests", flush=True)
    results.append(_passed(run) if run else _say_what_is_missing())
    if mutation:
        print("what its tests do not notice", flush=True)
        print(*mutation.communicate(), sep="", end="")
        results.append(mutation.returncode == 0)
    if all(results):
        for block in recipe.blocks:
            if block.mark == "gpu":
                print(f"  {block.path}: not run, it needs a GPU; {GPU_RUNS}")
    return all(results)


def problems(catalogue: Catalogue, paths: Iterable[Path]) -> list[Problem]:
    """What the checks find in the files given; pytest renders the pages."""
    found = structure.problems(catalogue, rendered=False)
    found = [problem for problem in found if problem.path in paths]
    found += file_checks.problems(catalogue.root, paths)
    return sorted(found, key=lambda problem: (problem.path, problem.line))


def start_pytest(
    root: Path, targets: Iterable[Path], *options: str
) -> subprocess.Popen:
    """Start to run blocks on this CPU, referee pages, and run tests."""
    options = ("-q", "-p", "no:cacheprovider", *options)
    return _start(root, "pytest", *options, *map(str, targets))


def start_mutation(root: Path, paths: Iterable[Path]) -> subprocess.Popen | None:
    """Start to break the snippets that have tests in a few ways."""
    snippets = [path for path in paths if path.parts[0] == "snippets"]
    names = [
        path.relative_to("snippets").as_posix()
        for path in snippets
        if path.suffix == ".py" and tests_of(path) in paths
    ]
    if names:
        return _start(root, "cookbook.running.mutation", "--few", *names)
    return None


def _start(root: Path, *module: str) -> subprocess.Popen:
    pipe, environment = subprocess.PIPE, {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.Popen(
        [sys.executable, "-m", *module],
        cwd=root,
        env=environment,
        stdout=pipe,
        stderr=pipe,
        text=True,
    )


def _say_what_is_missing() -> bool:
    print("  they need torch, which is not installed; make setup installs it")
    return False


def _passed(run: subprocess.Popen) -> bool:
    """Wait for pytest; print one line where it passes, and all where it fails."""
    stdout, stderr = run.communicate()
    if run.returncode:
        print(stdout + stderr)
        return False
    print(f"  {stdout.strip().splitlines()[-1]}")
    return True
