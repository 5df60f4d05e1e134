"""default-dtype-device: NumPy's types, other threads, other processes."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import documented_errors, load_snippet, raises_as_documented

PAGE = "setup/default-dtype-device"
default_dtype = load_snippet("setup/default_dtype_device.py").default_dtype
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.fixture(autouse=True)
def unchanged_afterwards():
    yield
    left = torch.get_default_dtype(), torch.get_default_device()
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    assert left == (torch.float32, torch.device("cpu"))


@pytest.mark.parametrize("dtype", FLOATS)
def test_inside_new_floats_have_the_dtype_and_afterwards_not(dtype):
    with default_dtype(dtype) as nothing:
        assert nothing is None
        made = [
            torch.tensor(1.5),
            torch.zeros(0),
            torch.arange(0, 1, 0.5),
            torch.tensor([1]) / 2,
            nn.Linear(1, 1).weight,
        ]
        assert {tensor.dtype for tensor in made} == {dtype}
        assert torch.tensor([1, 2]).dtype == torch.int64
        assert torch.tensor(True).dtype == torch.bool
    assert torch.tensor(1.5).dtype == torch.float32


def test_float64_repeats_what_numpy_computes():
    with default_dtype(torch.float64):
        ours = torch.linspace(0, 1, 7).exp()
    np.testing.assert_allclose(ours.numpy(), np.exp(np.linspace(0, 1, 7)), rtol=1e-15)


def test_blocks_nest_and_restore_what_was_there():
    with default_dtype(torch.float64):
        with default_dtype(torch.float16):
            assert torch.get_default_dtype() == torch.float16
        assert torch.get_default_dtype() == torch.float64


def test_an_error_inside_is_passed_on_and_the_dtype_restored():
    with pytest.raises(KeyError), default_dtype(torch.float64):
        raise KeyError
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64])
def test_other_types_are_refused_and_nothing_changes(dtype):
    with raises_as_documented(PAGE), default_dtype(dtype):
        pass
    assert torch.get_default_dtype() == torch.float32


def test_mixed_inputs_are_refused():
    with default_dtype(torch.float64):
        model = nn.Linear(2, 2)
    with raises_as_documented(PAGE):
        model(torch.ones(1, 2))
    # What has a dtype of its own keeps it.
    array = np.ones(2, dtype=np.float32)
    with default_dtype(torch.float64):
        assert torch.from_numpy(array).dtype == torch.float32
        assert torch.tensor(array).dtype == torch.float32
        assert torch.zeros_like(torch.from_numpy(array)).dtype == torch.float32


def test_the_device_block_reaches_factories_and_modules_only():
    array, there = np.ones(2), torch.ones(2)
    with torch.device("meta"):
        for made in (torch.ones(2), torch.tensor([1.0]), nn.Linear(1, 1).weight):
            assert made.is_meta
        assert torch.tensor(array).is_meta
        for kept in (
            torch.from_numpy(array),
            torch.zeros_like(there),
            torch.Tensor([1]),
            torch.FloatTensor([1]),
            torch.ones(2, device="cpu"),
        ):
            assert not kept.is_meta
    assert not torch.ones(1).is_meta


def test_a_thread_sees_the_dtype_but_not_the_device():
    seen = []
    torch.set_default_device("meta")
    with default_dtype(torch.float64):
        thread = threading.Thread(target=lambda: seen.append(torch.zeros(1)))
        thread.start()
        thread.join()
        assert torch.zeros(1).is_meta
    torch.set_default_device(None)
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
    assert warning.startswith(tuple(documented_errors(PAGE)))
