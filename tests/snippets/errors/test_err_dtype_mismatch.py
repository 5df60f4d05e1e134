"""err-dtype-mismatch: losses in NumPy, and every quoted message."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-dtype-mismatch"
snippet = load_snippet("errors/err_dtype_mismatch.py")
D = torch.float64


def test_the_casts_keep_the_values():
    table = np.array([[5.1, 3.5, 0.0], [6.2, 2.9, 2.0], [4.7, 3.2, 1.0]])
    assert snippet.x.dtype == snippet.target.dtype == torch.float32
    assert snippet.labels.dtype == torch.int64
    assert snippet.model.weight.shape == (3, 2)
    np.testing.assert_array_equal(snippet.x.numpy(), table[:, :2].astype("float32"))
    assert snippet.labels.tolist() == snippet.target.tolist() == [0, 2, 1]


def test_cross_entropy_of_the_snippet_is_that_of_numpy():
    logits = snippet.model(snippet.x).detach().numpy().astype(np.float64)
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    expected = -np.log(p[np.arange(3), [0, 2, 1]]).mean()
    loss = F.cross_entropy(snippet.model(snippet.x), snippet.labels)
    assert math.isclose(loss.item(), expected, rel_tol=1e-4)


def test_the_snippet_prints_both_errors(capsys):
    load_snippet("errors/err_dtype_mismatch.py")
    first, second, *dtypes = capsys.readouterr().out.splitlines()
    assert "same dtype, but got Double and Float" in first
    assert "Long" in second
    assert "Double" in second
    assert dtypes == ["torch.float32"] * 2


def step(loss, target):
    """One backward pass of float32 outputs."""
    model = nn.Linear(8, 1)
    loss(model(torch.randn(4, 8)).squeeze(1), target).backward()
    return model.weight.grad


def test_a_layer_raises_what_the_page_quotes():
    with raises_as_documented(PAGE, "RuntimeError: mat1 and mat2 must"):
        nn.Linear(8, 3)(torch.randn(4, 8, dtype=D))
    with raises_as_documented(PAGE, "RuntimeError: expected m1 and m2"):
        nn.Linear(8, 3, bias=False)(torch.randn(4, 8, dtype=D))
    with raises_as_documented(PAGE, "ValueError: RNN input dtype"):
        nn.LSTM(8, 3)(torch.randn(4, 1, 8, dtype=D))
    with raises_as_documented(PAGE, "RuntimeError: mixed dtype"):
        nn.LayerNorm(8)(torch.randn(4, 8, dtype=D))
    with raises_as_documented(PAGE, "RuntimeError: Expected tensor for argument"):
        nn.Embedding(5, 3)(torch.ones(2))
    q, k = torch.randn(2, 3, 4, dtype=D), torch.randn(2, 3, 4)
    with raises_as_documented(PAGE, "RuntimeError: Expected query, key"):
        F.scaled_dot_product_attention(q, k, k)


def test_a_loss_raises_what_the_page_quotes():
    logits = torch.randn(4, 3)
    with raises_as_documented(PAGE, "RuntimeError: expected target dtype"):
        F.cross_entropy(logits, torch.ones(4))
    mask = torch.ones(4, 2, 2, dtype=torch.uint8)
    with raises_as_documented(
        PAGE, "RuntimeError: expected scalar type Long but found B"
    ):
        F.cross_entropy(torch.randn(4, 3, 2, 2), mask)
    with raises_as_documented(PAGE, "RuntimeError: Found dtype Long"):
        F.binary_cross_entropy(torch.rand(4), torch.ones(4, dtype=torch.long))
    with raises_as_documented(PAGE, "RuntimeError: result type Float"):
        target = torch.ones(4, dtype=torch.long)
        F.binary_cross_entropy_with_logits(logits[:, 0], target)
    with raises_as_documented(PAGE, "NotImplementedError: Subtraction"):
        F.binary_cross_entropy_with_logits(logits[:, 0], torch.ones(4) > 0)
    with raises_as_documented(PAGE, "RuntimeError: Found dtype Double"):
        step(F.huber_loss, torch.ones(4, dtype=D))
    with raises_as_documented(PAGE, "RuntimeError: Expected floating point type"):
        F.cross_entropy(logits, torch.ones(4, 3, dtype=torch.long))
    with raises_as_documented(PAGE, "RuntimeError: 0D or 1D target"):
        F.cross_entropy(logits, torch.ones(4, 1, dtype=torch.long))
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type Float"):
        labels, weight = torch.ones(4, dtype=torch.long), torch.ones(3, dtype=D)
        F.cross_entropy(logits, labels, weight=weight)


def test_a_product_names_the_dtype_of_its_first_factor_as_expected():
    single, double = torch.randn(2, 3, 4), torch.randn(2, 4, 5, dtype=D)
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type Float"):
        single @ double
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type Double"):
        double.mT @ single.mT
    with raises_as_documented(
        PAGE, "RuntimeError: expected scalar type Long but found F"
    ):
        single.long() @ double.float()


def test_an_assignment_raises_what_the_page_quotes():
    x, rows = torch.randn(3, 4), torch.tensor([0, 2])
    y = torch.randn(2, 4, dtype=D)
    with raises_as_documented(PAGE, "RuntimeError: Index put"):
        x[rows] = y
    x[rows] = y.to(x.dtype)
    assert torch.equal(x[rows], y.float())
    mask = torch.ones(2, 4, dtype=torch.bool)
    with raises_as_documented(PAGE, "RuntimeError: masked_scatter"):
        torch.zeros(2, 4).masked_scatter(mask, y)
    filled = torch.zeros(2, 4).masked_scatter(mask, y.to(torch.float32))
    assert torch.equal(filled, y.float())


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.float64, torch.bool])
def test_class_labels_must_be_int64(dtype):
    logits, labels = torch.randn(4, 3), torch.tensor([0, 1, 0, 1])
    with pytest.raises(RuntimeError, match="Long"):
        F.cross_entropy(logits, labels.to(dtype))
    expected = F.cross_entropy(logits, labels)
    assert torch.equal(F.cross_entropy(logits, labels.to(dtype).long()), expected)


def test_real_valued_targets_are_float32():
    values = torch.tensor([0.0, 1.0, 1.0, 0.0], dtype=D)
    for loss in (F.huber_loss, F.mse_loss, F.binary_cross_entropy_with_logits):
        assert step(loss, values.float()).dtype == torch.float32


def test_a_loader_makes_float64_of_python_floats():
    data = [([1.0, 2.0], 0.5), ([3.0, 4.0], 1.5)]
    _, target = next(iter(DataLoader(data, batch_size=2)))
    assert target.dtype == D
    data = [(x, torch.tensor(y)) for x, y in data]
    _, target = next(iter(DataLoader(data, batch_size=2)))
    assert target.dtype == torch.float32


def test_long_cuts_probabilities_off():
    assert torch.tensor([0.7, 0.2, 0.1]).long().tolist() == [0, 0, 0]
    soft = torch.tensor([[0.7, 0.2, 0.1]])
    logits = torch.randn(1, 3)
    expected = -(soft * logits.log_softmax(1)).sum()
    torch.testing.assert_close(F.cross_entropy(logits, soft), expected)


def test_the_input_takes_the_dtype_of_the_weights():
    model, x = nn.Linear(8, 3).bfloat16(), torch.randn(4, 8)
    with pytest.raises(RuntimeError, match="Float and BFloat16"):
        model(x)
    assert model(x.to(next(model.parameters()).dtype)).dtype == torch.bfloat16
