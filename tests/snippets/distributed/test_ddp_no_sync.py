"""ddp-no-sync: how often two processes talk, and the gradients they step with."""

import os

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tests.chains.pasted import answer
from tests.helpers import assert_own_gpu, in_two_processes, load_snippet

SNIPPET = "distributed/ddp_no_sync.py"
snippet = load_snippet(SNIPPET)
ONE = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
ONE |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}

# 7 batches of 2 for each process, three to a group: updates after 3, 6 and 7.
DRIVER = """
import runpy, sys, torch, torch.distributed as dist
from torch import nn
run = runpy.run_path(sys.argv[1])
leave, dist.destroy_process_group = dist.destroy_process_group, lambda: None

def work(rank):
    run["main"]()  # its assert holds with two processes
    x, y = torch.load("data.pt")
    share = slice(rank, None, 2)
    loader = list(zip(x[share].split(2), y[share].split(2)))
    torch.manual_seed(0)
    model = run["DDP"](nn.Linear(3, 1, bias=False, dtype=torch.float64))
    talks, steps, gradients = [], [], []

    def average(state, bucket):
        talks.append(len(steps))
        work = dist.all_reduce(bucket.buffer(), async_op=True)
        return work.get_future().then(lambda done: done.value()[0] / 2)

    def note(optimizer, args, kwargs):
        steps.append(len(talks))
        gradients.append(model.module.weight.grad.clone())

    model.register_comm_hook(None, average)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.register_step_pre_hook(note)
    run["train"](model, loader, nn.MSELoss(), optimizer, "cpu", 3)
    torch.save([talks, steps, gradients, model.module.weight.detach()], f"{rank}.pt")
    leave()
"""


# One group of two batches in each process; -100 is ignored.
TOKENS = """
import torch, torch.distributed as dist, torch.distributed.nn
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

def work(rank):
    dist.init_process_group("gloo")
    x, y = torch.load("data.pt")
    share = slice(rank, None, 2)
    group = list(zip(x[share].split(2), y[share].split(2)))
    model = DDP(nn.Linear(3, 4, bias=False, dtype=torch.float64))
    nn.init.zeros_(model.module.weight)
    loss_fn = nn.CrossEntropyLoss(reduction="sum")
    count = sum((y != -100).sum() for _, y in group)
    own = count.item()
    dist.all_reduce(count)
    for x, y in group:
        loss = loss_fn(model(x), y) / count * dist.get_world_size()
        loss.backward()
    torch.save([own, model.module.weight.grad], f"{rank}.pt")
    dist.destroy_process_group()
"""


def whole_batches(x: np.ndarray, y: np.ndarray):
    """The gradients and the last weight of one process with batches of 12, 12, 4."""
    torch.manual_seed(0)
    w = nn.Linear(3, 1, bias=False, dtype=torch.float64).weight.detach().numpy().T
    gradients = []
    for start in (0, 12, 24):
        part = slice(start, start + 12)
        error = x[part] @ w - y[part]
        gradients.append(2 * x[part].T @ error / len(error))
        w = w - 0.1 * gradients[-1]
    return gradients, w


