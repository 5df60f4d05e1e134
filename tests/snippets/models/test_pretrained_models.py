"""pretrained-models: weights of a file of ours, in the place of the download."""

import importlib
from pathlib import Path

import pytest
import torch
from PIL import Image
from torchvision import models
from torchvision.models import ResNet18_Weights, ResNet50_Weights, resnet18

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/pretrained-models"
ANSWER = recipes()["pretrained-models"].answer


@pytest.fixture
def carried(tmp_path, monkeypatch):
    """Weights in a cache of this test, under the name that torchvision asks for."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    folder = tmp_path / "hub/checkpoints"
    folder.mkdir(parents=True)
    state = resnet18().state_dict()
    name = Path(ResNet18_Weights.DEFAULT.url).name
    torch.save(state, folder / name)
    return state


def test_the_answer_takes_the_weights_and_what_belongs_to_them(carried):
    photo = torch.full((3, 300, 400), 255, dtype=torch.uint8)
    names = {"photo": photo}
    exec(ANSWER.text, names)
    loaded = names["model"].state_dict()
    assert all(torch.equal(value, carried[name]) for name, value in loaded.items())
    assert names["weights"].meta["categories"][207] == "golden retriever"
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    expected = torch.tensor([(1 - m) / s for m, s in zip(mean, std, strict=True)])
    torch.testing.assert_close(names["x"][0, :, 5, 5], expected)
    assert names["x"].shape == (1, 3, 224, 224)
    best = int(names["model"](names["x"])[0].argmax())
    assert names["label"] == names["weights"].meta["categories"][best]


def test_the_demonstration():
    assert load_snippet("models/pretrained_models.py").scores.shape == (1000,)


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("lraspp_mobilenet_v3_large", lambda y: y["out"]),
        ("ssdlite320_mobilenet_v3_large", lambda y: y[0]["boxes"]),
    ],
)
def test_another_name_in_the_answer(name, out, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    folder = tmp_path / "hub/checkpoints"
    folder.mkdir(parents=True)
    state = models.get_model(name, weights=None, weights_backbone=None).state_dict()
    url = models.get_model_weights(name).DEFAULT.url
    torch.save(state, folder / Path(url).name)
    loading = ANSWER.text.replace("resnet18", name).split("with torch")[0]
    names = {"photo": torch.full((3, 60, 80), 255, dtype=torch.uint8)}
    exec(loading, names)
    assert torch.is_tensor(out(names["model"](names["x"])))
    assert names["weights"].meta["categories"][0] == "__background__"


@pytest.mark.parametrize(
    ("module", "listed"),
    [
        (models, "resnet50 efficientnet_v2_s convnext_tiny vit_b_16"),
        (models.segmentation, "deeplabv3_resnet50 lraspp_mobilenet_v3_large"),
        (models.detection, "fasterrcnn_resnet50_fpn_v2 ssdlite320_mobilenet_v3_large"),
        (models.video, "r3d_18 mvit_v2_s"),
    ],
)
def test_the_names_of_the_table(module, listed):
    assert set(listed.split()) <= set(models.list_models(module=module))


def test_the_results_of_the_table():
    network = models.get_model(
        "lraspp_mobilenet_v3_large", weights=None, weights_backbone=None
    )
    out = network.eval()(torch.rand(1, 3, 64, 96))["out"]
    assert out.shape == (1, 21, 64, 96)
    network = models.get_model(
        "ssdlite320_mobilenet_v3_large", weights=None, weights_backbone=None
    )
    first = network.eval()(torch.rand(1, 3, 64, 96))[0]
    assert first.keys() == {"boxes", "labels", "scores"}
    assert len(models.video.R3D_18_Weights.DEFAULT.meta["categories"]) == 400


def test_the_parameter_of_old(carried):
    with raises_as_documented(PAGE, "UserWarning: The parameter 'pretrained'"):
        resnet18(pretrained=True)
    assert ResNet50_Weights.DEFAULT is ResNet50_Weights.IMAGENET1K_V2
    assert resnet18().training


def test_photos_without_three_channels():
    prepare = models.get_model_weights("resnet18").DEFAULT.transforms()
    for mode in ("RGBA", "L", "P"):
        photo = Image.new(mode, (300, 280))
        assert prepare(photo.convert("RGB")).shape == (3, 224, 224)
        with pytest.raises(RuntimeError, match=r"must match|broadcast shape"):
            prepare(photo)
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a (4)"):
        prepare(Image.new("RGBA", (300, 280)))


def test_the_messages():
    with raises_as_documented(PAGE, "ModuleNotFoundError: No module named"):
        importlib.import_module("torchvision.models.utils")
    assert callable(torch.hub.load_state_dict_from_url)
    with raises_as_documented(PAGE, "ValueError: Unknown model"):
        models.get_model("resnet20")
    with raises_as_documented(PAGE, "ValueError: The parameter 'num_classes'"):
        models.get_model("resnet18", weights="DEFAULT", num_classes=5)
