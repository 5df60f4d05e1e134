"""err-spawn-main-guard: the snippet with and without its guard, in new processes."""

import multiprocessing as mp
import os
import subprocess
import sys
import warnings
from pathlib import Path

from torch.utils.data import DataLoader

from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "errors/err-spawn-main-guard"
snippet = load_snippet("errors/err_spawn_main_guard.py")
GUARD = 'if __name__ == "__main__":'


def run(script: Path):
    return subprocess.run(
        [sys.executable, script],
        cwd=script.parent,
        env={**os.environ, "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def script_as_on_windows(folder, guard=GUARD):
    """The snippet with this guard, and new processes as Windows starts them."""
    text = Path(snippet.__file__).read_text()
    assert text.count(GUARD) == 1
    spawn = (
        'import multiprocessing\n\nmultiprocessing.set_start_method("spawn", True)\n'
    )
    script = folder / "train.py"
    script.write_text(
        text.replace("import torch\n", f"{spawn}import torch\n", 1).replace(
            GUARD, guard
        )
    )
    return script


def test_with_the_guard_every_batch_comes_once(tmp_path):
    done = run(script_as_on_windows(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(4, 3) (4,)\n(2, 3) (2,)\n"


def test_without_the_guard_it_raises(tmp_path):
    done = run(script_as_on_windows(tmp_path, "if True:"))
    assert done.returncode
    assert "(4, 3)" not in done.stdout
    lines = [line.rstrip() for line in done.stderr.splitlines()]
    raised = "\n".join(lines[lines.index("RuntimeError:") :])
    assert_documented(PAGE, "RuntimeError:\n        An attempt has been made", raised)


def test_a_new_process_has_another_name_and_runs_the_top_level(tmp_path):
    script = tmp_path / "top.py"
    script.write_text(
        "import multiprocessing as mp\n"
        "print(__name__, flush=True)\n"
        "def work(): pass\n"
        "if __name__ == '__main__':\n"
        "    process = mp.get_context('spawn').Process(target=work)\n"
        "    process.start(); process.join()\n"
    )
    assert run(script).stdout.split() == ["__main__", "__mp_main__"]


def test_what_is_defined_under_the_guard_is_missing_in_the_new_process(tmp_path):
    script = tmp_path / "under.py"
    script.write_text(
        "import multiprocessing as mp\n"
        "if __name__ == '__main__':\n"
        "    def collate(): pass\n"
        "    process = mp.get_context('spawn').Process(target=collate)\n"
        "    process.start(); process.join()\n"
    )
    start = "AttributeError: Can't get attribute 'collate'"
    errors = run(script).stderr
    assert_documented(PAGE, start, errors[errors.index(start) :])


def test_a_lambda_cannot_be_sent():
    loader = DataLoader(
        [1, 2],
        num_workers=1,
        multiprocessing_context="spawn",
        collate_fn=lambda batch: batch,
    )
    with (
        warnings.catch_warnings(),
        raises_as_documented(PAGE, "AttributeError: Can't pickle"),
    ):
        warnings.simplefilter("ignore")
        iter(loader)


def test_a_fork_needs_no_guard():
    loader = DataLoader([1, 2], num_workers=1, multiprocessing_context="fork")
    assert [batch.item() for batch in loader] == [1, 2]


def test_a_start_method_is_set_once():
    method = mp.get_start_method()
    with raises_as_documented(PAGE, "RuntimeError: context has already"):
        mp.set_start_method(method)
    assert mp.get_start_method() == method
