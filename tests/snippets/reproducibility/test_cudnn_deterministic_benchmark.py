"""cudnn-deterministic-benchmark: the flags as the C++ side holds them."""

import runpy

import pytest
import torch
from torch.backends import cudnn

from tests.helpers import ROOT, load_snippet

SNIPPET = "reproducibility/cudnn_deterministic_benchmark.py"
snippet = load_snippet(SNIPPET)
REPEATABLE, FAST = (False, True), (True, False)  # benchmark, deterministic


@pytest.fixture(autouse=True)
def restored():
    before = flags()
    yield
    cudnn.benchmark, cudnn.deterministic = before


def flags() -> tuple[bool, bool]:
    return torch._C._get_cudnn_benchmark(), torch._C._get_cudnn_deterministic()


@pytest.mark.parametrize("start", [(a, b) for a in (0, 1) for b in (0, 1)])
@pytest.mark.parametrize(
    ("reproducible", "expected"), [(True, REPEATABLE), (False, FAST)]
)
def test_both_flags_are_set_whatever_they_were(start, reproducible, expected):
    cudnn.benchmark, cudnn.deterministic = map(bool, start)
    assert snippet.set_cudnn(reproducible) is None
    assert flags() == expected


def test_the_choice_has_no_default():
    with pytest.raises(TypeError):
        snippet.set_cudnn()


def test_the_demonstration_ends_on_the_fast_pair(capsys):
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [
        "cudnn.benchmark=False cudnn.deterministic=True",
        "cudnn.benchmark=True cudnn.deterministic=False",
    ]
    assert flags() == FAST


def test_the_gradient_is_that_of_a_convolution():
    found = snippet.weight_gradient().cpu()
    assert found.shape == (16, 3, 3, 3)
    torch.manual_seed(0)
    conv = torch.nn.Conv2d(3, 16, 3)
    device = torch.accelerator.current_accelerator(check_available=True)
    x = torch.randn(8, 3, 32, 32, device=device or "cpu").cpu()
    # The same convolution in float64, as a product with the patches.
    patches = torch.nn.functional.unfold(x.double(), 3)  # (N, 27, L)
    weight = conv.weight.detach().double().reshape(16, 27).requires_grad_()
    bias = conv.bias.detach().double()[:, None]
    (weight @ patches + bias).square().sum().backward()
    expected = weight.grad.reshape(16, 3, 3, 3)
    scale = expected.abs().max()
    difference = (found.double() - expected).abs().max()
    assert difference < 1e-3 * scale  # room for TF32 on a GPU


def test_the_flags_do_nothing_on_the_cpu():
    gradients = []
    for pair in (REPEATABLE, FAST):
        cudnn.benchmark, cudnn.deterministic = pair
        torch.manual_seed(0)
        conv = torch.nn.Conv2d(3, 4, 3)
        conv(torch.randn(2, 3, 8, 8)).square().sum().backward()
        gradients.append(conv.weight.grad)
    assert torch.equal(*gradients)


def test_deterministic_algorithms_leave_the_flags_alone():
    cudnn.benchmark, cudnn.deterministic = FAST
    try:
        torch.use_deterministic_algorithms(True)
        assert flags() == FAST
    finally:
        torch.use_deterministic_algorithms(False)


def test_the_context_manager_turns_cudnn_off_unless_told():
    assert cudnn.enabled
    with cudnn.flags(benchmark=True):
        assert not cudnn.enabled
    with cudnn.flags(enabled=True, deterministic=True):
        assert cudnn.enabled
        assert flags() == (False, True)
    assert cudnn.enabled
