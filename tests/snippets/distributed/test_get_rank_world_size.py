"""get-rank-world-size: two real processes, before and after their group exists."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch.distributed as dist

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "distributed/get_rank_world_size.py"
PAGE = "distributed/get-rank-world-size"
snippet = load_snippet(SNIPPET)

FUNCTIONS = "get_rank", "get_world_size", "get_local_rank", "is_main"
VARIABLES = "RANK", "WORLD_SIZE", "LOCAL_RANK"


def answers() -> tuple:
    return tuple(getattr(snippet, name)() for name in FUNCTIONS)


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_plain_python_is_rank_0_of_1():
    assert answers() == (0, 1, 0, True)


def test_before_init_the_environment_answers(monkeypatch):
    for name, value in zip(VARIABLES, "593", strict=True):
        monkeypatch.setenv(name, value)
    assert answers() == (5, 9, 3, False)


def test_a_group_answers_before_the_environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.setenv(name, "7")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        assert answers() == (0, 1, 7, True)
        assert dist.get_rank(dist.GroupMember.NON_GROUP_MEMBER) == -1
    finally:
        dist.destroy_process_group()
    assert answers() == (7, 7, 7, False)


def test_torchrun(tmp_path):
    """Two processes print their own line each, and one the last."""
    torchrun = Path(sys.executable).parent / "torchrun"
    run = subprocess.run(
        [torchrun, "--standalone", "--nproc-per-node=2", ROOT / "snippets" / SNIPPET],
        cwd=tmp_path,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    # Two processes write to one screen: a line end may come late.
    for line in (
        "only rank 0 prints this",
        "rank 0 of 2, local rank 0",
        "rank 1 of 2, local rank 1",
    ):
        assert run.stdout.count(line) == 1


@pytest.mark.parametrize("ask", [dist.get_rank, dist.get_world_size])
def test_torch_itself_needs_a_group(ask):
    with raises_as_documented(PAGE):
        ask()


def test_local_rank_from_torch(monkeypatch):
    assert dist.get_node_local_rank(fallback_rank=0) == 0
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert dist.get_node_local_rank(fallback_rank=0) == 3


def test_the_time_outs_the_page_names():
    from torch.distributed import constants

    assert constants.default_pg_timeout.total_seconds() == 30 * 60
    if constants.default_pg_nccl_timeout is not None:  # a build without NCCL
        assert constants.default_pg_nccl_timeout.total_seconds() == 10 * 60
