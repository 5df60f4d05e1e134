"""drop-path: against torchvision and timm, by hand, and each pitfall."""

import runpy

import pytest
import torch
from timm.layers import DropPath as TimmDropPath
from timm.layers import calculate_drop_path_rates
from torch import nn
from torchvision.ops import StochasticDepth

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "models/drop-path"
SNIPPET = "models/drop_path.py"
snippet = load_snippet(SNIPPET)
DropPath = snippet.DropPath


def branch():
    return nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4))


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.mark.parametrize("shape", [(2000, 3), (2000, 3, 2), (2000, 3, 2, 2)])
@pytest.mark.parametrize("p", [0.1, 0.5])
def test_samples_are_zero_or_scaled(shape, p):
    x = torch.ones(shape)
    ratio = DropPath(p)(x).flatten(1)
    assert (ratio == ratio[:, :1]).all()  # one number per sample
    torch.testing.assert_close(ratio[:, 0].unique(), torch.tensor([0, 1 / (1 - p)]))
    assert (ratio[:, 0] == 0).float().mean().item() == pytest.approx(p, abs=0.04)


@pytest.mark.parametrize(
    "other", [lambda p: StochasticDepth(p, mode="row"), TimmDropPath]
)
def test_the_same_as_the_libraries(other):
    x = torch.ones(4000, 3)
    ours, theirs = (layer(x) for layer in (DropPath(0.25), other(0.25)))
    torch.testing.assert_close(ours.unique(), theirs.unique())
    assert ours.mean().item() == pytest.approx(theirs.mean().item(), abs=0.06)
    for layer in (DropPath(0.25), other(0.25)):
        assert torch.equal(layer.eval()(x), x)


def test_the_ends():
    x = torch.rand(9, 3)
    assert torch.equal(DropPath(0.0)(x), x)
    assert torch.equal(DropPath(1.0)(x), torch.zeros(9, 3))
    half = DropPath(0.5)(x.half())
    assert half.dtype == torch.float16


def test_a_dropped_sample_passes_the_block_unchanged():
    block = snippet.Block(branch(), 1.0)
    x = torch.randn(3, 4)
    assert torch.equal(block(x), x)
    torch.testing.assert_close(block.eval()(x), x + block.branch(x))
    half = snippet.Block(branch(), 0.5)
    x = torch.randn(400, 4)
    whole, out = x + 2 * half.branch(x), half(x)
    kept = (out != x).any(1)
    torch.testing.assert_close(out[kept], whole[kept])
    assert 120 < kept.sum() < 280


def test_a_dropped_sample_gives_the_branch_no_gradient():
    block = snippet.Block(branch(), 1.0)
    block(torch.randn(3, 4)).sum().backward()
    assert all((p.grad == 0).all() for p in block.parameters())


def test_the_demonstration(capsys):
    run = runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    assert run["rates"] == pytest.approx(calculate_drop_path_rates(0.1, 12))
    assert [block.drop_path.p for block in run["model"]] == run["rates"]
    printed = [float(v) for v in capsys.readouterr().out.strip("[]\n").split(",")]
    assert len(printed) == 8
    assert set(printed) == {0.0, 2.0}


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_answer_for_any_number_of_blocks(count):
    answer = recipes()["drop-path"].answer
    assert set(answer.yours) == {"branches"}
    names = {"branches": [branch() for _ in range(count)], "__name__": "pasted"}
    exec(answer.text, names)
    assert names["rates"] == pytest.approx(calculate_drop_path_rates(0.1, count))
    x = torch.randn(1, 5, 4)
    expected = x
    for one in names["branches"]:
        expected = expected + one(expected)
    torch.testing.assert_close(names["model"].eval()(x), expected)


def test_on_the_sum_the_input_is_lost_too():
    x = torch.ones(9, 3)
    assert torch.equal(DropPath(1.0)(x + x), torch.zeros(9, 3))


def test_one_number_for_the_whole_batch():
    layer, x = StochasticDepth(0.5, mode="batch"), torch.ones(50, 3)
    assert {layer(x).unique().numel() for _ in range(9)} == {1}


def test_models_of_the_libraries():
    from torchvision.models import convnext_base, convnext_tiny

    with torch.device("meta"):
        for make, last in ((convnext_tiny, 0.1), (convnext_base, 0.5)):
            layers = [m for m in make().modules() if isinstance(m, StochasticDepth)]
            rates = [layer.p for layer in layers]
            assert rates == pytest.approx(
                [last * i / (len(rates) - 1) for i in range(len(rates))]
            )


def test_messages():
    with raises_as_documented(PAGE, "TypeError: StochasticDepth"):
        StochasticDepth(0.1)
    with raises_as_documented(PAGE, "ValueError: drop probability"):
        StochasticDepth(10, mode="row")(torch.ones(2, 3))
    with (
        torch.device("meta"),
        raises_as_documented(PAGE, "RuntimeError: Tensor.item() cannot"),
    ):
        [x.item() for x in torch.linspace(0, 0.1, 12)]
    with torch.device("meta"):
        nn.Sequential(*[snippet.Block(branch(), 0.1 * i / 11) for i in range(12)])


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bfloat16_and_another_device(device):
    model = snippet.Block(
        nn.Sequential(nn.Linear(4, 4), snippet.DropPath(0.5)), 0.5
    ).to(device, torch.bfloat16)
    y = model(torch.ones(5, 4, device=device, dtype=torch.bfloat16))
    assert (y.dtype, y.device.type) == (torch.bfloat16, device)
