"""detection-training: the update by hand, the targets, and what is refused."""

import contextlib
import io
import pickle
from copy import deepcopy

import pytest
import torch
from torch.utils.data import DataLoader, default_collate
from torchvision.models import detection
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn
from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
from torchvision.models.detection.rpn import AnchorGenerator

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/detection-training"
ANSWER = recipes()["detection-training"].answer
with contextlib.redirect_stdout(io.StringIO()) as printed:
    snippet = load_snippet("training/detection_training.py")
IMAGE = torch.rand(3, 64, 64, generator=torch.Generator().manual_seed(0))
TARGET = {"boxes": torch.tensor([[8.0, 8, 40, 48]]), "labels": torch.tensor([1])}


@pytest.fixture(scope="module")
def built():
    torch.manual_seed(0)
    return fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None,
        weights_backbone=None,
        num_classes=2,
        min_size=64,
        box_batch_size_per_image=16,
    )


@pytest.fixture
def model(built):
    return deepcopy(built).train()


def test_the_images_and_targets():
    dataset = snippet.Boxes()
    assert len(dataset) == 4
    for i in range(4):
        image, target = dataset[i]
        assert image.dtype == torch.float32
        assert image.shape == (3, 64, 64 + 10 * i)
        assert image.min() >= 0
        assert 0.3 < image[1:].max() <= 1 / 3
        assert target["labels"].tolist() == [1] * (i > 0)
        assert target["labels"].dtype == torch.int64
        assert target["boxes"].shape == (int(i > 0), 4)
        bright = (image[0] == 1).nonzero()  # y, x
        for box in target["boxes"]:
            (y1, x1), (y2, x2) = bright.amin(0).tolist(), bright.amax(0).tolist()
            assert box.tolist() == [x1, y1, x2 + 1, y2 + 1]
            assert len(bright) == 40 * 40


def test_the_answer_is_the_update_by_hand(model, monkeypatch):
    """With a new head, images of several sizes, and one without a box."""
    empty = {"boxes": torch.empty(0, 4), "labels": torch.empty(0, dtype=torch.int64)}
    wide = torch.cat([IMAGE, IMAGE], 2)
    dataset = [(IMAGE, TARGET), (wide, empty), (IMAGE, TARGET)]
    monkeypatch.setattr(
        detection, "fasterrcnn_mobilenet_v3_large_320_fpn", lambda **_: model.eval()
    )
    names = {"dataset": dataset, "num_classes": 4, "epochs": 1}
    names["device"] = torch.device("cpu")
    assert set(ANSWER.yours) == set(names)
    torch.manual_seed(1)  # the head is new, batches and boxes are drawn
    own = deepcopy(model)
    exec(ANSWER.text, names)
    torch.manual_seed(1)
    own.roi_heads.box_predictor = FastRCNNPredictor(1024, 4)
    optimizer = torch.optim.SGD(own.parameters(), lr=0.005, momentum=0.9)
    for batch in DataLoader(dataset, 2, shuffle=True, collate_fn=list):
        images, targets = zip(*batch, strict=True)
        optimizer.zero_grad()
        torch.stack([*own.train()(images, targets).values()]).sum().backward()
        optimizer.step()
    assert model.roi_heads.box_predictor.cls_score.out_features == 4
    for p, q in zip(model.parameters(), own.parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-3, atol=1e-5)


def test_the_snippet_learns_and_predicts():
    first, second, found = printed.getvalue().splitlines()
    assert float(second.split()[-1]) < float(first.split()[-1])
    assert found == "found: boxes, labels, scores"


def test_batches_are_lists_and_workers_that_are_not_forked_get_the_collate_fn():
    first, second = snippet.loader
    assert sorted(image.shape[2] for image, _ in first + second) == [64, 74, 84, 94]
    assert pickle.loads(pickle.dumps(snippet.loader.collate_fn))((1, 2)) == [1, 2]
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(lambda batch: batch)


def test_what_the_modes_return(model):
    losses = model([IMAGE], [TARGET])
    assert set(losses) == {
        "loss_classifier",
        "loss_box_reg",
        "loss_objectness",
        "loss_rpn_box_reg",
    }
    model.eval()
    (found,) = model([IMAGE])
    assert list(found) == ["boxes", "labels", "scores"]
    assert found["boxes"].shape == (len(found["scores"]), 4)
    assert found["boxes"].max() <= 64  # pixels of the image that was given
    assert 0 not in found["labels"]
    assert model.roi_heads.score_thresh == 0.05
    assert model.roi_heads.detections_per_img == 100


