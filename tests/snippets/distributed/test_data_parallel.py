"""data-parallel: the wrapper on a CPU, its names, and the errors it is known for."""

import inspect
import threading

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.parallel._functions import Gather
from torch.nn.parallel.parallel_apply import parallel_apply

from tests.helpers import load_snippet, raises_as_documented

PAGE = "distributed/data-parallel"
snippet = load_snippet("distributed/data_parallel.py")
on_cpu = pytest.mark.skipif(torch.cuda.is_available(), reason="wants no GPU")


def test_forward_and_backward_are_the_models():
    net = nn.Linear(3, 2, dtype=torch.float64).to(snippet.device)
    model = nn.DataParallel(net)
    weight = net.weight.detach().cpu().numpy().copy()
    bias = net.bias.detach().cpu().numpy().copy()
    x = np.random.default_rng(0).normal(size=(5, 3))
    y = model(torch.tensor(x))
    expected = x @ weight.T + bias
    np.testing.assert_allclose(y.detach().cpu().numpy(), expected)
    y.square().sum().backward()
    np.testing.assert_allclose(net.weight.grad.cpu().numpy(), 2 * expected.T @ x)


def test_the_snippet_wraps_trains_and_unwraps():
    assert type(snippet.model) is nn.DataParallel
    assert list(snippet.model.state_dict()) == ["module.weight", "module.bias"]
    net = snippet.model.module
    assert snippet.y.shape == (6, 2)
    assert snippet.loss.item() == pytest.approx(snippet.y.square().mean().item())
    torch.testing.assert_close(net.bias.grad, snippet.y.detach().sum(0) * 2 / 12)
    assert list(snippet.state) == ["weight", "bias"]
    torch.testing.assert_close(snippet.state["weight"], net.weight.detach())


@on_cpu
def test_without_a_gpu_it_only_calls_the_model():
    net = nn.Linear(3, 2)
    seen = []
    net.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    x = torch.ones(4, 3)
    model = nn.DataParallel(net)
    model(x)
    assert model.device_ids == []
    assert seen[0] is x


def test_the_prefix():
    model = nn.DataParallel(nn.Linear(3, 2))
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading") as caught:
        nn.Linear(3, 2).load_state_dict(model.state_dict())
    unexpected = 'Unexpected key(s) in state_dict: "module.weight", "module.bias"'
    assert unexpected in str(caught.value)


def test_the_wrapper_lacks_the_models_attributes():
    with raises_as_documented(PAGE, "AttributeError: 'DataParallel' object has"):
        _ = snippet.model.weight
    assert snippet.model.module.weight.shape == (2, 8)


def test_there_is_no_such_name_in_nn():
    with raises_as_documented(PAGE, "AttributeError: module 'torch.nn' has"):
        _ = nn.DistributedDataParallel


def test_with_several_gpus_the_wrapper_moves_no_model():
    model = nn.DataParallel(nn.Linear(3, 2).cpu())
    model.module.cpu()
    model.device_ids, model.src_device_obj = [0, 1], torch.device("cuda:0")
    with raises_as_documented(PAGE, "RuntimeError: module must have"):
        model(torch.ones(4, 3))


def test_scalars_are_gathered_to_a_vector():
    losses = [torch.zeros((), device="meta") for _ in range(2)]
    with raises_as_documented(
        PAGE, "UserWarning: Was asked to"
    ):  # a warning, in other words
        Gather.apply(torch.device("meta"), 0, *losses)


def test_an_error_in_a_thread_names_its_replica():
    """The threads need GPUs; what they pass on does not."""
    assert 'f"in replica {i} on device {device}"' in inspect.getsource(parallel_apply)
    try:
        raise RuntimeError("of the model")
    except RuntimeError:
        error = torch._utils.ExceptionWrapper(where="in replica 0 on device 0")
    with raises_as_documented(PAGE, "RuntimeError: Caught RuntimeError in") as caught:
        error.reraise()
    _, original = str(caught.value).split("Original Traceback")
    assert original.rstrip().endswith("RuntimeError: of the model")


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


def test_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "_lazy_init", lambda: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with raises_as_documented(PAGE, "AssertionError: Invalid device id"):
        torch.cuda.get_device_properties(1)
