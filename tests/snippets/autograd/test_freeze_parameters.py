"""freeze-parameters: what moves and what does not, and each pitfall."""

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/freeze-parameters"
snippet = load_snippet("autograd/freeze_parameters.py")


def test_only_the_last_layer_moves():
    moved = {
        name: not torch.equal(p, snippet.before[name])
        for name, p in snippet.model.named_parameters()
    }
    assert moved == {
        "0.weight": False,
        "0.bias": False,
        "2.weight": True,
        "2.bias": True,
    }
    assert snippet.model[0].weight.grad is None
    assert [id(p) for p in snippet.trained] == [
        id(p) for p in snippet.model[2].parameters()
    ]


def test_the_answer_for_a_part_that_shares_a_weight():
    """A tied weight is frozen in both places, and reaches no optimizer."""
    model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 5, bias=False))
    model[1].weight = model[0].weight
    model.append(nn.Linear(5, 2))
    names = {"model": model, "frozen": model[0]}
    exec(answer("freeze-parameters"), names)
    before = model[1].weight.clone()
    model(torch.tensor([1, 4])).sum().backward()
    names["optimizer"].step()
    assert torch.equal(model[1].weight, before)
    held = names["optimizer"].param_groups[0]["params"]
    assert [id(p) for p in held] == [id(p) for p in model[2].parameters()]


def test_the_answer_for_a_part_with_batchnorm_and_dropout():
    part = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5))
    model = nn.Sequential(part, nn.Linear(4, 2)).train()
    exec(answer("freeze-parameters"), {"model": model, "frozen": part})
    out, again = part(snippet.x + 3), part(snippet.x + 3)
    assert torch.equal(out, again)
    assert torch.equal(part[0].running_mean, torch.zeros(4))
    assert model[1].training


def test_what_is_printed(capsys):
    load_snippet("autograd/freeze_parameters.py")
    states = [line.split()[-1] for line in capsys.readouterr().out.splitlines()]
    assert states == ["frozen", "frozen", "changed", "changed"]


def test_the_step_is_adamw_by_hand():
    """The first step of AdamW is lr · sign(gradient), after the decay lr · 0.01."""
    weight, before = snippet.model[2].weight, snippet.before["2.weight"]
    step = 1e-3 * weight.grad / (weight.grad.abs() + 1e-8)
    torch.testing.assert_close(weight, before * (1 - 1e-5) - step)


def test_an_attribute_of_the_module_freezes_nothing():
    layer = nn.Linear(2, 2)
    layer.requires_grad = False
    assert all(p.requires_grad for p in layer.parameters())


def test_statistics_move_though_frozen():
    norm = nn.BatchNorm1d(4).requires_grad_(False)
    norm(snippet.x + 1)
    assert not torch.equal(norm.running_mean, torch.zeros(4))
    kept = norm.eval().running_mean.clone()
    norm(snippet.x + 9)
    assert torch.equal(norm.running_mean, kept)


def test_a_gradient_from_before_freezing_is_still_used():
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.ones(1, 2)).sum().backward()
    layer.requires_grad_(False)
    before = layer.weight.clone()
    optimizer.step()
    assert not torch.equal(layer.weight, before)
    optimizer.zero_grad()
    before = layer.weight.clone()
    optimizer.step()
    assert torch.equal(layer.weight, before)


def test_all_frozen():
    model = nn.Linear(2, 1).requires_grad_(False)
    with raises_as_documented(PAGE, "RuntimeError: element 0 of tensors does not"):
        model(torch.ones(1, 2)).sum().backward()


def test_unfreezing_what_the_optimizer_has():
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD([layer.weight], lr=0.1)
    optimizer.add_param_group({"params": [layer.bias], "lr": 1e-4})
    with raises_as_documented(PAGE, "ValueError: some parameters appear in more"):
        optimizer.add_param_group({"params": layer.parameters()})


@pytest.mark.usefixtures("group")
def test_with_ddp_freeze_first():
    early, late = (nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)) for _ in range(2))
    early[0].requires_grad_(requires_grad=False)
    early, late = DDP(early), DDP(late)
    late.module[0].requires_grad_(requires_grad=False)
    for _ in range(3):
        early(torch.ones(1, 2)).sum().backward()
    late(torch.ones(1, 2)).sum().backward()
    with pytest.raises(RuntimeError, match="Expected to have finished reduction"):
        late(torch.ones(1, 2))
