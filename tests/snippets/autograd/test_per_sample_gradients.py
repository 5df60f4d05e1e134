"""per-sample-gradients: against a loop of batches of one; layers that are refused."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, vmap

from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/per-sample-gradients"
per_sample_gradients = load_snippet(
    "autograd/per_sample_gradients.py"
).per_sample_gradients


@pytest.fixture
def batch():
    return torch.randn(5, 1, 6, 6), torch.randint(3, (5,))


def network(norm):
    return nn.Sequential(nn.Conv2d(1, 4, 3), norm, nn.Flatten(), nn.Linear(64, 3))


def one_by_one(model, x, y, loss_fn=F.cross_entropy):
    rows = []
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        rows.append(torch.autograd.grad(loss, list(model.parameters())))
    names = [name for name, _ in model.named_parameters()]
    stacked = [torch.stack(column) for column in zip(*rows, strict=True)]
    return dict(zip(names, stacked, strict=True))


@pytest.mark.parametrize(
    "norm", [nn.ReLU(), nn.GroupNorm(2, 4), nn.BatchNorm2d(4).eval()], ids=type
)
def test_equal_to_a_loop(batch, norm):
    model = network(norm)
    grads = per_sample_gradients(model, *batch)
    expected = one_by_one(model, *batch)
    assert list(grads) == list(expected)
    torch.testing.assert_close(grads, expected)
    assert all(p.grad is None for p in model.parameters())
    assert not any(g.requires_grad for g in grads.values())


def test_another_loss_and_frozen_or_shared_weights():
    x, y = torch.randn(4, 3), torch.randn(4, 3)
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
    model[2].weight = model[0].weight
    grads = per_sample_gradients(model, x, y, nn.MSELoss(reduction="sum"))
    expected = one_by_one(model, x, y, nn.MSELoss(reduction="sum"))
    torch.testing.assert_close(grads, expected)
    model[2].bias.requires_grad_(False)
    some = per_sample_gradients(model, x, y, nn.MSELoss(reduction="sum"))
    assert list(some) == ["0.weight", "0.bias"]
    torch.testing.assert_close(some, {name: expected[name] for name in some})


def test_class_weights_count_in_a_sum_and_cancel_in_a_mean(batch):
    model, weight = network(nn.ReLU()), torch.tensor([1.0, 2.0, 5.0])
    plain = per_sample_gradients(model, *batch)
    mean = per_sample_gradients(model, *batch, nn.CrossEntropyLoss(weight))
    torch.testing.assert_close(mean, plain)
    loss_fn = nn.CrossEntropyLoss(weight, reduction="sum")
    weighted = per_sample_gradients(model, *batch, loss_fn)
    scaled = torch.einsum("n,n...->n...", weight[batch[1]], plain["3.weight"])
    torch.testing.assert_close(weighted["3.weight"], scaled)


def test_each_sample_has_its_own_dropout():
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(200, 3))
    x, y = torch.ones(2, 200), torch.tensor([1, 1])
    weight = per_sample_gradients(model, x, y)["1.weight"]
    assert not torch.equal(weight[0] == 0, weight[1] == 0)
    with raises_as_documented(PAGE, "RuntimeError: vmap: called random"):
        vmap(model)(x)


def test_batchnorm_in_training(batch):
    with raises_as_documented(PAGE, "RuntimeError: During a grad"):
        per_sample_gradients(network(nn.BatchNorm2d(4)), *batch)


def test_what_is_refused(batch):
    model, (x, y) = network(nn.ReLU()), batch
    with raises_as_documented(PAGE, "RuntimeError: grad_and_value"):
        per_sample_gradients(model, x, y, nn.CrossEntropyLoss(reduction="none"))
    with raises_as_documented(PAGE, "RuntimeError: vmap: It looks"):
        per_sample_gradients(model, x, y, lambda out, _: out.sum() * out.max().item())
    with raises_as_documented(PAGE, "ValueError: vmap: Expected all"):
        per_sample_gradients(model, x, y[:4])

    class Recurrent(nn.Module):
        def __init__(self, cell):
            super().__init__()
            self.rnn = cell(3, 4, batch_first=True)

        def forward(self, x):
            return self.rnn(x)[0][:, -1]

    for cell in (nn.GRU, nn.RNN):
        with raises_as_documented(PAGE, "RuntimeError: output with shape"):
            per_sample_gradients(Recurrent(cell), torch.randn(5, 6, 3), y)


def test_a_loss_that_does_not_see_the_parameters(batch):
    model, (x, y) = network(nn.ReLU()), batch
    params = {k: p.detach() for k, p in model.named_parameters()}

    def loss_of_one(params, x, y):
        return F.cross_entropy(model(x[None]), y[None])

    grads = vmap(grad(loss_of_one), (None, 0, 0))(params, x, y)
    assert not any(g.any() for g in grads.values())


def test_some_parameters_in_chunks(batch):
    model, (x, y) = network(nn.ReLU()), batch
    params = {"3.bias": model[3].bias.detach()}

    def loss_of_one(params, x, y):
        return F.cross_entropy(functional_call(model, params, (x[None],)), y[None])

    grads = vmap(grad(loss_of_one), (None, 0, 0), chunk_size=2)(params, x, y)
    expected = one_by_one(model, x, y)["3.bias"]
    torch.testing.assert_close(grads, {"3.bias": expected})


def test_each_sample_clipped(batch):
    model, (x, y), C = network(nn.ReLU()), batch, 0.5
    grads = per_sample_gradients(model, x, y)
    norms = sum(g.flatten(1).square().sum(1) for g in grads.values()).sqrt()
    scale = (C / norms).clamp(max=1)
    clipped = {
        k: torch.einsum("n,n...->...", scale, g) / len(x) for k, g in grads.items()
    }
    total = dict.fromkeys(grads, 0)
    for i in range(len(x)):
        model.zero_grad()
        F.cross_entropy(model(x[i : i + 1]), y[i : i + 1]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), C)
        total = {k: total[k] + p.grad / len(x) for k, p in model.named_parameters()}
    torch.testing.assert_close(clipped, total, rtol=1e-4, atol=1e-6)
