"""cudnn-deterministic-benchmark: which flags are set when, as C++ holds them."""

import pytest
import torch
from torch import nn
from torch.backends import cudnn

from tests.helpers import load_snippet, recipes

pytestmark = pytest.mark.usefixtures("switches")
SNIPPET = "reproducibility/cudnn_deterministic_benchmark.py"
ANSWER = recipes()["cudnn-deterministic-benchmark"].answer
REPEATABLE, FAST = (False, True), (True, False)  # benchmark, deterministic


@pytest.fixture(autouse=True)
def restored():
    before = flags()
    yield
    cudnn.benchmark, cudnn.deterministic = before


def flags() -> tuple[bool, bool]:
    return torch._C._get_cudnn_benchmark(), torch._C._get_cudnn_deterministic()


STARTS = pytest.mark.parametrize("start", [(a, b) for a in (0, 1) for b in (0, 1)])


@STARTS
def test_each_convolution_runs_under_its_pair_of_flags(start, monkeypatch):
    real, seen = nn.Conv2d.forward, []

    def spy(self, x):
        seen.append(flags())
        return real(self, x)

    monkeypatch.setattr(nn.Conv2d, "forward", spy)
    benchmark = cudnn.benchmark
    cudnn.benchmark, cudnn.deterministic = map(bool, start)
    load_snippet(SNIPPET)
    cudnn.benchmark = benchmark
    assert seen == [REPEATABLE] * 2


@STARTS
def test_after_the_answer_runs_repeat(start):
    cudnn.benchmark, cudnn.deterministic = map(bool, start)
    exec(ANSWER.text, {})
    assert flags() == REPEATABLE


def test_both_flags_are_off_by_default():
    assert flags() == (False, False)
    assert cudnn.enabled
    assert cudnn.benchmark_limit == 10


def test_the_gradient_is_that_of_a_convolution():
    snippet = load_snippet(SNIPPET)
    assert torch.equal(snippet.first, snippet.again)
    # The same convolution in float64, as a product with the patches.
    x, conv = snippet.x.cpu(), snippet.conv.cpu()
    patches = nn.functional.unfold(x.double(), 3)  # (N, 27, L)
    weight = conv.weight.detach().double().reshape(16, 27).requires_grad_()
    bias = conv.bias.detach().double()[:, None]
    (weight @ patches + bias).square().sum().backward()
    expected = weight.grad.reshape(16, 3, 3, 3)
    scale = expected.abs().max()
    difference = (snippet.first.cpu().double() - expected).abs().max()
    assert difference < 1e-3 * scale  # room for TF32 on a GPU


def test_the_flags_do_nothing_on_the_cpu():
    gradients = []
    for pair in (REPEATABLE, FAST):
        cudnn.benchmark, cudnn.deterministic = pair
        torch.manual_seed(0)
        conv = nn.Conv2d(3, 4, 3)
        conv(torch.randn(2, 3, 8, 8)).square().sum().backward()
        gradients.append(conv.weight.grad)
    assert torch.equal(*gradients)


def test_deterministic_algorithms_leave_the_flags_alone():
    cudnn.benchmark, cudnn.deterministic = FAST
    torch.use_deterministic_algorithms(True)
    assert flags() == FAST


@pytest.mark.parametrize("tf32", [True, False])
def test_the_context_manager_turns_cudnn_off_unless_told(tf32):
    before = cudnn.allow_tf32
    try:
        cudnn.allow_tf32 = tf32
        with cudnn.flags(benchmark=True):
            assert not cudnn.enabled
            assert cudnn.allow_tf32
        with cudnn.flags(
            enabled=True, benchmark=True, allow_tf32=torch.backends.cudnn.allow_tf32
        ):
            assert cudnn.enabled
            assert cudnn.allow_tf32 == tf32
            assert flags() == FAST
        assert cudnn.allow_tf32 == tf32
    finally:
        cudnn.allow_tf32 = before
    assert cudnn.enabled
    assert flags() == (False, False)
