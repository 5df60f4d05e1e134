"""compile-ddp: when gradients go out, and the weights against one process.

In place of Inductor, a backend that notes each backward; DDP notes each bucket.
"""

import json
from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tests.helpers import ROOT, in_two_processes, raises_as_documented

PAGE = "distributed/compile-ddp"

DRIVER = """
import json, sys, warnings
from pathlib import Path
from unittest import mock
import torch, torch.distributed as dist, torch.distributed.nn
from torch import nn
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.utils import counters
from torch.nn import parallel

warnings.filterwarnings("ignore", "The .grad attribute of a Tensor that is not")
events, wrapped = [], []

def forward(gm, inputs):
    return make_boxed_func(gm.forward)

def backward(gm, inputs):
    def noted(*values):
        events.append("backward")
        return gm.forward(*values)
    return make_boxed_func(noted)

def all_reduce(state, bucket):
    events.append("bucket")
    mean = bucket.buffer().div_(dist.get_world_size())
    sent = dist.all_reduce(mean, async_op=True)
    return sent.get_future().then(lambda done: done.value()[0])

class Noted(parallel.DistributedDataParallel):
    def __init__(self, model):
        super().__init__(model, bucket_cap_mb=0.001)
        self.register_comm_hook(None, all_reduce)
        wrapped.append(model)

backend = aot_autograd(fw_compiler=forward, bw_compiler=backward)
compile_, leave = nn.Module.compile, dist.destroy_process_group
dist._DEFAULT_FIRST_BUCKET_BYTES = 1000

def work(rank):
    code = Path(sys.argv[1]).read_text()
    for change in sys.argv[2:]:
        before, after = change.split(" -> ")
        assert before in code
        code = code.replace(before, after)
    names = {"__name__": "__main__"}
    with (
        mock.patch.object(nn.Module, "compile", lambda m: compile_(m, backend=backend)),
        mock.patch.object(parallel, "DistributedDataParallel", Noted),
        mock.patch.object(dist, "destroy_process_group", lambda: None),
    ):
        exec(compile(code, sys.argv[1], "exec"), names)
    state = names.get("model", *wrapped).state_dict()
    keys = list(state)
    if hasattr(next(iter(state.values())), "full_tensor"):
        state = {name: w.full_tensor() for name, w in state.items()}
    breaks = sum(counters["graph_break"].values())
    if rank == 0:
        torch.save(state, "state.pt")
        print(json.dumps([events, keys, breaks]))
    leave()
"""
COMPILE = "model.compile()  # returns"


def run(folder, snippet, *changes):
    path = ROOT / "snippets/distributed" / snippet
    return json.loads(in_two_processes(folder, DRIVER, str(path), *changes))


def sent_meanwhile(events):
    """How many buckets go out between the first and the last graph of a backward."""
    graphs = events.count("backward") // 5
    at = [i for i, event in enumerate(events) if event == "backward"][-graphs:]
    return events[at[0] : at[-1]].count("bucket")


def test_gradients_go_out_while_others_are_computed(tmp_path):
    """The snippet itself compares the weights with those of one process."""
    events, names, breaks = run(tmp_path, "compile_ddp.py")
    assert events.count("backward") > 5  # split where the buckets end
    assert sent_meanwhile(events) >= 2
    assert names[:2] == ["layers.0.weight", "layers.0.bias"]
    assert breaks == 0


def test_in_one_graph_only_after_all_of_it(tmp_path):
    off = f"{COMPILE} -> torch._dynamo.config.optimize_ddp = False; {COMPILE}"
    events, _, _ = run(tmp_path, "compile_ddp.py", off)
    assert events.count("backward") == 5
    assert sent_meanwhile(events) == 0


def test_around_ddp_fullgraph_is_refused(group):
    ddp_model = DDP(nn.Linear(2, 2))
    with raises_as_documented(PAGE, "Unsupported: Unsupported method call"):
        torch.compile(ddp_model, backend="eager", fullgraph=True)(torch.ones(1, 2))
    names = list(torch.compile(ddp_model).state_dict())
    assert names == ["_orig_mod.module.weight", "_orig_mod.module.bias"]


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.used(x)


@pytest.mark.parametrize("found", [False, True])
def test_unused_weights_are_as_without_compile(found, group):
    model = TwoHeads()
    model.compile(backend="eager", fullgraph=True)
    ddp_model = DDP(model, find_unused_parameters=found)
    told = pytest.raises(RuntimeError, match="Expected to have finished reduction")
    with nullcontext() if found else told:
        for _ in range(3):
            ddp_model(torch.ones(1, 2)).sum().backward()
