"""data-parallel: the wrapper on a CPU, its names, and the errors it is known for."""

import threading

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.parallel._functions import Gather

from tests.helpers import load_snippet, raises_as_documented

PAGE = "distributed/data-parallel"
snippet = load_snippet("distributed/data_parallel.py")
on_cpu = pytest.mark.skipif(torch.cuda.is_available(), reason="wants no GPU")


def test_forward_and_backward_are_the_models():
    net = nn.Linear(3, 2, dtype=torch.float64)
    model = snippet.data_parallel(net)
    weight = net.weight.detach().cpu().numpy().copy()
    bias = net.bias.detach().cpu().numpy().copy()
    x = np.random.default_rng(0).normal(size=(5, 3))
    y = model(torch.tensor(x))
    expected = x @ weight.T + bias
    np.testing.assert_allclose(y.detach().cpu().numpy(), expected)
    y.square().sum().backward()
    np.testing.assert_allclose(net.weight.grad.cpu().numpy(), 2 * expected.T @ x)


@on_cpu
def test_without_a_gpu_it_only_calls_the_model():
    net = nn.Linear(3, 2)
    model = snippet.data_parallel(net)
    assert type(model) is nn.DataParallel
    assert model.device_ids == []
    assert model.module is net
    assert net.weight.device.type == "cpu"
    seen = []
    net.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    x = torch.ones(4, 3)
    model(x)
    assert seen[0] is x


def test_with_gpus_the_model_goes_to_the_first(monkeypatch):
    class Net(nn.Module):
        def to(self, device):
            self.device = device
            return self

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(snippet, "DataParallel", lambda model: ("wrapped", model))
    wrapped, model = snippet.data_parallel(Net())
    assert wrapped == "wrapped"
    assert model.device == "cuda:0"


def test_unwrap():
    net = nn.Linear(3, 2)
    assert snippet.unwrap(net) is net
    assert snippet.unwrap(nn.DataParallel(net)) is net
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        assert snippet.unwrap(DistributedDataParallel(net.cpu())) is net
    finally:
        dist.destroy_process_group()
    parent = nn.Module()
    parent.module = net  # a child of that name is no wrapper
    assert snippet.unwrap(parent) is parent


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x)


def test_under_ddp_the_compiled_model_is_used():
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph

    net = Net()
    names = list(net.state_dict())
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        net.compile(backend=backend)
        DistributedDataParallel(net)(torch.ones(2, 3)).sum().backward()
    finally:
        dist.destroy_process_group()
    assert len(graphs) == 1
    assert net.layer.bias.grad.item() == 2
    assert list(net.state_dict()) == names


def test_the_prefix():
    model = snippet.data_parallel(nn.Linear(3, 2))
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    with raises_as_documented(PAGE) as caught:
        nn.Linear(3, 2).load_state_dict(model.state_dict())
    assert 'Missing key(s) in state_dict: "weight", "bias"' in str(caught.value)
    unexpected = 'Unexpected key(s) in state_dict: "module.weight", "module.bias"'
    assert unexpected in str(caught.value)
    nn.Linear(3, 2).load_state_dict(snippet.unwrap(model).state_dict())


def test_the_wrapper_lacks_the_models_attributes():
    with raises_as_documented(PAGE):
        _ = snippet.data_parallel(nn.Linear(3, 2)).weight


def test_there_is_no_such_name_in_nn():
    with raises_as_documented(PAGE):
        _ = nn.DistributedDataParallel


def test_with_several_gpus_the_wrapper_moves_no_model():
    model = nn.DataParallel(nn.Linear(3, 2).cpu())
    model.module.cpu()
    model.device_ids, model.src_device_obj = [0, 1], torch.device("cuda:0")
    with raises_as_documented(PAGE):
        model(torch.ones(4, 3))


def test_scalars_are_gathered_to_a_vector():
    losses = [torch.zeros((), device="meta") for _ in range(2)]
    with raises_as_documented(PAGE):  # a warning, in other words
        Gather.apply(torch.device("meta"), 0, *losses)


def test_autocast_tells_a_new_thread_no_dtype():
    found = []

    def ask():
        # What parallel_apply does in its threads.
        with torch.amp.autocast("cpu", enabled=True):
            found.append((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)

    with torch.autocast("cpu", dtype=torch.float16):
        with torch.amp.autocast("cpu", enabled=True):
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float16
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert found == [torch.bfloat16]  # the CPU's default
    assert torch.get_autocast_dtype("cuda") == torch.float16
