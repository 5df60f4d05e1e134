"""no-grad-vs-eval: BatchNorm and dropout worked by hand in each mode."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/no-grad-vs-eval"
snippet = load_snippet("autograd/no_grad_vs_eval.py")


def test_the_prediction_uses_the_running_statistics():
    linear = snippet.model[0]
    hidden = snippet.x @ linear.weight.T + linear.bias
    by_hand = hidden / (1 + 1e-5) ** 0.5  # running mean 0, variance 1 at first
    torch.testing.assert_close(snippet.prediction, by_hand)
    assert not snippet.prediction.requires_grad


def test_the_last_row_of_the_table_is_eval_without_a_graph():
    assert (snippet.mode, snippet.grad, snippet.same) == ("eval", False, "True")
    assert not snippet.y.requires_grad
    torch.testing.assert_close(snippet.y, snippet.again)


def test_each_cell_of_the_table(capsys):
    load_snippet("autograd/no_grad_vs_eval.py")
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert rows == [
        ["train", "grad", "False", "True"],
        ["train", "no_grad", "False", "False"],
        ["eval", "grad", "True", "True"],
        ["eval", "no_grad", "True", "False"],
    ]


@pytest.mark.parametrize("training", [True, False])
def test_no_grad_does_not_stop_the_running_statistics(training):
    norm = nn.BatchNorm1d(4).train(training)
    with torch.no_grad():
        norm(snippet.x + 5)
    moved = not torch.equal(norm.running_mean, torch.zeros(4))
    assert moved == training


def test_eval_does_not_turn_off_an_f_dropout_without_the_flag():
    class Always(nn.Module):
        def forward(self, x):
            return nn.functional.dropout(x)

    out = Always().eval()(torch.ones(1000))
    assert 400 < (out == 0).sum() < 600


def test_eval_alone_keeps_the_graph():
    model = nn.Linear(4, 1).eval()
    assert model(snippet.x).grad_fn is not None


def test_inference_tensors_do_not_train():
    weight = torch.ones(4, requires_grad=True)
    with torch.inference_mode():
        features = torch.ones(4)
        inside = features.clone()
    with raises_as_documented(PAGE, "RuntimeError: Inference tensors cannot be saved"):
        (weight * features).sum()
    assert inside.is_inference()
    (weight * features.clone()).sum().backward()
    torch.testing.assert_close(weight.grad, torch.ones(4))
