"""default-dtype-device: NumPy's types, other threads, other processes."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import RandomSampler

from tests.helpers import (
    TORCH_CPU,
    assert_documented,
    lacking,
    quoted,
    raises_as_documented,
    run_on,
)

SNIPPET, PAGE = "setup/default_dtype_device.py", "setup/default-dtype-device"


@pytest.fixture(autouse=True)
def unchanged_afterwards():
    yield
    left = torch.get_default_dtype(), torch.get_default_device()
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    assert left == (torch.float32, torch.device("cpu"))


def test_both_ways_reach_the_device_and_the_rest_is_untouched(monkeypatch, capsys):
    snippet = run_on("meta", SNIPPET, monkeypatch)
    assert snippet.model.weight.is_meta
    assert snippet.x.is_meta
    assert snippet.x.shape == (4, 3)
    assert snippet.x.dtype == snippet.model.weight.dtype == torch.float32
    assert capsys.readouterr().out.splitlines() == [
        "model and x: torch.float32 on meta",
        "y: torch.float64 on meta - labels: torch.int64",
    ]


def test_without_a_gpu_all_is_on_the_cpu(monkeypatch):
    snippet = run_on(None, SNIPPET, monkeypatch)
    assert snippet.device == snippet.model.weight.device == torch.device("cpu")
    assert snippet.y.dtype == torch.float64
    assert snippet.labels.dtype == torch.int64


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64]
)
def test_new_floats_have_the_dtype(dtype):
    torch.set_default_dtype(dtype)
    made = [
        torch.tensor(1.5),
        torch.zeros(0),
        torch.arange(0, 1, 0.5),
        torch.tensor([1]) / 2,
        nn.Linear(1, 1).weight,
    ]
    integers, flag = torch.tensor([1, 2]), torch.tensor(True)
    torch.set_default_dtype(torch.float32)
    assert {tensor.dtype for tensor in made} == {dtype}
    assert (integers.dtype, flag.dtype) == (torch.int64, torch.bool)


def test_float64_repeats_what_numpy_computes():
    torch.set_default_dtype(torch.float64)
    ours = torch.linspace(0, 1, 7).exp()
    torch.set_default_dtype(torch.float32)
    np.testing.assert_allclose(ours.numpy(), np.exp(np.linspace(0, 1, 7)), rtol=1e-15)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64])
def test_other_types_are_refused_and_nothing_changes(dtype):
    with raises_as_documented(PAGE, "TypeError: only floating-point types"):
        torch.set_default_dtype(dtype)
    assert torch.get_default_dtype() == torch.float32


def test_mixed_inputs_are_refused():
    model = nn.Sequential(nn.Linear(2, 2, dtype=torch.float64))
    x = torch.ones(1, 2)
    with raises_as_documented(PAGE, "RuntimeError: mat1 and mat2"):
        model(x)
    assert model(x.to(next(model.parameters()).dtype)).dtype == torch.float64


def test_what_has_a_dtype_keeps_it():
    array = np.ones(2, dtype=np.float32)
    torch.set_default_dtype(torch.float64)
    kept = [torch.from_numpy(array), torch.tensor(array)]
    kept.append(torch.zeros_like(kept[0]))
    torch.set_default_dtype(torch.float32)
    assert {tensor.dtype for tensor in kept} == {torch.float32}


def test_the_device_block_reaches_factories_and_modules_only():
    array, there = np.ones(2), torch.ones(2)
    with torch.device("meta"):
        for made in (torch.ones(2), torch.tensor([1.0]), nn.Linear(1, 1).weight):
            assert made.is_meta
        assert torch.tensor(array).is_meta
        for kept in (
            torch.from_numpy(array),
            torch.zeros_like(there),
            torch.FloatTensor([1]),
            torch.Tensor([1]),
            torch.ones(2, device="cpu"),
            there.new_zeros(2),
        ):
            assert not kept.is_meta
    assert not torch.ones(1).is_meta


def test_a_model_without_memory_takes_its_weights_by_assignment():
    with torch.device("meta"):
        model = nn.Linear(2, 2)
    state = nn.Linear(2, 2).state_dict()
    model.load_state_dict(state, assign=True)
    torch.testing.assert_close(model.state_dict(), state, rtol=0, atol=0)


def test_a_buffer_that_is_not_saved_stays_without_values():
    with torch.device("meta"):
        model = nn.Linear(2, 2)
        model.register_buffer("inv_freq", torch.ones(2), persistent=False)
    model.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True)
    assert model.inv_freq.is_meta


def test_the_permutation_of_a_shuffle_is_made_on_the_default_device():
    """Meta tensors have no values; CUDA would refuse the generator."""
    sampler = RandomSampler(range(5), generator=torch.Generator())
    assert sampler.generator.device.type == "cpu"
    with torch.device("meta"), pytest.raises(NotImplementedError, match="meta"):
        list(sampler)
    assert sorted(sampler) == [0, 1, 2, 3, 4]


@pytest.mark.skipif(sys.platform != "linux", reason="reads a Linux library")
def test_the_binary_holds_the_message_of_the_generator():
    """Raising it takes a GPU; the message of MPS is in the builds for macOS only."""
    text = "' device type for generator but found '"
    assert not lacking(TORCH_CPU, text)
    assert text in quoted(PAGE, "RuntimeError: Expected a 'cuda' device type")


def test_a_thread_sees_the_dtype_but_not_the_device():
    seen = []
    torch.set_default_device("meta")
    torch.set_default_dtype(torch.float64)
    thread = threading.Thread(target=lambda: seen.append(torch.zeros(1)))
    thread.start()
    thread.join()
    here = torch.zeros(1)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    assert here.is_meta
    assert seen[0].dtype == torch.float64
    assert not seen[0].is_meta


IN_ANOTHER_PROCESS = """
import warnings
import torch
from torch import multiprocessing

def ask(queue):
    x = torch.zeros(1)
    queue.put((str(x.dtype), str(x.device)))

if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=ask, args=(queue,))
    process.start()
    print(*queue.get())
    process.join()

    warnings.simplefilter("error")
    try:
        torch.set_default_tensor_type(torch.DoubleTensor)  # warns once
    except Warning as warning:
        print(f"{type(warning).__name__}: {warning}")
"""


def test_a_spawned_process_sees_neither_and_the_old_function_warns(tmp_path):
    file = tmp_path / "ask.py"
    file.write_text(IN_ANOTHER_PROCESS)
    said = subprocess.check_output([sys.executable, file], text=True)
    seen, warning = said.splitlines()
    assert seen == "torch.float32 cpu"
    assert_documented(PAGE, "UserWarning: torch.set_default_tensor_type()", warning)
