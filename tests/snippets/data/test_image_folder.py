"""image-folder: classes and pixels against Pillow; messages of bad folders."""

import pickle

import numpy as np
import pytest
import torch
from PIL import ExifTags, Image, ImageFile, ImageOps
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/image_folder.py")
PAGE = "data/image-folder"


def write(root, *names, size=(6, 4)):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", size, (10, 20, 30)).save(root / name)
    return root


def test_every_file_has_the_class_of_its_folder():
    assert snippet.dataset.classes == ["cat", "dog"]
    assert snippet.dataset.targets == [0, 0, 0, 1, 1, 1]
    colours = {0: (255, 165, 0), 1: (165, 42, 42)}  # orange and brown in CSS
    for image, label in snippet.dataset:
        assert image.shape == (3, 224, 224)
        expected = np.array(colours[label], dtype=np.float32) / 255
        np.testing.assert_allclose(image.amax((1, 2)), expected, rtol=1e-6)
        np.testing.assert_allclose(image.amin((1, 2)), expected, rtol=1e-6)
    sizes = []
    for path, _ in snippet.dataset.samples[:3]:
        with Image.open(path) as image:
            sizes.append(image.size)
    assert sizes == [(40, 30), (41, 30), (42, 30)]


def test_the_loader_shuffles_all_pictures():
    labels = [torch.cat([y for _, y in snippet.loader]).tolist() for _ in range(20)]
    assert all(sorted(order) == [0, 0, 0, 1, 1, 1] for order in labels)
    assert len({tuple(order) for order in labels}) > 1
    assert [len(y) for _, y in snippet.loader] == [6]


def test_grey_and_transparent_pictures_become_rgb(tmp_path):
    write(tmp_path, "a/1.png")
    Image.new("L", (5, 5)).save(tmp_path / "a" / "2.png")
    Image.new("RGBA", (5, 5)).save(tmp_path / "a" / "3.png")
    dataset = ImageFolder(tmp_path, snippet.transform)
    assert {image.shape for image, _ in dataset} == {(3, 224, 224)}


def test_a_photo_with_an_orientation_tag(tmp_path):
    """Orientation 6: the first row of the file is the right column of the photo."""
    pixels = np.zeros((16, 32, 3), dtype=np.uint8)
    pixels[:8] = 255
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    (tmp_path / "a").mkdir()
    Image.fromarray(pixels).save(tmp_path / "a" / "1.jpg", exif=exif)
    upright = v2.Compose([ImageOps.exif_transpose, v2.ToImage()])
    assert ImageFolder(tmp_path)[0][0].size == (32, 16)
    photo = ImageFolder(tmp_path, upright)[0][0]
    assert photo.shape == (3, 32, 16)
    assert photo[:, :, 10:].min() > 200
    assert photo[:, :, :6].max() < 50


def test_no_class_folder(tmp_path):
    write(tmp_path, "1.png")
    with raises_as_documented(PAGE, "FileNotFoundError: Couldn't find"):
        ImageFolder(tmp_path)
    nested = write(tmp_path / "data", "train/cat/1.png", "train/dog/1.png")
    assert ImageFolder(nested).class_to_idx == {"train": 0}  # one label for all


def test_an_empty_class(tmp_path):
    write(tmp_path, "cat/1.png")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    with raises_as_documented(PAGE, "FileNotFoundError: Found no valid"):
        ImageFolder(tmp_path)
    kept = ImageFolder(tmp_path, allow_empty=True)
    assert kept.class_to_idx == {".ipynb_checkpoints": 0, "cat": 1}


def test_classes_are_sorted_as_text(tmp_path):
    write(tmp_path, "2/a.png", "10/a.png", "Zebra/a.png", "ant/a.png")
    assert ImageFolder(tmp_path).classes == ["10", "2", "Zebra", "ant"]


def test_folders_named_by_their_labels(tmp_path):
    write(tmp_path, "10/a.png", "2/b.png", "1/c.png")
    dataset = ImageFolder(tmp_path)
    assert [label for _, label in dataset] == [0, 1, 2]
    dataset.target_transform = [int(name) for name in dataset.classes].__getitem__
    dataset = pickle.loads(pickle.dumps(dataset))  # to workers
    assert [label for _, label in dataset] == [1, 10, 2]


def test_a_class_that_is_missing_shifts_the_numbers(tmp_path):
    train = ImageFolder(write(tmp_path / "train", "ant/1.png", "bee/1.png"))
    val = ImageFolder(write(tmp_path / "val", "bee/1.png"))
    assert (train.class_to_idx["bee"], val.class_to_idx["bee"]) == (1, 0)
    assert train.classes != val.classes


def test_damaged_files(tmp_path, monkeypatch):
    write(tmp_path, "cat/1.png")
    bad = tmp_path / "cat" / "2.jpg"
    bad.write_bytes(b"not a picture")
    with raises_as_documented(PAGE, "UnidentifiedImageError: cannot"):
        ImageFolder(tmp_path)[1]
    Image.effect_noise((64, 64), 50).save(bad)
    bad.write_bytes(bad.read_bytes()[:-1500])
    with raises_as_documented(PAGE, "OSError: image file is truncated"):
        ImageFolder(tmp_path)[1]
    with raises_as_documented(PAGE, "OSError: image file is truncated"):
        for path, _ in ImageFolder(tmp_path).samples:
            with Image.open(path) as image:
                image.load()
    assert path == str(bad)
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    assert ImageFolder(tmp_path)[1][0].getpixel((63, 63)) == (128, 128, 128)
    good = ImageFolder(tmp_path, is_valid_file=lambda path: path.endswith(".png"))
    assert len(good) == 1


def test_without_a_transform(tmp_path):
    plain = ImageFolder(write(tmp_path, "cat/1.png"))
    with raises_as_documented(PAGE, "TypeError: default_collate"):
        next(iter(DataLoader(plain)))


@pytest.mark.parametrize("name", ["targets", "samples", "classes"])
def test_what_the_page_names(name):
    assert getattr(snippet.dataset, name)