def counted(model: DDP) -> list:
    """A list that gets one entry for each synchronization."""
    talks = []

    def hook(state, bucket):
        talks.append(bucket.index())
        done = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    model.register_comm_hook(None, hook)
    return talks


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(
    ("batches", "steps", "updates"), [(6, 4, 2), (4, 4, 1), (3, 1, 3), (2, 5, 1)]
)
def test_one_synchronization_for_each_update(batches, steps, updates):
    """And the weights of an update per whole group."""
    torch.manual_seed(0)
    x, y = torch.randn(batches, 8, 3), torch.randn(batches, 8, 1)
    model = DDP(nn.Linear(3, 1, bias=False))
    w = model.module.weight.detach().clone().T
    talks = counted(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = list(zip(x, y, strict=True))
    snippet.train(model, loader, nn.MSELoss(), optimizer, "cpu", steps)
    assert len(talks) == updates
    for xs, ys in zip(x.split(steps), y.split(steps), strict=True):
        xs, ys = xs.flatten(0, 1), ys.flatten(0, 1)
        w -= 0.1 * 2 * xs.T @ (xs @ w - ys) / len(xs)
    torch.testing.assert_close(model.module.weight.detach().T, w)
    assert model.module.weight.grad is None


@pytest.mark.usefixtures("group")
def test_gradients_left_from_before_do_not_count():
    """The answer alone, in eval mode and with a gradient that nobody has cleared."""
    names = {}
    exec(answer("ddp-no-sync"), names)
    model = DDP(nn.Linear(1, 1, bias=False)).eval()
    model.module.weight.data.fill_(1)
    model(torch.full((1, 1), 9.0)).sum().backward()
    loader = [(torch.ones(2, 1), torch.zeros(2, 1))] * 3
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    names["train"](model, loader, nn.MSELoss(), optimizer, "cpu", steps=4)
    assert model.module.weight.item() == pytest.approx(1 - 0.1 * 2)
    assert model.training


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(("inside", "synchronized"), [(True, 0), (False, 1)])
def test_the_forward_pass_decides(inside, synchronized):
    model = DDP(nn.Linear(2, 1))
    talks = counted(model)
    out = None if inside else model(torch.ones(1, 2))
    with model.no_sync():
        out = model(torch.ones(1, 2)) if inside else out
        out.sum().backward()
    assert len(talks) == synchronized


@pytest.mark.usefixtures("own_process")
def test_plain_python_is_one_process(monkeypatch):
    monkeypatch.setattr(os, "environ", os.environ | ONE)
    snippet.main()
    assert not dist.is_initialized()


@pytest.mark.usefixtures("own_process")
def test_main_notices_gradients_that_are_not_averaged(monkeypatch):
    """Its claim can fail: an update too many changes the weight."""
    monkeypatch.setattr(os, "environ", os.environ | ONE)
    train = snippet.train
    monkeypatch.setattr(snippet, "train", lambda *a, steps: train(*a, steps=2))
    try:
        with pytest.raises(AssertionError):
            snippet.main()
    finally:
        dist.destroy_process_group()


def test_with_gpus_each_process_takes_its_own(monkeypatch):
    assert_own_gpu(monkeypatch, snippet.main)


def test_two_processes_step_with_the_gradients_of_whole_batches(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(28, 3)), rng.normal(size=(28, 1))
    torch.save([torch.tensor(x), torch.tensor(y)], tmp_path / "data.pt")
    in_two_processes(tmp_path, DRIVER, snippet.__file__)
    expected, w = whole_batches(x, y)
    for rank in range(2):
        talks, steps, gradients, weight = torch.load(tmp_path / f"{rank}.pt")
        assert (talks, steps) == ([0, 1, 2], [1, 2, 3])  # one before each update
        for gradient, of_all in zip(gradients, expected, strict=True):
            np.testing.assert_allclose(gradient.numpy().T, of_all, rtol=1e-12)
        np.testing.assert_allclose(weight.numpy().T, w, rtol=1e-12)


def test_a_mean_over_the_tokens_of_two_processes(tmp_path):
    """The weights are 0, so that each of the four classes has a probability of 1/4."""
    x, y = torch.randn(8, 3).double(), torch.tensor([0, 1, -100, 3, -100, 0, 2, 3])
    torch.save([x, y], tmp_path / "data.pt")
    in_two_processes(tmp_path, TOKENS)
    a, t = x[y >= 0].numpy(), y[y >= 0].numpy()
    expected = (0.25 - np.eye(4)[t]).T @ a / 6
    for rank, count in ((0, 2), (1, 4)):
        own, gradient = torch.load(tmp_path / f"{rank}.pt")
        assert own == count
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-12)
