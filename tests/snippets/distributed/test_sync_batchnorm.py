"""sync-batchnorm: what the conversion keeps, and what it refuses on a CPU."""

import pytest
import timm
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tests.helpers import assert_own_gpu, load_snippet, raises_as_documented

SNIPPET = "distributed/sync_batchnorm.py"
PAGE = "distributed/sync-batchnorm"
convert = nn.SyncBatchNorm.convert_sync_batchnorm


def trained() -> nn.Sequential:
    """Two kinds of BatchNorm, one inside a block; their buffers are not the first."""
    torch.manual_seed(0)
    block = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(8, momentum=0.3, eps=1e-3))
    model = nn.Sequential(nn.Conv2d(3, 2, 3), nn.BatchNorm2d(2), block)
    model(torch.randn(4, 3, 4, 4))
    return model


def test_the_snippet_converts(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    snippet = load_snippet(SNIPPET)
    assert capsys.readouterr().out == "['Conv2d', 'SyncBatchNorm', 'ReLU']\n"
    assert isinstance(snippet.model[1], nn.SyncBatchNorm)
    assert snippet.model.eval()(torch.randn(2, 3, 8, 8)).shape == (2, 8, 6, 6)
    assert not dist.is_initialized()


def test_with_gpus_each_process_takes_its_own(monkeypatch):
    assert_own_gpu(monkeypatch, lambda: load_snippet(SNIPPET))


def test_parameters_buffers_names_and_settings_stay():
    model = trained()
    parameters = [id(p) for p in model.parameters()]
    state = {name: value.clone() for name, value in model.state_dict().items()}
    synced = convert(model)
    assert [type(m) for m in (synced[1], synced[2][1])] == [nn.SyncBatchNorm] * 2
    assert [id(p) for p in synced.parameters()] == parameters
    assert (synced[2][1].momentum, synced[2][1].eps) == (0.3, 1e-3)
    assert list(synced.state_dict()) == list(state)
    torch.testing.assert_close(dict(synced.state_dict()), state)
    trained().load_state_dict(synced.state_dict())  # back, without SyncBatchNorm


def test_hooks_are_lost_unless_registered_afterwards():
    model, seen = trained().eval(), []
    model[1].register_forward_hook(lambda *_: seen.append("before"))
    synced = convert(model)
    synced[1].register_forward_hook(lambda *_: seen.append("after"))
    synced(torch.randn(2, 3, 4, 4))
    assert seen == ["after"]


def test_a_subclass_of_timm_loses_its_activation():
    layer = timm.layers.BatchNormAct2d(3).eval()  # ends with a ReLU
    x = torch.tensor([-2.0, 0.0, 2.0]).reshape(1, 3, 1, 1)
    torch.testing.assert_close(layer(x).flatten(), torch.tensor([0.0, 0.0, 2.0]))
    lost = convert(layer)(x).flatten()
    torch.testing.assert_close(lost, torch.tensor([-2.0, 0.0, 2.0]))
    kept = timm.layers.convert_sync_batchnorm(layer)(x)
    torch.testing.assert_close(kept, layer(x))


@pytest.mark.usefixtures("group")
def test_on_a_cpu_it_evaluates_and_does_not_train():
    x = torch.randn(2, 3, 4, 4)
    plain, synced = trained().eval(), convert(trained()).eval()
    torch.testing.assert_close(synced(x), plain(x))
    with raises_as_documented(PAGE, "ValueError: SyncBatchNorm expected"):
        synced.train()(x)


def test_on_a_cpu_without_a_group_it_trains_as_batchnorm():
    x = torch.randn(2, 3, 4, 4)
    torch.testing.assert_close(convert(trained())(x), trained()(x))


@pytest.mark.usefixtures("group")
def test_ddp_on_a_cpu():
    with raises_as_documented(PAGE, "ValueError: SyncBatchNorm layers"):
        DDP(convert(trained()))


@pytest.mark.usefixtures("group")
def test_the_group_that_is_passed_on():
    model = convert(trained(), dist.group.WORLD)
    assert model[1].process_group is model[2][1].process_group is dist.group.WORLD
