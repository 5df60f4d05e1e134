"""Check one recipe: its files, its code style, its blocks, its tests, its pages."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from cookbook.catalogue import Catalogue, Recipe
from cookbook.checks import file_checks, lint, structure
from cookbook.rules import Problem, report

GPU_RUNS = "make test-gpu runs it, for a pull request a maintainer"


def files(recipe: Recipe) -> list[Path]:
    """The recipe's own files that exist: pages, snippets, outputs, tests."""
    return [path for path in recipe.files if (recipe.root / path).is_file()]


def passes(catalogue: Catalogue, recipe: Recipe) -> bool:
    """Print each step and what it finds; whether nothing is wrong."""
    paths = files(recipe)
    targets = [path for path in paths if path.suffix == ".md" or "tests" in path.parts]
    torch = importlib.util.find_spec("torch") is not None
    run = start_pytest(recipe.root, targets) if torch else None  # others are quick
    print(f"{recipe.slug}: structure of its files", flush=True)
    results = [report(problems(catalogue, paths)) == 0]
    sources = [path for path in paths if path.suffix == ".py"]
    results += [lint.passes(*command) for command in lint.style(sources)]
    print("its blocks, pages and tests", flush=True)
    results.append(_passed(run) if run else _say_what_is_missing())
    if all(results):
        for block in recipe.blocks:
            if block.mark == "gpu":
                print(f"  {block.path}: not run, it needs a GPU; {GPU_RUNS}")
    return all(results)


def problems(catalogue: Catalogue, paths: Iterable[Path]) -> list[Problem]:
    """What the checks find in the files given; pytest renders the pages."""
    found = structure.problems(catalogue, rendered=())
    found = [problem for problem in found if problem.path in paths]
    found += file_checks.problems(catalogue.root, paths)
    return sorted(found, key=lambda problem: (problem.path, problem.line))


def start_pytest(
    root: Path, targets: Iterable[Path], *options: str
) -> subprocess.Popen:
    """Start to run blocks on this CPU, referee pages, and run tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    command += [str(path) for path in targets]
    pipe = subprocess.PIPE
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.Popen(
        command, cwd=root, env=environment, stdout=pipe, stderr=pipe, text=True
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