def test_an_image_without_objects(model):
    empty = {"boxes": torch.empty(0, 4), "labels": torch.empty(0, dtype=torch.int64)}
    losses = model([IMAGE], [empty])
    assert losses["loss_box_reg"] == losses["loss_rpn_box_reg"] == 0
    assert losses["loss_objectness"] > 0
    sum(losses.values()).backward()
    with raises_as_documented(PAGE, "AssertionError: Expected target boxes to be"):
        model([IMAGE], [empty | {"boxes": torch.tensor([])}])


def test_what_is_refused(model):
    with raises_as_documented(PAGE, "RuntimeError: stack expects each tensor"):
        default_collate(
            [(IMAGE, TARGET), (IMAGE, TARGET | {"boxes": torch.zeros(2, 4)})]
        )
    with raises_as_documented(PAGE, "AssertionError: All bounding boxes should"):
        model([IMAGE], [TARGET | {"boxes": torch.tensor([[8.0, 8, 8, 40]])}])
    with raises_as_documented(PAGE, "IndexError: Target 2 is out of bounds."):
        model([IMAGE], [TARGET | {"labels": torch.tensor([2])}])
    with raises_as_documented(PAGE, "AssertionError: targets should not be none"):
        model([IMAGE])
    with raises_as_documented(PAGE, "TypeError: Expected input images to be"):
        model([(255 * IMAGE).byte()], [TARGET])
    with raises_as_documented(PAGE, "AttributeError: 'int' object has no"):
        [{k: v.to("cpu") for k, v in (TARGET | {"image_id": 7}).items()}]
    with raises_as_documented(PAGE, "TypeError: target labels must of int64"):
        model([IMAGE], [TARGET | {"labels": torch.tensor([1.0])}])
    none = {"boxes": torch.tensor([]).reshape(-1, 4), "labels": torch.tensor([])}
    with raises_as_documented(PAGE, "TypeError: target labels must of int64"):
        model([IMAGE], [none])
    model([IMAGE], [none | {"labels": none["labels"].long()}])


def test_other_backbones_and_their_anchors():
    small = {"min_size": 64, "max_size": 96}
    backbone = resnet_fpn_backbone(backbone_name="resnet18", weights=None)
    other = detection.FasterRCNN(backbone, 3, **small)
    assert len(other([IMAGE], [TARGET])) == 4
    plain = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=8))
    with pytest.raises(ValueError, match="should contain an attribute out_channels"):
        detection.FasterRCNN(plain, 3)
    plain.out_channels = 8
    with raises_as_documented(PAGE, "AssertionError: Anchors should be"):
        detection.FasterRCNN(plain, 3, **small)([IMAGE], [TARGET])
    one = AnchorGenerator(((32, 64, 128),), ((0.5, 1.0, 2.0),))
    own = detection.FasterRCNN(plain, 3, rpn_anchor_generator=one, **small)
    assert len(own([IMAGE], [TARGET])) == 4


def test_pretrained_weights_freeze_batchnorm(built, monkeypatch):
    """So a loss in `train()` under `no_grad` leaves the model as it was."""
    weights = detection.FasterRCNN_MobileNet_V3_Large_320_FPN_Weights.DEFAULT
    full = fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None)
    state = full.state_dict()
    monkeypatch.setattr(type(weights), "get_state_dict", lambda *_, **__: state)
    tuned = fasterrcnn_mobilenet_v3_large_320_fpn(weights=weights)
    kinds = {type(module).__name__ for module in tuned.modules()}
    assert "FrozenBatchNorm2d" in kinds
    assert "BatchNorm2d" not in kinds
    before = deepcopy(tuned.state_dict())
    with torch.no_grad():
        assert sum(tuned.train()([IMAGE], [TARGET]).values()) > 0
    for name, value in tuned.state_dict().items():
        assert torch.equal(value, before[name])


def test_a_new_head(model):
    width = model.roi_heads.box_predictor.cls_score.in_features
    model.roi_heads.box_predictor = FastRCNNPredictor(width, num_classes=4)
    sum(model([IMAGE], [TARGET | {"labels": torch.tensor([3])}]).values()).backward()
    assert model.roi_heads.box_predictor.cls_score.weight.grad.shape == (4, width)


def test_images_are_normalised_inside(model):
    seen = []
    model.backbone.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    model.eval()([IMAGE])
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    expected = (IMAGE - mean[:, None, None]) / std[:, None, None]
    torch.testing.assert_close(seen[0][0, :, :64, :64], expected)
