"""meshgrid: against NumPy, and against the pixel centres of grid_sample."""

import itertools

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "tensors/meshgrid"
SOURCE = (ROOT / "snippets/tensors/meshgrid.py").read_text("utf-8")
CODE = SOURCE[SOURCE.index("ys, xs") : SOURCE.index("\nprint")]


@pytest.mark.parametrize(("h", "w"), [(2, 3), (4, 4), (1, 5)])
def test_the_grids_are_numpys(h, w):
    names = {"torch": torch, "H": h, "W": w}
    exec(CODE, names)
    rows, columns = np.mgrid[:h, :w]
    np.testing.assert_array_equal(names["rows"], rows)
    np.testing.assert_array_equal(names["columns"], columns)
    assert names["pairs"][h - 1, w - 1].tolist() == [w - 1, h - 1]
    both = itertools.product(range(h), range(w))
    assert names["product"].tolist() == [[*pair] for pair in both]
    np.testing.assert_allclose(names["distance"], np.hypot(rows, columns), rtol=1e-5)


def test_xy_is_numpys_default():
    x, y = torch.arange(3), torch.arange(2)
    for ours, theirs in zip(
        torch.meshgrid(x, y, indexing="xy"), np.meshgrid(x, y), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    swapped = torch.meshgrid(y, x, indexing="ij")[::-1]
    for ours, theirs in zip(swapped, np.meshgrid(x, y), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("corners", [True, False])
def test_the_coordinates_of_grid_sample_give_the_image_back(corners):
    h, w = 3, 5
    image = torch.randn(1, 1, h, w)
    edges = [(torch.arange(n) * 2 + 1) / n - 1 for n in (h, w)]
    ends = [torch.linspace(-1, 1, n) for n in (h, w)]
    y, x = torch.meshgrid(*(ends if corners else edges), indexing="ij")
    grid = torch.stack([x, y], -1)[None]
    result = F.grid_sample(image, grid, align_corners=corners)
    torch.testing.assert_close(result, image)


def test_device_and_dtype_are_those_of_the_inputs():
    image = torch.rand(3, 4, 5, device="meta")
    ys, xs = (torch.arange(n, device=image.device) for n in image.shape[-2:])
    for grid in torch.meshgrid(ys, xs, indexing="ij"):
        assert (grid.device.type, grid.dtype) == ("meta", torch.int64)
        assert (image * grid).shape == (3, 4, 5)
    rows, _ = torch.meshgrid(torch.arange(2.0), torch.arange(3.0), indexing="ij")
    assert (rows.device.type, rows.dtype) == ("cpu", torch.float32)


def test_the_messages():
    with raises_as_documented(PAGE, "UserWarning: torch.meshgrid: in an upcoming"):
        torch.meshgrid(torch.arange(2), torch.arange(2))
    rows = load_snippet("tensors/meshgrid.py").rows
    with raises_as_documented(PAGE, "RuntimeError: unsupported operation"):
        rows.add_(1)
    assert rows.clone().add_(1).tolist() == [[1, 1, 1], [2, 2, 2]]


def test_one_element_written_is_a_whole_row_and_the_input():
    y, x = torch.arange(2), torch.arange(3)
    rows, _ = torch.meshgrid(y, x, indexing="ij")
    rows[0, 0] = 5
    assert rows.tolist() == [[5, 5, 5], [1, 1, 1]]
    assert y.tolist() == [5, 1]
