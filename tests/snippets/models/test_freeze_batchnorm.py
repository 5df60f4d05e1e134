"""freeze-batchnorm: the drift by hand, what stops it, and what does not."""

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet18
from torchvision.ops import FrozenBatchNorm2d

from tests.helpers import ROOT, load_snippet, recipes

snippet = load_snippet("models/freeze_batchnorm.py")
images = torch.rand(8, 3, 6, 6) + 2


@pytest.fixture
def model():
    torch.manual_seed(0)
    block = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
    return nn.Sequential(block, nn.Dropout(0.5), nn.ReLU()).train()


def test_the_drift_is_a_tenth_of_the_way(model):
    model.requires_grad_(False)
    x = model[0][0](images)
    with torch.no_grad():
        model(images)
    norm = model[0][1]
    torch.testing.assert_close(norm.running_mean, 0.1 * x.mean((0, 2, 3)))
    wanted = 0.9 + 0.1 * x.transpose(0, 1).flatten(1).var(1)
    torch.testing.assert_close(norm.running_var, wanted)


def test_frozen_at_every_depth(model):
    snippet.freeze_batchnorm(model)
    before = {k: v.clone() for k, v in model.state_dict().items()}
    model(images)
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key]), key


def test_it_normalises_by_the_running_statistics(model):
    snippet.freeze_batchnorm(model)
    norm = model[0][1]
    norm.running_mean.fill_(3)
    norm.running_var.fill_(4)
    x = torch.randn(2, 4, 3, 3)
    torch.testing.assert_close(norm(x), (x - 3) / (4 + 1e-5) ** 0.5)


def test_only_batchnorm_is_touched(model):
    snippet.freeze_batchnorm(model)
    assert model[1].training
    trained = [k for k, p in model.named_parameters() if p.requires_grad]
    assert trained == ["0.0.weight", "0.0.bias"]


@pytest.mark.parametrize(
    "kind", [nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm]
)
def test_every_kind(kind):
    layer = kind(4)
    snippet.freeze_batchnorm(layer)
    assert not layer.training
    assert not layer.weight.requires_grad


def test_train_undoes_it_unless_overridden(model):
    snippet.freeze_batchnorm(model)
    model.train()
    assert model[0][1].training

    class Net(nn.Sequential):
        def train(self, mode=True):
            super().train(mode)
            snippet.freeze_batchnorm(self)
            return self

    net = Net(*model).train()
    assert net[1].training
    assert not net[0][1].training


def test_layers_of_a_library_and_batches_of_one(model):
    """timm's BatchNorm is a subclass; one value per channel is an error in train()."""
    from timm.layers import BatchNormAct2d

    net = nn.Sequential(nn.Conv2d(3, 4, 3), BatchNormAct2d(4)).train()
    snippet.freeze_batchnorm(net)
    one = torch.rand(1, 3, 3, 3)
    assert net(one).shape == (1, 4, 1, 1)
    with pytest.raises(ValueError, match="more than 1 value"):
        net.train()(one)


def test_the_answer_in_every_epoch(model):
    answer = recipes()["freeze-batchnorm"].answer
    assert set(answer.yours) == {"model"}
    before = {k: v.clone() for k, v in model.state_dict().items()}
    for _ in range(2):
        exec(answer.text, {"model": model})
        model(images)
    assert model[1].training
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


@pytest.mark.usefixtures("group")
def test_before_ddp_not_only_after_it(model):
    """DDP waits for the gradients that were wanted when it was made."""

    def two_steps(net):
        for _ in range(2):
            snippet.freeze_batchnorm(net.train())
            net(images).sum().backward()

    finished = "Expected to have finished reduction in the prior iteration"
    with pytest.raises(RuntimeError, match=finished):
        two_steps(DistributedDataParallel(model))
    assert finished in (ROOT / "docs/en/models/freeze-batchnorm.md").read_text("utf-8")
    snippet.freeze_batchnorm(model)
    two_steps(DistributedDataParallel(model))


def test_momentum_zero_still_uses_the_batch():
    norm = nn.BatchNorm2d(3)
    norm.momentum = 0
    y = norm(images)
    assert torch.equal(norm.running_mean, torch.zeros(3))
    torch.testing.assert_close(y.mean((0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)
    assert (norm.eval()(images).mean((0, 2, 3)) > 1).all()


def test_the_layer_of_torchvision():
    plain = resnet18(weights=None)
    frozen = resnet18(weights=None, norm_layer=FrozenBatchNorm2d)
    frozen.load_state_dict(plain.state_dict())
    x = torch.randn(2, 3, 32, 32)
    torch.testing.assert_close(frozen.train()(x), plain.eval()(x))
