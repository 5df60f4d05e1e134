"""Check recipes one by one: files, code style, blocks, pages, tests, and their mutants.

Or first put in order what a machine can: the form of code, and recorded outputs.
"""

import importlib.util
import os
import subprocess
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from cookbook.catalogue import Catalogue, Recipe
from cookbook.checks import lint, structure
from cookbook.pages import Block, Page, tests_of
from cookbook.rules import Problem, report
from cookbook.running import judge
from cookbook.running.runner import Job, Runner

GPU_RUNS = "make test-gpu runs it, for a pull request a maintainer"
ENOUGH = 3  # mutants to judge tests by


def check(catalogue: Catalogue, recipes: list[Recipe], fix: bool) -> bool:
    """Print each step and what it finds; whether nothing is wrong."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # what is recorded is a CPU's
    root, before = catalogue.root, contents(recipes)
    sources = [path for path in before if path.suffix == ".py"]
    for _, command in lint.style(sources, fix=True) if fix else ():
        subprocess.run(command, cwd=root, capture_output=True, check=False)
    tested = [root / path for recipe in recipes for path in tested_snippets(recipe)]
    with start(tested) as runner:
        jobs = [job for recipe in recipes for job in runs(recipe)] if runner else ()
        for job in jobs:
            runner.submit(job)
        if fix:
            catalogue = Catalogue(root)
            recipes = [catalogue.by_slug[recipe.slug] for recipe in recipes]
            for path in recorded(recipes, runner, before):
                print(f"changed {path}")
        results = [passes(catalogue, recipe, runner) for recipe in recipes]
    return all(results)


def files(recipe: Recipe) -> list[Path]:
    """The recipe's own files that exist: pages, snippets, outputs, tests."""
    return [path for path in recipe.files if (recipe.root / path).is_file()]


def contents(recipes: list[Recipe]) -> dict[Path, bytes]:
    """What each file of the recipes holds."""
    return {path: (r.root / path).read_bytes() for r in recipes for path in files(r)}


def tested_snippets(recipe: Recipe) -> list[Path]:
    """Its snippets that have tests."""
    paths = files(recipe)
    snippets = [path for path in paths if path.parts[0] == "snippets"]
    return [p for p in snippets if p.suffix == ".py" and tests_of(p) in paths]


def start(tested: list[Path]) -> AbstractContextManager:
    """A runner for blocks and for the tests of snippets; None where torch is not."""
    if importlib.util.find_spec("torch") is None:
        return nullcontext()
    return Runner(tested=tested)


def runs(recipe: Recipe) -> dict[Job, tuple[Page, Block]]:
    """What to run of a recipe, each with the first page that shows it."""
    found = {}
    for page in recipe.written.values():
        for block in page.blocks if page.readable else ():
            if not judge.unrunnable(block):
                found.setdefault(judge.job_of(block, page), (page, block))
    return found


def recorded(
    recipes: list[Recipe], runner: Runner | None, before: dict[Path, bytes]
) -> list[Path]:
    """Record what the snippets print; the paths of all that changed."""
    for recipe in recipes if runner else ():
        for job, (page, block) in runs(recipe).items():
            judge.record(block, page.root, runner.submit(job).result())
    after = contents(recipes)
    return sorted(path for path in after if after[path] != before.get(path))


def passes(catalogue: Catalogue, recipe: Recipe, runner: Runner | None) -> bool:
    """Print each step and what it finds; whether nothing is wrong."""
    paths = files(recipe)
    print(f"{recipe.slug}: structure of its files", flush=True)
    results = [report(structure.problems_of(catalogue, paths)) == 0]
    sources = [path for path in paths if path.suffix == ".py"]
    results += [lint.passes(*command) for command in lint.style(sources)]
    if runner is None:
        print("its blocks and tests need torch, not installed; make setup installs it")
        return False
    print("its blocks", flush=True)
    results += [
        block_passes(catalogue, page, block, runner.submit(job).result())
        for job, (page, block) in runs(recipe).items()
    ]
    print("its tests, and what they do not notice", flush=True)
    results += [tests_pass(path, runner.proof()) for path in tested_snippets(recipe)]
    if all(results):
        for block in recipe.blocks:
            if block.mark == "gpu":
                print(f"  {block.path}: not run, it needs a GPU; {GPU_RUNS}")
    return all(results)


def block_passes(catalogue: Catalogue, page: Page, block: Block, result) -> bool:
    """Print what went wrong with a block, if anything did."""
    fault = judge.fault(catalogue, page, block, result)
    print(fault or f"  {block.path}: passed in {result.seconds:.1f} s")
    return not fault


def tests_pass(snippet: Path, proof: dict) -> bool:
    """Print what came of a snippet's tests, and of its mutants."""
    if not proof["passed"]:
        print(proof["printed"])
        return False
    test, tried, missed = tests_of(snippet), proof["tried"], proof["missed"]
    print(f"  {test}: {proof['printed'].splitlines()[-1]}")
    print(f"  {snippet}: {tried - len(missed)} of {tried} mutants noticed")
    found = [
        Problem(snippet, line, "mutant-not-noticed", {"what": what})
        for line, what in missed
    ]
    if len(missed) == tried >= ENOUGH:
        facts = {"snippet": snippet, "include": snippet.relative_to("snippets")}
        found.append(Problem(test, 1, "test-notices-nothing", facts))
    return report(found) == 0
