"""err-nccl-timeout: two real processes, the limits, the libraries' texts."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.distributed.constants import default_pg_nccl_timeout

from tests.helpers import (
    ROOT,
    assert_documented,
    lacking,
    load_snippet,
    raises_as_documented,
    run_python,
)

PAGE = "errors/err-nccl-timeout"
SOURCE = Path(dist.distributed_c10d.__file__).read_text(encoding="utf-8")
snippet = load_snippet("errors/err_nccl_timeout.py")


def test_the_limit_ends_and_the_patient_group_waits(tmp_path):
    done = run_python(snippet.__file__, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    error, after = done.stdout.splitlines()
    assert_documented(PAGE, "Timed out waiting", error.removeprefix("error: "))
    assert after == "rank 1 goes on"


@pytest.mark.parametrize("rank", [0, 1])
def test_every_process_makes_the_group_and_waits_in_it(rank, monkeypatch):
    calls = []

    def new_group(**given):
        calls.append(given)
        return "patient"

    monkeypatch.setattr(dist, "new_group", new_group)
    monkeypatch.setattr(dist, "get_rank", lambda: rank)
    monkeypatch.setattr(dist, "barrier", lambda group: calls.append(group))
    monkeypatch.setattr(
        dist, "destroy_process_group", lambda group: calls.append("end")
    )
    snippet.on_rank_0(lambda: calls.append("task"))
    task = ["task"] if rank == 0 else []
    limit = {"backend": "gloo", "timeout": timedelta(minutes=60)}
    assert calls == [limit, *task, "patient", "end"]


@pytest.mark.usefixtures("group")
def test_it_can_be_called_in_every_epoch():
    epochs = []
    for epoch in range(3):
        snippet.on_rank_0(lambda epoch=epoch: epochs.append(epoch))
    assert epochs == [0, 1, 2]


@pytest.mark.usefixtures("own_process")
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.skipif(not dist.is_nccl_available(), reason="torch without NCCL")
def test_nccl_without_a_gpu():
    given = {"store": dist.HashStore(), "rank": 0, "world_size": 1}
    with raises_as_documented(PAGE, "RuntimeError: nccl2 requires"):
        dist.init_process_group("nccl", **given)
    if "nccl-legacy" in SOURCE:  # from torch 2.15 on
        with raises_as_documented(PAGE, "ValueError: ProcessGroupNCCL is only"):
            dist.init_process_group("nccl-legacy", **given)


@pytest.mark.skipif(not dist.is_nccl_available(), reason="torch without NCCL")
def test_what_needs_gpus_is_in_the_libraries():
    page = (ROOT / f"docs/en/{PAGE}.md").read_text(encoding="utf-8")
    torchs = [
        "Watchdog caught collective operation timeout: ",
        "Watchdog caught collective operation timeout: NCCL operation timed out",
        "NCCL error in: ",
        "Some NCCL operations have failed or timed out.",
        "is setting up NCCL communicator and retrieving ncclUniqueId from [0]",
        "last completed NCCL work",
    ]
    nccls = [
        "Multiple Ranks are using the same GPU/Partition.",
        "remote process exited or there was a network error",
        "unhandled system error",
        "unhandled cuda error",
        "NCCL_SOCKET_IFNAME",
        "NCCL_IB_DISABLE",
        "NCCL_P2P_DISABLE",
        "NCCL_DEBUG",
    ]
    for message in torchs + nccls:
        assert message.rstrip() in page
    folder = Path(torch.__file__).parent
    assert not lacking(folder / "lib/libtorch_cuda.so", *torchs)
    nccl = folder.parent / "nvidia/nccl/lib/libnccl.so.2"
    assert not lacking(nccl, *nccls)
    (minutes,) = re.findall(r"limit, (\d+) minutes for NCCL", page)
    assert default_pg_nccl_timeout == timedelta(minutes=int(minutes))


def test_the_old_engine_comes_back():
    assert 'os.environ.get("TORCH_DIST_USE_NCCL2") == "0"' in SOURCE
