"""segmentation-training: the update by hand, the masks, and what is refused."""

import contextlib
import io
import math
from copy import deepcopy

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F
from torch.utils.data import default_collate
from torchvision.models import segmentation
from torchvision.transforms import v2
from torchvision.tv_tensors import Mask

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/segmentation-training"
ANSWER = recipes()["segmentation-training"].answer


@pytest.fixture(scope="module")
def snippet(tmp_path_factory):
    """What the file leaves, and what it prints."""
    with contextlib.chdir(tmp_path_factory.mktemp("files")):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            module = load_snippet("training/segmentation_training.py")
        module.items = [*module.dataset]
    module.printed = printed.getvalue()
    return module


class Tiny(nn.Module):
    """Two heads over one backbone, as in a model of torchvision."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 4, 3, padding=1)
        self.classifier = nn.Sequential(nn.Tanh(), nn.Conv2d(4, 21, 1))
        self.aux_classifier = nn.Sequential(nn.Conv2d(4, 21, 1))

    def forward(self, x):
        x = self.backbone(x)
        return {"out": self.classifier(x), "aux": self.aux_classifier(x)}


def cross_entropy(logits, masks):
    """The mean of -log p over the pixels that are labelled."""
    p = logits.exp() / logits.exp().sum(1, keepdim=True)
    total, count = 0, 0
    for n, y, x in (masks != 255).nonzero().tolist():
        total, count = total - p[n, masks[n, y, x], y, x].log(), count + 1
    return total / count


def test_the_answer_is_the_update_by_hand(monkeypatch):
    """New heads, both losses, pixels without a label, and no batch of one."""
    torch.manual_seed(0)
    dataset = [(torch.randn(3, 4, 5), torch.randint(3, (4, 5))) for _ in range(5)]
    for _, mask in dataset:
        mask[0, :3] = 255
    model = Tiny().eval()
    given = {}
    build = lambda **options: given.update(options) or model  # noqa: E731
    monkeypatch.setattr(segmentation, "deeplabv3_mobilenet_v3_large", build)
    names = {"dataset": dataset, "num_classes": 3, "epochs": 2}
    assert set(ANSWER.yours) == {*names, "device"}
    own = deepcopy(model)
    torch.manual_seed(1)  # the heads are new, and batches are drawn
    exec(ANSWER.text, names | {"device": torch.device("cpu")})
    assert given["aux_loss"] is True
    torch.manual_seed(1)
    own.classifier[1], own.aux_classifier[0] = nn.Conv2d(4, 3, 1), nn.Conv2d(4, 3, 1)
    optimizer = torch.optim.AdamW(own.parameters(), lr=1e-4)
    for _ in range(2):
        torch.empty((), dtype=torch.int64).random_()  # the loader's base seed
        seed = int(torch.empty((), dtype=torch.int64).random_())  # the sampler's
        order = torch.randperm(5, generator=torch.Generator().manual_seed(seed))
        for pair in order[:4].view(2, 2).tolist():  # the fifth is dropped
            images, masks = (torch.stack([dataset[i][k] for i in pair]) for k in (0, 1))
            optimizer.zero_grad()
            x = own.backbone(images)
            loss = cross_entropy(own.classifier(x), masks)
            (loss + cross_entropy(own.aux_classifier(x), masks) / 2).backward()
            optimizer.step()
    assert model.training
    for p, q in zip(model.parameters(), own.parameters(), strict=True):
        torch.testing.assert_close(p, q)


def test_the_pairs_fit_each_other(snippet):
    assert len(snippet.dataset) == len(snippet.items) == 4
    grey = [
        (128 / 255 - m) / s for m, s in ((0.485, 0.229), (0.456, 0.224), (0.406, 0.225))
    ]
    for i, (image, mask) in enumerate(snippet.items):
        assert image.shape == (3, 48, 72)
        assert image.dtype == torch.float32
        assert type(mask) is torch.Tensor
        assert (mask.shape, mask.dtype) == ((48, 72), torch.int64)
        torch.testing.assert_close(
            image[:, 0, 0], torch.tensor(grey), atol=0.05, rtol=0
        )
        assert mask.unique().tolist() == [0, 1]
        red = image[0] - image[1] > 1.5
        assert (red == (mask == 1)).float().mean() > 0.95
        centre = (mask == 1).nonzero().float().mean(0)
        expected = torch.tensor([32, 30 + 9 * i]) * 0.75
        torch.testing.assert_close(centre, expected, atol=1, rtol=0)


def test_the_snippet_learns_and_predicts(snippet):
    first, second = (float(line.split()[-1]) for line in snippet.printed.splitlines())
    assert second < first
    images, masks = default_collate(snippet.items[:2])
    with torch.no_grad():
        predicted = snippet.model.eval()(images)["out"].argmax(1)
    assert predicted.shape == masks.shape == (2, 48, 72)
    assert predicted.max() < 2


@pytest.mark.parametrize("name", ["deeplabv3_resnet50", "fcn_resnet50"])
def test_the_heads_of_other_models(name):
    with torch.device("meta"):
        build = getattr(segmentation, name)
        model = build(weights=None, weights_backbone=None, aux_loss=True)
        for head in model.classifier, model.aux_classifier:
            head[-1] = nn.Conv2d(head[-1].in_channels, 3, 1)
        outputs = model(torch.empty(2, 3, 64, 80))
    assert [o.shape for o in outputs.values()] == [(2, 3, 64, 80)] * 2
    assert list(outputs) == ["out", "aux"]


def test_lraspp_has_one_head_and_trains_with_one_image():
    model = segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=2)
    outputs = model.train()(torch.rand(1, 3, 64, 64))
    assert outputs["out"].shape == (1, 2, 64, 64)
    with raises_as_documented(PAGE, "KeyError: 'aux'"):
        outputs["aux"]
    with pytest.raises(NotImplementedError, match="does not use auxiliary loss"):
        segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, aux_loss=True)


def test_what_invents_numbers(tmp_path):
    mask = Image.new("L", (40, 40))
    mask.paste(2, (10, 10, 30, 30))
    assert v2.Resize((30, 30))(Mask(mask)).unique().tolist() == [0, 2]
    assert 1 in v2.Resize((30, 30))(v2.functional.to_image(mask)).unique()
    mask.save(tmp_path / "mask.jpg")
    assert len(np.unique(Image.open(tmp_path / "mask.jpg"))) > 2


def test_a_mask_divided_by_255_is_background():
    mask = v2.functional.to_dtype(
        v2.functional.to_image(Image.new("L", (4, 4), 2)), torch.float32, scale=True
    )
    assert mask.max() > 0
    assert mask.long().unique().tolist() == [0]


def test_how_fast_the_averages_of_batchnorm_move(snippet):
    """Where they start from 0, they hold 1 - 0.99 ** steps of the truth."""
    torch.manual_seed(0)
    norm = snippet.model.backbone["0"][1]
    assert norm.momentum == 0.01
    norm.reset_running_stats()
    norm.train()
    x = torch.randn(4, norm.num_features, 3, 3) + 7
    for _ in range(20):
        norm(x)
    expected = x.mean((0, 2, 3)) * (1 - 0.99**20)
    torch.testing.assert_close(norm.running_mean, expected, rtol=1e-4, atol=1e-4)


def test_what_is_refused(snippet):
    logits = torch.randn(2, 3, 4, 4)
    with raises_as_documented(PAGE, "IndexError: Target 255 is out of bounds."):
        F.cross_entropy(logits, torch.full((2, 4, 4), 255))
    with raises_as_documented(PAGE, "RuntimeError: only batches of spatial"):
        F.cross_entropy(logits, torch.zeros(2, 1, 4, 4, dtype=torch.int64))
    empty = F.cross_entropy(logits, torch.full((2, 4, 4), 255), ignore_index=255)
    assert math.isnan(empty)

    outputs = snippet.model.eval()(torch.rand(1, 3, 32, 32))
    with raises_as_documented(PAGE, "AttributeError: 'collections.OrderedDict'"):
        outputs.argmax(1)
    with raises_as_documented(PAGE, "TypeError: cross_entropy_loss(): argument"):
        F.cross_entropy(outputs, torch.zeros(1, 32, 32, dtype=torch.int64))
    with raises_as_documented(PAGE, "ValueError: Expected more than 1 value per"):
        snippet.model.train()(torch.rand(1, 3, 32, 32))
    with raises_as_documented(PAGE, "ValueError: The parameter 'num_classes'"):
        segmentation.deeplabv3_resnet50(weights="DEFAULT", num_classes=3)
    build = segmentation.deeplabv3_mobilenet_v3_large
    other = build(weights=None, weights_backbone=None)
    assert list(other.eval()(torch.rand(1, 3, 32, 32))) == ["out"]
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading state_dict"):
        other.load_state_dict(snippet.model.state_dict())
    tall, wide = torch.zeros(3, 80, 40), torch.zeros(3, 40, 80)
    assert v2.Resize((20, 30))(tall).shape == v2.Resize((20, 30))(wide).shape
    with raises_as_documented(PAGE, "RuntimeError: stack expects each tensor"):
        default_collate([v2.Resize(20)(tall), v2.Resize(20)(wide)])
