"""oom-retry: the same gradients as the whole batch, and when tensors are freed."""

import gc
import runpy
import sys
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, lacking, load_snippet

snippet = load_snippet("errors/oom_retry.py")


@pytest.fixture
def task():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 1)).double()
    return model, torch.randn(13, 5).double(), torch.randn(13, 1).double()


def limit(model, samples, tries=None):
    def small_gpu(module, args):
        if tries is not None:
            tries.append(len(args[0]))
        if len(args[0]) > samples:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    model.register_forward_pre_hook(small_gpu)


def gradients(model):
    return [parameter.grad.clone() for parameter in model.parameters()]


FULL = (
    "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
    "MPS backend out of memory (MPS allocated: 8.00 GB)",
)


@pytest.mark.parametrize("text", FULL)
def test_what_the_libraries_say_of_a_full_gpu_is_caught(task, text):
    model, x, y = task

    def small_gpu(module, args):
        if len(args[0]) > 6:
            raise RuntimeError(text)

    model.register_forward_pre_hook(small_gpu)
    assert snippet.backward_that_fits(model, nn.MSELoss(), x, y, size=13)[0] == 6


@pytest.mark.skipif(
    torch.version.cuda is None or sys.platform != "linux",
    reason="reads the libraries of a CUDA build",
)
def test_cublas_has_that_status():
    library = Path(torch.__file__).parent / "lib/libtorch_cuda.so"
    assert not lacking(library, "CUBLAS_STATUS_ALLOC_FAILED")


def test_mixed_precision_has_the_gradients_of_the_whole_batch():
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
    x, y = torch.randn(12, 5), torch.arange(12) % 3
    loss_fn, scaler = nn.CrossEntropyLoss(), torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD(model.parameters())
    with torch.autocast("cpu", torch.bfloat16):
        loss = loss_fn(model(x), y)
    loss.backward()
    whole = gradients(model)
    with torch.autocast("cpu", torch.bfloat16):
        _, scaled = snippet.backward_that_fits(
            model, lambda out, y: scaler.scale(loss_fn(out, y)), x, y, size=4
        )
    mean = scaled / scaler.get_scale()
    torch.testing.assert_close(mean, loss.detach(), rtol=0.02, atol=0.002)
    scaler.unscale_(optimizer)
    torch.testing.assert_close(gradients(model), whole, rtol=0.02, atol=0.002)


@pytest.mark.parametrize(("samples", "fits"), [(13, 13), (12, 6), (5, 6), (1, 1)])
def test_the_gradients_are_those_of_the_whole_batch(task, samples, fits):
    model, x, y = task
    loss_fn = nn.PoissonNLLLoss()  # its arguments cannot be swapped
    loss_fn(model(x), y).backward()
    whole = gradients(model)
    limit(model, samples)
    args = (model, loss_fn, x, y)
    assert snippet.backward_that_fits(*args, size=13)[0] == fits
    torch.testing.assert_close(gradients(model), whole)


def test_the_sizes_are_halved_and_earlier_gradients_cleared(task):
    model, x, y = task
    tries = []
    limit(model, 3, tries)
    for _ in range(2):
        tries.clear()
        snippet.backward_that_fits(model, nn.MSELoss(), x, y, size=13)
        assert tries == [13, 5, 3, 3, 3, 2, 2]


@pytest.mark.parametrize("samples", [13, 12, 1])
def test_the_loss_is_that_of_the_whole_batch_and_has_no_graph(task, samples):
    model, x, y = task
    whole = nn.MSELoss()(model(x), y).detach()
    limit(model, samples)
    _, loss = snippet.backward_that_fits(model, nn.MSELoss(), x, y, size=13)
    torch.testing.assert_close(loss, whole)
    assert loss.grad_fn is None


def test_33_samples_leave_no_part_of_one_for_batchnorm():
    model, tries = nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7)), []
    limit(model, 16, tries)
    x = torch.randn(33, 5)
    snippet.backward_that_fits(model, nn.MSELoss(), x, torch.randn(33, 7), size=16)
    assert tries == [11, 11, 11]


def test_a_try_that_fails_late_leaves_no_gradient_behind(task):
    """Of the 3 parts of 5, 4, 4 samples the second fails, once."""
    model, x, y = task
    nn.MSELoss()(model(x), y).backward()
    whole, calls = gradients(model), []

    def second_fails(module, args):
        calls.append(len(args[0]))
        if len(calls) == 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    model.register_forward_pre_hook(second_fails)
    snippet.backward_that_fits(model, nn.MSELoss(), x, y, size=6)
    assert calls == [5, 4, 3, 3, 3, 2, 2]
    torch.testing.assert_close(gradients(model), whole)


def test_one_sample_that_does_not_fit_is_an_error(task):
    model, x, y = task
    limit(model, 0)
    with pytest.raises(torch.OutOfMemoryError, match=r"CUDA out of memory\."):
        snippet.backward_that_fits(model, nn.MSELoss(), x, y, size=13)


def test_other_errors_are_not_caught(task):
    model, x, y = task
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        snippet.backward_that_fits(model, nn.MSELoss(), x[:, :3], y, size=13)


def test_the_cache_is_emptied_after_the_tensors_are_free(task, monkeypatch):
    model, x, y = task
    alive, emptied = [], []

    def note(module, args, out):
        alive.append(weakref.ref(out))
        if len(out) > 6:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    model[0].register_forward_hook(note)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(alive[0]()))
    gc.disable()
    try:
        snippet.backward_that_fits(model, nn.MSELoss(), x, y, size=13)
    finally:
        gc.enable()
    assert emptied == [None]


def test_a_graph_whose_backward_failed_is_free_as_well(task, monkeypatch):
    model, x, y = task
    alive, emptied = [], []

    def note(module, args, out):
        alive.append(weakref.ref(out))
        if len(out) > 6:
            out.register_hook(fails)

    def fails(grad):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    model[1].register_forward_hook(note)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(alive[0]()))
    gc.disable()
    try:
        assert snippet.backward_that_fits(model, nn.MSELoss(), x, y, size=13)[0] == 6
    finally:
        gc.enable()
    assert emptied == [None]


def test_inside_except_and_in_a_kept_error_the_tensors_live():
    alive = []

    def fails():
        tensor = torch.ones(3)
        alive.append(weakref.ref(tensor))
        raise torch.OutOfMemoryError("CUDA out of memory.")

    saved = None
    try:
        fails()
    except torch.OutOfMemoryError as error:
        assert alive[0]() is not None
        saved = error
    assert alive[0]() is not None
    del saved
    assert alive[0]() is None


def test_a_failed_try_has_moved_the_statistics():
    model = nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 1))
    limit(model[1], 6)
    x, y = torch.randn(12, 5), torch.randn(12, 1)
    snippet.backward_that_fits(model, nn.MSELoss(), x, y, size=12)
    assert model[0].num_batches_tracked == 1 + 2


def test_main_memory_raises_another_type():
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator") as caught:
        torch.empty(10**15)
    assert not isinstance(caught.value, torch.OutOfMemoryError)
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError


def test_the_demonstration_fits_eight_of_thirty_two(capsys):
    runpy.run_path(str(ROOT / "snippets/errors/oom_retry.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith("fits: 8, loss ")
