"""ddp-hang-debug: real processes of which one is late, or calls another thing."""

from datetime import timedelta

import pytest
import torch.distributed as dist

from tests.helpers import (
    assert_documented,
    load_snippet,
    raises_as_documented,
    recipes,
    run_python,
)

PAGE = "errors/ddp-hang-debug"
snippet = load_snippet("errors/ddp_hang_debug.py")
ANSWER = recipes()["ddp-hang-debug"].answer
ALONE = """
import contextlib, datetime, sys
import torch.distributed as dist

with contextlib.suppress(RuntimeError):
    dist.init_process_group(
        "gloo", sys.argv[1], rank=0, world_size=2, timeout=datetime.timedelta(seconds=3)
    )
"""
DIFFERENT = """
import sys, torch, torch.distributed as dist
import torch.multiprocessing as mp

def work(rank, store):
    dist.init_process_group("gloo", store, rank=rank, world_size=2)
    try:
        if rank == 0:
            dist.all_reduce(torch.ones(2))
        else:
            dist.broadcast(torch.ones(2), 0)
    except RuntimeError as error:
        if rank == 0:
            print(f"RuntimeError: {error}")
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(work, args=(sys.argv[1],), nprocs=2)
"""


def printed(*command, folder, **environment):
    done = run_python(*command, folder=folder, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_missing_rank_is_named_and_the_line_where_it_waits(tmp_path):
    error, place = printed(snippet.__file__, folder=tmp_path).splitlines()
    message = "RuntimeError: [Rank 0]: Ranks 1 failed"
    shown = error.replace("error", "RuntimeError", 1).replace("2000 ms", "3000 ms")
    assert_documented(PAGE, message, shown)
    with open(snippet.__file__, encoding="utf-8") as file:  # noqa: PTH123
        number = 1 + file.read().splitlines().index("    time.sleep(4)")
    assert place == f"rank 1 is at line {number} in load_data"


def test_the_answer_shows_where_a_process_waits_before_any_group_is_there(tmp_path):
    # Rank 1 never starts: rank 0 waits in init_process_group itself, and no answer
    # that needs a group would be reached.
    script = tmp_path / "alone.py"
    assert set(ANSWER.yours) == {"seconds"}
    script.write_text(f"seconds = 0.5\n{ANSWER.text}\n{ALONE}")
    printed(script, (tmp_path / "store").as_uri(), folder=tmp_path)
    stacks = (tmp_path / "stack0.txt").read_text()
    assert stacks.count(" in init_process_group\n") >= 2, stacks  # again and again


def test_detail_names_two_calls_that_differ(tmp_path):
    script = tmp_path / "different.py"
    script.write_text(DIFFERENT)
    store = (tmp_path / "store").as_uri()
    message = printed(script, store, folder=tmp_path, TORCH_DISTRIBUTED_DEBUG="DETAIL")
    assert_documented(PAGE, "RuntimeError: Detected mismatch", message)
    assert "OpType=ALLREDUCE" in message
    assert "OpType=BROADCAST" in message


@pytest.mark.usefixtures("own_process")
def test_a_process_that_never_starts():
    with raises_as_documented(PAGE, "DistStoreError: Timed out after") as caught:
        dist.init_process_group(
            "gloo",
            "tcp://127.0.0.1:0",
            rank=0,
            world_size=2,
            timeout=timedelta(seconds=1),
        )
    assert "1/2 clients joined" in str(caught.value)


def test_an_empty_variable(monkeypatch):
    for value in ("", "1"):
        monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", value)
        with raises_as_documented(PAGE, "ValueError: The value of TORCH_DISTRIBUTED"):
            dist.set_debug_level_from_env()
