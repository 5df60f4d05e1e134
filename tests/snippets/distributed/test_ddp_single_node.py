"""ddp-single-node: three real processes against a NumPy loop over whole batches."""

import mmap
import os
import re
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.constants import default_pg_nccl_timeout
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from tests.chains.pasted import answer
from tests.helpers import (
    ROOT,
    assert_documented,
    assert_own_gpu,
    in_two_processes,
    load_snippet,
    raises_as_documented,
    run_python,
)

SNIPPET = "distributed/ddp_single_node.py"
PAGE = "distributed/ddp-single-node"
snippet = load_snippet(SNIPPET)

W, N, B = 3, 22, 3  # 8 samples each, 2 of 24 repeated: batches of 3, 3 and 2
DRIVER = """
import runpy, sys, numpy as np, torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler
run = runpy.run_path(sys.argv[1])
dist = run["dist"]
leave, dist.destroy_process_group = dist.destroy_process_group, lambda: None
run["main"]()

rank = dist.get_rank()
data = np.load("data.npy")
drawn = []

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return len(data)

    def __getitem__(self, i):
        drawn.append(i)
        return torch.tensor(data[i, :4]), torch.tensor(data[i, 4:])

def check():
    torch.manual_seed(rank)  # DDP has to start from the weights of rank 0
    model = run["DDP"](nn.Linear(4, 1, bias=False, dtype=torch.float64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sampler = DistributedSampler(Data())
    loader = DataLoader(Data(), int(sys.argv[2]), sampler=sampler)
    losses = []
    model.eval()  # train() sets the mode
    for epoch in range(2):
        sampler.set_epoch(epoch)
        losses.append(run["train"](model, loader, nn.MSELoss(), optimizer, "cpu"))
    weight, training = model.module.weight.detach(), model.training
    torch.save([weight, training, losses, drawn], f"{rank}.pt")
    leave()

# A global model would hold the group to the exit, where gloo's threads may abort.
check()
"""


@pytest.mark.usefixtures("own_process")
def test_plain_python_is_one_process(monkeypatch, tmp_path, capsys):
    """It orders and updates like a loop without DDP."""
    one = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    one |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    monkeypatch.setattr(os, "environ", os.environ | one)
    monkeypatch.chdir(tmp_path)
    train, devices = snippet.train, []
    monkeypatch.setattr(
        snippet, "train", lambda *args: devices.append(args[-1]) or train(*args)
    )
    snippet.main()
    kind = "cuda:0" if torch.cuda.is_available() else "cpu"
    assert devices == [torch.device(kind)] * 5
    assert not dist.is_initialized()
    printed = capsys.readouterr().out.splitlines()

    torch.manual_seed(0)
    x = torch.randn(600, 2)
    y = (x.norm(dim=1) > 1.2).long()
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    for epoch in range(5):
        order = torch.randperm(600, generator=torch.Generator().manual_seed(epoch))
        total = 0
        for batch in order.split(32):
            loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        value = float(printed[epoch].partition("loss ")[2])
        assert value == pytest.approx(total / 600, abs=0.006)
    saved = torch.load("model.pt", weights_only=True)
    if not torch.cuda.is_available():
        torch.testing.assert_close(saved, dict(model.state_dict()))


def test_the_sum_of_the_losses_stays_on_the_device(monkeypatch):
    """Reading a meta tensor raises, where a GPU would wait: only the last line may."""
    reduced = []
    monkeypatch.setattr(dist, "all_reduce", reduced.append)
    model, data = nn.Linear(2, 1, device="meta"), TensorDataset(torch.ones(4, 2))
    loader = [(x, x[:, :1]) for (x,) in DataLoader(data, 2)]
    optimizer = torch.optim.SGD(model.parameters())
    with pytest.raises(RuntimeError, match="meta"):
        snippet.train(model, loader, nn.MSELoss(), optimizer, "meta")
    assert [total.device.type for total in reduced] == ["meta"]


@pytest.mark.usefixtures("own_process")
def test_the_answer_alone_with_another_dataset(monkeypatch, tmp_path, capsys):
    """101 samples: the last batch is smaller."""
    one = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    one |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    monkeypatch.setattr(os, "environ", os.environ | one)
    monkeypatch.chdir(tmp_path)
    x = torch.randn(101, 4)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
    names = {"model": model, "train_set": TensorDataset(x, x[:, :1]), "epochs": 3}
    names |= {"loss_fn": nn.MSELoss(), "train": snippet.train}
    code = answer("ddp-single-node")
    exec(code, names)
    assert not dist.is_initialized()
    losses = [float(x.split()[-1]) for x in capsys.readouterr().out.splitlines()]
    assert len(losses) == 3
    assert losses[2] < losses[0]
    saved = torch.load("model.pt", weights_only=True)
    model.load_state_dict(saved)  # the names of the model without DDP
    assert saved["1.num_batches_tracked"] == 3 * 4


def test_with_gpus_each_process_takes_its_own(monkeypatch):
    assert_own_gpu(monkeypatch, snippet.main)


UNLIKE = """
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

def work(rank):
    dist.init_process_group("gloo")
    try:
        DDP(nn.Linear(4, 1, bias=rank == 0))
    except RuntimeError as error:
        if rank == 0:
            print(f"RuntimeError: {error}")
    dist.destroy_process_group()
"""


def test_processes_with_different_models(tmp_path):
    printed = in_two_processes(tmp_path, UNLIKE)
    assert_documented(PAGE, "RuntimeError: DDP expects same model", printed.strip())


