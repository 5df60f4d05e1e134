"""Break snippets on purpose, and see whether their tests notice.

    .venv/bin/python -m cookbook.running.mutation                      every snippet
    .venv/bin/python -m cookbook.running.mutation training/mixup.py    these

Each mutant stands in for the snippet in a copy of the snippets and tests. There the
snippet's tests run, in a process forked from this one, which has torch and whatever
else they import loaded; then the snippet itself, whose output is compared. A mutant
that neither notices is listed with its line.

With ``--few``, as ``check <slug>`` calls it, a handful of mutants of each snippet is
tried, and only its tests count. It is an error where they notice none.
"""

import argparse
import ast
import importlib
import io
import os
import resource
import runpy
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest
import torch  # noqa: F401, loaded once for all forks

from cookbook.checks.mutants import Mutant, mixed, mutants
from cookbook.pages import tests_of
from cookbook.rules import Problem, report
from cookbook.running.output import matches

COPIED, LINKED = ("snippets", "tests"), ("docs", "cookbook", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "engine", "search", "site")
SHARED = (Path("tests/conftest.py"), Path("tests/helpers.py"))
# What torch imports when a function is called, for a second or more of CPU time.
LAZY = dict.fromkeys(("manual_seed", "optim"), "torch._dynamo")
LAZY["assert_close"] = "torch.distributed.tensor"
# For one snippet's tests. CPU time ends a loop without end; the other, what waits.
CPU_LIMIT, TIMEOUT = 60, 120
FEW, ENOUGH = 5, 3  # mutants to try; to judge by
CPU_SECONDS = 4  # for the few, until one is noticed three times as much
ADDED = "addopts=--import-mode=importlib"
OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-o", ADDED)
SILENT = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
BROKEN = 70  # the exit status where this program itself fails
FAULTS = (BROKEN, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """A folder with all that behaviour tests read, to break snippets in."""
    folder = Path(tempfile.mkdtemp(prefix="mutation-"))
    try:
        for name in COPIED:
            shutil.copytree(root / name, folder / name, ignore=LEFT_OUT)
        for name in LINKED:
            (folder / name).symlink_to(root / name)
        yield folder
    finally:
        shutil.rmtree(folder)


def preload(root: Path, snippets: list[Path]) -> None:
    """Import what the tests and the snippets import, once for all forks."""
    files = [*SHARED, *snippets, *map(tests_of, snippets)]
    names = {name for file in files for name in imported(root / file)}
    texts = [
        (root / file).read_text("utf-8") for file in files if (root / file).exists()
    ]
    names |= {module for word, module in LAZY.items() if word in "".join(texts)}
    for name in sorted(names):
        if name.partition(".")[0] != "tests":
            with suppress(Exception):  # the tests tell
                importlib.import_module(name)


def imported(file: Path) -> Iterator[str]:
    """The modules that a file imports when it is loaded, or names that may be such."""
    for node in parsed(file).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file, an empty one where there is none."""
    try:
        return ast.parse(file.read_text("utf-8"))
    except (OSError, SyntaxError, ValueError):  # the other checks tell
        return ast.Module([], [])


def noticed(folder: Path, snippet: Path, output: bool) -> bool | None:
    """Whether the tests, or else its output, tell the broken snippet in the copy.

    None where they are not done in time, as on a busy machine.
    """
    pid = os.fork()
    if pid == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT + 1))
        code = BROKEN
        try:
            code = run_tests(folder, snippet)
            code = code or (printed_otherwise(snippet) if output else 0)
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(pid, signal.SIGKILL))
    signal.alarm(TIMEOUT)
    _, status = os.waitpid(pid, 0)
    signal.alarm(0)
    code = os.waitstatus_to_exitcode(status)
    if code in FAULTS:
        raise RuntimeError(f"pytest could not run {tests_of(snippet)}")
    return None if code == -signal.SIGKILL else code != 0


def run_tests(folder: Path, snippet: Path) -> int:
    """0 where the tests pass, or where there are none."""
    os.chdir(folder)
    sys.path[0] = str(folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    # Two mutants of one second and one length would share their byte code.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        code = pytest.main([*OPTIONS, str(tests_of(snippet))])
    return 0 if code in SILENT else int(code)


def printed_otherwise(snippet: Path) -> int:
    """Run the snippet as a script; 1 where it fails, or prints what is not recorded."""
    recorded, printed = snippet.with_suffix(".out"), io.StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            runpy.run_path(str(snippet), run_name="__main__")
    except BaseException:  # whatever it is, it was noticed
        return 1
    text = recorded.read_text("utf-8") if recorded.exists() else printed.getvalue()
    return int(not matches(text, printed.getvalue()))


def trials(folder: Path, snippet: Path, tried: Iterator[Mutant], output: bool):
    """Yield each mutant, and whether it was noticed."""
    file = folder / snippet
    source = file.read_text("utf-8")
    try:
        for mutant in tried:
            file.write_text(mutant.source, "utf-8")
            yield mutant, noticed(folder, snippet, output)
    finally:
        file.write_text(source, "utf-8")  # other tests may read it


def few(folder: Path, snippet: Path) -> list[Problem]:
    """Try a handful of mutants, within a budget; what their tests do not notice."""
    tried, missed, start = 0, [], cpu_seconds()
    source = (folder / snippet).read_text("utf-8")
    for mutant, was_noticed in trials(folder, snippet, mixed(source)[:FEW], False):
        if was_noticed is None:
            break
        tried += 1
        if not was_noticed:
            facts = {"what": mutant.what}
            missed.append(Problem(snippet, mutant.line, "mutant-not-noticed", facts))
        if cpu_seconds() - start > CPU_SECONDS * (3 if len(missed) == tried else 1):
            break
    print(f"  {snippet}: {tried - len(missed)} of {tried} mutants noticed")
    if len(missed) == tried >= ENOUGH:
        facts = {"snippet": snippet, "include": snippet.relative_to("snippets")}
        missed.append(Problem(tests_of(snippet), 1, "test-notices-nothing", facts))
    return missed


def cpu_seconds() -> float:
    """What the mutants have cost so far; the load of the machine does not count."""
    times = os.times()
    return times.children_user + times.children_system


def every(folder: Path, snippets: list[Path]) -> int:
    """Try every mutant; 1 when more than a tenth survives."""
    total = survived = 0
    for snippet in snippets:
        source, test = (folder / snippet).read_text("utf-8"), tests_of(snippet)
        if not (folder / test).exists() or noticed(folder, snippet, True):
            print(f"{snippet}: {test} is missing, or fails as it is", flush=True)
            return 2
        results = []
        for mutant, was_noticed in trials(folder, snippet, mutants(source), True):
            results.append(was_noticed is not False)
            if was_noticed is False:
                print(f"{snippet}:{mutant.line}: survived: {mutant.what}", flush=True)
        print(f"{snippet}: {sum(results)} of {len(results)} noticed", flush=True)
        total, survived = total + len(results), survived + results.count(False)
    share = (total - survived) / total
    print(f"{total - survived} of {total} mutants noticed, {share:.1%}")
    return int(share < 0.9)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snippets", nargs="*", help="below snippets/; default all")
    parser.add_argument("--few", action="store_true", help="a handful, quickly")
    arguments, root = parser.parse_args(), Path.cwd()
    names = [Path("snippets", name) for name in arguments.snippets]
    names = names or [
        path.relative_to(root) for path in sorted(root.glob("snippets/**/*.py"))
    ]
    names = [name for name in names if parsed(root / name).body]
    preload(root, names)
    with copied(root) as folder:
        if not arguments.few:
            return every(folder, names)
        return int(report(p for name in names for p in few(folder, name)) > 0)


if __name__ == "__main__":
    sys.exit(main())
