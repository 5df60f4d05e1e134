"""results-not-reproducible: runs with one fault each, and what differs first."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from tests.helpers import load_snippet

snippet = load_snippet("errors/results_not_reproducible.py")
first_difference, record = snippet.first_difference, snippet.train


def train(*, augment=None, between=None, own=False, noise=0.0, momentum=0.0):
    """Four steps, seeded; the arguments put one fault into this run alone."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for p in model.parameters():
        optimizer.state[p]["momentum_buffer"] = torch.full_like(p, momentum)
    data = torch.arange(32.0).view(8, 4) / 32
    generator = torch.Generator().manual_seed(0) if own else None
    steps = []
    for _ in range(2):
        for x in DataLoader(data, batch_size=4, shuffle=True, generator=generator):
            x = x + augment() if augment else x
            weight = model[0].weight.detach().clone()
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            grad = model[0].weight.grad.add_(noise * torch.ones(8, 4)).clone()
            steps.append({"weight": weight, "x": x, "loss": loss, "grad": grad})
            optimizer.step()
        if between:
            between()
    return steps


def test_the_snippet_tells_a_late_seed_from_an_early_one():
    assert first_difference(record(False), record(False)) == (0, "weights")
    assert first_difference(record(True), record(True)) is None
    assert [list(step) for step in record(True)] == [
        ["weights", "batch", "loss", "gradients"]
    ] * 3
    weights = record(True)[0]["weights"]
    torch.manual_seed(0)
    layer = nn.Linear(4, 8)
    torch.testing.assert_close(weights[:32], layer.weight.detach().flatten())
    torch.testing.assert_close(weights[32:40], layer.bias.detach())


def test_a_record_keeps_the_weights_before_each_update():
    """In NumPy: the second step's weight is the first one's, less lr times grad."""
    one, two, three = record(True)
    for before, after in ((one, two), (two, three)):
        expected = before["weights"].numpy() - 0.1 * before["gradients"].numpy()
        np.testing.assert_allclose(after["weights"].numpy(), expected, atol=1e-7)


def test_a_frozen_layer_has_weights_to_compare_and_no_gradient(monkeypatch):
    frozen = lambda: nn.Linear(8, 8).requires_grad_(False)  # noqa: E731
    monkeypatch.setattr(nn, "Dropout", frozen)
    step = record(True)[0]
    assert len(step["weights"]) == len(step["gradients"]) + 8 * 8 + 8


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ({}, None),
        ({"augment": lambda: np.random.rand()}, (0, "x")),
        ({"augment": lambda: random.random()}, (0, "x")),
        ({"between": lambda: torch.rand(1)}, (2, "x")),
        ({"between": lambda: torch.rand(1), "own": True}, (2, "loss")),
        ({"noise": 1e-3}, (0, "grad")),
        ({"momentum": 1.0}, (1, "weight")),
    ],
)
def test_each_fault_is_named(fault, found):
    clean = {key: fault[key] for key in ("own",) if key in fault}
    if "augment" in fault:
        clean = fault
    assert first_difference(train(**clean), train(**fault)) == found


def test_what_a_step_has_seen_stays_as_it_was():
    """Weights and gradients are copied, in any memory format, and have no graph."""
    model = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    model.bias.requires_grad_(False)
    x = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    loss = model(x).square().mean()
    loss.backward()
    step = snippet.seen(model, x, loss)
    expected = [model.weight.detach().clone(), model.bias.clone()]
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    model.zero_grad(set_to_none=False)
    kept = torch.cat([tensor.flatten() for tensor in expected])
    torch.testing.assert_close(step["weights"], kept)
    assert step["gradients"].shape == (4 * 3 * 3 * 3,)
    assert step["gradients"].abs().sum() > 0
    assert not any(tensor.requires_grad for tensor in step.values())


def test_one_bit_is_found_and_a_shorter_run_is_refused():
    one = [{"x": torch.ones(3)}, {"x": torch.ones(3)}]
    two = [{"x": torch.ones(3)}, {"x": torch.ones(3)}]
    assert first_difference(one, two) is None
    two[1]["x"][2] = float(np.nextafter(np.float32(1), np.float32(2)))
    assert first_difference(one, two) == (1, "x")
    with pytest.raises(ValueError, match="zip"):
        first_difference(one, two[:1])
    nan = [[{"x": torch.tensor(float("nan"))}] for _ in range(2)]
    assert first_difference(*nan) == (0, "x")


def test_records_can_be_compared_as_files(tmp_path):
    torch.save(record(True), tmp_path / "one.pt")
    loaded = torch.load(tmp_path / "one.pt", weights_only=True)
    assert first_difference(loaded, record(True)) is None


def test_strings_are_hashed_differently_in_each_process():
    code = "print(list({'cat', 'dog', 'bird', 'cow', 'horse'}))"
    orders = {
        subprocess.run(
            [sys.executable, "-S", "-c", code],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(orders) > 1
