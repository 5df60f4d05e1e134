"""The mutants of a snippet, and what ``check`` says of tests that notice none."""

from collections import Counter

from cookbook.checks.mutants import mixed, mutants
from tests.engine.plants import SNIPPET, TEST

SOURCE = '''"""Scale numbers."""

import torch


@torch.no_grad()
def scaled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
    """Multiply, whatever the sign."""
    if by == 0:
        raise ValueError("by is 0")
    with torch.no_grad():
        x = torch.mul(x, by, out=None)
    return x.detach().to(torch.float32)


if __name__ == "__main__":
    print(scaled(torch.ones(2)))
'''
EVERY = """
7 decorator dropped
7 2.0 changed
9 Eq swapped
9 0 changed
9 condition negated
10 statement removed
11 context dropped
12 arguments swapped
12 argument out dropped
13 detach dropped
13 float32 changed
13 returns None
"""
TESTS = """import runpy

import torch


def test_the_values():
    scaled = runpy.run_path("snippets/training/{}.py")["scaled"]
    {}
"""
OTHER = "snippets/training/other.py"
OTHER_TEST = "tests/snippets/training/test_other.py"
NOTICES = "assert scaled(torch.ones(2)).tolist() == [2, 2]"


def test_each_way_to_break_a_source_is_tried_outside_its_proof():
    found = [f"{mutant.line} {mutant.what}" for mutant in mutants(SOURCE)]
    assert Counter(found) == Counter(EVERY.strip().splitlines())
    assert all(mutant.source != SOURCE for mutant in mutants(SOURCE))


def test_a_handful_is_of_every_kind_and_always_the_same():
    few = mixed(SOURCE)
    assert few == mixed(SOURCE)
    kinds = {mutant.what.split()[-1] for mutant in few}
    first = few[: len(kinds)]
    assert {mutant.what.split()[-1] for mutant in first} == kinds


def test_tests_that_notice_nothing_are_refused(cookbook):
    refusal = '    if by == 0:\n        raise ValueError("by is 0")\n'
    source = SOURCE.replace(refusal, "")
    source = source.replace("print(scaled(torch.ones(2)))", "assert scaled is not None")
    for slug, test, claim in (
        ("label-smoothing", TEST, NOTICES),
        ("other", OTHER_TEST, "scaled(torch.ones(2))"),
    ):
        cookbook.recipe(slug, source)
        cookbook.write(test, TESTS.format(slug.replace("-", "_"), claim))
    done = cookbook.command("cookbook", "check", "label-smoothing", "other")
    assert (done.returncode, done.stderr) == (1, ""), done.stdout
    (refused,) = [line for line in done.stdout.splitlines() if " S309 " in line]
    words = "these tests pass whatever is changed in"
    assert refused.startswith(f"  {OTHER_TEST}:1: S309 {words} {OTHER}; ")
    assert f"{SNIPPET}:" in done.stdout
    assert " S310 " in done.stdout  # a warning: some change nothing, even so
    assert (cookbook.root / SNIPPET).read_text("utf-8") == source
