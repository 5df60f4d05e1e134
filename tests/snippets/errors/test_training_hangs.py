"""training-hangs: what the clock prints of a training that waits; what ends a wait."""

import os
import subprocess
import sys
import threading

import pytest
from torch.utils.data import DataLoader, IterableDataset
from torch.utils.file_baton import FileBaton

from tests.helpers import load_snippet, raises_as_documented, recipes

ANSWER = recipes()["training-hangs"].answer
STUCK = """
import time
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 2:
            time.sleep(10)
        return 0.0, 0.0


def train_step(x, y):
    print("step", flush=True)


loader = DataLoader(Data(), num_workers=WORKERS)
"""


@pytest.mark.parametrize(
    ("workers", "where"), [(0, "in __getitem__"), (1, "in _try_get_data")]
)
def test_it_ends_and_names_where_it_waits(tmp_path, workers, where):
    script = tmp_path / "train.py"
    text = f"{ANSWER.imports}\n{STUCK}{ANSWER.text}".replace("300", "3")
    script.write_text(text.replace("WORKERS", str(workers)))
    command = [sys.executable, str(script)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "Timeout (0:00:03)!" in run.stderr
    assert where in run.stderr


def test_without_a_wait_it_changes_nothing():
    assert load_snippet("errors/training_hangs.py").steps == 3


class Slow(IterableDataset):
    def __iter__(self):
        threading.Event().wait(8)
        yield 0


def test_a_limit_for_workers_is_an_error():
    with raises_as_documented(
        "errors/err-dataloader-worker", "RuntimeError: DataLoader timed"
    ):
        next(iter(DataLoader(Slow(), num_workers=1, timeout=1)))


def test_an_old_lock_keeps_a_build_waiting(tmp_path):
    lock = tmp_path / "lock"
    lock.touch()
    baton = FileBaton(str(lock))
    assert not baton.try_acquire()
    builder = threading.Thread(target=baton.wait, daemon=True)
    builder.start()
    builder.join(0.5)
    assert builder.is_alive()
    lock.unlink()
    builder.join()


def test_a_pipe_keeps_what_is_printed(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import os\nprint('a line')\nos._exit(0)\n")
    buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    for options, printed in ([], b""), (["-u"], b"a line\n"):
        command = [sys.executable, *options, str(script)]
        assert subprocess.check_output(command, env=buffered) == printed


QUEUE = """
import multiprocessing as mp


def work(queue):
    queue.put("x" * 1_000_000)


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    process.join(WAIT)
    print(process.is_alive(), len(queue.get()))
    process.join()
"""


def test_a_process_ends_once_its_results_are_taken(tmp_path):
    script = tmp_path / "queue_first.py"
    script.write_text(QUEUE.replace("WAIT", "2"))
    out = subprocess.check_output([sys.executable, str(script)], text=True)
    assert out == "True 1000000\n"
