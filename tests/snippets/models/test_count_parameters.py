"""count-parameters: published and hand-worked counts, the file, each pitfall."""

import io

import pytest
import torch
import torchinfo
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/count-parameters"
snippet = load_snippet("models/count_parameters.py")
CONV1 = 64 * 3 * 7 * 7


def test_the_published_count_of_resnet18():
    assert snippet.total == 11_689_512  # torchvision's table of models
    assert snippet.trainable == snippet.total - CONV1


def test_the_size_is_about_that_of_the_file():
    file = io.BytesIO()
    torch.save(snippet.model.state_dict(), file)
    assert snippet.size == pytest.approx(file.tell(), rel=0.005)
    # 4 bytes a weight; per BatchNorm channel two statistics; per BatchNorm a counter.
    norms = [m for m in snippet.model.modules() if isinstance(m, nn.BatchNorm2d)]
    channels = sum(norm.num_features for norm in norms)
    assert snippet.size == 4 * (snippet.total + 2 * channels) + 8 * len(norms)


def test_what_is_printed(capsys):
    load_snippet("models/count_parameters.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "11,689,512 parameters, 11,680,104 trainable"
    assert lines[1] == "46.8 MB of torch.float32"
    parts = [int(line.split()[1].replace(",", "")) for line in lines[2:]]
    assert parts[0] == CONV1
    assert parts[-1] == 512 * 1000 + 1000
    assert sum(parts) == snippet.total


def test_a_shared_weight_counts_once():
    a, b = nn.Linear(3, 5, bias=False), nn.Linear(3, 5, bias=False)
    b.weight = a.weight
    model = nn.Sequential(a, b)
    assert sum(p.numel() for p in model.parameters()) == 15
    assert sum(t.numel() for t in model.state_dict().values()) == 30


def test_modules_count_again():
    model = nn.Sequential(nn.Linear(3, 5))
    every = sum(p.numel() for m in model.modules() for p in m.parameters())
    assert every == 2 * 20


def test_the_generator_is_read_once():
    parameters = nn.Linear(3, 5).parameters()
    assert [sum(p.numel() for p in parameters) for _ in range(2)] == [20, 0]


def test_a_lazy_layer():
    model = nn.LazyLinear(5)
    with raises_as_documented(PAGE, "ValueError: Attempted to use"):
        sum(p.numel() for p in model.parameters())
    model(torch.ones(1, 3))
    assert sum(p.numel() for p in model.parameters()) == 20


def test_adam_keeps_two_more():
    model = nn.Linear(3, 5)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    states = optimizer.state.values()
    kept = sum(s["exp_avg"].numel() + s["exp_avg_sq"].numel() for s in states)
    assert kept == 2 * 20


def test_the_table_of_torchinfo():
    table = torchinfo.summary(snippet.model, input_size=(1, 3, 64, 64), verbose=0)
    assert table.total_params == snippet.total
    assert table.trainable_params == snippet.trainable


def test_on_the_meta_device():
    with torch.device("meta"):
        model = nn.Linear(100_000, 100_000, bias=False)
    assert sum(p.numel() for p in model.parameters()) == 10**10