def test_without_a_launcher_init_raises(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with raises_as_documented(PAGE, "ValueError: Error initializing torch.distributed"):
        dist.init_process_group("gloo")


def test_a_build_without_nccl(monkeypatch):
    """As on Windows."""
    monkeypatch.setattr(dist.distributed_c10d, "is_nccl_available", lambda: False)
    with raises_as_documented(PAGE, "RuntimeError: Distributed package doesn't"):
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)


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
    with raises_as_documented(PAGE, "RuntimeError: Expected to have"):
        steps(DDP(Unused()))
    steps(DDP(Unused(), find_unused_parameters=True))


@pytest.mark.usefixtures("group")
def test_the_prefix():
    model = nn.Linear(2, 2)
    saved = DDP(model).state_dict()
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading") as caught:
        nn.Linear(2, 2).load_state_dict(saved)
    assert 'Unexpected key(s) in state_dict: "module.weight"' in str(caught.value)
    nn.Linear(2, 2).load_state_dict(DDP(model).module.state_dict())


@pytest.mark.usefixtures("group")
def test_a_model_that_was_not_moved():
    with raises_as_documented(PAGE, "ValueError: DistributedDataParallel device_ids"):
        DDP(nn.Linear(2, 2), device_ids=[0])


@pytest.mark.usefixtures("group")
def test_accumulation_without_a_message_in_between():
    model = DDP(nn.Linear(2, 1, bias=False))
    with model.no_sync():
        model(torch.ones(1, 2)).sum().backward()
    model(torch.ones(1, 2)).sum().backward()
    assert model.module.weight.grad.tolist() == [[2, 2]]


@pytest.mark.skipif(not dist.is_nccl_available(), reason="a build without NCCL")
def test_the_binary_holds_the_messages_of_a_time_out():
    """They need GPUs, and ten minutes."""
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
    (minutes,) = re.findall(r"with NCCL for (\d+) minutes", page)
    assert default_pg_nccl_timeout == timedelta(minutes=int(minutes))


def test_the_sampler_repeats_samples_to_come_out_even():
    dealt = [
        list(DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in (0, 1)
    ]
    assert dealt == [[0, 2, 4], [1, 3, 0]]


def test_the_order_repeats_without_set_epoch():
    sampler = DistributedSampler(range(9), 1, 0)
    assert list(sampler) == list(sampler)


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Folder, what each rank saved, and what one torchrun printed."""
    folder = tmp_path_factory.mktemp("ddp")
    (folder / "driver.py").write_text(DRIVER)
    np.save(folder / "data.npy", np.random.default_rng(0).normal(size=(N, 5)))
    options = ["--standalone", f"--nproc-per-node={W}", "driver.py"]
    script = str(ROOT / "snippets" / SNIPPET)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("OMP_NUM_THREADS", raising=False)  # if set, there is no notice
        run = run_python(
            *("-m", "torch.distributed.run", *options, script, str(B)),
            folder=folder,
            CUDA_VISIBLE_DEVICES="",
        )
    assert run.returncode == 0, run.stderr
    ranks = [torch.load(folder / f"{rank}.pt") for rank in range(W)]
    return folder, ranks, run


def numpy_epochs(data):
    """The weights and the mean losses of whole batches in one process."""
    torch.manual_seed(0)
    w = nn.Linear(4, 1, bias=False, dtype=torch.float64).weight.detach().numpy()[0]
    losses = []
    for epoch in range(2):
        generator = torch.Generator().manual_seed(epoch)
        order = torch.randperm(N, generator=generator).numpy()
        order = np.append(order, order[: -N % W])  # as many for each
        squares = []
        for start in range(0, len(order), B * W):
            batch = data[order[start : start + B * W]]
            error = batch[:, :4] @ w - batch[:, 4]
            squares.extend(error**2)
            w = w - 0.1 * 2 * error @ batch[:, :4] / len(batch)
        losses.append(np.mean(squares))
    return w, losses


def test_all_end_with_the_weights_of_whole_batches(processes):
    folder, ranks, _ = processes
    expected, losses = numpy_epochs(np.load(folder / "data.npy"))
    for weight, training, printed, _ in ranks:
        np.testing.assert_allclose(weight.numpy()[0], expected, rtol=1e-12)
        np.testing.assert_allclose(printed, losses, rtol=1e-6)  # float32 sums
        assert training


def test_each_epoch_deals_all_samples_anew(processes):
    drawn = [np.reshape(rank[3], (2, -1)) for rank in processes[1]]
    for epoch in range(2):
        together = np.concatenate([own[epoch] for own in drawn])
        assert sorted(set(together)) == list(range(N))
        assert len(together) == N + -N % W
    assert drawn[0][0].tolist() != drawn[0][1].tolist()


def test_one_process_prints_and_saves(processes):
    folder, _, run = processes
    lines = run.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        f"epoch {epoch}" for epoch in range(5)
    ]
    first, *_, last = (float(line.rpartition(" ")[2]) for line in lines)
    assert last < first / 2
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    model.load_state_dict(torch.load(folder / "model.pt", weights_only=True))
    x = torch.randn(1000, 2, generator=torch.Generator().manual_seed(1))
    outside = x.norm(dim=1) > 1.2
    assert (model(x).argmax(1) == outside).float().mean() > 0.9


def test_the_launcher_logs_its_notice_and_nothing_else(processes):
    lines = re.sub(r".*\] ", "", processes[2].stderr).strip(" *\n").splitlines()
    assert_documented(PAGE, "Setting OMP_NUM_THREADS", lines[0])
    assert "warn" not in processes[2].stderr.lower()
    assert "Traceback" not in processes[2].stderr
