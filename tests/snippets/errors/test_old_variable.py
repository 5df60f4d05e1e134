"""old-variable: what each old line does today, and that the new one does its work."""

import ast
import math
import warnings
from contextlib import contextmanager

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Variable

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/old-variable"
snippet = load_snippet("errors/old_variable.py")


@contextmanager
def each_warning(action):
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            yield
    finally:
        torch.set_warn_always(False)


def test_the_new_form_by_hand():
    logits = snippet.model(snippet.x).detach().double().cpu()
    rows = [[math.exp(z) for z in row] for row in logits.tolist()]
    probs = [[z / sum(row) for z in row] for row in rows]
    for found, expected in zip(snippet.probs.tolist(), probs, strict=True):
        assert found == pytest.approx(expected, rel=1e-5)
    losses = [-math.log(p[k]) for p, k in zip(probs, snippet.y.tolist(), strict=True)]
    assert len(losses) == 8
    assert snippet.x.device.type == snippet.device
    assert snippet.value == pytest.approx(sum(losses) / 8, rel=1e-5)
    assert snippet.loss.item() == pytest.approx(sum(losses), rel=1e-5)
    assert snippet.loss.requires_grad
    assert not snippet.probs.requires_grad


def test_the_message():
    loss = torch.tensor(1.5, requires_grad=True)
    with raises_as_documented(PAGE, "IndexError: invalid index"):
        loss.data[0]
    with raises_as_documented(PAGE, "IndexError: invalid index"):
        loss[0]
    row = torch.arange(3)
    assert row[0].shape == torch.Size([])
    with raises_as_documented(PAGE, "IndexError: invalid index"):
        row[0][0]


def test_a_variable_is_a_tensor():
    x = torch.ones(2)
    assert type(Variable(x)) is torch.Tensor
    assert Variable(x).data_ptr() == x.data_ptr()
    assert Variable(x, requires_grad=True).requires_grad


def test_volatile_has_no_effect():
    with each_warning("error"), raises_as_documented(PAGE, "UserWarning: volatile was"):
        Variable(torch.ones(2), volatile=True)
    with pytest.warns(UserWarning, match="volatile was removed"):
        x = Variable(torch.ones(1, 4), volatile=True)
    assert nn.Linear(4, 3)(x).requires_grad


def test_data_is_hidden_from_autograd():
    w = torch.tensor(3.0, requires_grad=True)
    squared = w * w
    w.data.fill_(5.0)
    squared.backward()
    assert w.grad == 10  # not 6, and nobody said so


def test_sums_and_means():
    pred, y = torch.tensor([1.0, 2, 3]), torch.tensor([0.0, 0, 0])
    with each_warning("error"), raises_as_documented(PAGE, "UserWarning: size_average"):
        nn.MSELoss(size_average=False)
    with pytest.warns(UserWarning, match="please use reduction='none'"):
        each = nn.MSELoss(reduce=False)(pred, y)
    assert each.tolist() == F.mse_loss(pred, y, reduction="none").tolist() == [1, 4, 9]
    with pytest.warns(UserWarning, match="please use reduction='sum'"):
        total = nn.MSELoss(size_average=False)(pred, y)
    assert total == F.mse_loss(pred, y, reduction="sum") == 3 * F.mse_loss(pred, y)


def test_softmax_without_a_dimension():
    x = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        old = F.softmax(x)
    assert torch.equal(old, F.softmax(x, dim=1))
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        nn.Softmax()(x)


def test_names_and_words_that_are_gone():
    with pytest.raises(SyntaxError):
        ast.parse("x.cuda(async=True)")
    w = nn.Parameter(torch.ones(2, 2))
    with (
        each_warning("error"),
        raises_as_documented(PAGE, "FutureWarning: `torch.nn.utils.clip"),
    ):
        nn.utils.clip_grad_norm([w], 1.0)
    with pytest.warns(FutureWarning, match="xavier_uniform_"):
        nn.init.xavier_uniform(w)
    assert not hasattr(torch, "rfft")
    assert not hasattr(torch, "_six")
    with pytest.raises(RuntimeError, match=r"deprecated since version 1\.9"):
        torch.solve(w, w)
    mask = torch.tensor([True, False])
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        1 - mask
    assert (~mask).tolist() == [False, True]


def test_functions_without_static_methods():
    class Square(torch.autograd.Function):
        def forward(self, x):
            return x * x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with raises_as_documented(PAGE, "RuntimeError: Legacy autograd"):
            Square()(torch.ones(1, requires_grad=True))


def test_old_arguments_and_masks():
    w, g = torch.ones(2), torch.tensor([1.0, 2.0])
    with (
        each_warning("error"),
        raises_as_documented(PAGE, "UserWarning: This overload of add_"),
    ):
        w.add_(-0.5, g)
    with each_warning("ignore"):
        old = torch.ones(2).add_(-0.5, g)
    assert torch.equal(old, torch.ones(2).add_(g, alpha=-0.5))
    with (
        each_warning("error"),
        raises_as_documented(PAGE, "UserWarning: indexing with dtype"),
    ):
        w[torch.tensor([1, 0]).byte()]
    assert w[torch.tensor([1, 0]).bool()].shape == (1,)
