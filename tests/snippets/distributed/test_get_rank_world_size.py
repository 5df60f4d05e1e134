"""get-rank-world-size: two real processes, before and after their group exists."""

import os

import pytest
import torch.distributed as dist

from tests.chains.pasted import answer
from tests.helpers import ROOT, load_snippet, raises_as_documented, run_python

SNIPPET = "distributed/get_rank_world_size.py"
PAGE = "distributed/get-rank-world-size"


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)


def test_plain_python_is_rank_0_of_1():
    names = {"os": os}
    exec(answer("get-rank-world-size"), names)
    assert [names[n] for n in ("rank", "world_size", "local_rank")] == [0, 1, 0]


def test_the_environment_answers_before_init_and_the_group_after(monkeypatch):
    """A group that was made differently knows better."""
    for name, value in {"RANK": "5", "WORLD_SIZE": "9", "LOCAL_RANK": "3"}.items():
        monkeypatch.setenv(name, value)
    left = []
    monkeypatch.setattr(dist, "init_process_group", lambda backend: None)
    monkeypatch.setattr(dist, "get_rank", lambda: 6)
    monkeypatch.setattr(dist, "get_world_size", lambda: 8)
    monkeypatch.setattr(dist, "all_gather_object", lambda *given: left.append(given[1]))
    monkeypatch.setattr(dist, "destroy_process_group", lambda: left.append("left"))
    snippet = load_snippet(SNIPPET)
    assert left == ["rank 6 of 8, local rank 3", "left"]
    assert (snippet.rank, snippet.world_size, snippet.local_rank) == (6, 8, 3)


def test_torchrun(tmp_path):
    options = ["--standalone", "--nproc-per-node=2", str(ROOT / "snippets" / SNIPPET)]
    run = run_python("-m", "torch.distributed.run", *options, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    lines = ["rank 0 of 2, local rank 0", "rank 1 of 2, local rank 1"]
    assert run.stdout.splitlines() == lines


@pytest.mark.parametrize("ask", [dist.get_rank, dist.get_world_size])
def test_torch_itself_needs_a_group(ask):
    with raises_as_documented(PAGE, "ValueError: Default process group"):
        ask()


def test_the_documented_errors(monkeypatch):
    monkeypatch.delenv("SLURM_PROCID", raising=False)
    with raises_as_documented(PAGE, "KeyError: 'SLURM_PROCID'"):
        print(os.environ["SLURM_PROCID"])
    with raises_as_documented(PAGE, "KeyError: 'RANK'"):
        print(os.environ["RANK"])


@pytest.mark.parametrize("name", ["SLURM_PROCID", "RANK"])
def test_a_variable_that_another_launcher_sets(monkeypatch, name):
    monkeypatch.delenv("SLURM_PROCID", raising=False)
    monkeypatch.setenv(name, "3")
    assert os.environ.get("SLURM_PROCID", os.environ.get("RANK", 0)) == "3"


@pytest.mark.usefixtures("group")
def test_a_group_that_this_process_is_not_in():
    assert dist.get_rank(dist.GroupMember.NON_GROUP_MEMBER) == -1


def test_local_rank_from_torch(monkeypatch):
    assert dist.get_node_local_rank(fallback_rank=0) == 0
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert dist.get_node_local_rank(fallback_rank=0) == 3


def test_the_time_outs_the_page_names():
    from torch.distributed import constants

    assert constants.default_pg_timeout.total_seconds() == 30 * 60
    if constants.default_pg_nccl_timeout is not None:  # a build without NCCL
        assert constants.default_pg_nccl_timeout.total_seconds() == 10 * 60
