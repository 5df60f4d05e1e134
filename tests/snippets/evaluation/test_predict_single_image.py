"""predict-single-image: the steps in NumPy, torchvision's own numbers, the traps."""

import runpy

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.special import softmax
from torchvision.datasets import ImageFolder
from torchvision.models import ResNet18_Weights, ResNet50_Weights, resnet18
from torchvision.transforms import v2

from tests.helpers import ROOT, raises_as_documented, recipes

PAGE = "evaluation/predict-single-image"
SNIPPET = ROOT / "snippets/evaluation/predict_single_image.py"
MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(SNIPPET))
    return names, capsys.readouterr().out


def test_the_numbers_are_those_of_numpy(run):
    names, out = run
    logits = (np.array([255, 165, 0]) / 255 - MEAN) / STD  # orange
    expected = softmax(logits)
    np.testing.assert_allclose(names["probs"].cpu(), expected, rtol=1e-4)
    lines = zip(("red", "green", "blue"), expected, strict=True)
    assert out == "".join(f"{name}: {p:.1%}\n" for name, p in lines)


def test_a_batch_of_one_in_rgb_without_gradients(run):
    names, _ = run
    assert names["x"].shape == (1, 3, 224, 224)
    assert names["image"].mode == "RGB"
    assert names["probs"].shape == (3,)
    assert names["probs"].is_inference()
    assert not names["model"].training
    assert names["x"].device.type == names["device"].type


@pytest.mark.parametrize("mode", ["RGBA", "L", "P", "LA", "1", "CMYK"])
def test_convert_makes_three_channels(mode):
    image = Image.new("RGB", (300, 260), "white").convert(mode).convert("RGB")
    assert ResNet18_Weights.DEFAULT.transforms()(image).shape == (3, 224, 224)


def test_a_photo_from_a_phone_is_turned_upright(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    photo = Image.new("RGB", (40, 20), "blue")  # on its side, its top at the left
    photo.paste("red", (0, 0, 20, 20))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    photo.save("photo.png", exif=exif)
    names = {"val_transform": v2.functional.pil_to_tensor, "device": "cpu"}
    names |= {"model": lambda x: x.float().mean((2, 3)), "class_names": "rgb"}
    names["model"].eval = bool
    exec(recipes()["predict-single-image"].answer.text, names)
    image = names["image"]
    assert image.size == (20, 40)
    assert image.getpixel((10, 5)) == (255, 0, 0)  # the left side went up
    assert names["x"].shape == (1, 3, 40, 20)


def test_the_weights_know_names_and_transform():
    weights = ResNet50_Weights.DEFAULT
    assert len(weights.meta["categories"]) == 1000
    transform = weights.transforms()
    assert (transform.mean, transform.std) == (list(MEAN), list(STD))


def test_messages():
    transform = ResNet18_Weights.DEFAULT.transforms()
    for mode, text in (("RGBA", "RuntimeError: The size"), ("L", "RuntimeError: outp")):
        with raises_as_documented(PAGE, text):
            transform(Image.new(mode, (300, 260)))
    digits, to_tensor = torch.nn.Conv2d(1, 8, 3), v2.functional.to_image
    image = Image.new("RGB", (28, 28))
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        digits(to_tensor(image)[None].float())
    digits(to_tensor(image.convert("L"))[None].float())
    model = resnet18(num_classes=3)
    with raises_as_documented(PAGE, "ValueError: Expected more"):
        model(torch.rand(1, 3, 32, 32))
    model.eval()
    with raises_as_documented(PAGE, "ValueError: expected 4D"):
        model(torch.rand(3, 64, 64))
    probs = model(torch.rand(1, 3, 64, 64)).softmax(1)[0]
    with raises_as_documented(PAGE, "RuntimeError: selected index"):
        probs.topk(5)
    with raises_as_documented(PAGE, "IndexError: list index"):
        ["cat", "dog"][torch.tensor(2)]


def test_in_train_mode_the_result_is_another_one():
    torch.manual_seed(0)
    model, x = resnet18(num_classes=3), torch.rand(1, 3, 64, 64)
    with torch.no_grad():
        wrong, right = model(x), model.eval()(x)
        assert not torch.allclose(wrong, right, atol=0.1)
        assert torch.equal(model(x), right)


def test_unscaled_pixels_give_other_numbers(run):
    names, _ = run
    own = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32)])
    x = own(names["image"])[None].to(names["device"])
    assert not torch.allclose(names["model"](x).softmax(1)[0], names["probs"])


def test_image_folder_sorts_the_names(tmp_path):
    for name in ("2", "10", "1"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (4, 4)).save(tmp_path / name / "a.png")
    assert ImageFolder(tmp_path).classes == ["1", "10", "2"]
