"""err-nccl-timeout: two real processes, a port that is taken, the libraries' texts."""

import re
import socket
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


def test_the_groups_have_their_limits(monkeypatch):
    """As rank 0, with calls that are noted."""
    calls = []

    def new_group(**given):
        calls.append(given)
        return len(calls)

    monkeypatch.setattr(dist, "init_process_group", lambda *args, **given: None)
    monkeypatch.setattr(dist, "new_group", new_group)
    monkeypatch.setattr(dist, "barrier", calls.append)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: calls.append("left"))
    monkeypatch.setattr(snippet.time, "sleep", calls.append)
    snippet.work(0, "file:///nowhere")
    training, patient, seconds, waited_in, left = calls
    assert timedelta(seconds=seconds) > training["timeout"]
    assert patient == {"backend": "gloo", "timeout": timedelta(minutes=60)}
    assert waited_in == 2  # the patient one
    assert left == "left"


@pytest.mark.usefixtures("own_process")
def test_a_port_that_is_taken():
    with socket.create_server(("", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        start = "DistNetworkError: The server socket has failed"
        with raises_as_documented(PAGE, start) as caught:
            dist.init_process_group("gloo", address, rank=0, world_size=1)
    assert "EADDRINUSE" in str(caught.value)


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
