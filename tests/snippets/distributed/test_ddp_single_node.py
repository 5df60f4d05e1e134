"""ddp-single-node: two real processes against a NumPy loop over whole batches."""

import mmap
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.constants import default_pg_nccl_timeout
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DistributedSampler

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "distributed/ddp_single_node.py"
PAGE = "distributed/ddp-single-node"
snippet = load_snippet(SNIPPET)

OPTIONS = ("--standalone", "--nproc-per-node=2")
N, B = 30, 12  # batches of 12, 12 and 6
DRIVER = """
import runpy, sys, numpy as np, torch
from torch import nn
run = runpy.run_path(sys.argv[1])
rank, W, device = run["join"]()
data = np.load("data.npy")
drawn = []

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return len(data)

    def __getitem__(self, i):
        drawn.append(i)
        return torch.tensor(data[i, :4]), torch.tensor(data[i, 4:])

torch.manual_seed(rank)  # DDP has to start from the weights of rank 0
model = nn.Linear(4, 1, bias=False, dtype=torch.float64, device=device)
run["train"](run["DDP"](model), Data(), int(sys.argv[2]), rank, W)
torch.save({"weight": model.weight.detach().cpu(), "drawn": drawn}, f"{rank}.pt")
run["dist"].destroy_process_group()
"""


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Folder, results of both ranks and stderr of one torchrun."""
    folder = tmp_path_factory.mktemp("ddp")
    (folder / "driver.py").write_text(DRIVER)
    np.save(folder / "data.npy", np.random.default_rng(0).normal(size=(N, 5)))
    torchrun = Path(sys.executable).parent / "torchrun"
    run = subprocess.run(
        [torchrun, *OPTIONS, "driver.py", str(ROOT / "snippets" / SNIPPET), str(B)],
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    ranks = [torch.load(folder / f"{rank}.pt") for rank in range(2)]
    return folder, ranks, run.stderr


def test_both_end_with_the_weights_of_whole_batches(processes):
    folder, ranks, _ = processes
    assert torch.equal(ranks[0]["weight"], ranks[1]["weight"])
    data = np.load(folder / "data.npy")
    torch.manual_seed(0)
    w = nn.Linear(4, 1, bias=False, dtype=torch.float64).weight.detach().numpy()[0]
    for epoch in range(3):
        generator = torch.Generator().manual_seed(epoch)
        order = torch.randperm(N, generator=generator).numpy()
        for start in range(0, N, B):
            batch = data[order[start : start + B]]
            error = batch[:, :4] @ w - batch[:, 4]
            w = w - 0.1 * 2 * error @ batch[:, :4] / len(batch)
    np.testing.assert_allclose(ranks[0]["weight"].numpy()[0], w, rtol=1e-12)


def test_each_epoch_deals_all_samples_anew(processes):
    _, ranks, _ = processes
    drawn = [np.reshape(rank["drawn"], (3, N // 2)).tolist() for rank in ranks]
    for epoch in range(3):
        assert sorted(drawn[0][epoch] + drawn[1][epoch]) == list(range(N))
    assert drawn[0][0] != drawn[0][1] != drawn[0][2]


def test_the_launcher_logs_its_notice_and_nothing_else(processes):
    lines = [
        line.split("] ", 1)[-1].strip(" *\n") for line in processes[2].splitlines()
    ]
    assert next(filter(None, lines)).startswith(
        "Setting OMP_NUM_THREADS environment variable for each process to be 1"
    )
    assert "warn" not in processes[2].lower()


def test_plain_python_is_rank_0_of_1(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    rank, W, device = snippet.join()
    assert (rank, W) == (0, 1)
    assert device.index == (0 if torch.cuda.is_available() else None)
    assert not dist.is_initialized()


def test_without_a_launcher_init_raises(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with raises_as_documented(PAGE):
        dist.init_process_group("gloo")


@pytest.fixture
def group():
    """A process group of this process alone."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.used(x)


def steps(model: nn.Module) -> None:
    for _ in range(3):
        model(torch.ones(1, 2)).sum().backward()


@pytest.mark.usefixtures("group")
def test_unused_parameters():
    with raises_as_documented(PAGE):
        steps(DDP(Unused()))
    steps(DDP(Unused(), find_unused_parameters=True))


@pytest.mark.usefixtures("group")
def test_find_unused_parameters_complains_where_it_is_not_needed(capfd):
    steps(DDP(nn.Linear(2, 2), find_unused_parameters=True))
    assert "did not find any unused parameters" in capfd.readouterr().err


@pytest.mark.usefixtures("group")
def test_the_prefix():
    model = nn.Linear(2, 2)
    saved = DDP(model).state_dict()
    with raises_as_documented(PAGE):
        nn.Linear(2, 2).load_state_dict(saved)
    assert list(DDP(model).module.state_dict()) == ["weight", "bias"]
    nn.modules.utils.consume_prefix_in_state_dict_if_present(saved, "module.")
    nn.Linear(2, 2).load_state_dict(saved)


@pytest.mark.usefixtures("group")
def test_a_model_that_was_not_moved():
    with raises_as_documented(PAGE):
        DDP(nn.Linear(2, 2), device_ids=[0])


@pytest.mark.skipif(not dist.is_nccl_available(), reason="a build without NCCL")
def test_the_binary_holds_the_messages_of_a_time_out():
    library = Path(torch.__file__).parent / "lib/libtorch_cuda.so"
    page = (ROOT / f"docs/en/{PAGE}.md").read_text(encoding="utf-8")
    with (
        library.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as binary,
    ):
        for message in (
            "Watchdog caught collective operation timeout: ",
            "Some NCCL operations have failed or timed out",
        ):
            assert binary.find(message.encode()) > 0
            assert message in page
    (minutes,) = re.findall(r"with\s+NCCL (\d+) minutes", page)
    assert default_pg_nccl_timeout == timedelta(minutes=int(minutes))


def test_the_sampler_repeats_samples_to_come_out_even():
    def dealt(**options):
        return [
            list(DistributedSampler(range(5), 2, rank, shuffle=False, **options))
            for rank in range(2)
        ]

    assert dealt() == [[0, 2, 4], [1, 3, 0]]
    assert dealt(drop_last=True) == [[0, 2], [1, 3]]


def test_the_order_repeats_without_set_epoch():
    sampler = DistributedSampler(range(9), 1, 0)
    assert list(sampler) == list(sampler)
