"""gradual-unfreezing: what moves in each epoch, the modes, and each pitfall."""

import runpy

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, raises_as_documented, recipes

PAGE = "training/gradual-unfreezing"
SNIPPET = str(ROOT / "snippets/training/gradual_unfreezing.py")


class Net(nn.Module):
    """A small network with the names of the snippet's."""

    def __init__(self):
        super().__init__()
        part = lambda: nn.Sequential(  # noqa: E731
            nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.1)
        )
        self.stem, self.layer3, self.layer4 = part(), part(), part()
        self.fc = nn.Linear(4, 5)

    def forward(self, x):
        x = x.flatten(1)[:, :4]
        return self.fc(self.layer4(self.layer3(self.stem(x))))


@pytest.fixture
def epochs(monkeypatch):
    """Run the snippet with the small network; note what a step of each epoch does."""
    net, seen = Net(), []
    step = torch.optim.AdamW.step

    def watch(optimizer, *args, **kwargs):
        before = {k: v.clone() for k, v in net.state_dict().items()}
        out = step(optimizer, *args, **kwargs)
        changed = {
            k.split(".")[0]
            for k, v in net.state_dict().items()
            if not torch.equal(v, before[k])
        }
        training = {k for k, m in net.named_children() if m.training}
        inner = {k.split(".")[0] for k, m in net.named_modules() if k and m.training}
        seen.append((changed, training, inner, len(optimizer.state)))
        return out

    monkeypatch.setattr("torchvision.models.resnet18", lambda **_: net)
    monkeypatch.setattr(torch.optim.AdamW, "step", watch)
    start = {k: v.clone() for k, v in net.state_dict().items()}
    runpy.run_path(SNIPPET)
    return net, seen, start


def test_one_more_stage_trains_each_epoch(epochs):
    _, seen, _ = epochs
    expected = [{"fc"}, {"fc", "layer4"}, {"fc", "layer4", "layer3"}]
    for (changed, training, inner, _), stages in zip(seen, expected, strict=True):
        assert changed == training == inner == stages


def test_moments_appear_with_the_first_gradient(epochs):
    assert [states for *_, states in epochs[1]] == [2, 6, 10]


def test_the_stem_and_its_statistics_stay(epochs):
    net, _, start = epochs
    for name, value in net.stem.state_dict().items():
        assert torch.equal(value, start[f"stem.{name}"])
    assert not torch.equal(net.layer4[1].running_mean, start["layer4.1.running_mean"])


def test_what_is_printed(epochs, capsys):
    runpy.run_path(SNIPPET)
    assert capsys.readouterr().out.splitlines()[-1] == "still frozen: stem"


def test_the_answer_prints_nothing():
    assert "print" not in recipes()["gradual-unfreezing"].answer.text


def test_an_optimizer_of_what_trains_misses_the_rest():
    net = Net().requires_grad_(False)
    net.fc.requires_grad_(True)
    known = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(known)
    net.layer4.requires_grad_(True)
    before = net.layer4[0].weight.clone()
    net(torch.randn(8, 4)).square().sum().backward()
    optimizer.step()
    assert torch.equal(net.layer4[0].weight, before)
    optimizer.add_param_group({"params": net.layer4.parameters()})
    optimizer.step()
    assert not torch.equal(net.layer4[0].weight, before)


def test_adding_what_is_there_already():
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters())
    with raises_as_documented(PAGE, "ValueError: some parameters appear"):
        optimizer.add_param_group({"params": net.layer4.parameters()})


def test_train_moves_frozen_statistics():
    net = Net().requires_grad_(False).train()
    before = net.stem[1].running_mean.clone()
    net(torch.randn(8, 4))
    assert not torch.equal(net.stem[1].running_mean, before)


def test_frozen_weights_do_not_decay():
    net = Net().requires_grad_(False)
    net.fc.requires_grad_(True)
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=0.5)
    before = net.stem[0].weight.clone()
    net(torch.randn(8, 4)).sum().backward()
    optimizer.step()
    assert torch.equal(net.stem[0].weight, before)


def test_the_rates_of_the_stages_and_who_is_in_none(monkeypatch):
    net = Net()
    monkeypatch.setattr("torchvision.models.resnet18", lambda **_: net)
    groups = runpy.run_path(SNIPPET)["optimizer"].param_groups
    assert [g["lr"] for g in groups] == pytest.approx([1e-3, 1e-3 / 3, 1e-3 / 9])
    known = {id(p) for group in groups for p in group["params"]}
    assert not known & {id(p) for p in net.stem.parameters()}
    stages = [net.fc, net.layer4, net.layer3]
    assert [len(stages[: 1 + epoch // 2]) for epoch in range(5)] == [1, 1, 2, 2, 3]
