"""err-view-shape: both messages, each cause raised and mended."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "errors/err-view-shape"
ANSWER = recipes()["err-view-shape"].answer
INVALID, STRIDED = "is invalid for input of size", "view size is not compatible"


def answered(features: torch.Tensor) -> dict:
    names = {"features": features}
    exec(ANSWER.text, names)
    return names


def test_the_two_messages():
    x = torch.randn(4, 16, 12, 12)
    with raises_as_documented(PAGE, "RuntimeError: shape '[-1, 400]' is invalid"):
        x.view(-1, 400)
    with raises_as_documented(PAGE, "RuntimeError: view size is not compatible"):
        x.permute(0, 2, 3, 1).view(4, -1)


@pytest.mark.parametrize("shape", [(4, 16, 12, 12), (1, 3, 7, 9), (5, 8, 1, 1)])
def test_the_answer_keeps_each_sample_whatever_the_size(shape, capsys):
    features = torch.randn(shape)
    names = answered(features)
    rows = [[*sample.numpy().ravel()] for sample in features]
    assert names["flat"].tolist() == [[float(v) for v in row] for row in rows]
    assert names["head"](names["flat"]).shape == (shape[0], 10)
    said = capsys.readouterr().out
    assert said == f"{[*shape]} {features.numel()} {len(rows[0])}\n"


def test_a_lazy_layer_counts_by_itself():
    found = load_snippet("errors/err_view_shape.py")
    head = nn.LazyLinear(10)
    head(found.flat)
    assert head.in_features == 2304


@pytest.mark.parametrize(
    ("fails", "mended"),
    [
        (lambda x: x.view(64, -1), lambda x: x.view(len(x), -1)),
        (lambda x: x.view(33, 27, 8, 100 // 8), lambda x: x.view(33, 27, 10, 10)),
    ],
    ids=["batch size", "heads"],
)
def test_what_is_invalid(fails, mended):
    x = torch.randn(33, 27, 100)  # the last batch; width 100
    with pytest.raises(RuntimeError, match=INVALID):
        fails(x)
    assert mended(x).numel() == x.numel()


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.permute(0, 2, 3, 1),
        lambda x: x.transpose(1, 2),
        lambda x: x[:, ::2],
        lambda x: x[:, :1].expand(-1, 5, -1, -1),
        lambda x: x.contiguous(memory_format=torch.channels_last),
    ],
)
def test_what_is_not_compatible(change):
    x = change(torch.randn(2, 4, 6, 8))
    assert not x.is_contiguous()
    with pytest.raises(RuntimeError, match=STRIDED):
        x.view(2, -1)
    assert torch.equal(x.reshape(2, -1), x.contiguous().view(2, -1))


def test_old_code_for_top_k_accuracy():
    """As in older ImageNet examples: `pred.t()`, and then `view`."""
    pred = torch.tensor([[0, 1, 2], [2, 1, 0], [0, 1, 2], [1, 2, 0]])  # (N, k)
    target = torch.tensor([0, 0, 1, 1])
    correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
    with pytest.raises(RuntimeError, match=STRIDED):
        correct[:2].view(-1)
    assert correct[:2].reshape(-1).sum() == 3  # all but the second


def test_what_comes_out_even_makes_more_samples():
    features = torch.randn(4, 16, 10, 10)  # not 5 x 5
    rows = features.view(-1, 400)
    assert len(rows) == 16
    logits = nn.Linear(400, 10)(rows)
    with pytest.raises(ValueError, match=r"input batch_size \(16\).*\(4\)"):
        nn.CrossEntropyLoss()(logits, torch.zeros(4, dtype=torch.long))
