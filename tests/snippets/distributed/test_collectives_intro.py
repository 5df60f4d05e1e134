"""collectives-intro: what two processes hold, against values worked out by hand."""

import pytest
import torch
import torch.distributed as dist

from tests.helpers import ROOT, in_two_processes, raises_as_documented

SNIPPET = ROOT / "snippets/distributed/collectives_intro.py"
PAGE = "distributed/collectives-intro"

# The rest of the page's table, after what the snippet itself does.
DRIVER = """
import runpy, sys, warnings, torch, torch.distributed as dist, torch.distributed.nn
from torch.distributed._functional_collectives import all_gather_single
warnings.filterwarnings("ignore", "torch.distributed.nn.functional", FutureWarning)
leave, dist.destroy_process_group = dist.destroy_process_group, lambda: None

def work(rank):
    run = runpy.run_path(sys.argv[1])
    held = [run[name] for name in ("x", "total", "first", "parts")]
    x = torch.tensor([rank + 1.0])
    gathered = [torch.empty(1) for _ in range(2)] if rank == 0 else None
    dist.gather(x, gathered, dst=0)
    largest = x.clone()
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)
    reduced = x.clone()
    dist.reduce(reduced, dst=0)
    dealt = torch.empty(1)
    parts = [torch.tensor([5.0]), torch.tensor([6.0])] if rank == 0 else None
    dist.scatter(dealt, parts, src=0)
    objects = [{"lr": 0.1} if rank == 0 else None]
    dist.broadcast_object_list(objects, src=0)
    mean = x.clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    grads = []
    for gather in (
        lambda x: torch.cat(torch.distributed.nn.functional.all_gather(x)),
        lambda x: all_gather_single(x, 0, dist.group.WORLD),
    ):
        w = torch.ones(1, requires_grad=True)
        out = gather(w * (rank + 1))
        (out * torch.tensor([1.0, 10.0])).sum().backward()
        grads.append((out.tolist(), w.grad.item()))
    dist.barrier()
    held += [gathered, largest, reduced, dealt, objects, mean, grads]
    torch.save(held, f"{rank}.pt")
    leave()
"""


def test_two_processes_hold_what_the_page_says(tmp_path):
    printed = in_two_processes(tmp_path, DRIVER, str(SNIPPET))
    assert printed == "all_reduce [3.0] broadcast [1.0]\nall_gather [1.0, 2.0]\n"
    for lang in ("en", "zh"):
        page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
        assert f"```text\n{printed}```" in page
    for rank in range(2):
        saved = torch.load(tmp_path / f"{rank}.pt")
        x, total, first, parts, gathered, largest, reduced, dealt = saved[:8]
        objects, mean, grads = saved[8:]
        assert mean.item() == 1.5
        # d/dw of (1 + 2 * 10) w: own weight, in the losses of both processes.
        assert grads == [([1, 2], 40 if rank else 2)] * 2
        assert (x.item(), total.item(), first.item()) == (rank + 1, 3, 1)
        assert torch.cat(parts).tolist() == [1, 2]
        assert gathered is None if rank else torch.cat(gathered).tolist() == [1, 2]
        assert rank == 1 or reduced.item() == 3
        assert (largest.item(), dealt.item()) == (2, 5 + rank)
        assert objects == [{"lr": 0.1}]


def test_without_a_group():
    with raises_as_documented(PAGE, "ValueError: Default process group"):
        dist.all_reduce(torch.ones(1))


@pytest.mark.usefixtures("own_process")
def test_a_backend_for_gpus_alone():
    """As NCCL's, with gloo: no backend for tensors of the CPU."""
    dist.init_process_group("cuda:gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        with raises_as_documented(PAGE, "RuntimeError: No backend type"):
            dist.all_reduce(torch.ones(1))
    finally:
        dist.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_a_list_of_another_length():
    with raises_as_documented(PAGE, "RuntimeError: ProcessGroupGloo::allgather"):
        dist.all_gather([torch.empty(1), torch.empty(1)], torch.ones(1))


@pytest.mark.usefixtures("group")
def test_a_number():
    with raises_as_documented(PAGE, "TypeError: Invalid function argument"):
        dist.all_reduce(1.0)


@pytest.mark.usefixtures("group")
def test_all_gather_cuts_the_graph_and_the_own_tensor_mends_it():
    w = torch.ones(1, requires_grad=True)
    x = 2 * w
    parts = [torch.empty(1)]
    dist.all_gather(parts, x)
    assert not parts[0].requires_grad
    parts[dist.get_rank()] = x
    torch.cat(parts).sum().backward()
    assert w.grad.item() == 2
