"""loss-not-decreasing: every row of its table, made by hand on the snippet's data."""

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, recipes

snippet = load_snippet("errors/loss_not_decreasing.py")


def fresh(*more):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 10), *more)


def measure(model, x=None, lr=0.01, optimized=None, forward=None, steps=100, **loss_fn):
    """The losses of some steps on one batch, and the first gradients."""
    x, forward = snippet.x if x is None else x, forward or model
    parameters = (optimized or model).parameters()
    optimizer = torch.optim.AdamW(parameters, lr=lr)
    losses, gradients = [], None
    for _ in range(steps):
        optimizer.zero_grad()
        model.zero_grad()
        loss = nn.functional.cross_entropy(forward(x), snippet.y, **loss_fn)
        loss.backward()
        losses.append(loss.item())
        if gradients is None:
            gradients = [copy.deepcopy(p.grad) for p in model.parameters()]
        optimizer.step()
    return losses, gradients


def test_the_snippet_overfits_and_its_first_loss_is_near_ln_c(capsys):
    losses, gradients = measure(fresh())
    again = load_snippet("errors/loss_not_decreasing.py")
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0].split()[3].rstrip(",")) == pytest.approx(
        math.log(10), abs=0.2
    )
    assert len(lines) == 6
    for line, gradient in zip(lines[1:5], gradients, strict=True):
        assert float(line.split()[2]) == pytest.approx(gradient.norm().item(), rel=0.3)
    assert losses[-1] < 0.05
    assert again.loss.item() < 0.05


def test_guessing_costs_ln_c():
    for classes, cost in ((2, "0.69"), (10, "2.30"), (1000, "6.91")):
        loss = nn.functional.cross_entropy(torch.zeros(3, classes), torch.arange(3) % 2)
        assert f"{loss:.2f}" == f"{-np.log(1 / classes):.2f}" == cost


def test_one_output_costs_nothing_and_teaches_nothing():
    logits = torch.randn(4, 1, requires_grad=True)
    loss = nn.functional.cross_entropy(logits, torch.zeros(4, dtype=torch.long))
    loss.backward()
    assert loss.item() == 0
    assert not logits.grad.any()


@pytest.mark.parametrize("shape", [(32,), (32, 1), (32, 7)])
def test_the_answer_with_one_logit_or_several_labels(shape, capsys):
    torch.manual_seed(0)
    model = nn.Linear(20, math.prod(shape[1:]))
    model = nn.Sequential(model, nn.Flatten(0)) if len(shape) == 1 else model
    names = {
        "model": model,
        "loss_fn": nn.BCEWithLogitsLoss(),
        "optimizer": torch.optim.AdamW(model.parameters(), lr=0.1),
        "x": snippet.x,
        "y": torch.randint(2, shape).float(),
    }
    exec(recipes()["loss-not-decreasing"].answer.text, names)
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0].split()[3].rstrip(",")) == pytest.approx(0.69, abs=0.35)
    assert float(lines[0].split()[-1]) == 0.7  # of each yes or no, not of 7 classes
    assert float(lines[-1].split()[-1]) < 0.5


def test_the_answer_for_a_label_of_each_pixel(capsys):
    torch.manual_seed(0)
    model, y = nn.Conv2d(3, 5, 1), torch.randint(5, (2, 4, 4))
    y[0] = 255
    names = {"model": model, "x": torch.randn(2, 3, 4, 4), "y": y}
    names["loss_fn"] = nn.CrossEntropyLoss(ignore_index=255)
    names["optimizer"] = torch.optim.AdamW(model.parameters(), lr=0.1)
    exec(recipes()["loss-not-decreasing"].answer.text, names)
    assert f"guessing costs {np.log(5):.1f}\n" in capsys.readouterr().out


def test_raw_pixels_or_a_sum_start_far_above():
    pixels = (snippet.x * 60 + 128).clamp(0, 255)
    assert measure(fresh(), pixels, steps=1)[0][0] == pytest.approx(39, abs=1)
    assert measure(fresh(), steps=1, reduction="sum")[0][0] > 60


def test_two_softmaxes_have_a_floor():
    """The best that probabilities taken for logits can do: e for one, 1 for others."""
    for classes, floor in ((2, "0.31"), (10, "1.46")):
        assert f"{math.log(math.e + classes - 1) - 1:.2f}" == floor
    losses, _ = measure(fresh(nn.Softmax(1)))
    assert 1.46 < min(losses) < 1.6


def test_a_cut_graph_has_no_gradients():
    model = fresh()
    _, gradients = measure(model, forward=lambda x: model[2](model[:2](x).detach()))
    assert [g is None for g in gradients] == [True, True, False, False]
    loss = nn.functional.cross_entropy(fresh()(snippet.x), snippet.y)
    model = fresh()
    loss.backward()  # the loss of another model
    assert model[0].weight.grad is None


def test_dead_relus_have_gradient_zero():
    model = fresh()
    nn.init.constant_(model[0].bias, -100)
    _, gradients = measure(model, steps=1)
    assert [g.count_nonzero() > 0 for g in gradients] == [False, False, False, True]


def test_the_wrong_optimizer_changes_nothing():
    losses, gradients = measure(fresh(), optimized=fresh())
    assert len(set(losses)) == 1
    assert all(g.norm() > 0 for g in gradients)


def test_learning_rates():
    slow, _ = measure(fresh(), lr=1e-6)
    assert slow[0] > slow[-1] > 0.99 * slow[0]
    wild, _ = measure(fresh(), lr=10.0, steps=20)
    assert max(wild[1:]) > 10 * wild[0]


def test_wrong_labels_are_learnt_by_heart_but_never_generalise():
    losses, _ = measure(fresh())  # the snippet's labels are random already
    assert losses[-1] < 0.05
    torch.manual_seed(1)
    model = fresh()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    late = []
    for step in range(150):  # a new batch each time
        x, y = torch.randn(32, 20), torch.randint(10, (32,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        late += [loss.item()] if step >= 50 else []
    assert np.mean(late) == pytest.approx(math.log(10), abs=0.15)


def test_shapes_that_broadcast():
    assert (torch.arange(4) == torch.arange(4)[:, None]).shape == (4, 4)
    with pytest.warns(UserWarning, match="different to the input size"):
        nn.functional.mse_loss(torch.zeros(4, 1), torch.randn(4))
